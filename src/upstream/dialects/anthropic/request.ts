// Writes a neutral request in Anthropic's format. Content that the protocol cannot express is dropped and named if the answer
// does not depend on it, and refused otherwise.

import { lookUp } from "../../../base/look-up.ts";
import { pairResults } from "../../../chat/pair.ts";
import type { ChatRequest, FunctionTool, ReasoningOptions } from "../../../chat/request.ts";
import { flattenTools } from "../../../chat/tools.ts";
import { CLAUDE_SCHEMA } from "../../../vendors/anthropic.ts";
import { factsOf } from "../../../vendors/model-facts.ts";
import type { ModelTraits } from "../../../vendors/model-family.ts";
import type { RequestContext, UpstreamRequest } from "../../dialect.ts";
import { anthropicEndUser } from "../../end-user.ts";
import { inOwnFormat, type Places } from "../../foreign.ts";
import { refuseKinds, TEXT_ONLY } from "../../output-kinds.ts";
import { type Members, parameterWriter, removeRefused, type Writing } from "../../parameters.ts";
import { fittedEffort, refusedFor, wantsNone } from "../../quirks.ts";
import { fitSchema, toolSchema } from "../../schema-fit.ts";
import { allowedInWords, forcedInWords } from "../../tool-choice.ts";
import { asRecord, asText } from "../loose.ts";
import { placeMarks } from "./caching.ts";
import { ANTHROPIC, type AnthropicBlock, type AnthropicMessage, anthropicTurns } from "./messages.ts";

