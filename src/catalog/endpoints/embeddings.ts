// POST /v1/embeddings in OpenAI's format, as compatible servers accept it: text or tokens in, vectors out.

import { ApiError } from "../../base/errors.ts";
import { entryOf } from "../../base/json-object.ts";
import { reportedUsage } from "../../chat/usage.ts";
import { countAllTokens } from "../../tokens/count.ts";
import type { Measured } from "../prices.ts";
import { isCount, refuseParam } from "./checks.ts";
import type { FormatConversion, JsonObject, ModelEndpoint } from "./endpoint.ts";
import { embeddingUsage, inputOf } from "./endpoint-usage.ts";
import { encodeFloats, floatsOf } from "./floats.ts";

/** OpenAI's limit of inputs in one request. */
const INPUTS_MAX = 2048;

/** The endpoint. */
export const embeddings: ModelEndpoint = {
  path: "/v1/embeddings",
  kind: "embedding",
  upstreamPath: "/embeddings",
  dialects: ["openai-chat", "openai-responses"],
  operation: "embeddings",
  isRepeatable: true,
  formatConversion: ({ protocol, quirks }) =>
    protocol.embedsInBatches === true ? BATCHES : entryOf(OTHERS, quirks.embeddings ?? ""),
  answer: inAskedFormat,
  relaysLists: ({ encoding_format: format }) => format !== "base64",
  check(body) {
    checkInput(body["input"]);
    const { dimensions, encoding_format: format } = body;
    if (dimensions != null && !isCount(dimensions)) refuseParam("dimensions", "a whole number above 0");
    if (format != null && format !== "float" && format !== "base64")
      refuseParam("encoding_format", '"float" or "base64"');
  },
  measure: ({ input }) => inputOf(() => tokensOf(input)),
  usage(answer): Measured | undefined {
    const usage = answer["usage"] as JsonObject | null | undefined;
    const tokens = usage?.["prompt_tokens"] ?? usage?.["total_tokens"];
    return reportedUsage({ input: tokens, output: 0 });
  },
  shownUsage: embeddingUsage,
  addsUsage: true,
};

/**
 * Converts vectors to the requested encoding. The official SDKs request base64 but decode both forms, and not every
 * server knows the parameter, so most answers need no conversion.
 */
function inAskedFormat(answer: JsonObject, body: JsonObject): JsonObject | undefined {
  const { data } = answer;
  if (!Array.isArray(data)) throw new TypeError("The answer has no list of vectors.");
  const first = (data[0] as JsonObject | undefined)?.["embedding"];
  const wantsText = body["encoding_format"] === "base64";
  if (first === undefined || wantsText === (typeof first === "string")) return undefined;
  const vector = (entry: JsonObject) => {
    const { embedding } = entry;
    return { ...entry, embedding: wantsText ? encodeFloats(embedding) : floatsOf(embedding) };
  };
  return { ...answer, data: (data as JsonObject[]).map(vector) };
}

/** Gemini's method `batchEmbedContents`, which accepts only text. */
const BATCHES: FormatConversion = {
  path: (model) => `/models/${model}:batchEmbedContents`,
  body({ input, dimensions }, model) {
    const texts = typeof input === "string" ? [input] : (input as readonly unknown[]);
    if (!texts.every((text) => typeof text === "string")) {
      const message = "The provider of this model accepts strings, not tokens.";
      throw new ApiError("unsupported_parameter", message, { param: "input" });
    }
    const requests = texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(dimensions == null ? {} : { outputDimensionality: dimensions }),
    }));
    return { requests };
  },
  answer(value) {
    const { embeddings: vectors, usageMetadata } = value as {
      embeddings: { values: number[] }[];
      usageMetadata?: JsonObject;
    };
    const data = vectors.map(({ values }, index) => ({ object: "embedding", index, embedding: floatsOf(values) }));
    const tokens = usageMetadata?.["promptTokenCount"];
    const usage = isCount(tokens) ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {};
    return { object: "list", data, ...usage };
  },
};

/** Vendors whose endpoint differs from OpenAI's by names, by the value of the quirk. All answer with floats and `total_tokens`. */
const OTHERS: Readonly<Record<string, FormatConversion | undefined>> = {
  // docs.voyageai.com/reference/embeddings-api: another name for the dimensions, and base64 or nothing as the encoding.
  voyage: {
    path: () => "/embeddings",
    body: ({ dimensions, encoding_format: _format, user: _user, ...asked }, model) => ({
      ...asked,
      ...(dimensions == null ? {} : { output_dimension: dimensions }),
      model,
    }),
    answer: (value) => value as JsonObject,
  },
  // jina.ai/embeddings: another name for the encoding.
  jina: {
    path: () => "/embeddings",
    body: ({ encoding_format: _format, user: _user, ...asked }, model) => ({
      ...asked,
      embedding_type: "float",
      model,
    }),
    answer: (value) => value as JsonObject,
  },
};

function checkInput(input: unknown): void {
  if (typeof input === "string" && input !== "") return;
  const expected = "a string, a list of strings, a list of tokens, or a list of such lists";
  if (!Array.isArray(input) || input.length === 0) refuseParam("input", `${expected}, none of them empty`);
  const given = input as readonly unknown[];
  if (isTokens(given)) return;
  if (given.length > INPUTS_MAX) refuseParam("input", `at most ${INPUTS_MAX} inputs`);
  for (const [at, one] of given.entries()) {
    if (typeof one === "string" ? one !== "" : isTokens(one)) continue;
    refuseParam(`input[${at}]`, "a non-empty string or list of tokens");
  }
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((token) => Number.isSafeInteger(token) && token >= 0);
}

function tokensOf(input: unknown): number {
  if (typeof input === "string") return countAllTokens([input]);
  if (!Array.isArray(input)) return 0;
  const given = input as readonly unknown[];
  const texts = given.filter((one) => typeof one === "string");
  const listed = given.reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 0), 0);
  const numbers = given.filter((one) => typeof one === "number").length;
  return countAllTokens(texts) + listed + numbers;
}
