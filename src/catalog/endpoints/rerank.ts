// POST /v1/rerank in the format that Cohere and Jina share and that vLLM and others accept: a query and documents in,
// the indexes of the documents by relevance out. Text Embeddings Inference has its own format.

import { prefixedId } from "../../base/ids.ts";
import { reportedUsage } from "../../chat/usage.ts";
import { countAllTokens } from "../../tokens/count.ts";
import type { Measured } from "../prices.ts";
import { isCount, refuseParam } from "./checks.ts";
import type { FormatConversion, JsonObject, ModelEndpoint } from "./endpoint.ts";
import { inputOf, rankingUsage } from "./endpoint-usage.ts";

/** The vendors' own limits are 1,000 to 2,048. */
const DOCUMENTS_MAX = 10_000;

/** The endpoint. */
export const rerank: ModelEndpoint = {
  path: "/v1/rerank",
  kind: "rerank",
  upstreamPath: "/rerank",
  dialects: ["openai-chat", "openai-responses"],
  operation: "rerank",
  formatConversion({ quirks }) {
    if (quirks.rerank === "tei") return TEI;
    if (quirks.rerank === "voyage") return VOYAGE;
    return quirks.rerank === "cohere" ? cohereAt(quirks.rerank_path) : undefined;
  },
  answer: ranked,
  check({ query, documents, top_n: limit, return_documents: wanted }) {
    if (typeof query !== "string" || query === "") refuseParam("query", "a non-empty string");
    if (!Array.isArray(documents) || documents.length === 0 || documents.length > DOCUMENTS_MAX) {
      refuseParam("documents", `a list of 1 to ${DOCUMENTS_MAX} documents`);
    }
    const at = documents.findIndex((document) => textOf(document) === undefined);
    if (at >= 0) refuseParam(`documents[${at}]`, 'a string, or an object with a "text"');
    if (limit != null && !isCount(limit)) refuseParam("top_n", "a whole number above 0");
    if (wanted != null && typeof wanted !== "boolean") refuseParam("return_documents", "true or false");
  },
  measure: ({ query, documents }) => inputOf(() => countAllTokens([query as string, ...textsOf(documents)])),
  usage(answer): Measured | undefined {
    const { usage, meta } = answer as { usage?: JsonObject | null; meta?: { tokens?: JsonObject | null } | null };
    const tokens = usage?.["total_tokens"] ?? usage?.["prompt_tokens"] ?? meta?.tokens?.["input_tokens"];
    return reportedUsage({ input: tokens, output: 0 });
  },
  shownUsage: rankingUsage,
  addsUsage: true,
};

/** Version 2 of Cohere's API accepts only strings and never returns them (docs.cohere.com/reference/rerank). */
const cohereAt = (path = "/rerank"): FormatConversion => ({
  path: () => path,
  body({ return_documents: _wanted, ...asked }, model) {
    return { ...asked, documents: textsOf(asked["documents"]), model };
  },
  answer: (value) => value as JsonObject,
});

/**
 * Text Embeddings Inference: the body names no model, and the answer is an array, best first
 * (huggingface.github.io/text-embeddings-inference).
 */
const TEI: FormatConversion = {
  path: () => "/rerank",
  body: ({ query, documents }) => ({ query, texts: textsOf(documents), truncate: true }),
  answer(value) {
    const list = value as { index: number; score: number }[];
    return { results: list.map(({ index, score }) => ({ index, relevance_score: score })) };
  },
};

/** Voyage's other names (docs.voyageai.com/reference/reranker-api). */
const VOYAGE: FormatConversion = {
  path: () => "/rerank",
  body({ return_documents: _wanted, top_n: limit, ...asked }, model) {
    return { ...asked, ...(limit == null ? {} : { top_k: limit }), documents: textsOf(asked["documents"]), model };
  },
  answer(value) {
    const { data, usage } = value as JsonObject;
    return { results: data, usage };
  },
};

/**
 * The answer (docs/reference/http-api.md#post-v1rerank): an id, at most `top_n` results, and the documents if the
 * request asks for them.
 */
function ranked(answer: JsonObject, body: JsonObject): JsonObject {
  const documents = body["documents"] as readonly unknown[];
  const { id, results, ...rest } = answer;
  if (!Array.isArray(results)) throw new TypeError("The answer has no list of results.");
  const shown = (results as JsonObject[]).map((result) => {
    const { index, relevance_score: score } = result;
    if (!Number.isInteger(index) || documents[index as number] === undefined || typeof score !== "number") {
      throw new TypeError("A result must have the index of a document and a score.");
    }
    const { document: _given, ...bare } = result;
    const document = { text: textOf(documents[index as number]) };
    return body["return_documents"] === true ? { ...bare, document } : bare;
  });
  const limit = (body["top_n"] as number | null | undefined) ?? shown.length;
  return { id: typeof id === "string" ? id : prefixedId("rerank-"), ...rest, results: shown.slice(0, limit) };
}

function textsOf(documents: unknown): string[] {
  return (documents as readonly unknown[]).map((document) => textOf(document) ?? "");
}

function textOf(document: unknown): string | undefined {
  const text = typeof document === "object" && document !== null ? (document as JsonObject)["text"] : document;
  return typeof text === "string" ? text : undefined;
}
