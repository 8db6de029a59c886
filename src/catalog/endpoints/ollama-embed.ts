// POST /api/embed of Ollama's API: texts in, vectors out. Providers get it as a request for embeddings in their own format.

import { reportedUsage } from "../../chat/usage.ts";
import { isCount, refuseParam } from "./checks.ts";
import { embeddings } from "./embeddings.ts";
import type { FormatConversion, JsonObject, ModelEndpoint } from "./endpoint.ts";
import { floatsOf } from "./floats.ts";

/** The endpoint. */
export const ollamaEmbed: ModelEndpoint = {
  path: "/api/embed",
  kind: "embedding",
  upstreamPath: embeddings.upstreamPath,
  // No provider is known to have the endpoint in this format.
  dialects: [],
  operation: "embeddings",
  isRepeatable: true,
  formatConversion(provider) {
    const batches = embeddings.formatConversion?.(provider);
    if (batches !== undefined) {
      return { ...batches, answer: (value) => ownAnswer(batches.answer(value)) };
    }
    return embeddings.dialects.includes(provider.dialect) ? OPENAI : undefined;
  },
  check(body) {
    const { input, dimensions } = body;
    const texts = Array.isArray(input) ? (input as readonly unknown[]) : [input];
    if (texts.length === 0 || !texts.every((text) => typeof text === "string" && text !== "")) {
      refuseParam("input", "a string or a list of strings, none of them empty");
    }
    if (dimensions != null && !isCount(dimensions)) refuseParam("dimensions", "a whole number above 0");
  },
  measure: (body) => embeddings.measure(body),
  usage: ({ prompt_eval_count: tokens }) => reportedUsage({ input: tokens, output: 0 }),
  shownUsage: () => ({}),
  addsUsage: false,
};

const OPENAI: FormatConversion = {
  path: () => embeddings.upstreamPath,
  body: ({ input, dimensions }, model) => ({
    ...{ model, input, encoding_format: "float" },
    ...(dimensions == null ? {} : { dimensions }),
  }),
  answer: ownAnswer,
};

function ownAnswer(value: unknown): JsonObject {
  const { data, usage } = value as { data: readonly JsonObject[]; usage?: JsonObject | null };
  const tokens = usage?.["prompt_tokens"] ?? usage?.["total_tokens"];
  return {
    embeddings: data.map(({ embedding }) => floatsOf(embedding)),
    ...{ total_duration: 0, load_duration: 0 },
    ...(isCount(tokens) ? { prompt_eval_count: tokens } : {}),
  };
}
