// Writes a ChatRequest as the body of an OpenAI chat completion for compatible servers. Custom tools and namespaces were
// flattened before (chat/tools.ts), as few compatible servers support them.

import type { ApiError } from "../../../base/errors.ts";
import type {
  AssistantContent,
  CacheControl,
  ChatMessage,
  ChatRequest,
  MediaSource,
  ReasoningOptions,
  ReasoningPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  UserContent,
} from "../../../chat/request.ts";
import { firstByName } from "../../../chat/tools.ts";
import { factsOf } from "../../../vendors/model-facts.ts";
import { cacheFormFor, markedPlaces, markOf } from "../../cache-form.ts";
import type { RequestContext, UpstreamRequest } from "../../dialect.ts";
import { openaiEndUser } from "../../end-user.ts";
import { documentName, ForeignMedia, ForeignPiece, inOwnFormat, type Places } from "../../foreign.ts";
import { isTextOnly } from "../../output-kinds.ts";
import { type Members, parameterWriter, removeRefused, type Writing } from "../../parameters.ts";
import { effortFor, effortsFor, mayReason, refusedFor } from "../../quirks.ts";
import { strictOrPlain, toolSchema } from "../../schema-fit.ts";
import { forcedInWords } from "../../tool-choice.ts";
import { googleContent } from "./details.ts";
import { askedOn, bridged, fitToQuirks, schemaInWords } from "./quirks.ts";

type Json = Record<string, unknown>;

/** A request that is being written. */
interface ChatWriting extends Writing {
  readonly ctx: RequestContext;
  readonly refused: readonly string[];
  /** Whether tools are offered. Without them, servers refuse parameters of tools. */
  readonly offersTools: boolean;
  cutAt?: readonly string[];
}

const WRITER = parameterWriter<ChatWriting>({
  parameters: {
    maxTokens: (limit, { ctx }) => ({ [ctx.quirks.max_tokens_field ?? "max_tokens"]: limit }),
    temperature: "temperature",
    topP: "top_p",
    topK: false,
    presencePenalty: "presence_penalty",
    frequencyPenalty: "frequency_penalty",
    seed: "seed",
    stop: writeStop,
    n: "n",
    logprobs: "logprobs",
    topLogprobs: "top_logprobs",
    logitBias: "logit_bias",
    user: "user",
    store: "store",
    serviceTier: writeServiceTier,
    verbosity: "verbosity",
    modalities: (kinds) => (isTextOnly(kinds) ? undefined : { modalities: kinds }),
    metadata: writeMetadata,
    parallelToolCalls: (may, { offersTools }) => (offersTools ? { parallel_tool_calls: may } : undefined),
  },
  reasoning: {
    effort: writeEffort,
    budgetTokens: writeEffort,
    enabled: writeEffort,
    summary: false,
  },
  carries: new Set([
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "moderation",
  ]),
});

/** Members without which there is no request. */
const KEPT = ["model", "messages"];
/** Members that the gateway sets itself, so that they are not reported if the provider refuses them. */
const OWN = ["stream_options"];
const OWN_WHOLE = [...OWN, "stream"];

/** Writes the upstream request. Throws `ApiError` `unsupported_parameter` for content that the protocol cannot express. */
export function openaiChatRequest(given: ChatRequest, ctx: RequestContext): UpstreamRequest {
  const dropped = new Set<string>();
  const form = cacheFormFor(ctx);
  const places: Places = {
    names: true,
    detail: true,
    cacheMarkers: markedPlaces(form),
    documents: false,
    pictures: false,
  };
  const chat = fitToQuirks(inOwnFormat(given, "openai-chat", places, dropped), ctx.quirks, form);
  const refused = refusedFor(ctx, chat.reasoning);
  const facts = factsOf(ctx.model);
  const lastUser = chat.messages.findLastIndex(({ role }) => role === "user");
  const turns = chat.messages.flatMap((message, at) => turnsOf(message, ctx, at > lastUser));
  const asked = facts.prefill ? turns : askedOn(turns);
  if (asked !== turns) dropped.add("prefill");
  const body: Json = { model: ctx.model, messages: facts.userAfterTool ? asked : bridged(asked) };
  const tools = toolsOf(chat.tools, dropped);
  const at: ChatWriting = { chat, ctx, refused, dropped, offersTools: tools.length > 0 };
  WRITER.parameters(body, at);
  WRITER.reasoning(body, at);
  Object.assign(body, WRITER.carried(at));
  if (tools.length > 0) {
    body["tools"] = tools;
    const told = facts.forcedTool ? undefined : forcedInWords(chat.toolChoice);
    if (told !== undefined) {
      (body["messages"] as Json[]).push({ role: "system", content: told });
      body["tool_choice"] = "auto";
      dropped.add("tool_choice");
    } else if (chat.toolChoice !== undefined) body["tool_choice"] = toolChoiceOf(chat.toolChoice, chat.tools);
  }
  setResponseFormat(body, at);
  Object.assign(body, openaiEndUser(body, ctx, refused));
  body["stream"] = chat.stream;
  if (chat.stream && ctx.quirks.stream_options !== false) body["stream_options"] = { include_usage: true };
  removeRefused(body, refused, dropped, { kept: KEPT, silent: chat.stream ? OWN : OWN_WHOLE });
  const request = {
    path: "/chat/completions",
    headers: {},
    body: (ctx.json ?? JSON.stringify)(body),
    dropped: [...dropped],
  };
  return at.cutAt === undefined ? request : { ...request, cutAt: at.cutAt };
}

