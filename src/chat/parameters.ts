// The parameters of a neutral request: what formats read and dialects write by one table each.

import type { ChatRequest } from "./request.ts";

/** Members of a request that are not parameters, or that the gateway handles itself. */
type Other =
  | "model"
  | "messages"
  | "stream"
  | "includeUsage"
  | "includeCost"
  | "tools"
  | "toolChoice"
  | "responseFormat"
  | "reasoning"
  | "threadId"
  | "extra";

/** A neutral parameter that a protocol may not have. */
export type Parameter = Exclude<keyof ChatRequest, Other>;

/** The name of a parameter in reports of dropped parameters and in errors, which is that of chat completions. */
export function parameterName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The same for a member of `reasoning`. */
export function reasoningName(key: string): string {
  return parameterName(`reasoning_${key}`);
}
