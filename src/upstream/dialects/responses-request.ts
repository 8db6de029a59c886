// A neutral request in the words of OpenAI's Responses API. What the protocol has no word for is dropped and named where
// that is harmless, and refused where the answer would be another one.

import { ApiError } from "../../base/errors.ts";
import { sha256Hex } from "../../base/ids.ts";
import type { ChatRequest, Tool } from "../../chat/request.ts";
import { flattenTools } from "../../chat/tools.ts";
import type { RequestContext, UpstreamRequest } from "../dialect.ts";
import { effortFor, effortsFor, mayReason, refusedFor } from "../quirks.ts";
import { strictOrPlain, toolSchema } from "../schema-fit.ts";
import { asRecord, asText } from "./loose.ts";
import { type Item, RESPONSES, responsesInput } from "./responses-input.ts";

/** The smallest `max_output_tokens` that OpenAI takes. */
const OUTPUT_TOKENS_MIN = 16;
/** The longest `user` that OpenAI takes. */
const USER_CHARS_MAX = 64;

/** Parameters of chat completions that mean the same here. */
const SAME = new Set(["prompt_cache_key", "prompt_cache_retention", "safety_identifier"]);
const SERVICE_TIERS = new Set(["auto", "default", "flex", "priority", "scale"]);

/** The request; throws `ApiError` `unsupported_parameter`. */
export function responsesRequest(original: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const chat = flattenTools(original, { native: ctx.quirks.custom_tools !== false });
  const dropped = new Set<string>();
  const refused = refusedFor(ctx, chat.reasoning);
  refuse(chat, refused);
  const body: Record<string, unknown> = {
    model: ctx.model,
    input: responsesInput(chat.messages, dropped),
    // OpenAI keeps answers by default, other protocols' clients never asked for that.
    store: chat.store ?? false,
  };
  const include: string[] = [];
  if (chat.maxTokens !== undefined) body["max_output_tokens"] = Math.max(OUTPUT_TOKENS_MIN, chat.maxTokens);
  if (chat.temperature !== undefined) body["temperature"] = chat.temperature;
  if (chat.topP !== undefined) body["top_p"] = chat.topP;
  if (refused.includes("logprobs")) {
    if (chat.logprobs || chat.topLogprobs) dropped.add("logprobs");
  } else if (chat.logprobs || chat.topLogprobs) {
    include.push("message.output_text.logprobs");
    if (chat.topLogprobs) body["top_logprobs"] = chat.topLogprobs;
  }
  addTools(body, chat, dropped);
  addReasoning(body, include, { chat, ctx, dropped });
  addText(body, chat, dropped);
  addIdentity(body, chat, dropped);
  if (include.length > 0) body["include"] = include;
  if (ctx.stream) body["stream"] = true;
  for (const [name, value] of Object.entries(chat.extra)) {
    if (SAME.has(name)) body[name] = value;
    else dropped.add(name);
  }
  if ((chat.stop?.length ?? 0) > 0) dropped.add("stop");
  for (const name of refused) {
    if (body[name] === undefined) continue;
    delete body[name];
    // Ours to set, so nobody misses it.
    if (name !== "store" && name !== "include") dropped.add(name);
  }
  return { path: "/responses", headers: responsesHeaders(ctx), body: JSON.stringify(body), dropped: [...dropped] };
}

/** Beta headers of the client. */
export function responsesHeaders(ctx: RequestContext): Record<string, string> {
  const beta = ctx.clientHeaders["openai-beta"];
  return beta === undefined || beta === "" ? {} : { "openai-beta": beta };
}

function refuse(chat: ChatRequest, refused: readonly string[]): void {
  const cannot = (param: string, message: string) => new ApiError("unsupported_parameter", message, { param });
  if ((chat.n ?? 1) > 1) throw cannot("n", "This model's provider gives one answer at a time: n must be 1.");
  // What the model takes by no protocol is left out on all of them.
  const stops = (chat.stop?.length ?? 0) > 0 && !refused.includes("stop");
  if (stops) throw cannot("stop", "This model's provider knows no stop sequences.");
  const modalities = chat.extra["modalities"];
  if (Array.isArray(modalities) && modalities.some((kind) => kind !== "text")) {
    throw cannot("modalities", "This model's provider answers in text only.");
  }
}

