// What happens to the parameters of a translated request. Each dialect has one table that states for every neutral parameter
// whether its protocol supports it. Unsupported ones are reported as dropped, so that nothing is lost silently. The names are
// those of chat completions, and the caller maps them to the client's.

import type { ChatRequest } from "../chat/request.ts";

/** Members of a request that are not parameters, or that the gateway handles itself. */
type Other =
  | "model"
  | "messages"
  | "stream"
  | "includeUsage"
  | "tools"
  | "toolChoice"
  | "responseFormat"
  | "reasoning"
  | "threadId"
  | "extra";

/** A neutral parameter that a protocol may not support. */
export type Parameter = Exclude<keyof ChatRequest, Other>;

/** The name of each parameter in reports of dropped parameters and in errors. */
const NAMES: Readonly<Record<Parameter, string>> = {
  parallelToolCalls: "parallel_tool_calls",
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  seed: "seed",
  stop: "stop",
  n: "n",
  logprobs: "logprobs",
  topLogprobs: "top_logprobs",
  logitBias: "logit_bias",
  user: "user",
  metadata: "metadata",
  store: "store",
  serviceTier: "service_tier",
  verbosity: "verbosity",
};

/** The table of one dialect. */
export interface Takes {
  /** Whether the protocol supports the parameter. If that depends on the model, the dialect reports it itself. */
  parameters: Readonly<Record<Parameter, boolean>>;
  /** Members without a neutral form that have the same meaning in this protocol, whichever client format they come from. */
  carries: ReadonlySet<string>;
}

/**
 * Adds unsupported parameters to `dropped`, and returns the members of `extra` that are sent unchanged. Values without effect
 * (null, an empty list, a penalty of 0, one choice) are not reported.
 */
export function takeParameters(chat: ChatRequest, takes: Takes, dropped: Set<string>): Record<string, unknown> {
  for (const key in NAMES) {
    const parameter = key as Parameter;
    if (!takes.parameters[parameter] && asks(parameter, chat)) dropped.add(NAMES[parameter]);
  }
  const carried: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(chat.extra)) {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    if (takes.carries.has(name)) carried[name] = value;
    else dropped.add(name);
  }
  return carried;
}

function asks(parameter: Parameter, chat: ChatRequest): boolean {
  switch (parameter) {
    case "n":
      return (chat.n ?? 1) > 1;
    case "parallelToolCalls":
      return chat.parallelToolCalls === false && chat.tools.length > 0;
    case "seed":
    case "topK":
    case "temperature":
    case "topP":
      return chat[parameter] !== undefined;
    default:
      return !isEmpty(chat[parameter]) && chat[parameter] !== 0 && chat[parameter] !== false;
  }
}

/** Whether a value has no effect. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
