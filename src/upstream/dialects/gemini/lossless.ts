// Relays requests and answers of the protocol: the client's body with few changes. It is loaded with the first request of a client of
// this protocol.

import { entryOf } from "../../../base/json-object.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { lastFinish } from "../../../chat/event.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import type { Lossless, RelayIdentity, RequestContext, UpstreamRequest } from "../../dialect.ts";
import { withUsage, writtenOutput } from "../../output-text.ts";
import { refusedFor } from "../../quirks.ts";
import { asList, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { geminiEvents } from "./reader.ts";
import { GeminiRelay } from "./relay.ts";
import { geminiPath } from "./request.ts";
import { shownGeminiUsage } from "./shown.ts";

type Members = Readonly<Record<string, unknown>>;

/** The relay of this dialect. */
export const geminiLossless: Lossless = {
  request: losslessRequest,
  relay: (identity) => new GeminiRelay(identity),
  result: losslessResult,
};

/** Where the protocol has the parameters that a provider may refuse, by their names in reports. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  temperature: ["temperature"],
  top_p: ["topP"],
  top_k: ["topK"],
  seed: ["seed"],
  n: ["candidateCount"],
  stop: ["stopSequences"],
  max_tokens: ["maxOutputTokens"],
  presence_penalty: ["presencePenalty"],
  frequency_penalty: ["frequencyPenalty"],
  logprobs: ["responseLogprobs", "logprobs"],
  top_logprobs: ["logprobs"],
  response_format: ["responseMimeType", "responseSchema", "responseJsonSchema"],
  reasoning_effort: ["thinkingConfig"],
  modalities: ["responseModalities"],
};

/** Members that are not in the body, or have another name there. */
const OUTSIDE: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "thread_id",
  "conversation_id",
  "max_tokens",
  "thinking",
]);

function losslessRequest(text: string, chat: ChatRequest, ctx: RequestContext, members: Members): UpstreamRequest {
  const dropped: string[] = [];
  // These are in the address, or for the gateway.
  const edits: Record<string, unknown> = {
    ...{ model: undefined, stream: undefined, thread_id: undefined, conversation_id: undefined },
  };
  for (const name in members) if (!OUTSIDE.has(name)) edits[name] = members[name];
  const { max_tokens: limit, thinking } = members;
  const refused = refusedFor(ctx, chat.reasoning);
  if (limit !== undefined || refused.length > 0) {
    const body = ctx.body ?? parseRecord(text) ?? {};
    const changed = config(asRecord(body["generationConfig"]), { refused, limit, thinking }, dropped);
    if (changed !== undefined) edits["generationConfig"] = changed;
  }
  return { path: geminiPath(ctx), headers: {}, body: spliceMembers(text, edits), dropped };
}

/** Only contents may stand alone; other members are counted as those of a whole request. */
const ALONE: ReadonlySet<string> = new Set(["contents", "model", "stream", "thread_id", "conversation_id", "usage"]);

/** A request for the number of tokens, whose body holds contents, or a whole request that names the model once more. */
export function geminiCount(text: string, _chat: ChatRequest, ctx: RequestContext, members: Members): UpstreamRequest {
  const { max_tokens: _limit, thinking: _thinking, usage: _usage, ...edits } = members;
  const {
    stream: _stream,
    thread_id: _thread,
    conversation_id: _id,
    usage: _cost,
    ...body
  } = {
    ...(ctx.body ?? parseRecord(text) ?? {}),
    ...edits,
  } as Loose;
  const path = geminiPath(ctx, "countTokens");
  const model = ctx.model.includes("/") ? ctx.model : `models/${ctx.model}`;
  const whole = body["generateContentRequest"];
  if (whole === undefined && Object.keys(body).every((name) => ALONE.has(name))) {
    const own = { ...edits, model: undefined, stream: undefined, thread_id: undefined, conversation_id: undefined };
    return { path, headers: {}, body: spliceMembers(text, { ...own, usage: undefined }), dropped: [] };
  }
  const request = { ...(whole === undefined ? body : asRecord(whole)), model };
  return { path, headers: {}, body: JSON.stringify({ generateContentRequest: request }), dropped: [] };
}

interface Given {
  /** The parameters that the provider refuses. */
  readonly refused: readonly string[];
  /** The model's own limit of output tokens, if the client's is above it, and the reasoning within it. */
  readonly limit: unknown;
  readonly thinking: unknown;
}

/** The settings as they must change; undefined if they must not. */
function config(given: Loose, { refused, limit, thinking }: Given, dropped: string[]): Members | undefined {
  const gone = refused.flatMap((name) => entryOf(PLACES, name) ?? []).filter((name) => given[name] != null);
  if (gone.length === 0 && limit === undefined) return undefined;
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !gone.includes(name)));
  dropped.push(...new Set(gone.map((name) => `generationConfig.${name}`)));
  if (limit !== undefined && !gone.includes("maxOutputTokens")) kept["maxOutputTokens"] = limit;
  const budget = asRecord(thinking)["budget_tokens"];
  if (budget !== undefined) kept["thinkingConfig"] = { ...asRecord(kept["thinkingConfig"]), thinkingBudget: budget };
  return kept;
}

function losslessResult(text: string, identity: RelayIdentity): ReturnType<Lossless["result"]> {
  const body = parseRecord(text);
  const events = geminiEvents(body);
  if (body === undefined || events.some(({ type }) => type === "error")) return { text, events };
  const reported = lastFinish(events)?.usage;
  const usage = identity.settle(reported, writtenOutput(events));
  const candidates = text.includes("thoughtSignature") ? asList(body["candidates"]) : [];
  for (const candidate of candidates.map(asRecord)) {
    for (const part of asList(asRecord(candidate["content"])["parts"]).map(asRecord)) {
      const signature = asText(part["thoughtSignature"]);
      if (signature !== undefined) identity.sealed?.(signature);
    }
  }
  const set: Record<string, unknown> = { modelVersion: identity.model, responseId: identity.id };
  const shown = shownGeminiUsage(body["usageMetadata"], usage);
  if (shown !== body["usageMetadata"]) set["usageMetadata"] = shown;
  return { text: spliceMembers(text, set, body), events: withUsage(events, usage) };
}
