// POST /v1/responses/compact: compacts a stored thread, or the input in the request. In the latter case, the answer is like that
// of OpenAI's own endpoint, and nothing is stored.

import { ApiError } from "../../base/errors.ts";
import { prefixedId } from "../../base/ids.ts";
import { type Element, type EntryFormat, textOfEntry } from "../../chat/entries.ts";
import type { Usage } from "../../chat/event.ts";
import { readJsonBody } from "../../http/body.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { WireFormat } from "../../wire/format.ts";
import { WIRE_FORMATS } from "../../wire/index.ts";
import { responsesFormat } from "../../wire/responses/format.ts";
import { withoutTags } from "../admission/tags.ts";
import type { GatewayDeps } from "../centre/deps.ts";
import { HTTP_CLIENT } from "../centre/request-source.ts";
import type { Stage } from "../centre/stage.ts";
import { decodeOptions, modelFor, turnOf } from "../centre/turn.ts";
import { prepared } from "../centre/walk.ts";
import { threadNotFound } from "../rules/not-found.ts";
import type { ChatCompaction, RecordSource } from "../stages/compaction/conversations.ts";
import { openRecord } from "../stages/compaction/items.ts";
import { recordOf } from "../stages/compaction/record.ts";
import type { Sealer } from "../stages/compaction/seal.ts";
import { cutMiddle } from "../stages/compaction/shape.ts";
import type { KeptThreads } from "../stages/threads/kept.ts";

export interface CompactDeps
  extends Pick<GatewayDeps, "admit" | "bodyLimits" | "catalog" | "isDecisionModel" | "clock"> {
  compaction: ChatCompaction;
  keptThreads: KeptThreads;
  sealer: Sealer;
  /** The stages that complete the content of a request. */
  contentStages: readonly Stage[];
  /** The configuration section `compaction`. */
  settings(): { enabled: boolean };
}

/** The members of the response that depend on the kind of request. */
interface CompactAnswer {
  compacted: boolean;
  messagesBefore: number;
  messagesAfter: number;
  tokensBefore: number;
  tokensAfter: number;
  output: readonly Element[];
  usage: Usage;
}

/** Creates the handler. */
export function createCompact(deps: CompactDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange);
    const { body } = withoutTags(await readJsonBody(request, deps.bodyLimits()), exchange);
    const threadId = threadOf(body);
    if (!deps.settings().enabled) throw threadNotFound(threadId ?? "");
    if (typeof body["model"] !== "string" || body["model"] === "") {
      throw new ApiError("invalid_request", "Missing required parameter: 'model'.", { param: "model" });
    }
    const { model, routes } = modelFor(deps, body["model"], caller);
    exchange.log["model"] = model.id;
    const asked = { exchange, caller, model, routes, body };
    const answer =
      threadId === undefined
        ? await ofInput(deps, request, asked)
        : await ofThread(deps, request, { ...asked, threadId });
    return Response.json({
      id: prefixedId("resp_"),
      object: "response.compaction",
      created_at: Math.floor(deps.clock.now() / 1000),
      ...(threadId === undefined ? {} : { thread_id: threadId }),
      model: model.id,
      compacted: answer.compacted,
      messages_before: answer.messagesBefore,
      messages_after: answer.messagesAfter,
      tokens_before: answer.tokensBefore,
      tokens_after: answer.tokensAfter,
      output: answer.output,
      usage: usageOf(answer.usage),
    });
  };
}

function threadOf(body: Element): string | undefined {
  for (const name of ["thread_id", "conversation_id"]) {
    const id = body[name];
    if (id === undefined || id === null) continue;
    if (typeof id !== "string" || id === "") {
      throw new ApiError("invalid_request", `Invalid '${name}': expected a string.`, { param: name });
    }
    return id;
  }
  return undefined;
}

type Asked = Omit<RecordSource, "format" | "members" | "compactable" | "asksRecord" | "body"> & {
  body: Record<string, unknown>;
};

