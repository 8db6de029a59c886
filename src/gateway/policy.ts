// What is checked and filled in before any upstream is contacted: family, images, tools, limits (specification "General
// rules", contract §3 "defaults"), and what an upstream's refusal means to the client.

import { ApiError, type ErrorCode } from "../base/errors.ts";
import type { CatalogModel } from "../catalog/models.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { RequestContext } from "../upstream/dialect.ts";
import type { FaultKind, UpstreamFault } from "../upstream/fault.ts";
import { mayReasonByName, refusedFor } from "../upstream/quirks.ts";

/** Chat formats' default, where the client gives no limit (specification "Limits"). */
const DEFAULT_MAX_TOKENS = 4096;
/** Spec: chat completions and responses default to this. */
const DEFAULT_TEMPERATURE = 0.7;

/** Throws 400 for what the model cannot do; nothing upstream has been contacted yet. */
export function checkAgainstModel(chat: ChatRequest, model: CatalogModel, limitParam: string): void {
  if (!model.supportsVision) {
    const param = imageParam(chat);
    if (param !== undefined) {
      throw new ApiError("image_input_not_supported", `The model "${model.id}" cannot read images.`, { param });
    }
  }
  if (!model.supportsTools && chat.tools.length > 0) {
    throw new ApiError("tools_not_supported", `The model "${model.id}" cannot call tools.`, { param: "tools" });
  }
  if (model.known.maxOutputTokens && chat.maxTokens !== undefined && chat.maxTokens > model.maxOutputTokens) {
    const message = `'${limitParam}' is ${chat.maxTokens}, but "${model.id}" generates at most ${model.maxOutputTokens} tokens.`;
    throw new ApiError("max_tokens_exceeded", message, { param: limitParam });
  }
}

/** The path of the first image, in the neutral order of messages. */
function imageParam(chat: ChatRequest): string | undefined {
  for (const [i, message] of chat.messages.entries()) {
    for (const [j, part] of message.content.entries()) {
      if (part.type === "image") return `messages[${i}].content[${j}]`;
      if (part.type === "tool-result" && part.content.some((inner) => inner.type === "image"))
        return `messages[${i}].content[${j}]`;
    }
  }
  return undefined;
}

/** What goes up where the client said nothing; the same on the lossless path. */
export interface Defaults {
  temperature?: number;
  maxTokens?: number;
}

/** Words for reasoning that clients of compatible servers use beside those of the protocol. */
const REASONING_WORDS = [
  "reasoning",
  "reasoning_effort",
  "thinking",
  "enable_thinking",
  "thinking_budget",
  "include_reasoning",
  "chat_template_kwargs",
];

/** Contract §3 "defaults": none beside reasoning, for reasoning models, nor for formats that have no such default. */
export function defaultsFor(chat: ChatRequest, model: CatalogModel, format: string): Defaults {
  const out: Defaults = {};
  if (format === "anthropic-messages" || model.supportsReasoning || speaksOfReasoning(chat)) return out;
  if (chat.temperature === undefined) out.temperature = DEFAULT_TEMPERATURE;
  if (chat.maxTokens === undefined && format !== "openai-responses") {
    out.maxTokens = Math.min(DEFAULT_MAX_TOKENS, model.maxOutputTokens);
  }
  return out;
}

function speaksOfReasoning({ reasoning, extra }: ChatRequest): boolean {
  return reasoning !== undefined || REASONING_WORDS.some((word) => extra[word] !== undefined && extra[word] !== null);
}

/** The defaults without what the provider refuses for this model; none where its name says that it may reason. */
export function allowedDefaults(
  defaults: Defaults,
  ctx: Pick<RequestContext, "model" | "quirks">,
  { known }: Pick<CatalogModel, "known">,
): Defaults {
  if (!known.supportsReasoning && mayReasonByName(ctx)) return {};
  const refused = refusedFor(ctx, undefined);
  const out: Defaults = {};
  if (defaults.temperature !== undefined && !refused.includes("temperature")) out.temperature = defaults.temperature;
  if (defaults.maxTokens !== undefined && !refused.includes(ctx.quirks.max_tokens_field ?? "max_tokens"))
    out.maxTokens = defaults.maxTokens;
  return out;
}

const LIMITS = new Set(["max_tokens", "max_completion_tokens", "max_output_tokens"]);

/** True for a parameter that the client never sent: leaving a default of ours out is nothing to tell. */
export function isOwnDefault(name: string, { defaults }: { defaults: Defaults }): boolean {
  if (name === "temperature") return defaults.temperature !== undefined;
  return LIMITS.has(name) && defaults.maxTokens !== undefined;
}

const FAULT_CODES: Readonly<Record<FaultKind, ErrorCode>> = {
  auth: "provider_auth_failed",
  bad_request: "invalid_request",
  context_length: "context_length_exceeded",
  model_missing: "provider_model_missing",
  rate_limited: "provider_rate_limited",
  unavailable: "provider_unavailable",
  timeout: "provider_timeout",
};

const FAULT_TEXT: Readonly<Partial<Record<FaultKind, string>>> = {
  auth: "The provider refused this gateway's credentials. Tell its operator.",
  model_missing: "The provider does not have this model any more. Tell the operator.",
  unavailable: "The provider is unavailable. Try again.",
  timeout: "The provider did not answer in time. Try again.",
};

/** What the client is told about a failed call (contract §3 "upstream failures"). `scrub` takes secrets out of upstream text. */
export function clientError(fault: UpstreamFault, scrub: (text: string) => string): ApiError {
  const fixed = FAULT_TEXT[fault.kind];
  // Upstream text is shown where it helps the client mend its request, never where it may speak of the operator's account.
  const message = fixed ?? scrub(fault.message).slice(0, MESSAGE_CHARS_MAX);
  return new ApiError(FAULT_CODES[fault.kind], message, {
    param: fault.kind === "bad_request" ? fault.param : null,
    headers: fault.headers,
    cause: fault,
    ...(fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds }),
  });
}

const MESSAGE_CHARS_MAX = 2000;

/** What kind of failure an error is that a provider reported within an answer, by the code its dialect gave it. */
export function kindOfCode(code: string): FaultKind {
  for (const [kind, own] of Object.entries(FAULT_CODES)) if (own === code) return kind as FaultKind;
  return "unavailable";
}

/** Whether another route may succeed where this one failed: never for what the request itself is to blame for. */
export function mayTryElsewhere(kind: FaultKind): boolean {
  return kind !== "bad_request" && kind !== "context_length";
}

/** Whether the same route may be tried again: connect errors, 5xx and 429. A provider that took the request and gave no
 * answer in time has had its chance. */
export function mayRetry({ kind, connecting }: UpstreamFault): boolean {
  return kind === "unavailable" || kind === "rate_limited" || (kind === "timeout" && connecting);
}
