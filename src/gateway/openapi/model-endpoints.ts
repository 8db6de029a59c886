// The OpenAPI description of the endpoints for models that are not chat models.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";
import { MODEL, MODEL_ERRORS, MODEL_HEADERS } from "./shared.ts";

const EMBEDDINGS: EndpointText = {
  id: "createEmbedding",
  group: "Embeddings and ranking",
  summary: "Create embeddings of texts",
  description:
    "Uses the format of OpenAI's embeddings API. Requires a model whose `type` is `embedding`. The body is sent to the provider unchanged.",
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        input: Type.Union(
          [
            Type.String({ minLength: 1 }),
            Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 2048 }),
            Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
            Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }), { minItems: 1, maxItems: 2048 }),
          ],
          { description: "A text, a list of texts, a list of tokens, or a list of such lists." },
        ),
        dimensions: Type.Optional(Type.Integer({ minimum: 1, description: "The length of the vectors." })),
        encoding_format: Type.Optional(oneOf(["float", "base64"], { description: "The encoding of the vectors." })),
        user: Type.Optional(Type.String({ description: "Your end user." })),
      },
      { $id: "EmbeddingRequest", additionalProperties: true },
    ),
    examples: { text: { model: "demo-embed", input: "The food was delicious." } },
  },
  answer: {
    description: "The vectors, in the order of the input.",
    schema: Type.Object(
      {
        object: Type.Literal("list"),
        model: Type.String(),
        data: Type.Array(
          Type.Object(
            {
              object: Type.Literal("embedding"),
              index: Type.Integer(),
              embedding: Type.Union([Type.Array(Type.Number()), Type.String({ description: "base64" })]),
            },
            { additionalProperties: true },
          ),
        ),
        usage: Type.Optional(anyObject("`prompt_tokens` and `total_tokens`.")),
      },
      { $id: "EmbeddingList", additionalProperties: true },
    ),
    headers: MODEL_HEADERS,
  },
  errors: MODEL_ERRORS,
};

const DOCUMENT = Type.Union([Type.String(), Type.Object({ text: Type.String() }, { additionalProperties: true })]);

const RERANK: EndpointText = {
  id: "rerank",
  group: "Embeddings and ranking",
  summary: "Sort documents by their relevance to a query",
  description: "Uses the format that Cohere and Jina share. Requires a model whose `type` is `rerank`.",
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        query: Type.String({ minLength: 1, description: "The search query." }),
        documents: Type.Array(DOCUMENT, {
          minItems: 1,
          maxItems: 10_000,
          description: "The documents: texts, or objects with a `text`.",
        }),
        top_n: Type.Optional(
          orNull(
            Type.Integer({
              minimum: 1,
              description: "The maximum number of results. If it is absent, all documents are returned.",
            }),
          ),
        ),
        return_documents: Type.Optional(
          orNull(Type.Boolean({ default: false, description: "Whether to return the document of each result too." })),
        ),
      },
      { $id: "RerankRequest", additionalProperties: true },
    ),
    examples: { texts: { model: "demo-rerank", query: "bread", documents: ["About steel", "About bread"], top_n: 1 } },
  },
  answer: {
    description: "The indexes of the documents, the most relevant one first.",
    schema: Type.Object(
      {
        id: Type.String(),
        model: Type.Optional(Type.String()),
        results: Type.Array(
          Type.Object(
            {
              index: Type.Integer({ description: "Place in `documents`." }),
              relevance_score: Type.Number(),
              document: Type.Optional(Type.Object({ text: Type.String() }, { additionalProperties: true })),
            },
            { additionalProperties: true },
          ),
        ),
        usage: Type.Optional(anyObject("Tokens.")),
      },
      { $id: "RerankResult", additionalProperties: true },
    ),
    headers: MODEL_HEADERS,
  },
  errors: MODEL_ERRORS,
};

/** The descriptions by path. */
export const MODEL_ENDPOINT_PATHS = { "/v1/embeddings": EMBEDDINGS, "/v1/rerank": RERANK };
