// Writes a neutral request in Gemini's format. Content that the protocol cannot express is dropped and named if the answer does
// not depend on it, and refused otherwise. Sources: ai.google.dev/api/generate-content,
// /gemini-api/docs/{thinking,function-calling,structured-output}.

import { ApiError } from "../../../base/errors.ts";
import { lookUp } from "../../../base/look-up.ts";
import { pairResults } from "../../../chat/pair.ts";
import type { ChatRequest, FunctionTool, ToolChoice } from "../../../chat/request.ts";
import { flattenTools, type NameRules } from "../../../chat/tools.ts";
import { GEMINI_SCHEMA } from "../../../vendors/google.ts";
import { factsOf } from "../../../vendors/model-facts.ts";
import type { ModelTraits } from "../../../vendors/model-family.ts";
import type { RequestContext, UpstreamRequest } from "../../dialect.ts";
import { inOwnFormat, type Places } from "../../foreign.ts";
import { type Takes, takeParameters } from "../../parameters.ts";
import { fittedEffort, levelOf, refusedFor, wantsNone } from "../../quirks.ts";
import { fitSchema } from "../../schema-fit.ts";
import { GEMINI, type GeminiContent, type GeminiPart, geminiContents } from "./contents.ts";

/** Gemini answers 400 to more stop sequences than this; the gateway cuts the answer at the others. */
const STOPS_MAX = 5;

/** The parameters that this protocol supports. Most models answer 400 to penalties and log probabilities. */
const TAKES: Takes = {
  parameters: {
    parallelToolCalls: false,
    maxTokens: true,
    temperature: true,
    topP: true,
    topK: true,
    presencePenalty: false,
    frequencyPenalty: false,
    seed: true,
    stop: true,
    n: true,
    logprobs: false,
    topLogprobs: false,
    logitBias: false,
    user: false,
    metadata: false,
    store: false,
    serviceTier: false,
    verbosity: false,
  },
  carries: new Set(),
};
const PLACES: Places = { names: false, detail: false, cacheMarkers: false, documents: false };

/** Gemini answers 400 to other tool names (google-gemini/gemini-cli#2966). */
export const GEMINI_NAMES: NameRules = { leadingLetter: true };

/** Writes the request. Throws `ApiError` `unsupported_parameter`. */
export function geminiRequest(original: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const dropped = new Set<string>();
  const chat = inOwnFormat(flattenTools(original, GEMINI_NAMES), GEMINI, PLACES, dropped);
  refuse(chat);
  takeParameters(chat, TAKES, dropped);
  const facts = factsOf(ctx.model);
  const third = facts.callIds;
  const { system, contents } = geminiContents(pairResults(chat.messages), { third }, dropped);
  const config = configOf(chat, ctx, dropped);
  addThinking(config, { chat, facts, dropped });
  const body: Record<string, unknown> = { contents };
  addTools(body, chat, dropped);
  addFormat(config, system, { chat, beside: third || body["tools"] === undefined });
  if (system.length > 0) body["systemInstruction"] = { parts: system } satisfies Omit<GeminiContent, "role">;
  if (Object.keys(config).length > 0) body["generationConfig"] = config;
  const model = ctx.model.includes("/") ? ctx.model : `models/${ctx.model}`;
  const verb = ctx.stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const path = `/${model.split("/").map(encodeURIComponent).join("/")}:${verb}`;
  const cutAt = refusedFor(ctx, chat.reasoning).includes("stop") ? chat.stop : chat.stop?.slice(STOPS_MAX);
  return {
    path,
    headers: {},
    body: JSON.stringify(body),
    dropped: [...dropped],
    ...(cutAt === undefined || cutAt.length === 0 ? {} : { cutAt }),
  };
}

function refuse(chat: ChatRequest): void {
  const modalities = chat.extra["modalities"];
  if (Array.isArray(modalities) && modalities.some((kind) => kind !== "text")) {
    throw new ApiError("unsupported_parameter", "This model's provider answers in text only.", { param: "modalities" });
  }
}

function configOf(chat: ChatRequest, ctx: RequestContext, dropped: Set<string>): GeminiPart {
  const config: GeminiPart = {};
  const refused = refusedFor(ctx, chat.reasoning);
  const set = (name: string, key: string, value: unknown) => {
    if (value === undefined) return;
    if (refused.includes(name)) dropped.add(name);
    else config[key] = value;
  };
  set("max_tokens", "maxOutputTokens", chat.maxTokens);
  set("temperature", "temperature", chat.temperature);
  set("top_p", "topP", chat.topP);
  set("top_k", "topK", chat.topK);
  set("seed", "seed", chat.seed);
  set("n", "candidateCount", (chat.n ?? 1) > 1 ? chat.n : undefined);
  const stop = chat.stop?.slice(0, STOPS_MAX) ?? [];
  if (stop.length > 0 && !refused.includes("stop")) config["stopSequences"] = stop;
  return config;
}

