// Checks and defaults before an upstream is called (protocol, images, tools, limits), and what a failure of an upstream means for
// the client, for the breaker, and for other routes.

import { ApiError, type ApiErrorDetail, type ErrorBody, type ErrorCode } from "../../base/errors.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import { type AnswerFault, type AnswerFaultCode, type ErrorWords, isAnswerFault } from "../../chat/answer-fault.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { contextCounts } from "../../upstream/context-counts.ts";
import type { RequestContext } from "../../upstream/dialect.ts";
import { type FaultKind, UpstreamFault } from "../../upstream/fault.ts";
import { mayReasonByName, refusedFor } from "../../upstream/quirks.ts";
import type { WireFormat } from "../../wire/format.ts";
import { firstImage } from "../../wire/image-inputs.ts";

/** The output limit in chat formats if the client gives none. */
const DEFAULT_MAX_TOKENS = 4096;
/** The default temperature of chat completions and responses. */
const DEFAULT_TEMPERATURE = 0.7;

type Body = Readonly<Record<string, unknown>>;

/** Throws 400 for parameters that the model does not support, before an upstream is called. */
export function checkAgainstModel(
  chat: ChatRequest,
  model: CatalogModel,
  { body, format }: { body: Body; format: WireFormat },
): void {
  if (!model.supportsTools && chat.tools.length > 0) {
    throw new ApiError("tools_not_supported", `The model "${model.id}" cannot call tools.`, { param: "tools" });
  }
  if (exceedsLimit(chat, model) && format.lowersLimit !== true) {
    const limitParam = limitParamOf(body);
    const message = `'${limitParam}' is ${chat.maxTokens}, but "${model.id}" generates at most ${model.maxOutputTokens} tokens.`;
    throw new ApiError("max_tokens_exceeded", message, { param: limitParam });
  }
}

function exceedsLimit({ maxTokens }: ChatRequest, { known, maxOutputTokens }: CatalogModel): boolean {
  return known.maxOutputTokens && maxTokens !== undefined && maxTokens > maxOutputTokens;
}

function limitParamOf(body: Body): string {
  for (const name of ["max_completion_tokens", "max_output_tokens"]) if (body[name] != null) return name;
  return "max_tokens";
}

/** A request with a lower output limit: what it becomes, what changes in its body, and the names of what was changed. */
interface Lowered {
  chat: ChatRequest;
  members: Record<string, unknown>;
  dropped: string[];
}

/**
 * Lowers an output limit above the model's own, for clients that send one number for every model. Undefined for all other
 * requests.
 */
export function lowered(
  chat: ChatRequest,
  model: CatalogModel,
  { body, format }: { body: Body; format: WireFormat },
): Lowered | undefined {
  if (format.lowersLimit !== true || !exceedsLimit(chat, model)) return undefined;
  const limit = model.maxOutputTokens;
  const members: Record<string, unknown> = { max_tokens: limit };
  const dropped = ["max_tokens"];
  const { reasoning } = chat;
  const budget = reasoning?.budgetTokens;
  if (budget === undefined || budget < limit) return { chat: { ...chat, maxTokens: limit }, members, dropped };
  // A thinking budget has to leave tokens for the answer.
  const budgetTokens = Math.max(1, limit - 1);
  members["thinking"] = { ...(body["thinking"] as Body), budget_tokens: budgetTokens };
  dropped.push("thinking.budget_tokens");
  return { chat: { ...chat, maxTokens: limit, reasoning: { ...reasoning, budgetTokens } }, members, dropped };
}

/**
 * Throws 400 if the body contains an image and the model cannot read images, before an upstream is called. `param`: the name of
 * the place, if the client does not know the paths of this body.
 */
export function refuseImages(body: Body, { id, supportsVision }: CatalogModel, param?: string): void {
  if (supportsVision) return;
  const path = firstImage(body);
  if (path === undefined) return;
  throw new ApiError("image_input_not_supported", `The model "${id}" cannot read images.`, { param: param ?? path });
}

/** The member of a body that names a stored history. */
export function historyParam(body: Body): string | undefined {
  return ["previous_response_id", "conversation", "thread"].find((name) => body[name] != null);
}

/** The values that are sent if the client gave none; they are the same on the relayed path. */
export interface Defaults {
  temperature?: number;
  maxTokens?: number;
}

