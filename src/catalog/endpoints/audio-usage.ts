// Reads from a provider's answer what audio cost: tokens, or seconds if the model is priced by time. Also estimates the
// maximum for budgets.

import { reportedUsage } from "../../chat/usage.ts";
import type { Measured } from "../prices.ts";
import type { JsonObject } from "./endpoint.ts";

/** No upload contains more seconds of audio; larger figures are ignored as errors. */
const SECONDS_MAX = 1e7;

/** The usage in an answer or in its last event. A `verbose_json` answer may have only `duration`. */
export function audioUsage(answer: JsonObject): Measured | undefined {
  const usage = (answer["usage"] ?? {}) as JsonObject;
  const told = secondsOf(usage["seconds"]) ?? secondsOf(answer["duration"]);
  const tokens = reportedUsage({ input: usage["input_tokens"], output: usage["output_tokens"] });
  if (tokens === undefined && told === undefined) return undefined;
  return { ...(tokens ?? { inputTokens: 0, outputTokens: 0 }), ...(told === undefined ? {} : { seconds: told }) };
}

/** Servers write the duration as a number or as a string. */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : undefined;
}

/** Speech with the strongest usual compression: 6 kbit/s. */
const BYTES_PER_SECOND = 750;
const TOKENS_PER_SECOND = 10;
/** The rate of fast speech. */
const OUTPUT_TOKENS_PER_SECOND = 5;

/** The largest usage that an audio file of this size can have. */
export function worstAudio(bytes: number): Measured {
  const seconds = bytes / BYTES_PER_SECOND;
  const tokens = (perSecond: number) => Math.ceil(seconds * perSecond);
  return { seconds, inputTokens: tokens(TOKENS_PER_SECOND), outputTokens: tokens(OUTPUT_TOKENS_PER_SECOND) };
}
