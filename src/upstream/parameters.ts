// What becomes of the parameters of a translated request: each dialect has one table that says for every neutral parameter
// whether its protocol has a place for it. What has none is named as dropped, so that nothing a client asked for is lost in
// silence. The names are those of chat completions; whoever tells the client gives it its own.

import type { ChatRequest } from "../chat/request.ts";

/** Members of a request that are no parameters, or that the gateway itself answers for. */
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

/** A neutral parameter that a protocol may have no place for. */
export type Parameter = Exclude<keyof ChatRequest, Other>;

/** How drops and refusals name each. */
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

/** One dialect's table. */
export interface Takes {
  /** Whether the protocol has a place for the parameter; where that depends on the model, the dialect itself says so. */
  parameters: Readonly<Record<Parameter, boolean>>;
  /** Members without a neutral word that mean the same in this protocol, from whichever client format they come. */
  carries: ReadonlySet<string>;
}

/**
 * Names in `dropped` what the protocol has no place for, and gives the members of `extra` that go up as they are. Values
 * that ask for nothing (null, an empty list, a penalty of 0, one choice) are not named.
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

/** True for values that say nothing. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