async function ofThread(
  deps: CompactDeps,
  request: Request,
  asked: Asked & { threadId: string },
): Promise<CompactAnswer> {
  const { threadId, caller } = asked;
  const found = await deps.keptThreads.find({ accountId: caller.accountId, kind: "thread", threadId });
  const format = found && WIRE_FORMATS.find(({ name }) => name === found.text.format);
  if (found === undefined || format?.entries === undefined) throw threadNotFound(threadId);
  const { entries } = format;
  const { messages } = found.text;
  // Records that the gateway sealed are opened; a vendor's own records stay unchanged.
  const list = entries.expand(messages, (record, param) =>
    openRecord(record, {
      sealer: deps.sealer,
      accountId: caller.accountId,
      format: format.name,
      isNative: true,
      param,
    }),
  );
  const compactable = { threadId, ...(caller.noStore ? { keeps: "nothing" as const } : {}) };
  const source = { ...asked, format, members: { [entries.member]: list }, compactable };
  const compaction = await deps.compaction.compactNow(source, request.signal);
  return {
    compacted: compaction.list !== undefined,
    messagesBefore: list.length,
    messagesAfter: (compaction.list ?? list).length,
    tokensBefore: compaction.before,
    tokensAfter: compaction.after,
    output: (compaction.list ?? list).map((element) => (format === responsesFormat ? asItem(element) : element)),
    usage: compaction.usage,
  };
}

async function ofInput(deps: CompactDeps, request: Request, asked: Asked): Promise<CompactAnswer> {
  const { exchange, caller, model, body } = asked;
  const options = decodeOptions(request);
  const entries = entriesOf(responsesFormat);
  const read = {
    source: HTTP_CLIENT,
    request,
    exchange,
    caller,
    format: responsesFormat,
    text: JSON.stringify(body),
    body,
  };
  const given = { ...read, routing: undefined, reservation: undefined };
  const turn = turnOf(deps, given, responsesFormat.decode(body, options), options);
  const { members } = (await prepared(deps.contentStages, turn)).turn;
  const list = entries.list({ ...body, ...members });
  const source = { ...asked, format: responsesFormat, members: { input: list }, compactable: { threadId: undefined } };
  const tokensBefore = await deps.compaction.tokensOf(source);
  const wanted = { ...source, asksRecord: { wish: undefined } };
  const { text, sealed, usage } = await deps.compaction.record(wanted, request.signal);
  const users = keptUsers(list, entries, model.contextLength).map(asItem);
  const output = [...users, entries.record({ id: prefixedId("cmp_"), text, sealed })];
  const short = [...users, entries.userMessage(text)];
  return {
    compacted: true,
    messagesBefore: list.length,
    messagesAfter: output.length,
    tokensBefore,
    tokensAfter: await deps.compaction.tokensOf({ ...source, members: { input: short } }),
    output,
    usage,
  };
}

function entriesOf({ entries }: WireFormat): EntryFormat {
  if (entries === undefined) throw new Error("The format has no list of messages.");
  return entries;
}

/** Maximum number of characters of the user's own messages that are kept besides the first one, the newest first. */
const USER_CHARS_MAX = 80_000;
/** Characters per token; fewer than most texts have. */
const CHARS_PER_TOKEN = 3;
/** Shares of the window for the first message, which states the task, and for the others. */
const FIRST_SHARE = 0.5;
const USERS_SHARE = 0.25;

/**
 * The user's own messages to keep, so that they take part of the window at most. An earlier record is not one of them, as the new
 * record continues from it.
 */
function keptUsers(list: readonly Element[], entries: EntryFormat, window: number): Element[] {
  const users = list.filter((element) => {
    const entry = entries.entry(element);
    return element["role"] === "user" && entry.role === "user" && recordOf(entry) === undefined;
  });
  const kept: Element[] = [];
  const [first, ...others] = users;
  let charsLeft = Math.min(USER_CHARS_MAX, window * USERS_SHARE * CHARS_PER_TOKEN);
  for (const user of others.toReversed()) {
    charsLeft -= lengthOf(user, entries);
    if (charsLeft < 0) break;
    kept.push(user);
  }
  if (first !== undefined) {
    const most = Math.floor(window * FIRST_SHARE * CHARS_PER_TOKEN);
    const isLong = lengthOf(first, entries) > most;
    kept.push(isLong ? entries.withText(first, cutMiddle(textOfEntry(entries.entry(first)), most)) : first);
  }
  return kept.reverse();
}

function lengthOf(element: Element, entries: EntryFormat): number {
  return textOfEntry(entries.entry(element)).length;
}

/** A message as OpenAI returns it, with a type, an id and a status; other items are unchanged. */
function asItem(element: Element): Element {
  if ((element["type"] ?? "message") !== "message" || typeof element["role"] !== "string") return element;
  const { content } = element;
  const type = element["role"] === "assistant" ? "output_text" : "input_text";
  return {
    id: prefixedId("msg_"),
    status: "completed",
    ...element,
    type: "message",
    content: typeof content === "string" ? [{ type, text: content }] : content,
  };
}

function usageOf({ inputTokens, outputTokens }: Usage): Record<string, unknown> {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}
