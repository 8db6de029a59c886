// What providers say that audio cost: tokens, or seconds where the model is paid by time. And bounds for budgets.

import { reportedUsage } from "../../chat/usage.ts";
import type { Measured } from "../prices.ts";
import type { JsonObject } from "./endpoint.ts";

/** Longer audio than this fits into no upload. */
const SECONDS_MAX = 1e7;

/** The `usage` of an answer or of its last event; `duration` of a `verbose_json` answer without one. */
export function audioUsage(answer: JsonObject): Measured | undefined {
  const usage = (answer["usage"] ?? {}) as JsonObject;
  const told = secondsOf(usage["seconds"]) ?? secondsOf(answer["duration"]);
  const tokens = reportedUsage({ input: usage["input_tokens"], output: usage["output_tokens"] });
  if (tokens === undefined && told === undefined) return undefined;
  return { ...(tokens ?? { inputTokens: 0, outputTokens: 0 }), ...(told === undefined ? {} : { seconds: told }) };
}

/** Servers write the duration as a number or as a text. */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : undefined;
}

/** Speech packed as tightly as is usual: 6 kbit/s. */
const BYTES_PER_SECOND = 750;
const TOKENS_PER_SECOND = 10;
/** Of text that is spoken fast. */
const OUTPUT_TOKENS_PER_SECOND = 5;

/** The most that a file of so many bytes can be. */
export function worstAudio(bytes: number): Measured {
  const seconds = bytes / BYTES_PER_SECOND;
  const tokens = (perSecond: number) => Math.ceil(seconds * perSecond);
  return { seconds, inputTokens: tokens(TOKENS_PER_SECOND), outputTokens: tokens(OUTPUT_TOKENS_PER_SECOND) };
}
