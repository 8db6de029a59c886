// Reads requests of the legacy completions format. Token arrays as prompts, and suffixes, are refused, since chat models do not
// support them.

import type { ChatRequest } from "../../chat/request.ts";
import {
  type Check,
  expectBoolean,
  expectFields,
  expectInteger,
  expectListOf,
  expectNumber,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
  reject,
  remaining,
} from "../check.ts";
import type { DecodeOptions } from "../format.ts";
import { wantsUsage } from "../usage-wish.ts";

/** The top-level members that are read; all others become `extra`. */
const KNOWN: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "suffix",
  "max_tokens",
  "temperature",
  "top_p",
  "n",
  "stream",
  "stream_options",
  "usage",
  "logprobs",
  "echo",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "seed",
  "user",
  "thread_id",
  "conversation_id",
]);

/** Reads the body of `POST /v1/completions`, with one prompt. */
export function decodeCompletions(body: Fields, headers: DecodeOptions = {}): ChatRequest {
  const prompt = promptOf(body);
  if ((maybe(body, "suffix", expectString) ?? "") !== "") {
    reject("suffix", "Invalid 'suffix': filling in the middle of a text is not supported. Leave it out.");
  }
  maybe(body, "echo", expectBoolean);
  const logprobs = maybe(body, "logprobs", expectInteger(0, 20));
  return {
    model: need(body, "model", expectText),
    messages: [{ role: "user", content: [{ type: "text", text: prompt }] }],
    stream: maybe(body, "stream", expectBoolean) ?? false,
    includeUsage: wantsUsage(body, headers),
    tools: [],
    ...given({
      maxTokens: maybe(body, "max_tokens", expectInteger(1)),
      temperature: maybe(body, "temperature", expectNumber(0, 2)),
      topP: maybe(body, "top_p", expectNumber(0, 1)),
      n: maybe(body, "n", expectInteger(1, 128)),
      logprobs: logprobs === undefined ? undefined : true,
      topLogprobs: logprobs,
      stop: maybe(body, "stop", expectStop),
      presencePenalty: maybe(body, "presence_penalty", expectNumber(-2, 2)),
      frequencyPenalty: maybe(body, "frequency_penalty", expectNumber(-2, 2)),
      logitBias: maybe(body, "logit_bias", expectBias),
      seed: maybe(body, "seed", expectInteger()),
      user: maybe(body, "user", expectString),
      threadId: maybe(body, "thread_id", expectString) ?? maybe(body, "conversation_id", expectString),
    }),
    extra: remaining(body, KNOWN),
  };
}

/** The prompt, given as a string or as a list with one string. */
export function promptOf(body: Fields): string {
  const prompt = body["prompt"];
  if (!Array.isArray(prompt)) return expectPrompt(prompt, "prompt");
  const [first, ...others] = expectListOf(expectPrompt)(prompt, "prompt");
  if (first === undefined) return reject("prompt", "Invalid 'prompt': must not be empty.");
  if (others.length > 0) reject("prompt", "Invalid 'prompt': only one prompt is allowed.");
  return first;
}

const expectPrompt: Check<string> = (value, path) => {
  if (typeof value === "number" || Array.isArray(value)) {
    reject(path, `Invalid '${path}': token arrays are not supported; send text.`);
  }
  return expectText(value, path);
};

const expectStop: Check<string[]> = (value, path) =>
  typeof value === "string" ? [value] : expectListOf(expectString)(value, path);

const expectBias: Check<Record<string, number>> = (value, path) => {
  const bias: Record<string, number> = {};
  for (const [token, weight] of Object.entries(expectFields(value, path))) {
    bias[token] = expectNumber(-100, 100)(weight, `${path}.${token}`);
  }
  return bias;
};

/** The prompts of a body with several; undefined for a body with one prompt. */
export function severalPrompts(body: Fields): readonly unknown[] | undefined {
  const prompt = body["prompt"];
  return Array.isArray(prompt) && prompt.length > 1 ? prompt : undefined;
}
