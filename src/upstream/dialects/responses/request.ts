// Writes a neutral request in the format of OpenAI's Responses API. Content that the protocol cannot express is dropped and named
// if the answer does not depend on it, and refused otherwise.

import { sha256Hex } from "../../../base/ids.ts";
import type { ChatRequest, ReasoningOptions, Tool } from "../../../chat/request.ts";
import { firstByName, flattenTools } from "../../../chat/tools.ts";
import { cacheFormFor, inForm, markedPlaces } from "../../cache-form.ts";
import type { RequestContext, UpstreamRequest } from "../../dialect.ts";
import { openaiEndUser } from "../../end-user.ts";
import { inOwnFormat, type Places } from "../../foreign.ts";
import { isTextOnly, PICTURES, refuseKinds } from "../../output-kinds.ts";
import { type Members, parameterWriter, removeRefused, type Writing } from "../../parameters.ts";
import { effortFor, effortsFor, mayReason, refusedFor } from "../../quirks.ts";
import { strictOrPlain, toolSchema } from "../../schema-fit.ts";
import { asRecord, asText } from "../loose.ts";
import { RESPONSES, type ResponsesInputItem, responsesInput } from "./input.ts";

/** The smallest `max_output_tokens` that OpenAI accepts. */
const OUTPUT_TOKENS_MIN = 16;
/** The maximum length of `user` at OpenAI. */
const USER_CHARS_MAX = 64;

/** A request that is being written. */
interface ResponsesWriting extends Writing {
  readonly ctx: RequestContext;
  readonly refused: readonly string[];
  /** What the answer must contain beyond the usual. */
  readonly include: Set<string>;
  /** Whether tools are offered. Without them, parameters of tools have no effect. */
  readonly offersTools: boolean;
  cutAt?: readonly string[];
}

const WRITER = parameterWriter<ResponsesWriting>({
  parameters: {
    maxTokens: (limit) => ({ max_output_tokens: Math.max(OUTPUT_TOKENS_MIN, limit) }),
    temperature: "temperature",
    topP: "top_p",
    topK: false,
    presencePenalty: false,
    frequencyPenalty: false,
    seed: false,
    // The protocol has no stop sequences. The gateway itself cuts the answer at them.
    stop: (texts, at) => {
      at.cutAt = texts;
      return undefined;
    },
    n: false,
    logprobs: (wanted, at) => {
      if (wanted) includeLogprobs(at);
      return undefined;
    },
    topLogprobs: (count, at) => (count > 0 && includeLogprobs(at) ? { top_logprobs: count } : undefined),
    logitBias: false,
    parallelToolCalls: (may, { offersTools }) => (offersTools ? { parallel_tool_calls: may } : undefined),
    user: writeUser,
    metadata: writeMetadata,
    store: "store",
    serviceTier: writeServiceTier,
    verbosity: (verbosity) => ({ text: { verbosity } }),
    // A tool draws, which is added beside the others.
    modalities(kinds, { refused, dropped }) {
      if (refused.includes("modalities") && !isTextOnly(kinds)) dropped.add("modalities");
      return undefined;
    },
  },
  reasoning: {
    effort: writeEffort,
    budgetTokens: writeEffort,
    enabled: writeEffort,
    summary: writeSummary,
  },
  carries: new Set([
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "moderation",
  ]),
});
const PLACES: Omit<Places, "cacheMarkers"> = { names: false, detail: true, documents: false, pictures: false };
const SERVICE_TIERS = new Set(["auto", "default", "flex", "priority", "scale", "fast", "ultrafast"]);

/** Members that the gateway sets itself, so that they are not reported if the provider refuses them. */
const OWN = ["store", "include"];

/** Writes the request. Throws `ApiError` `unsupported_parameter`. */
export function responsesRequest(original: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const dropped = new Set<string>();
  const flat = flattenTools(original, { native: ctx.quirks.custom_tools !== false });
  const form = cacheFormFor(ctx) === "breakpoint" ? "breakpoint" : "none";
  const own = inOwnFormat(flat, RESPONSES, { ...PLACES, cacheMarkers: markedPlaces(form) }, dropped);
  const chat = { ...own, ...inForm(own, form) };
  refuseKinds(chat, PICTURES);
  const refused = refusedFor(ctx, chat.reasoning);
  const body: Record<string, unknown> = {
    model: ctx.model,
    input: responsesInput(chat.messages, dropped),
    // OpenAI stores answers by default, which clients of other protocols did not request.
    store: false,
  };
  const include = new Set<string>();
  const tools = toolItems(chat.tools, dropped, include);
  const draws = chat.modalities?.includes("image") === true && !refused.includes("modalities");
  if (draws) tools.push({ type: "image_generation" });
  const at: ResponsesWriting = { chat, ctx, refused, dropped, include, offersTools: tools.length > 0 };
  WRITER.parameters(body, at);
  if (tools.length > 0) {
    body["tools"] = tools;
    if (chat.toolChoice !== undefined) body["tool_choice"] = choiceOf(chat.toolChoice, chat.tools);
    else if (draws && chat.modalities?.includes("text") === false) body["tool_choice"] = { type: "image_generation" };
  }
  addReasoning(body, at);
  addFormat(body, chat, dropped);
  if (at.include.size > 0) body["include"] = [...at.include];
  if (ctx.stream) body["stream"] = true;
  Object.assign(body, WRITER.carried(at));
  Object.assign(body, openaiEndUser(body, ctx, refused));
  removeRefused(body, refused, dropped, { silent: OWN });
  return {
    path: "/responses",
    headers: responsesHeaders(ctx),
    body: (ctx.json ?? JSON.stringify)(body),
    dropped: [...dropped],
    ...(at.cutAt === undefined ? {} : { cutAt: at.cutAt }),
  };
}

