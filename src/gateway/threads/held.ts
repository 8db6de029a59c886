// Anthropic's `thread` for upstreams without threads: the conversation is held here, under the id of its latest answer, and
// sent as a whole. Each answer can be continued once; instructions and tools of the thread stay. Errors have the vendor's
// codes, on which its SDKs act.

import { ApiError } from "../../base/errors.ts";
import type { Element } from "../../chat/entries.ts";
import type { Exchange } from "../../http/exchange.ts";
import { answerElements } from "../../wire/assembled.ts";
import type { WireFormat } from "../../wire/format.ts";
import type { KeptThreads, ReadThread } from "./kept.ts";

/** What a thread keeps of its first request. */
const FIXED = ["system", "tools"];

/** A request of a held thread. */
export interface HeldRequest {
  /** The request with the whole conversation. */
  body: Element;
  /** Identifies the thread; undefined: it starts with this request. */
  threadId: string | undefined;
  /** Stores the answer, under its id. */
  hold(answer: { id: string; text: string; model: string; tokens: number }): Promise<void>;
}

export interface HeldThreadsDeps {
  threads: KeptThreads;
  /** Configuration `compaction.enabled`: if off, no text is stored. */
  enabled(): boolean;
}

/** The threads that are held here. */
export class HeldThreads {
  readonly #deps: HeldThreadsDeps;
  /** Answers that are being continued. */
  readonly #open = new Set<string>();

  constructor(deps: HeldThreadsDeps) {
    this.#deps = deps;
  }

  /** Whether an answer can be continued here. */
  async has(accountId: string, previousId: string | undefined): Promise<boolean> {
    if (previousId === undefined || !this.#deps.enabled()) return false;
    return (await this.#deps.threads.find({ accountId, kind: "messages", threadId: previousId })) !== undefined;
  }

  /** The complete request for one that names a thread; undefined if it names none or none is held. Throws 400 or 404. */
  async open(
    format: WireFormat,
    body: Element,
    { accountId, exchange }: { accountId: string; exchange: Pick<Exchange, "atEnd"> },
  ): Promise<HeldRequest | undefined> {
    const { entries } = format;
    const thread = format.hasThreads === true ? body["thread"] : undefined;
    if (entries === undefined || !isObject(thread) || !this.#deps.enabled()) return undefined;
    if (thread["type"] !== "create" && thread["type"] !== "continue") {
      const message = "Invalid 'thread.type': expected 'create' or 'continue'.";
      throw new ApiError("invalid_request", message, { param: "thread.type" });
    }
    const { thread: _thread, ...rest } = body;
    const previousId = thread["type"] === "continue" ? String(thread["previous_message_id"] ?? "") : undefined;
    const previous = previousId === undefined ? undefined : await this.#find(accountId, previousId);
    if (previousId !== undefined) this.#claim(`${accountId} ${previousId}`, exchange);
    const root = (previous?.text.more?.["root"] as string | undefined) ?? previousId;
    const fixed = fixedOf(previous === undefined ? rest : (previous.text.more?.["fixed"] as Element));
    if (previous !== undefined) sameBeginning(fixed, rest);
    const whole = { ...rest, ...fixed, messages: [...(previous?.text.messages ?? []), ...entries.list(rest)] };
    return {
      body: whole,
      threadId: root,
      hold: async ({ id, text, model, tokens }) => {
        const messages = [...whole.messages, ...answerElements(entries, text)];
        const { threads } = this.#deps;
        const name = (threadId: string) => ({ accountId, kind: "messages" as const, threadId });
        await threads.keep(name(id), { model, tokens, text: { format: format.name, messages, more: { fixed, root } } });
        // Of the previous answer only a note remains that it was continued.
        if (previousId === undefined) return;
        const left = { format: format.name, messages: [], more: { continuedBy: id } };
        await threads.keep(name(previousId), { model, tokens: 0, text: left });
      },
    };
  }

  async #find(accountId: string, previousId: string): Promise<ReadThread> {
    const found = await this.#deps.threads.find({ accountId, kind: "messages", threadId: previousId });
    if (found === undefined) {
      throw refusal("thread_not_found", `There is no answer '${previousId.slice(0, 100)}' to go on from.`);
    }
    if (found.text.more?.["continuedBy"] !== undefined) {
      throw refusal("thread_already_continued", "This answer was gone on from already: name the latest one.");
    }
    return found;
  }

  #claim(key: string, exchange: Pick<Exchange, "atEnd">): void {
    if (this.#open.has(key)) {
      throw refusal("thread_continue_in_flight", "Another request goes on from this answer at the moment.");
    }
    this.#open.add(key);
    exchange.atEnd(() => this.#open.delete(key));
  }
}

function fixedOf(body: Element): Record<string, unknown> {
  return Object.fromEntries(FIXED.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

/** Repeated members must equal those that the thread began with. */
function sameBeginning(fixed: Element, body: Element): void {
  for (const name of FIXED) {
    if (body[name] === undefined || Bun.deepEquals(body[name], fixed[name])) continue;
    throw refusal("thread_fingerprint_mismatch", `'${name}' is not what this thread began with.`, name);
  }
}

function refusal(code: string, message: string, param = "thread.previous_message_id"): ApiError {
  const kind = code === "thread_not_found" ? "thread_not_found" : "invalid_request";
  return new ApiError(kind, message, { param, details: { error_code: code } });
}

function isObject(value: unknown): value is Element {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