/** Parameters for reasoning that clients of compatible servers use beside those of the protocol. */
const REASONING_WORDS = [
  "reasoning",
  "reasoning_effort",
  "thinking",
  "enable_thinking",
  "thinking_budget",
  "include_reasoning",
  "chat_template_kwargs",
];

/** The defaults of a request. Reasoning models only get those for reasoning, and formats without such defaults get none. */
export function defaultsFor(chat: ChatRequest, model: CatalogModel, format: Pick<WireFormat, "defaults">): Defaults {
  const out: Defaults = {};
  if (model.supportsReasoning || speaksOfReasoning(chat)) return out;
  if (format.defaults.temperature && chat.temperature === undefined) out.temperature = DEFAULT_TEMPERATURE;
  if (chat.maxTokens === undefined && format.defaults.maxTokens) {
    out.maxTokens = Math.min(DEFAULT_MAX_TOKENS, model.maxOutputTokens);
  }
  return out;
}

function speaksOfReasoning({ reasoning, extra }: ChatRequest): boolean {
  if (reasoning !== undefined) return true;
  for (const word of REASONING_WORDS) if (extra[word] !== undefined && extra[word] !== null) return true;
  return false;
}

/** The defaults without those that the provider refuses for this model; none if its name suggests a reasoning model. */
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

/** Whether a parameter is one of the gateway's defaults, so that dropping it need not be reported. */
export function isOwnDefault(name: string, { defaults }: { defaults: Defaults }): boolean {
  if (name === "temperature") return defaults.temperature !== undefined;
  return LIMITS.has(name) && defaults.maxTokens !== undefined;
}

/** The kind of failure for each code within an answer. The compiler ensures that the list is complete. */
const KIND_OF_CODE: Readonly<Record<AnswerFaultCode, FaultKind>> = {
  invalid_request: "bad_request",
  content_policy_violation: "refused",
  context_length_exceeded: "context_length",
  provider_auth_failed: "auth",
  provider_model_missing: "model_missing",
  provider_rate_limited: "rate_limited",
  provider_unavailable: "unavailable",
  // This applies before the first content; afterwards clients get this code for every failure.
  provider_stream_interrupted: "unavailable",
  provider_timeout: "timeout",
  provider_answer_invalid: "answer_invalid",
  tool_arguments_invalid: "call_invalid",
};

const FAULT_CODES: Readonly<Record<FaultKind, ErrorCode>> = {
  auth: "provider_auth_failed",
  bad_request: "invalid_request",
  refused: "content_policy_violation",
  context_length: "context_length_exceeded",
  model_missing: "provider_model_missing",
  rate_limited: "provider_rate_limited",
  unavailable: "provider_unavailable",
  timeout: "provider_timeout",
  call_invalid: "tool_arguments_invalid",
  answer_invalid: "provider_answer_invalid",
};

/** Texts that replace messages which may reveal the operator's account. */
const ACCOUNT_TEXT: Readonly<Partial<Record<FaultKind, string>>> = {
  auth: "The provider refused this gateway's credentials. Contact the gateway's operator.",
  model_missing: "The provider no longer has this model. Contact the gateway's operator.",
  rate_limited: "The provider is limiting this gateway's requests. Try again later.",
};

/** Texts that replace unhelpful messages of upstreams. */
const FAULT_TEXT: Readonly<Partial<Record<FaultKind, string>>> = {
  ...ACCOUNT_TEXT,
  unavailable: "The provider is unavailable. Try again.",
  timeout: "The provider did not answer in time. Try again.",
};

/** The kind of failure that a code within an answer means. */
export function kindOfCode(code: AnswerFaultCode): FaultKind {
  return KIND_OF_CODE[code];
}

/** Converts a failure that an answer reports to the error of a failed call. */
export function faultOfAnswer({ code, message, said }: AnswerFault): UpstreamFault {
  return new UpstreamFault(kindOfCode(code), message, { said });
}

/** Converts an error in reading an answer to the error of a failed call; other errors are returned unchanged. */
export function faultOfReading(error: unknown): unknown {
  if (error instanceof UpstreamFault) return error;
  if (error instanceof ApiError) {
    const { apiCode: code, message } = error;
    return isAnswerFault(code) ? faultOfAnswer({ code, message }) : error;
  }
  return new UpstreamFault("unavailable", "The provider's answer cannot be read.", { cause: error });
}

