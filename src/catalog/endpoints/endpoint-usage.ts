// Settles the usage of endpoints that do not chat, by the same rule as for chats, and writes it for the client.

import { shownUsage, type UsageFormat } from "../../chat/shown-usage.ts";
import { reportedUsage, settledUsage } from "../../chat/usage.ts";
import { countTokens } from "../../tokens/count.ts";
import type { Measured, Prices } from "../prices.ts";
import type { JsonObject } from "./endpoint.ts";

/** The tokens of a generated picture of medium quality and 1024 by 1024 pixels (platform.openai.com/docs/guides/image-generation). */
const PICTURE_TOKENS = 1056;
/** Speech of a usual speed has about 150 words a minute, with four tokens in three words. */
const TOKENS_PER_SECOND = 150 / 60 / 0.75;

/**
 * The usage of an answer. `told`: what the provider reported. `measured`: what the request says. `text`: what the model wrote. What
 * is billed by a unit (seconds, images, characters) needs no tokens.
 */
export function settledMeasure(
  told: Measured | undefined,
  { measured, text, prices }: { measured: Measured; text: string; prices: Prices | undefined },
): Measured {
  const images = told?.images ?? measured.images;
  const { characters } = measured;
  const isTimed = told?.seconds !== undefined && (prices === undefined || prices.perMinute !== undefined);
  const isByUnit = isTimed || (images !== undefined && prices?.perImage !== undefined);
  const reported = told !== undefined && (told.inputTokens > 0 || told.outputTokens > 0) ? told : undefined;
  const usage =
    isByUnit && told !== undefined
      ? told
      : settledUsage(reported, {
          input: () => measured.inputTokens,
          output: () => countTokens(text) + (isByUnit ? 0 : (images ?? 0) * PICTURE_TOKENS),
        });
  const untimed = prices?.perMinute !== undefined && told?.seconds === undefined && text !== "";
  return {
    ...usage,
    ...(told?.seconds === undefined ? {} : { seconds: told.seconds }),
    ...(untimed ? { seconds: countTokens(text) / TOKENS_PER_SECOND, estimated: true } : {}),
    ...(images === undefined ? {} : { images }),
    ...(characters === undefined ? {} : { characters }),
  };
}

/** What a request without output takes. Most answers report it, so its tokens are only counted when they are asked for. */
export function inputOf(count: () => number): Measured {
  let tokens: number | undefined;
  return {
    get inputTokens() {
      tokens ??= count();
      return tokens;
    },
    outputTokens: 0,
  };
}

const PROMPT_TOKENS: UsageFormat = {
  read: (raw) => reportedUsage({ input: raw["prompt_tokens"] ?? raw["total_tokens"], output: 0 }),
  write: ({ inputTokens }) => ({ prompt_tokens: inputTokens, total_tokens: inputTokens }),
  totals: ["prompt_tokens", "total_tokens"],
  inputParts: [],
  outputParts: [],
};

/** The usage of embeddings for the client. */
export function embeddingUsage(raw: unknown, usage: Measured): JsonObject {
  return shownUsage(raw, usage, PROMPT_TOKENS);
}

/** The usage of a ranking for the client. Jina reports only the total. */
export function rankingUsage(raw: unknown, usage: Measured): JsonObject {
  return shownUsage(raw, usage, { ...PROMPT_TOKENS, totals: ["total_tokens"], figures: ["prompt_tokens"] });
}

const BOTH_SIDES: UsageFormat = {
  read: (raw) => reportedUsage({ input: raw["input_tokens"], output: raw["output_tokens"] }),
  write: ({ inputTokens, outputTokens }) => ({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }),
  totals: ["input_tokens", "output_tokens"],
  figures: ["total_tokens"],
  inputParts: ["input_tokens_details", "input_token_details"],
  outputParts: ["output_tokens_details", "output_token_details"],
};

/** The usage of models for pictures and for speech, for the client. */
export function mediaUsage(raw: unknown, usage: Measured): JsonObject {
  return shownUsage(raw, usage, BOTH_SIDES);
}

/** The usage of models that hear, for the client: in tokens, or in seconds where only these count. */
export function hearingUsage(raw: unknown, usage: Measured): JsonObject {
  const { seconds, inputTokens, outputTokens } = usage;
  if (seconds !== undefined && inputTokens === 0 && outputTokens === 0) {
    const given = raw as JsonObject | null | undefined;
    return given?.["seconds"] === seconds ? given : { type: "duration", seconds };
  }
  const shown = shownUsage(raw, usage, BOTH_SIDES);
  return shown === raw || shown["type"] === "tokens" ? shown : { ...shown, type: "tokens" };
}