function addTools(body: Record<string, unknown>, chat: ChatRequest, dropped: Set<string>): void {
  const choice = chat.toolChoice;
  const declarations: GeminiPart[] = [];
  const tools: GeminiPart[] = [];
  for (const tool of chat.tools) {
    if (tool.type === "server") {
      if (tool.origin === GEMINI) tools.push({ ...tool.value });
      else dropped.add(`tools.${tool.name}`);
    } else if (tool.type === "function" && offered(tool.name, choice)) declarations.push(declaration(tool));
  }
  if (declarations.length > 0) tools.unshift({ functionDeclarations: declarations });
  if (tools.length === 0) return;
  body["tools"] = tools;
  const functionCallingConfig = callingConfig(choice);
  if (functionCallingConfig !== undefined && declarations.length > 0) body["toolConfig"] = { functionCallingConfig };
}

/**
 * Whether a tool is sent. The protocol can limit a forced choice to some tools, but not an optional one, for which the other
 * tools are not sent.
 */
function offered(name: string, choice: ToolChoice | undefined): boolean {
  return choice?.type !== "allowed" || choice.mode === "required" || choice.names.includes(name);
}

function declaration(tool: FunctionTool): GeminiPart {
  const { $schema: _schema, ...parameters } = tool.parameters ?? {};
  return {
    name: tool.name,
    ...(tool.description ? { description: tool.description } : {}),
    // The plain `parameters` field supports only a part of JSON Schema. A function without parameters has neither field.
    ...(Object.keys(parameters).length === 0 ? {} : { parametersJsonSchema: parameters }),
  };
}

function callingConfig(choice: ToolChoice | undefined): GeminiPart | undefined {
  switch (choice?.type) {
    case undefined:
      return undefined;
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [choice.name] };
    case "allowed":
      return choice.mode === "required" ? { mode: "ANY", allowedFunctionNames: choice.names } : { mode: "AUTO" };
  }
}

/**
 * Adds the format of the answer. `beside`: structured output can be combined with tools. Before the third generation that is a
 * 400, so the prompt states the format.
 */
function addFormat(config: GeminiPart, system: GeminiPart[], given: { chat: ChatRequest; beside: boolean }): void {
  const format = given.chat.responseFormat;
  if (format === undefined || format.type === "text") return;
  const fitted = format.type === "json_schema" ? fitSchema(format.schema, GEMINI_SCHEMA) : undefined;
  if (given.beside) {
    config["responseMimeType"] = "application/json";
    if (fitted !== undefined) config["responseJsonSchema"] = fitted.schema;
  }
  if (given.beside && (fitted !== undefined || format.type === "json_object")) return;
  const text =
    format.type === "json_schema"
      ? `Answer with one JSON value that matches this JSON Schema and with nothing else:\n${JSON.stringify(format.schema)}`
      : "Answer with one JSON object and with nothing else.";
  system.push({ text });
}

/** The budgets of the effort levels, for models with budgets. Every 2.5 model accepts the highest one. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 512, low: 1024, medium: 8192, high: 24_576 };
/** The largest share of the output limit, which includes thoughts, for thinking; the rest is for the answer. */
const THINKING_SHARE_MAX = 0.75;

function addThinking(
  config: GeminiPart,
  given: { chat: ChatRequest; facts: Readonly<ModelTraits>; dropped: Set<string> },
): void {
  const wanted = given.chat.reasoning;
  if (wanted === undefined) return;
  const off = wantsNone(wanted);
  const { effort, budgetTokens } = wanted;
  if (!off && effort === undefined && budgetTokens === undefined && wanted.enabled === undefined) return;
  const { facts, dropped } = given;
  if (facts.thinking === "effort") {
    const asked = off ? "none" : (effort ?? (budgetTokens === undefined ? undefined : levelOf(budgetTokens)));
    const fitted = asked === undefined ? undefined : fittedEffort(asked, facts.efforts);
    config["thinkingConfig"] = {
      ...(fitted === undefined ? {} : { thinkingLevel: fitted.effort }),
      includeThoughts: !off,
    };
    if (fitted?.changed === true) dropped.add("reasoning_effort");
  } else if (facts.thinking === "budget") {
    const level = effort === "xhigh" || effort === "max" ? "high" : effort;
    const budget = off ? 0 : (budgetTokens ?? budgetOf(level, given.chat.maxTokens));
    const thinkingBudget = budget < 0 ? -1 : Math.min(Math.max(budget, facts.budgetMin), BUDGETS["high"]!);
    config["thinkingConfig"] = { thinkingBudget, includeThoughts: !off };
    if (off && thinkingBudget > 0) dropped.add("reasoning_effort");
  } else if (!off) dropped.add("reasoning_effort");
}

/** The budget of an effort within its share of the output limit; with -1, the model decides. */
function budgetOf(effort: string | undefined, maxTokens: number | undefined): number {
  const budget = effort === undefined ? undefined : lookUp(BUDGETS, effort);
  if (budget === undefined) return -1;
  return maxTokens === undefined ? budget : Math.min(budget, Math.floor(maxTokens * THINKING_SHARE_MAX));
}
