// The protocol of OpenAI chat completions, as OpenAI and many compatible servers speak it.

import { ApiError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json-object.ts";
import { repairJson } from "../../../base/json-repair.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { lastFinish } from "../../../chat/event.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import { shownUsage } from "../../../chat/shown-usage.ts";
import { factsOf } from "../../../vendors/model-facts.ts";
import type { Dialect, Lossless, RelayIdentity, RequestContext, UpstreamRequest } from "../../dialect.ts";
import { openaiEndUser } from "../../end-user.ts";
import { faultFromHttp, type UpstreamFault } from "../../fault.ts";
import { withUsage, writtenOutput } from "../../output-text.ts";
import { refusedEffort, refusedFor } from "../../quirks.ts";
import { forcedInWords } from "../../tool-choice.ts";
import { openaiError } from "../openai-error.ts";
import { noteSeals } from "./details.ts";
import { askedOn, bridged, fitChatMembers, nineCharTurns, withoutDeveloper } from "./quirks.ts";
import { OpenaiChatReader, openaiChatEvents } from "./reader.ts";
import { OpenaiChatRelay } from "./relay.ts";
import { openaiChatRequest } from "./request.ts";
import { CHAT_USAGE } from "./usage.ts";

/** The dialect of OpenAI-compatible servers. */
export const openaiChat: Dialect = {
  name: "openai-chat",
  request: openaiChatRequest,
  reader: () => new OpenaiChatReader(),
  events: openaiChatEvents,
  fault: openaiFault,
  lossless: {
    request: losslessRequest,
    relay: (identity) => new OpenaiChatRelay(identity),
    result: losslessResult,
  } satisfies Lossless,
};

/** Reads OpenAI's error body `{error:{message,type,param,code}}`. Some servers send a plain string or `{message}` instead. */
export function openaiFault(status: number, body: string, headers: Headers): UpstreamFault {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  const error = isRecord(parsed) ? (parsed["error"] ?? parsed["detail"] ?? parsed) : undefined;
  const said = openaiError(error, `The provider answered with status ${status}.`);
  // Some vendors answer 400 to an invalid key.
  const ours = status === 400 && /^(?:incorrect|invalid) api key/i.test(said.message) ? 401 : status;
  return faultFromHttp(ours, said, headers);
}

/** Members that are for the gateway, and not sent upstream. */
const OURS = ["thread_id", "conversation_id"];

function losslessRequest(
  text: string,
  chat: ChatRequest,
  ctx: RequestContext,
  members: Readonly<Record<string, unknown>>,
): UpstreamRequest {
  const body = ctx.body ?? (JSON.parse(text) as Readonly<Record<string, unknown>>);
  const edits: Record<string, unknown> = {};
  for (const name of OURS) if (Object.hasOwn(body, name)) edits[name] = undefined;
  for (const name in members) edits[name] = members[name];
  Object.assign(edits, openaiEndUser(body, ctx));
  edits["model"] = ctx.model;
  const dropped: string[] = [];
  const refused = refusedFor(ctx, chat.reasoning);
  for (const name of refused) {
    if (edits[name] === undefined && Object.hasOwn(body, name)) dropped.push(name);
    edits[name] = undefined;
  }
  const effort = refusedEffort(ctx, body["reasoning_effort"], "chat");
  if (effort !== undefined && !Object.hasOwn(edits, "reasoning_effort")) {
    edits["reasoning_effort"] = effort;
    dropped.push("reasoning_effort");
  }
  if (ctx.quirks.usage_include !== true && isRecord(body["usage"])) edits["usage"] = undefined;
  if (chat.stream && !refused.includes("stream_options")) setStreamOptions(body, edits, ctx);
  renameLimit(body, edits, ctx);
  const facts = factsOf(ctx.model);
  if (ctx.quirks.developer_role === false) fitTurns(body, edits, withoutDeveloper);
  if (ctx.quirks.tool_call_ids === "nine") fitTurns(body, edits, nineCharTurns);
  fitChatMembers(body, edits, { quirks: ctx.quirks, chat });
  if (!facts.userAfterTool) fitTurns(body, edits, bridged);
  if (!facts.prefill && fitTurns(body, edits, askedOn)) dropped.push("prefill");
  const told = facts.forcedTool ? undefined : forcedInWords(chat.toolChoice);
  if (told !== undefined) {
    const turns = edits["messages"] ?? body["messages"];
    edits["messages"] = [...(Array.isArray(turns) ? turns : []), { role: "system", content: told }];
    edits["tool_choice"] = "auto";
    dropped.push("tool_choice");
  }
  return { path: "/chat/completions", headers: {}, body: spliceMembers(text, edits), dropped };
}

/** Adapts the turns to the model. Returns true if they were changed. */
function fitTurns(
  body: Readonly<Record<string, unknown>>,
  edits: Record<string, unknown>,
  fit: (turns: readonly unknown[]) => readonly unknown[],
): boolean {
  const turns = edits["messages"] ?? body["messages"];
  if (!Array.isArray(turns)) return false;
  const whole = fit(turns);
  if (whole === turns) return false;
  edits["messages"] = whole;
  return true;
}

/** Requests usage in every stream, unless the server refuses the field. */
function setStreamOptions(
  body: Readonly<Record<string, unknown>>,
  edits: Record<string, unknown>,
  ctx: RequestContext,
): void {
  if (ctx.quirks.stream_options === false) {
    edits["stream_options"] = undefined;
    return;
  }
  const options = isRecord(body["stream_options"]) ? body["stream_options"] : {};
  if (options["include_usage"] !== true) edits["stream_options"] = { ...options, include_usage: true };
}

/** Sends the output limit once, under the name that the server knows. `max_completion_tokens` takes precedence. */
function renameLimit(
  body: Readonly<Record<string, unknown>>,
  edits: Record<string, unknown>,
  ctx: RequestContext,
): void {
  const field =
    ctx.quirks.max_tokens_field ??
    (Object.hasOwn(body, "max_completion_tokens") ? "max_completion_tokens" : "max_tokens");
  const other = field === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  const limit =
    body["max_completion_tokens"] ??
    body["max_tokens"] ??
    edits["max_completion_tokens"] ??
    edits["max_tokens"] ??
    undefined;
  if (limit === undefined) return;
  if (body[field] !== limit) edits[field] = limit;
  else delete edits[field];
  if (Object.hasOwn(body, other) || Object.hasOwn(edits, other)) edits[other] = undefined;
}

function losslessResult(
  text: string,
  identity: RelayIdentity,
): { text: string; events: ReturnType<typeof openaiChatEvents> } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new ApiError("provider_unavailable", "The provider's answer is not JSON.", { cause });
  }
  const events = openaiChatEvents(body);
  const edits: Record<string, unknown> = { id: identity.id, model: identity.model };
  const choices: unknown[] = isRecord(body) && Array.isArray(body["choices"]) ? body["choices"] : [];
  const output = writtenOutput(events);
  const broken: string[] = [];
  let repaired: unknown[] | undefined;
  for (let at = 0; at < choices.length; at++) {
    const choice = choices[at];
    if (!isRecord(choice) || !isRecord(choice["message"])) continue;
    noteSeals(choice["message"], identity);
    output.addPictures(picturesIn(choice["message"]));
    const whole = repairChoice(choice, choice["message"], broken);
    if (whole === choice) continue;
    repaired ??= [...choices];
    repaired[at] = whole;
  }
  const usage = lastFinish(events)?.usage;
  if (broken.length > 0) {
    const message = `The model called ${broken[0]} with arguments that are not valid JSON.`;
    return { text, events: [{ type: "error", code: "tool_arguments_invalid", message, ...(usage && { usage }) }] };
  }
  if (repaired !== undefined) edits["choices"] = repaired;
  const settled = identity.settle(usage, output);
  const raw = isRecord(body) ? body["usage"] : undefined;
  const shown = shownUsage(raw, settled, CHAT_USAGE);
  if (shown !== raw) edits["usage"] = shown;
  return { text: spliceMembers(text, edits, isRecord(body) ? body : undefined), events: withUsage(events, settled) };
}

