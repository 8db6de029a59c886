// Writes a neutral request in Gemini's format. Content that the protocol cannot express is dropped and named if the answer does
// not depend on it, and refused otherwise. Sources: ai.google.dev/api/generate-content,
// /gemini-api/docs/{thinking,function-calling,structured-output}.

import { lookUp } from "../../../base/look-up.ts";
import { pairResults } from "../../../chat/pair.ts";
import type { ChatRequest, FunctionTool, ReasoningOptions, ToolChoice } from "../../../chat/request.ts";
import { flattenTools } from "../../../chat/tools.ts";
import { GEMINI_SCHEMA } from "../../../vendors/google.ts";
import { factsOf } from "../../../vendors/model-facts.ts";
import type { ModelTraits } from "../../../vendors/model-family.ts";
import type { RequestContext, UpstreamRequest } from "../../dialect.ts";
import { inOwnFormat, type Places } from "../../foreign.ts";
import { isTextOnly, PICTURES, refuseKinds } from "../../output-kinds.ts";
import { type Members, parameterWriter, type Writing } from "../../parameters.ts";
import { fittedEffort, levelOf, refusedFor, wantsNone } from "../../quirks.ts";
import { fitSchema } from "../../schema-fit.ts";
import { GEMINI, type GeminiContent, type GeminiPart, geminiContents } from "./contents.ts";
import { GEMINI_NAMES } from "./names.ts";

/** Gemini answers 400 to more stop sequences than this; the gateway cuts the answer at the others. */
const STOPS_MAX = 5;

/** A request that is being written. */
interface GeminiWriting extends Writing {
  readonly facts: Readonly<ModelTraits>;
  readonly refused: readonly string[];
  cutAt?: readonly string[];
}

/** The parameters are written into `generationConfig`. Most models answer 400 to penalties and log probabilities. */
const WRITER = parameterWriter<GeminiWriting>({
  parameters: {
    maxTokens: "maxOutputTokens",
    temperature: "temperature",
    topP: "topP",
    topK: "topK",
    seed: "seed",
    n: (count) => (count > 1 ? { candidateCount: count } : undefined),
    stop: writeStop,
    parallelToolCalls: false,
    presencePenalty: false,
    frequencyPenalty: false,
    logprobs: false,
    topLogprobs: false,
    logitBias: false,
    user: false,
    metadata: false,
    store: false,
    serviceTier: false,
    verbosity: false,
    modalities: (kinds) =>
      isTextOnly(kinds) ? undefined : { responseModalities: kinds.map((kind) => kind.toUpperCase()) },
  },
  reasoning: {
    effort: writeThinking,
    budgetTokens: writeThinking,
    enabled: writeThinking,
    summary: writeThinking,
  },
  carries: new Set(),
});
const PLACES: Places = { names: false, detail: false, cacheMarkers: "nowhere", documents: false, pictures: true };

/** Writes the request. Throws `ApiError` `unsupported_parameter`. */
export function geminiRequest(original: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const dropped = new Set<string>();
  const chat = inOwnFormat(flattenTools(original, GEMINI_NAMES), GEMINI, PLACES, dropped);
  refuseKinds(chat, PICTURES);
  const facts = factsOf(ctx.model);
  const refused = refusedFor(ctx, chat.reasoning);
  const at: GeminiWriting = { chat, facts, refused, dropped };
  const config: GeminiPart = {};
  WRITER.parameters(config, at, withoutStop(refused));
  WRITER.carried(at);
  const third = facts.callIds;
  const { system, contents } = geminiContents(pairResults(chat.messages), { third }, dropped);
  WRITER.reasoning(config, at);
  const body: Record<string, unknown> = { contents };
  addTools(body, chat, dropped);
  const beside = third || body["tools"] === undefined;
  addFormat(config, system, { ...at, beside });
  if (system.length > 0) body["systemInstruction"] = { parts: system } satisfies Omit<GeminiContent, "role">;
  if (Object.keys(config).length > 0) body["generationConfig"] = config;
  const cutAt = at.cutAt ?? [];
  return {
    path: geminiPath(ctx),
    headers: {},
    body: (ctx.json ?? JSON.stringify)(body),
    dropped: [...dropped],
    ...(cutAt.length === 0 ? {} : { cutAt }),
  };
}

/** A name that needs no encoding. */
const PLAIN_NAME = /^[\w.-]+$/;

/** The path of a request, which states the model and whether the answer is streamed. */
export function geminiPath(
  { model, stream }: Pick<RequestContext, "model" | "stream">,
  verb = stream ? "streamGenerateContent?alt=sse" : "generateContent",
): string {
  if (PLAIN_NAME.test(model)) return `/models/${model}:${verb}`;
  const name = model.includes("/") ? model : `models/${model}`;
  return `/${name.split("/").map(encodeURIComponent).join("/")}:${verb}`;
}