/**
 * The error that a client gets for a failed call (docs/reference/errors.md). `scrub` removes secrets from upstream text; `family`
 * is the client's protocol, if some provider speaks it too.
 */
export function clientError(fault: UpstreamFault, scrub: (text: string) => string, family?: string): ApiError {
  // Text of the upstream is shown if it helps the client to correct its request, but never if it may reveal the operator's
  // account.
  const message = FAULT_TEXT[fault.kind] ?? publicText(fault.message, scrub);
  return new ApiError(FAULT_CODES[fault.kind], message, {
    ...(showsWords(fault.kind) ? publicWords(fault, scrub) : {}),
    ...(fault.kind === "context_length" ? sizesOf(fault) : {}),
    headers:
      family !== undefined && family === fault.family ? { ...fault.headers, ...fault.familyHeaders } : fault.headers,
    cause: fault,
    ...(fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds }),
  });
}

/** The figures that a provider reported for a prompt that does not fit. */
function sizesOf(fault: UpstreamFault): ApiErrorDetail {
  const { limit, requested } = contextCounts(fault);
  if (limit === undefined && requested === undefined) return {};
  return {
    details: {
      ...(requested === undefined ? {} : { input_tokens: requested }),
      ...(limit === undefined ? {} : { context_window: limit }),
    },
  };
}

/** The error that a client gets for a failure after an answer has started. */
export function tellAnswerFault(fault: AnswerFault, scrub: (text: string) => string): ErrorBody {
  const { code, message, said = {}, reported } = fault;
  const kind = kindOfCode(reported ?? code);
  const words = showsWords(kind) ? publicWords({ said }, scrub) : {};
  return new ApiError(code, ACCOUNT_TEXT[kind] ?? publicText(message, scrub), words).body();
}

/** Whether the client sees the provider's own code and details, because its request is the cause. */
function showsWords(kind: FaultKind): boolean {
  return kind === "bad_request" || kind === "refused";
}

const MESSAGE_CHARS_MAX = 2000;
/** Larger details are dropped. */
const DETAILS_CHARS_MAX = 8192;

/** Names of organisations, projects and workspaces, as vendors write them in errors. */
const ACCOUNT_IDS =
  /\b(?:org|proj|acct|wrkspc)[-_](?=[A-Za-z0-9]*\d)[A-Za-z0-9]{8,}|(?<=\b(?:team|api key id): ?)[0-9a-f]{8}-[0-9a-f-]{27}/gi;

function publicText(text: string, scrub: (text: string) => string): string {
  return scrub(text).replace(ACCOUNT_IDS, "[redacted]").slice(0, MESSAGE_CHARS_MAX);
}

/** Further details of a provider's refusal, since SDKs react to its codes and details. */
function publicWords(
  { status, said }: { readonly status?: number; readonly said: ErrorWords },
  scrub: (text: string) => string,
): ApiErrorDetail {
  const { param, code, details } = said;
  const clean = (text: string) => publicText(text, scrub);
  const known = code !== undefined && /^[a-z0-9_.]{1,64}$/.test(code) && clean(code) === code;
  const told = known && isSmall(details) ? { details: cleanOf(details, clean) } : {};
  return {
    param: param == null ? null : clean(param),
    ...(status === 413 || status === 404 ? { status } : {}),
    ...(known ? { upstream: { code, ...told } } : {}),
  };
}

function isSmall(details: unknown): boolean {
  return details != null && JSON.stringify(details).length <= DETAILS_CHARS_MAX;
}

/** A copy of a JSON value with secrets removed from every string. */
function cleanOf(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((one) => cleanOf(one, clean));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleanOf(one, clean)]));
}

/** Whether another route may succeed after this failure. It cannot if the request itself is the cause. */
export function mayTryElsewhere(kind: FaultKind): boolean {
  return kind !== "bad_request" && kind !== "refused" && kind !== "context_length";
}

/**
 * Whether the same route may be tried again: after connection errors, 5xx and 429. A provider that accepted the request but did
 * not answer in time, or that cannot be used, is not called again.
 */
export function mayRetry({ kind, connecting }: UpstreamFault): boolean {
  return kind === "unavailable" || kind === "rate_limited" || (kind === "timeout" && connecting);
}