/** The number of pictures in a message, in the form of OpenRouter. */
function picturesIn({ images }: Readonly<Record<string, unknown>>): number {
  return Array.isArray(images) ? images.length : 0;
}

/**
 * Corrects a choice of a whole answer: one with tool calls gets the finish reason `tool_calls`, and arguments become valid JSON
 * in a string. `broken` gets the names of calls that cannot be repaired.
 */
function repairChoice(
  choice: Readonly<Record<string, unknown>>,
  message: Readonly<Record<string, unknown>>,
  broken: string[],
): Readonly<Record<string, unknown>> {
  const calls = message["tool_calls"];
  if (!Array.isArray(calls) || calls.length === 0) return choice;
  const repaired = repairCalls(calls, broken);
  if (repaired === calls && choice["finish_reason"] !== "stop") return choice;
  const finish = choice["finish_reason"] === "stop" ? "tool_calls" : choice["finish_reason"];
  return { ...choice, message: { ...message, tool_calls: repaired }, finish_reason: finish };
}

/** The same list if nothing had to be repaired. In a function of its own, as closures would cost every answer an object. */
function repairCalls(calls: readonly unknown[], broken: string[]): readonly unknown[] {
  const repaired = calls.map((call) => repairCall(call, broken));
  return repaired.every((call, at) => call === calls[at]) ? calls : repaired;
}

function repairCall(call: unknown, broken: string[]): unknown {
  if (!isRecord(call) || !isRecord(call["function"])) return call;
  const fn = call["function"];
  const text = typeof fn["arguments"] === "string" ? fn["arguments"] : JSON.stringify(fn["arguments"] ?? {});
  const repaired = repairJson(text);
  if (repaired === undefined) {
    broken.push(String(fn["name"]));
    return call;
  }
  return repaired === fn["arguments"] ? call : { ...call, function: { ...fn, arguments: repaired } };
}
