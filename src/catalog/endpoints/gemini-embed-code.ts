// Reads and writes the embeddings of Gemini's API. Providers of the same protocol get what the client sent; others get a request for
// embeddings in their own format.

import { isRecord } from "../../base/json-object.ts";
import { reportedUsage } from "../../chat/usage.ts";
import { isCount, refuseParam } from "./checks.ts";
import { embeddings } from "./embeddings.ts";
import type { FormatConversion, JsonObject, ModelEndpoint } from "./endpoint.ts";
import { floatsOf } from "./floats.ts";

/** As many as in one request of the other formats. */
const REQUESTS_MAX = 2048;

/** Where the requests of a body stand, and the form of the answer. */
interface Kind {
  /** The requests, each with its place in the body. */
  requests(body: JsonObject): readonly (readonly [request: JsonObject, at: string])[];
  answer(vectors: readonly unknown[]): JsonObject;
}

const ONE: Kind = {
  requests: (body) => [[body, ""]],
  answer: ([embedding]) => ({ embedding }),
};

const SEVERAL: Kind = {
  requests: ({ requests }) =>
    Array.isArray(requests) ? requests.map((one: unknown, i) => [asObject(one), `requests[${i}].`] as const) : [],
  answer: (vectors) => ({ embeddings: vectors }),
};

/** What an endpoint does once it is asked. */
type EndpointCode = Required<Pick<ModelEndpoint, "formatConversion" | "check" | "measure" | "usage">>;

/** One vector. */
export const GEMINI_ONE = codeOf(ONE);
/** Several vectors. */
export const GEMINI_SEVERAL = codeOf(SEVERAL);

function codeOf(kind: Kind): EndpointCode {
  return {
    formatConversion({ protocol, dialect }) {
      if (protocol.embedsInBatches === true) return ownConversion(kind);
      return embeddings.dialects.includes(dialect) ? openaiConversion(kind) : undefined;
    },
    check(body) {
      const requests = kind.requests(body);
      if (requests.length === 0 || requests.length > REQUESTS_MAX) {
        refuseParam("requests", `a list of at most ${REQUESTS_MAX} requests`);
      }
      for (const [request, at] of requests) checkRequest(request, at);
    },
    measure: (body) => embeddings.measure({ input: kind.requests(body).map(([request]) => textOf(request)) }),
    usage: (answer) => reportedUsage({ input: asObject(answer["usageMetadata"])["promptTokenCount"], output: 0 }),
  };
}

function checkRequest(request: JsonObject, at: string): void {
  const parts = partsOf(request);
  const isText = (part: unknown) => typeof asObject(part)["text"] === "string";
  if (parts.length === 0 || !parts.every(isText) || textOf(request) === "") {
    refuseParam(`${at}content`, "a content whose parts have texts, not all of them empty");
  }
  const length = lengthOf(request);
  if (length != null && !isCount(length)) refuseParam(`${at}outputDimensionality`, "a whole number above 0");
}

/** The provider's own method takes the requests as they are, under its name of the model. */
function ownConversion(kind: Kind): FormatConversion {
  return {
    path: (model) => `/models/${model}:batchEmbedContents`,
    body: (asked, model) => ({
      requests: kind
        .requests(asked)
        .map(([{ stream: _stream, ...request }]) => ({ ...request, model: `models/${model}` })),
    }),
    answer(value) {
      const { embeddings: vectors, usageMetadata } = value as {
        embeddings: readonly unknown[];
        usageMetadata?: unknown;
      };
      const usage = usageMetadata === undefined ? {} : { usageMetadata };
      return { ...kind.answer(vectors.map(checkedVector)), ...usage };
    },
  };
}

function openaiConversion(kind: Kind): FormatConversion {
  return {
    path: () => embeddings.upstreamPath,
    body(asked, model) {
      const requests = kind.requests(asked).map(([request]) => request);
      const dimensions = requests[0] === undefined ? undefined : lengthOf(requests[0]);
      const other = requests.findIndex((request) => lengthOf(request) !== dimensions);
      if (other > 0) refuseParam(`requests[${other}].outputDimensionality`, "the same length as of the first request");
      return {
        ...{ model, input: requests.map(textOf), encoding_format: "float" },
        ...(dimensions == null ? {} : { dimensions }),
      };
    },
    answer(value) {
      const { data, usage } = value as { data: readonly JsonObject[]; usage?: JsonObject | null };
      const tokens = usage?.["prompt_tokens"] ?? usage?.["total_tokens"];
      return {
        ...kind.answer(data.map(({ embedding }) => ({ values: floatsOf(embedding) }))),
        ...(isCount(tokens) ? { usageMetadata: { promptTokenCount: tokens } } : {}),
      };
    },
  };
}

function checkedVector(value: unknown): JsonObject {
  const vector = asObject(value);
  return { ...vector, values: floatsOf(vector["values"]) };
}

function asObject(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}

function partsOf({ content }: JsonObject): readonly unknown[] {
  const { parts } = asObject(content);
  return Array.isArray(parts) ? parts : parts === undefined ? [] : [parts];
}

function textOf(request: JsonObject): string {
  return partsOf(request)
    .map((part) => String(asObject(part)["text"]))
    .join("\n");
}

/** The length of the vectors, in both spellings. */
function lengthOf({ outputDimensionality, output_dimensionality: other }: JsonObject): unknown {
  return outputDimensionality ?? other;
}