/** If the server refuses stop sequences, the gateway itself cuts the answer at them. */
function writeStop(stop: readonly string[], at: ChatWriting): Members | undefined {
  if (!at.refused.includes("stop")) return { stop };
  at.cutAt = stop;
  return undefined;
}

function writeServiceTier(tier: string, { dropped }: ChatWriting): Members | undefined {
  // This value is Anthropic's, and no other protocol has it.
  if (tier !== "standard_only") return { service_tier: tier };
  dropped.add("service_tier");
  return undefined;
}

/** Only strings are sent. OpenAI refuses metadata on completions that are not stored. */
function writeMetadata(
  metadata: NonNullable<ChatRequest["metadata"]>,
  { chat, ctx, dropped }: ChatWriting,
): Members | undefined {
  const values = Object.values(metadata);
  if (values.length === 0) return undefined;
  const isText = values.every((value) => typeof value === "string");
  if (isText && (ctx.quirks.metadata_needs_store !== true || chat.store === true)) return { metadata };
  dropped.add("metadata");
  return undefined;
}

function writeEffort(
  wanted: Pick<ReasoningOptions, "effort" | "budgetTokens" | "enabled">,
  { ctx, dropped }: ChatWriting,
): Members {
  const { effort, changed } = effortFor(wanted, effortsFor(ctx, "chat"), mayReason(ctx));
  if (changed) dropped.add("reasoning_effort");
  return { reasoning_effort: effort };
}

function setResponseFormat(body: Json, { chat, ctx, refused, dropped }: ChatWriting): void {
  const format = chat.responseFormat;
  if (format === undefined || format.type === "text") return;
  if (format.type === "json_object") {
    body["response_format"] = { type: "json_object" };
    return;
  }
  if (ctx.quirks.json_schema !== false && !refused.includes("response_format")) {
    const { type, schema, strict, ...named } = format;
    const { relaxed, ...taken } = strictOrPlain(schema, strict);
    if (relaxed) dropped.add("strict");
    body["response_format"] = { type, json_schema: { ...named, ...taken } };
    return;
  }
  body["response_format"] = { type: "json_object" };
  (body["messages"] as Json[]).unshift(schemaInWords(format.schema));
}

const EMPTY_SCHEMA = { type: "object", properties: {} };

function toolsOf(tools: readonly Tool[], dropped: Set<string>): Json[] {
  const out: Json[] = [];
  for (const tool of tools) {
    if (tool.type === "function") {
      const { name, description, cacheControl: cache_control } = tool;
      const {
        schema: parameters,
        strict,
        relaxed,
      } = strictOrPlain(toolSchema(tool.parameters ?? EMPTY_SCHEMA), tool.strict);
      if (relaxed) dropped.add("strict");
      const fn = { name, description, parameters, strict };
      out.push({ type: "function", function: fn, ...(cache_control === undefined ? {} : { cache_control }) });
    } else if (tool.type === "custom") {
      const { name, description, format } = tool;
      out.push({ type: "custom", custom: { name, description, format } });
    } else if (tool.origin === "openai-chat") out.push({ ...tool.value });
    else dropped.add(`tools.${tool.name}`);
  }
  return out;
}

function toolChoiceOf(choice: ToolChoice, offered: readonly Tool[]): unknown {
  switch (choice.type) {
    case "tool":
      return choice.kind === "custom"
        ? { type: "custom", custom: { name: choice.name } }
        : { type: "function", function: { name: choice.name } };
    case "allowed": {
      const byName = firstByName(offered);
      const tools = choice.names.flatMap((name) => {
        const tool = byName.get(name);
        if (tool?.type === "server") return tool.origin === "openai-chat" ? [{ type: tool.name }] : [];
        return [
          tool?.type === "custom" ? { type: "custom", custom: { name } } : { type: "function", function: { name } },
        ];
      });
      return { type: "allowed_tools", allowed_tools: { mode: choice.mode, tools } };
    }
    default:
      return choice.type;
  }
}

/** The turns of a message. `isLoop`: no user's message follows. */
function turnsOf(message: ChatMessage, ctx: RequestContext, isLoop: boolean): Json[] {
  switch (message.role) {
    case "system":
      return [named(message.name, { role: "system", content: contentOf(message.content) })];
    case "user":
      return [named(message.name, { role: "user", content: contentOf(message.content) })];
    case "assistant":
      return [named(message.name, assistantOf(message.content, ctx, isLoop))];
    case "tool":
      return toolTurns(message.content);
  }
}

function named(name: string | undefined, turn: Json): Json {
  return name === undefined ? turn : { ...turn, name };
}