/** The client's headers for betas. */
export function responsesHeaders(ctx: RequestContext): Record<string, string> {
  const beta = ctx.clientHeaders["openai-beta"];
  return beta === undefined || beta === "" ? {} : { "openai-beta": beta };
}

/** Requests log probabilities, unless the provider refuses them. */
function includeLogprobs({ refused, dropped, include }: ResponsesWriting): boolean {
  if (refused.includes("logprobs")) {
    dropped.add("logprobs");
    return false;
  }
  include.add("message.output_text.logprobs");
  return true;
}

function toolItems(given: readonly Tool[], dropped: Set<string>, include: Set<string>): ResponsesInputItem[] {
  const tools: ResponsesInputItem[] = [];
  const spaces = new Map<string, ResponsesInputItem[]>();
  for (const tool of given) {
    const item = toolItem(tool, dropped);
    if (item === undefined) continue;
    if (tool.type === "server") for (const part of tool.includes ?? []) include.add(part);
    const space = tool.type === "server" ? undefined : tool.namespace;
    if (space === undefined) tools.push(item);
    else if (spaces.has(space)) spaces.get(space)?.push(item);
    else {
      const members = [item];
      spaces.set(space, members);
      tools.push({ type: "namespace", name: space, tools: members });
    }
  }
  return tools;
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
    case "allowed": {
      const byName = firstByName(tools);
      const allowed = choice.names.flatMap((name) => allowedItem(name, byName.get(name)));
      return { type: "allowed_tools", mode: choice.mode, tools: allowed };
    }
    default:
      return choice.type;
  }
}

/**
 * A tool that may be called. A tool that the provider runs is named by its type; there is none if the provider does not have it.
 */
function allowedItem(name: string, tool: Tool | undefined): ResponsesInputItem[] {
  if (tool?.type !== "server") return [{ type: tool?.type ?? "function", name }];
  return tool.origin === RESPONSES ? [{ type: tool.name }] : [];
}

function addReasoning(body: Record<string, unknown>, at: ResponsesWriting): void {
  const reasoning: Record<string, unknown> = {};
  WRITER.reasoning(reasoning, at);
  if (Object.keys(reasoning).length > 0) body["reasoning"] = reasoning;
  // Reasoning that is not stored must be returned by the client, so it must get it.
  if (mayReason(at.ctx) && body["store"] === false) at.include.add("reasoning.encrypted_content");
}

function writeEffort(
  wanted: Pick<ReasoningOptions, "effort" | "budgetTokens" | "enabled">,
  { ctx, dropped }: ResponsesWriting,
): Members {
  const { effort, changed } = effortFor(wanted, effortsFor(ctx, "responses"), mayReason(ctx));
  if (changed) dropped.add("reasoning_effort");
  return { effort: mayReason(ctx) ? effort : undefined };
}

function writeSummary(
  { summary }: Pick<ReasoningOptions, "summary">,
  { ctx, dropped }: ResponsesWriting,
): Members | undefined {
  if (mayReason(ctx)) return { summary };
  // Models without reasoning answer 400 to these parameters.
  dropped.add("reasoning_summary");
  return undefined;
}

/** Adds the format of the answer to the settings of the text. */
function addFormat(body: Record<string, unknown>, { responseFormat }: ChatRequest, dropped: Set<string>): void {
  if (responseFormat === undefined || responseFormat.type === "text") return;
  let format: unknown = { type: "json_object" };
  if (responseFormat.type === "json_schema") {
    const { relaxed, ...taken } = strictOrPlain(responseFormat.schema, responseFormat.strict);
    if (relaxed) dropped.add("strict");
    format = { ...responseFormat, ...taken };
  }
  body["text"] = { format, ...asRecord(body["text"]) };
}

function writeUser(user: string): Members | undefined {
  if (user === "") return undefined;
  return { user: user.length <= USER_CHARS_MAX ? user : sha256Hex(user) };
}

/** In Anthropic's format, the user is a member of the metadata. */
function writeMetadata(given: NonNullable<ChatRequest["metadata"]>, { chat, dropped }: ResponsesWriting): Members {
  const { user_id: id, ...metadata } = given;
  const user = chat.user === undefined ? writeUser(asText(id) ?? "") : undefined;
  const values = Object.values(metadata);
  if (values.length === 0) return { ...user };
  if (values.every((value) => typeof value === "string")) return { ...user, metadata };
  dropped.add("metadata");
  return { ...user };
}

function writeServiceTier(tier: string, { dropped }: ResponsesWriting): Members | undefined {
  if (SERVICE_TIERS.has(tier)) return { service_tier: tier };
  dropped.add("service_tier");
  return undefined;
}