/** The smallest thinking budget that Anthropic accepts. */
const BUDGET_TOKENS_MIN = 1024;
/** The largest share of the output limit for thinking; the rest is for the answer. */
const THINKING_SHARE_MAX = 0.75;
/** The thinking budgets of the effort levels. The middle one is the value with which Anthropic's guide starts for hard tasks. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 63_999,
};

type Facts = Readonly<ModelTraits>;

/** A request that is being written. */
interface AnthropicWriting extends Writing {
  readonly facts: Facts;
  readonly turns: readonly AnthropicMessage[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly maxTokens: number;
  /** Stop sequences that are not sent. */
  readonly cutAt: string[];
}

/** Whether temperature and others may be sent depends on thinking, so reasoning is written first. */
const WRITER = parameterWriter<AnthropicWriting>({
  reasoning: {
    effort: writeThinking,
    budgetTokens: writeThinking,
    enabled: writeThinking,
    summary: writeThinking,
  },
  parameters: {
    maxTokens: "max_tokens",
    temperature: writeTemperature,
    topP: writeTopP,
    topK: writeTopK,
    stop: writeStop,
    parallelToolCalls: writeParallel,
    user: (user) => (user === "" ? undefined : { metadata: { user_id: user } }),
    metadata: writeMetadata,
    serviceTier: writeServiceTier,
    presencePenalty: false,
    frequencyPenalty: false,
    seed: false,
    n: false,
    logprobs: false,
    topLogprobs: false,
    logitBias: false,
    store: false,
    verbosity: false,
    modalities: () => undefined,
  },
  // See caching.ts.
  carries: new Set(["prompt_cache_options"]),
});
const PLACES: Places = { names: false, detail: false, cacheMarkers: "everywhere", documents: true, pictures: false };

/** Writes the request. Throws `ApiError` `unsupported_parameter`. */
export function anthropicRequest(original: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const dropped = new Set<string>();
  const chat = inOwnFormat(flattenTools(original), ANTHROPIC, PLACES, dropped);
  refuseKinds(chat, TEXT_ONLY);
  const facts = factsOf(ctx.model);
  const { system, turns } = anthropicTurns(pairResults(chat.messages), dropped, facts);
  const body: Record<string, unknown> = { model: ctx.model, max_tokens: ctx.maxOutputTokens };
  addFormat(body, system, chat, facts);
  if (system.length > 0) body["system"] = system;
  body["messages"] = turns;
  addTools(body, chat, turns, facts, dropped);
  const maxTokens = chat.maxTokens ?? ctx.maxOutputTokens;
  const at: AnthropicWriting = { chat, facts, turns, body, maxTokens, dropped, cutAt: [] };
  WRITER.reasoning(body, at);
  WRITER.parameters(body, at);
  const { prompt_cache_options: given } = WRITER.carried(at);
  const named = anthropicEndUser(asRecord(body["metadata"]), ctx);
  if (named !== undefined) body["metadata"] = named;
  if (placeMarks(body, { chat, ctx, given })) dropped.add("prompt_cache_options");
  if (ctx.stream) body["stream"] = true;
  const refused = refusedFor(ctx, chat.reasoning);
  if (refused.includes("stop_sequences")) at.cutAt.push(...((body["stop_sequences"] as string[] | undefined) ?? []));
  removeRefused(body, refused, dropped);
  return {
    path: "/messages",
    headers: { ...anthropicHeaders(ctx), "anthropic-version": OWN_VERSION },
    body: (ctx.json ?? JSON.stringify)(body),
    dropped: [...dropped],
    ...(at.cutAt.length > 0 ? { cutAt: at.cutAt } : {}),
  };
}

/** Anthropic answers 400 to blank stop sequences. */
function writeStop(texts: readonly string[], { cutAt }: AnthropicWriting): Members | undefined {
  const stop = texts.filter((text) => text.trim() !== "");
  if (stop.length < texts.length) cutAt.push(...texts.filter((text) => text.trim() === ""));
  return stop.length > 0 ? { stop_sequences: stop } : undefined;
}

/** The version of the API that the bodies written here follow, whichever version the client's own body follows. */
const OWN_VERSION = "2023-06-01";

/** The headers of a relayed request: the client's own version and betas, including unknown ones. */
export function anthropicHeaders(ctx: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {
    "anthropic-version": ctx.clientHeaders["anthropic-version"] ?? OWN_VERSION,
  };
  const beta = ctx.clientHeaders["anthropic-beta"];
  if (beta !== undefined && beta !== "") headers["anthropic-beta"] = beta;
  return headers;
}

function addFormat(body: Record<string, unknown>, system: AnthropicBlock[], chat: ChatRequest, facts: Facts): void {
  const format = chat.responseFormat;
  if (format === undefined || format.type === "text") return;
  const fitted = format.type === "json_schema" && facts.structured && fitSchema(format.schema, CLAUDE_SCHEMA);
  if (fitted) {
    body["output_config"] = { format: { type: "json_schema", schema: fitted.schema } };
    return;
  }
  // There is no parameter for the format, so the prompt states it.
  const text =
    format.type === "json_schema"
      ? `Answer with one JSON value that matches this JSON Schema and with nothing else:\n${JSON.stringify(format.schema)}`
      : "Answer with one JSON object and with nothing else.";
  system.push({ type: "text", text });
}

function addTools(
  body: Record<string, unknown>,
  chat: ChatRequest,
  turns: AnthropicMessage[],
  facts: Facts,
  dropped: Set<string>,
): void {
  const tools: AnthropicBlock[] = [];
  for (const tool of chat.tools) {
    if (tool.type === "server") {
      if (tool.origin === ANTHROPIC) tools.push({ ...tool.value });
      else dropped.add(`tools.${tool.name}`);
    } else if (tool.type === "function") tools.push(toolBlock(tool, facts, dropped));
  }
  if (tools.length === 0) {
    // A history with calls requires declared tools (anthropic-sdk-python#494).
    const called = new Set(turns.flatMap((turn) => turn.content).map(calledName));
    called.delete(undefined);
    for (const name of called) tools.push({ name, input_schema: { type: "object" } });
    if (tools.length > 0) Object.assign(body, { tools, tool_choice: { type: "none" } });
    return;
  }
  body["tools"] = tools;
  const { word, told } = choiceOf(chat, facts);
  if (told !== undefined) {
    tell(turns, facts, told);
    dropped.add("tool_choice");
  }
  if (word !== undefined) body["tool_choice"] = word;
}

function writeParallel(may: boolean, { body }: AnthropicWriting): Members | undefined {
  if (may || body["tools"] === undefined) return undefined;
  const choice = (body["tool_choice"] as AnthropicBlock | undefined) ?? { type: "auto" };
  return choice["type"] === "none" ? undefined : { tool_choice: { ...choice, disable_parallel_tool_use: true } };
}

function calledName(block: AnthropicBlock): string | undefined {
  return block["type"] === "tool_use" ? asText(block["name"]) : undefined;
}

function toolBlock(tool: FunctionTool, facts: Facts, dropped: Set<string>): AnthropicBlock {
  const block: AnthropicBlock = { name: tool.name };
  if (tool.description) block["description"] = tool.description;
  // Anthropic requires that the schema has the type object.
  const schema = { ...toolSchema(tool.parameters ?? { properties: {} }), type: "object" };
  const strict = tool.strict && facts.structured ? fitSchema(schema, CLAUDE_SCHEMA) : undefined;
  block["input_schema"] = strict?.schema ?? schema;
  if (strict !== undefined) block["strict"] = true;
  else if (tool.strict) dropped.add("strict");
  if (tool.cacheControl !== undefined) block["cache_control"] = tool.cacheControl;
  return block;
}

/** The tool choice as a parameter, and the part of it for which there is no parameter and which the prompt must state. */
function choiceOf({ toolChoice: choice, tools }: ChatRequest, facts: Facts): { word?: AnthropicBlock; told?: string } {
  const told = facts.forcedTool ? undefined : forcedInWords(choice);
  if (told !== undefined) return { word: { type: "auto" }, told };
  switch (choice?.type) {
    case undefined:
      return {};
    case "auto":
    case "none":
      return { word: { type: choice.type } };
    case "required":
      return { word: { type: "any" } };
    case "tool":
      return { word: { type: "tool", name: choice.name } };
    case "allowed": {
      const { names, mode } = choice;
      if (mode === "required" && names.length === 1) return { word: { type: "tool", name: names[0] } };
      const word = { type: mode === "required" ? "any" : "auto" };
      // A shorter list of tools would change the beginning of every turn and break caches.
      const allowed = new Set(names);
      return tools.every(({ name }) => allowed.has(name)) ? { word } : { word, told: allowedInWords(names) };
    }
  }
}

/** Adds an instruction at the end of the prompt, so that no earlier message changes. */
function tell(turns: AnthropicMessage[], facts: Facts, text: string): void {
  const block = { type: "text", text };
  const last = turns.at(-1);
  if (last?.role === "system") last.content.push(block);
  else if (last?.role === "user" && facts.lateSystem) turns.push({ role: "system", content: [block] });
  else turns.findLast((turn) => turn.role === "user")?.content.push(block);
}

/** Summaries are what the protocol shows of thoughts, so they need no parameter of their own. */
function writeThinking(
  wanted: Pick<ReasoningOptions, "effort" | "budgetTokens" | "enabled" | "summary">,
  { facts, turns, body, maxTokens, dropped }: AnthropicWriting,
): Members | undefined {
  const withEffort = (effort: string | undefined) => ({ ...(body["output_config"] as AnthropicBlock), effort });
  if (wantsNone(wanted)) {
    if (facts.thinkingOff !== "never") return facts.thinkingOff === "" ? {} : { thinking: { type: facts.thinkingOff } };
    // The model cannot stop thinking, so the lowest effort is sent.
    dropped.add("reasoning_effort");
    return { output_config: withEffort(facts.efforts[0]) };
  }
  if (wanted.effort === undefined && wanted.budgetTokens === undefined && wanted.enabled === undefined)
    return undefined;
  const forced = (body["tool_choice"] as AnthropicBlock | undefined)?.["type"];
  if (facts.thinking === "none" || forced === "any" || forced === "tool") {
    // A forced tool and thinking exclude each other, and the tool matters more to the caller.
    dropped.add("reasoning_effort");
    return undefined;
  }
  if (facts.thinking === "effort") {
    const thinking = { type: "adaptive", ...(facts.display ? { display: "summarized" } : {}) };
    if (wanted.effort === undefined) return { thinking };
    const { effort, changed } = fittedEffort(wanted.effort, facts.efforts);
    if (changed) dropped.add("reasoning_effort");
    return { thinking, output_config: withEffort(effort) };
  }
  const budget = budgetFor(wanted, maxTokens);
  if (budget >= BUDGET_TOKENS_MIN && mayThink(turns)) return { thinking: { type: "enabled", budget_tokens: budget } };
  dropped.add("reasoning_effort");
  return undefined;
}

/** The thinking budget: the client's own if it leaves tokens for an answer, otherwise one that leaves a share of the limit. */
function budgetFor({ effort, budgetTokens }: ReasoningOptions, maxTokens: number): number {
  if (budgetTokens !== undefined && budgetTokens < maxTokens) return budgetTokens;
  const wanted = budgetTokens ?? lookUp(BUDGETS, effort ?? "medium") ?? BUDGETS["medium"]!;
  return Math.min(wanted, Math.floor(maxTokens * THINKING_SHARE_MAX));
}

/**
 * Whether the model may think. With a budget, a tool loop only continues thinking if the turn with the calls begins with its
 * signed thinking.
 */
function mayThink(turns: readonly AnthropicMessage[]): boolean {
  const last = turns.findLast((turn) => turn.role === "assistant");
  if (last === undefined || !last.content.some((block) => block["type"] === "tool_use")) return true;
  const first = last.content[0]?.["type"];
  return first === "thinking" || first === "redacted_thinking";
}

function thinks({ body }: AnthropicWriting): boolean {
  const type = (body["thinking"] as AnthropicBlock | undefined)?.["type"];
  return type === "enabled" || type === "adaptive";
}

function writeTemperature(temperature: number, at: AnthropicWriting): Members | undefined {
  // Thinking requires temperature 1. Anthropic's scale ends at 1, that of other protocols at 2.
  if (!thinks(at) && at.facts.sampling !== "never") return { temperature: Math.min(1, Math.max(0, temperature)) };
  at.dropped.add("temperature");
  return undefined;
}

function writeTopP(topP: number, at: AnthropicWriting): Members | undefined {
  const { facts, body } = at;
  const isSecond = body["temperature"] !== undefined && !facts.bothSamplers;
  if (facts.sampling !== "never" && !isSecond && (topP >= 0.95 || !thinks(at))) return { top_p: topP };
  at.dropped.add("top_p");
  return undefined;
}

function writeTopK(topK: number, at: AnthropicWriting): Members | undefined {
  if (at.facts.sampling !== "never" && !thinks(at)) return { top_k: topK };
  at.dropped.add("top_k");
  return undefined;
}

/** Anthropic's metadata has only the member for the user. */
function writeMetadata(
  metadata: NonNullable<ChatRequest["metadata"]>,
  { chat, dropped }: AnthropicWriting,
): Members | undefined {
  if (Object.keys(metadata).some((name) => name !== "user_id")) dropped.add("metadata");
  const user = chat.user === undefined ? asText(metadata["user_id"]) : undefined;
  return user === undefined || user === "" ? undefined : { metadata: { user_id: user } };
}

function writeServiceTier(tier: string, { dropped }: AnthropicWriting): Members | undefined {
  if (tier === "auto" || tier === "standard_only") return { service_tier: tier };
  dropped.add("service_tier");
  return undefined;
}
