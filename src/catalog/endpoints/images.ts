// POST /v1/images/generations and /v1/images/edits in OpenAI's format: a prompt (and for edits a form with pictures)
// in; pictures out, as JSON or as events.

import { reportedUsage } from "../../chat/usage.ts";
import { countTokens } from "../../tokens/count.ts";
import type { Measured } from "../prices.ts";
import { refuseParam } from "./checks.ts";
import type { JsonObject, ModelEndpoint } from "./endpoint.ts";
import { mediaUsage } from "./endpoint-usage.ts";

/**
 * The tokens of the most expensive picture in public price lists, as output and as input, and the limit of input
 * pictures.
 */
const OUTPUT_TOKENS = 20_000;
const INPUT_TOKENS = 5000;
const INPUTS_MAX = 16;

/** No provider generates more pictures at once. */
const COUNT_MAX = 100;

/** Generates pictures from a prompt. */
export const imageGenerations: ModelEndpoint = {
  path: "/v1/images/generations",
  kind: "image",
  upstreamPath: "/images/generations",
  dialects: ["openai-chat", "openai-responses"],
  gives: "any",
  namesEndUser: true,
  operation: "image_generation",
  check: checkImages,
  measure,
  worst: (body) => {
    const measured = measure(body);
    return { ...measured, outputTokens: (measured.images ?? 1) * OUTPUT_TOKENS };
  },
  usage(answer) {
    const usage = (answer["usage"] ?? {}) as JsonObject;
    const tokens = reportedUsage({ input: usage["input_tokens"], output: usage["output_tokens"] });
    const { data } = answer;
    return tokens !== undefined && Array.isArray(data) ? { ...tokens, images: data.length } : tokens;
  },
  shownUsage: mediaUsage,
  addsUsage: false,
};

/** Generates pictures from a prompt and other pictures. */
export const imageEdits: ModelEndpoint = {
  ...imageGenerations,
  path: "/v1/images/edits",
  upstreamPath: "/images/edits",
  file: "image",
  operation: "image_edit",
  // The prompt may follow the pictures, and fields after a file are not checked.
  check: (fields) => checkImages({ prompt: ".", ...fields }),
  worst: (fields) => {
    const { images = 1, inputTokens } = measure(fields);
    return { images, inputTokens: inputTokens + INPUTS_MAX * INPUT_TOKENS, outputTokens: images * OUTPUT_TOKENS };
  },
};

function measure({ prompt, n }: JsonObject): Measured {
  const inputTokens = typeof prompt === "string" ? countTokens(prompt) : 0;
  return { inputTokens, outputTokens: 0, images: n == null ? 1 : Number(n) };
}

/** Fields of a form are strings, so numbers and switches are checked as text. */
function checkImages({ prompt, n, response_format: format, stream }: JsonObject): void {
  if (typeof prompt !== "string" || prompt === "") refuseParam("prompt", "a non-empty string");
  const isCount = /^[1-9]\d{0,2}$/.test(String(n ?? 1)) && Number(n ?? 1) <= COUNT_MAX;
  if (!isCount) refuseParam("n", `a whole number from 1 to ${COUNT_MAX}`);
  if (format != null && format !== "url" && format !== "b64_json")
    refuseParam("response_format", '"url" or "b64_json"');
  if (stream != null && !/^(?:true|false)$/i.test(String(stream))) refuseParam("stream", "true or false");
}