/** The refused parameters that are dropped. */
function withoutStop(refused: readonly string[]): readonly string[] {
  return refused.includes("stop") ? refused.filter((name) => name !== "stop") : refused;
}

/** The gateway itself cuts the answer at the stop sequences that are not sent. */
function writeStop(stop: readonly string[], at: GeminiWriting): Members | undefined {
  const sent = at.refused.includes("stop") ? [] : stop.slice(0, STOPS_MAX);
  at.cutAt = stop.slice(sent.length);
  return sent.length > 0 ? { stopSequences: sent } : undefined;
}

function addTools(body: Record<string, unknown>, chat: ChatRequest, dropped: Set<string>): void {
  const choice = chat.toolChoice;
  const offered = offeredBy(choice);
  const declarations: GeminiPart[] = [];
  const tools: GeminiPart[] = [];
  for (const tool of chat.tools) {
    if (tool.type === "server") {
      if (tool.origin === GEMINI) tools.push({ ...tool.value });
      else dropped.add(`tools.${tool.name}`);
    } else if (tool.type === "function" && offered?.has(tool.name) !== false) declarations.push(declaration(tool));
  }
  if (declarations.length > 0) tools.unshift({ functionDeclarations: declarations });
  if (tools.length === 0) return;
  body["tools"] = tools;
  const functionCallingConfig = callingConfig(choice);
  if (functionCallingConfig !== undefined && declarations.length > 0) body["toolConfig"] = { functionCallingConfig };
}

/**
 * The tools that are sent; undefined: all. The protocol can limit a forced choice to some tools, but not an optional one, for which
 * the other tools are not sent.
 */
function offeredBy(choice: ToolChoice | undefined): ReadonlySet<string> | undefined {
  return choice?.type === "allowed" && choice.mode !== "required" ? new Set(choice.names) : undefined;
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
 * 400, so the prompt states the format, as it does for a provider that refuses the parameters.
 */
function addFormat(config: GeminiPart, system: GeminiPart[], given: GeminiWriting & { beside: boolean }): void {
  const format = given.chat.responseFormat;
  if (format === undefined || format.type === "text") return;
  const isRefused = given.refused.includes("response_format");
  if (isRefused) given.dropped.add("response_format");
  const beside = given.beside && !isRefused;
  const fitted = format.type === "json_schema" ? fitSchema(format.schema, GEMINI_SCHEMA) : undefined;
  if (beside) {
    config["responseMimeType"] = "application/json";
    if (fitted !== undefined) config["responseJsonSchema"] = fitted.schema;
  }
  if (beside && (fitted !== undefined || format.type === "json_object")) return;
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

/** With a summary, the client wants to see thoughts, which are included whenever the model is asked to think. */
function writeThinking(
  wanted: Pick<ReasoningOptions, "effort" | "budgetTokens" | "enabled" | "summary">,
  { chat, facts, dropped }: GeminiWriting,
): Members | undefined {
  const off = wantsNone(wanted);
  const { effort, budgetTokens } = wanted;
  if (!off && effort === undefined && budgetTokens === undefined && wanted.enabled === undefined) return undefined;
  if (facts.thinking === "effort") {
    const asked = off ? "none" : (effort ?? (budgetTokens === undefined ? undefined : levelOf(budgetTokens)));
    const fitted = asked === undefined ? undefined : fittedEffort(asked, facts.efforts);
    if (fitted?.changed === true) dropped.add("reasoning_effort");
    return {
      thinkingConfig: {
        ...(fitted === undefined ? {} : { thinkingLevel: fitted.effort }),
        includeThoughts: !off,
      },
    };
  }
  if (facts.thinking === "budget") {
    const level = effort === "xhigh" || effort === "max" ? "high" : effort;
    const budget = off ? 0 : (budgetTokens ?? budgetOf(level, chat.maxTokens));
    const thinkingBudget = budget < 0 ? -1 : Math.min(Math.max(budget, facts.budgetMin), BUDGETS["high"]!);
    if (off && thinkingBudget > 0) dropped.add("reasoning_effort");
    return { thinkingConfig: { thinkingBudget, includeThoughts: !off } };
  }
  if (!off) dropped.add("reasoning_effort");
  return undefined;
}

/** The budget of an effort within its share of the output limit; with -1, the model decides. */
function budgetOf(effort: string | undefined, maxTokens: number | undefined): number {
  const budget = effort === undefined ? undefined : lookUp(BUDGETS, effort);
  if (budget === undefined) return -1;
  return maxTokens === undefined ? budget : Math.min(budget, Math.floor(maxTokens * THINKING_SHARE_MAX));
}