function addTools(body: Record<string, unknown>, chat: ChatRequest, dropped: Set<string>): void {
  const tools: Item[] = [];
  const spaces = new Map<string, Item[]>();
  for (const tool of chat.tools) {
    const item = toolItem(tool, dropped);
    if (item === undefined) continue;
    const space = tool.type === "server" ? undefined : tool.namespace;
    if (space === undefined) tools.push(item);
    else if (spaces.has(space)) spaces.get(space)?.push(item);
    else {
      const members = [item];
      spaces.set(space, members);
      tools.push({ type: "namespace", name: space, tools: members });
    }
  }
  if (tools.length === 0) return;
  body["tools"] = tools;
  if (chat.toolChoice !== undefined) body["tool_choice"] = choiceOf(chat.toolChoice);
  if (chat.parallelToolCalls !== undefined) body["parallel_tool_calls"] = chat.parallelToolCalls;
}

function toolItem(tool: Tool, dropped: Set<string>): Item | undefined {
  if (tool.type === "server") {
    if (tool.origin === RESPONSES) return { ...tool.value };
    dropped.add(tool.name);
    return undefined;
  }
  const described = { name: tool.name, ...(tool.description ? { description: tool.description } : {}) };
  if (tool.type === "custom") {
    return { type: "custom", ...described, ...(tool.format === undefined ? {} : { format: tool.format }) };
  }
  const given = toolSchema(tool.parameters ?? { type: "object", properties: {} });
  // Absent means strict here, which refuses most schemas.
  const { schema: parameters, strict = false, relaxed } = strictOrPlain(given, tool.strict);
  if (relaxed) dropped.add("strict");
  return { type: "function", ...described, parameters, strict };
}

function choiceOf(choice: NonNullable<ChatRequest["toolChoice"]>): unknown {
  switch (choice.type) {
    case "tool":
      return { type: choice.kind ?? "function", name: choice.name };
    case "allowed":
      return {
        type: "allowed_tools",
        mode: choice.mode,
        tools: choice.names.map((name) => ({ type: "function", name })),
      };
    default:
      return choice.type;
  }
}

function addReasoning(
  body: Record<string, unknown>,
  include: string[],
  given: { chat: ChatRequest; ctx: RequestContext; dropped: Set<string> },
): void {
  const { chat, ctx, dropped } = given;
  const wanted = chat.reasoning ?? {};
  const efforts = effortsFor(ctx, "responses");
  const effort = effortFor(wanted, efforts);
  const { summary } = wanted;
  if (!mayReason(ctx)) {
    // Other models answer 400 to any of it.
    if (effort !== undefined) dropped.add("reasoning_effort");
    return;
  }
  if (efforts.length === 0 && effort !== undefined) dropped.add("reasoning_effort");
  const sent = efforts.length === 0 ? undefined : effort;
  const reasoning = { ...(sent === undefined ? {} : { effort: sent }), ...(summary === undefined ? {} : { summary }) };
  if (Object.keys(reasoning).length > 0) body["reasoning"] = reasoning;
  // What is not stored must be handed back by the client to be remembered.
  if (body["store"] === false) include.push("reasoning.encrypted_content");
}

function addText(body: Record<string, unknown>, chat: ChatRequest, dropped: Set<string>): void {
  const text: Record<string, unknown> = {};
  const format = chat.responseFormat;
  if (format?.type === "json_schema") {
    const { relaxed, ...taken } = strictOrPlain(format.schema, format.strict);
    if (relaxed) dropped.add("strict");
    text["format"] = { ...format, ...taken };
  } else if (format?.type === "json_object") text["format"] = { type: "json_object" };
  if (chat.verbosity !== undefined) text["verbosity"] = chat.verbosity;
  if (Object.keys(text).length > 0) body["text"] = text;
}

function addIdentity(body: Record<string, unknown>, chat: ChatRequest, dropped: Set<string>): void {
  const user = chat.user ?? asText(chat.metadata?.["user_id"]);
  if (user) body["user"] = user.length <= USER_CHARS_MAX ? user : sha256Hex(user);
  const { user_id: _user, ...metadata } = asRecord(chat.metadata);
  if (Object.keys(metadata).length > 0) {
    if (Object.values(metadata).every((value) => typeof value === "string")) body["metadata"] = metadata;
    else dropped.add("metadata");
  }
  if (chat.serviceTier !== undefined) {
    if (SERVICE_TIERS.has(chat.serviceTier)) body["service_tier"] = chat.serviceTier;
    else dropped.add("service_tier");
  }
  if (chat.seed !== undefined) dropped.add("seed");
  if (chat.topK !== undefined) dropped.add("top_k");
  if (chat.presencePenalty) dropped.add("presence_penalty");
  if (chat.frequencyPenalty) dropped.add("frequency_penalty");
  if (chat.logitBias !== undefined && Object.keys(chat.logitBias).length > 0) dropped.add("logit_bias");
}
