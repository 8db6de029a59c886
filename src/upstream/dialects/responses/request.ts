// Writes a neutral request in the format of OpenAI's Responses API. Content that the protocol cannot express is dropped and named
// if the answer does not depend on it, and refused otherwise.

import { ApiError } from "../../../base/errors.ts";
import { sha256Hex } from "../../../base/ids.ts";
import type { ChatRequest, Tool } from "../../../chat/request.ts";
import { flattenTools } from "../../../chat/tools.ts";
import type { RequestContext, UpstreamRequest } from "../../dialect.ts";
import { openaiEndUser } from "../../end-user.ts";
import { inOwnFormat, type Places } from "../../foreign.ts";
import { type Takes, takeParameters } from "../../parameters.ts";
import { effortFor, effortsFor, mayReason, refusedFor } from "../../quirks.ts";
import { strictOrPlain, toolSchema } from "../../schema-fit.ts";
import { asRecord, asText } from "../loose.ts";
import { RESPONSES, type ResponsesInputItem, responsesInput } from "./input.ts";

/** The smallest `max_output_tokens` that OpenAI accepts. */
const OUTPUT_TOKENS_MIN = 16;
/** The maximum length of `user` at OpenAI. */
const USER_CHARS_MAX = 64;

/** The parameters that this protocol supports. */
const TAKES: Takes = {
  parameters: {
    parallelToolCalls: true,
    maxTokens: true,
    temperature: true,
    topP: true,
    topK: false,
    presencePenalty: false,
    frequencyPenalty: false,
    seed: false,
    // The gateway itself applies stop sequences.
    stop: true,
    n: false,
    logprobs: true,
    topLogprobs: true,
    logitBias: false,
    user: true,
    metadata: true,
    store: true,
    serviceTier: true,
    verbosity: true,
  },
  carries: new Set([
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "moderation",
  ]),
};
const PLACES: Places = { names: false, detail: true, cacheMarkers: false, documents: false };
const SERVICE_TIERS = new Set(["auto", "default", "flex", "priority", "scale", "fast", "ultrafast"]);

/** Writes the request. Throws `ApiError` `unsupported_parameter`. */
export function responsesRequest(original: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const dropped = new Set<string>();
  const flat = flattenTools(original, { native: ctx.quirks.custom_tools !== false });
  const chat = inOwnFormat(flat, RESPONSES, PLACES, dropped);
  refuse(chat);
  const refused = refusedFor(ctx, chat.reasoning);
  const carried = takeParameters(chat, TAKES, dropped);
  const body: Record<string, unknown> = {
    model: ctx.model,
    input: responsesInput(chat.messages, dropped),
    // OpenAI stores answers by default, which clients of other protocols did not request.
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
  Object.assign(body, carried);
  Object.assign(body, openaiEndUser(body, ctx, refused));
  for (const name of refused) {
    if (body[name] === undefined) continue;
    delete body[name];
    // The gateway sets these members itself, so they are not reported as dropped.
    if (name !== "store" && name !== "include") dropped.add(name);
  }
  return {
    path: "/responses",
    headers: responsesHeaders(ctx),
    body: JSON.stringify(body),
    dropped: [...dropped],
    // The protocol has no stop sequences.
    ...(chat.stop === undefined ? {} : { cutAt: chat.stop }),
  };
}

/** The client's headers for betas. */
export function responsesHeaders(ctx: RequestContext): Record<string, string> {
  const beta = ctx.clientHeaders["openai-beta"];
  return beta === undefined || beta === "" ? {} : { "openai-beta": beta };
}

function refuse(chat: ChatRequest): void {
  const cannot = (param: string, message: string) => new ApiError("unsupported_parameter", message, { param });
  const modalities = chat.extra["modalities"];
  if (Array.isArray(modalities) && modalities.some((kind) => kind !== "text")) {
    throw cannot("modalities", "This model's provider answers in text only.");
  }
}

function addTools(body: Record<string, unknown>, chat: ChatRequest, dropped: Set<string>): void {
  const tools: ResponsesInputItem[] = [];
  const spaces = new Map<string, ResponsesInputItem[]>();
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
  if (chat.toolChoice !== undefined) body["tool_choice"] = choiceOf(chat.toolChoice, chat.tools);
  if (chat.parallelToolCalls !== undefined) body["parallel_tool_calls"] = chat.parallelToolCalls;
}

function toolItem(tool: Tool, dropped: Set<string>): ResponsesInputItem | undefined {
  if (tool.type === "server") {
    if (tool.origin === RESPONSES) return { ...tool.value };
    dropped.add(`tools.${tool.name}`);
    return undefined;
  }
  const described = { name: tool.name, ...(tool.description ? { description: tool.description } : {}) };
  if (tool.type === "custom") {
    return { type: "custom", ...described, ...(tool.format === undefined ? {} : { format: tool.format }) };
  }
  const given = toolSchema(tool.parameters ?? { type: "object", properties: {} });
  // The default is strict, with which OpenAI refuses most schemas.
  const { schema: parameters, strict = false, relaxed } = strictOrPlain(given, tool.strict);
  if (relaxed) dropped.add("strict");
  return { type: "function", ...described, parameters, strict };
}

function choiceOf(choice: NonNullable<ChatRequest["toolChoice"]>, tools: readonly Tool[]): unknown {
  switch (choice.type) {
    case "tool":
      return { type: choice.kind ?? "function", name: choice.name };
    case "allowed":
      return {
        type: "allowed_tools",
        mode: choice.mode,
        tools: choice.names.flatMap((name) => allowedItem(name, tools)),
      };
    default:
      return choice.type;
  }
}

/**
 * A tool that may be called. A tool that the provider runs is named by its type; there is none if the provider does not have it.
 */
function allowedItem(name: string, tools: readonly Tool[]): ResponsesInputItem[] {
  const tool = tools.find((one) => one.name === name);
  if (tool?.type !== "server") return [{ type: tool?.type ?? "function", name }];
  return tool.origin === RESPONSES ? [{ type: tool.name }] : [];
}

function addReasoning(
  body: Record<string, unknown>,
  include: string[],
  given: { chat: ChatRequest; ctx: RequestContext; dropped: Set<string> },
): void {
  const { chat, ctx, dropped } = given;
  const wanted = chat.reasoning ?? {};
  const { effort, changed } = effortFor(wanted, effortsFor(ctx, "responses"), mayReason(ctx));
  const { summary } = wanted;
  if (changed) dropped.add("reasoning_effort");
  if (!mayReason(ctx)) {
    // Models without reasoning answer 400 to these parameters.
    if (summary !== undefined) dropped.add("reasoning_summary");
    return;
  }
  const reasoning = { ...(effort === undefined ? {} : { effort }), ...(summary === undefined ? {} : { summary }) };
  if (Object.keys(reasoning).length > 0) body["reasoning"] = reasoning;
  // Reasoning that is not stored must be returned by the client, so it must get it.
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
}
