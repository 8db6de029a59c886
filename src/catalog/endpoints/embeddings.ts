// POST /v1/embeddings in OpenAI's words, as the many compatible servers take them: texts or tokens in, vectors out.

import { ApiError } from "../../base/errors.ts";
import type { Usage } from "../../chat/event.ts";
import { countTokens } from "../../tokens/count.ts";
import type { JsonObject, ModelEndpoint } from "./endpoint.ts";

/** OpenAI's limit of inputs in one request. */
const INPUTS_MAX = 2048;

/** The endpoint. */
export const embeddings: ModelEndpoint = {
  path: "/v1/embeddings",
  kind: "embedding",
  upstreamPath: "/embeddings",
  dialects: ["openai-chat", "openai-responses"],
  operation: "embeddings",
  check(body) {
    checkInput(body["input"]);
    const { dimensions, encoding_format: format } = body;
    if (dimensions != null && !isCount(dimensions)) refuse("dimensions", "a whole number above 0");
    if (format != null && format !== "float" && format !== "base64") refuse("encoding_format", '"float" or "base64"');
  },
  inputTokens: ({ input }) => tokensOf(input),
  usage(answer): Usage | undefined {
    const usage = answer["usage"] as JsonObject | null | undefined;
    const tokens = usage?.["prompt_tokens"] ?? usage?.["total_tokens"];
    return isCount(tokens) ? { inputTokens: tokens, outputTokens: 0 } : undefined;
  },
};

function checkInput(input: unknown): void {
  if (typeof input === "string" && input !== "") return;
  const expected = "a text, a list of texts, a list of tokens, or a list of such lists";
  if (!Array.isArray(input) || input.length === 0) refuse("input", `${expected}, none of them empty`);
  const given = input as readonly unknown[];
  if (isTokens(given)) return;
  if (given.length > INPUTS_MAX) refuse("input", `at most ${INPUTS_MAX} inputs`);
  for (const [at, one] of given.entries()) {
    if (typeof one === "string" ? one !== "" : isTokens(one)) continue;
    refuse(`input[${at}]`, "a text or a list of tokens that is not empty");
  }
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((token) => Number.isSafeInteger(token) && token >= 0);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function tokensOf(input: unknown): number {
  if (typeof input === "string") return countTokens(input);
  if (typeof input === "number") return 1;
  return Array.isArray(input) ? input.reduce<number>((sum, one) => sum + tokensOf(one), 0) : 0;
}

function refuse(param: string, expected: string): never {
  throw new ApiError("invalid_request", `'${param}' must be ${expected}.`, { param });
}