/** The content of a message: a string if it is plain text, which every server accepts, otherwise parts. */
function contentOf(content: readonly UserContent[]): string | Json[] {
  const only = content[0];
  if (only === undefined) return "";
  if (content.length === 1 && only.type === "text" && only.cacheControl === undefined) return only.text;
  return content.map(partOf);
}

function partOf(part: UserContent): Json {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...markOf(part) };
    case "image": {
      const detail = part.detail === undefined ? {} : { detail: part.detail };
      return { type: "image_url", image_url: { url: urlOf(part.source), ...detail }, ...mediaMark(part) };
    }
    case "audio":
      return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
    case "file":
      if (part.source.kind === "text") return { type: "text", text: part.source.text, ...markOf(part) };
      if (part.source.kind === "file")
        return { type: "file", file: { file_id: part.source.fileId }, ...mediaMark(part) };
      if (part.source.kind === "url") throw unsupported("a document by URL", part.source);
      return {
        type: "file",
        file: { filename: part.filename ?? documentName(part.source.mediaType), file_data: urlOf(part.source) },
        ...mediaMark(part),
      };
    case "opaque":
      if (part.origin === "openai-chat") return { ...part.value };
      throw new ForeignPiece(part.value);
  }
}

/** Routers accept Anthropic's markers on text alone. */
function mediaMark(part: { cacheControl?: CacheControl }): Json {
  const { prompt_cache_breakpoint: mark } = markOf(part);
  return mark === undefined ? {} : { prompt_cache_breakpoint: mark };
}

function urlOf(source: MediaSource): string {
  if (source.kind === "url") return source.url;
  if (source.kind === "base64") return `data:${source.mediaType};base64,${source.data}`;
  throw unsupported("a stored file", source);
}

function unsupported(what: string, source: MediaSource): ApiError {
  return new ForeignMedia(`The provider of this model cannot take ${what}.`, { source });
}

function assistantOf(content: readonly AssistantContent[], ctx: RequestContext, isLoop: boolean): Json {
  const texts: string[] = [];
  const reasoning: ReasoningPart[] = [];
  const calls: Json[] = [];
  let refusal: string | undefined;
  for (const part of content) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "refusal") refusal = (refusal ?? "") + part.text;
    else if (part.type === "reasoning") reasoning.push(part);
    else if (part.type === "tool-call") {
      calls.push(
        part.kind === "custom"
          ? { id: part.callId, type: "custom", custom: { name: part.name, input: part.arguments } }
          : {
              id: part.callId,
              type: "function",
              function: { name: part.name, arguments: part.arguments || "{}" },
              // A signature of this protocol is this provider's own, since those of other providers were removed before.
              ...(part.signature !== undefined && part.origin === "openai-chat" ? googleContent(part.signature) : {}),
            },
      );
    }
  }
  const turn: Json = { role: "assistant", content: texts.length > 0 ? texts.join("") : null };
  if (refusal !== undefined) turn["refusal"] = refusal;
  if (calls.length > 0) turn["tool_calls"] = calls;
  else if (turn["content"] === null && refusal === undefined) turn["content"] = "";
  const details = reasoning.flatMap((part) => part.details ?? []);
  if (details.length > 0 && ctx.quirks.refuses_reasoning !== true) turn["reasoning_details"] = details;
  const thought = reasoning.map((part) => part.text || (part.summary ?? []).join("\n")).join("");
  const { return_reasoning_content: always, loop_reasoning: inLoop } = ctx.quirks;
  const isReturned = always === true || (inLoop === true && isLoop && calls.length > 0);
  if (isReturned && ctx.quirks.refuses_reasoning !== true && thought !== "") turn["reasoning_content"] = thought;
  return turn;
}

/** Writes one `tool` turn for each result. In this protocol such a turn cannot contain images, so they follow in a user turn. */
function toolTurns(results: readonly ToolResultPart[]): Json[] {
  const turns: Json[] = [];
  const shown: Json[] = [];
  results.forEach((result) => {
    const texts: { text: string; mark: Json }[] = [];
    result.content.forEach((part) => {
      if (part.type === "text") texts.push({ text: part.text, mark: markOf(part) });
      else if (part.type === "opaque") texts.push({ text: JSON.stringify(part.value), mark: {} });
      else {
        shown.push({ type: "text", text: `Attached to the result of tool call ${result.callId}:` });
        shown.push(partOf(part));
      }
    });
    const last = texts.at(-1);
    if (last !== undefined) last.mark = { ...markOf(result), ...last.mark };
    turns.push({ role: "tool", tool_call_id: result.callId, content: resultContent(texts, result.isError === true) });
  });
  return shown.length > 0 ? [...turns, { role: "user", content: shown }] : turns;
}

/** The content of a tool's turn: a string, which every server accepts, unless a part of it has a cache marker. */
function resultContent(texts: readonly { text: string; mark: Json }[], isError: boolean): string | Json[] {
  const prefix = isError ? "Error: " : "";
  if (texts.every(({ mark }) => Object.keys(mark).length === 0)) {
    return prefix + texts.map(({ text }) => text).join("\n");
  }
  return texts.map(({ text, mark }, at) => ({ type: "text", text: at === 0 ? prefix + text : text, ...mark }));
}
