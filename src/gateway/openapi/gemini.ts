// The OpenAPI description of the endpoints of Gemini's API that answer by a model.

import { type TSchema, Type } from "@sinclair/typebox";
import { GEMINI_ERRORS, GEMINI_GROUP } from "../../catalog/gemini-errors.ts";
import { anyObject, pathId } from "../../http/endpoint.ts";
import type { EndpointText, NamelessText } from "../../http/served-endpoint.ts";
import { GEMINI_FIELDS } from "../../wire/gemini/fields.ts";
import { CHAT_ERRORS, CHAT_HEADERS, COUNT_ERRORS, MODEL_ERRORS, MODEL_HEADERS, requestSchema } from "./shared.ts";

const SHARED = {
  group: GEMINI_GROUP,
  errorShape: GEMINI_ERRORS,
  parameters: [pathId("model", "The id or alias of a model, as listed by `GET /v1beta/models`.", "demo-echo")],
};
const ADDRESS = "/v1beta/models/{model}";
const KEYS =
  "The same address exists below `/v1`. The key may be sent as `x-goog-api-key`, but not in the address. Members may be written in " +
  "either spelling, `systemInstruction` or `system_instruction`. What Google's own tools do is left to providers of the same protocol.";

const PART = Type.Object(
  {
    text: Type.Optional(Type.String()),
    thought: Type.Optional(Type.Boolean({ description: "Whether the text is a thought." })),
    thoughtSignature: Type.Optional(Type.String({ description: "Return it unchanged." })),
    inlineData: Type.Optional(anyObject("A file: `mimeType`, and `data` in base64.")),
    fileData: Type.Optional(anyObject("A file at an address: `mimeType` and `fileUri`.")),
    functionCall: Type.Optional(anyObject("A call: `id`, `name` and `args`.")),
    functionResponse: Type.Optional(anyObject("The result of a call: `id`, `name` and `response`.")),
  },
  { $id: "GeminiPart", additionalProperties: true },
);
const CONTENT = Type.Object(
  {
    role: Type.Optional(Type.String({ description: "`user` or `model`." })),
    parts: Type.Array(PART),
  },
  { $id: "GeminiContent", additionalProperties: true },
);
const TOOL = Type.Object(
  {
    functionDeclarations: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String(),
            description: Type.Optional(Type.String()),
            parameters: Type.Optional(anyObject("The arguments, as a schema in Google's form.")),
            parametersJsonSchema: Type.Optional(anyObject("The arguments, as a JSON Schema.")),
          },
          { $id: "GeminiFunction", additionalProperties: true },
        ),
      ),
    ),
  },
  { $id: "GeminiTool", additionalProperties: true },
);

/** `model` and `stream` follow from the address. */
const NAMES = Object.keys(GEMINI_FIELDS.described()).filter((name) => name !== "model" && name !== "stream");
const REQUEST = requestSchema("GeminiRequest", GEMINI_FIELDS, {
  shapes: {
    contents: Type.Array(CONTENT),
    systemInstruction: Type.Union([
      Type.String(),
      Type.Object({ parts: Type.Array(PART) }, { additionalProperties: true }),
    ]),
    tools: Type.Array(TOOL),
  } as Record<"contents" | "systemInstruction" | "tools", TSchema>,
  names: NAMES,
});

const ANSWER = Type.Object(
  {
    candidates: Type.Optional(
      Type.Array(
        Type.Object(
          {
            content: Type.Optional(CONTENT),
            finishReason: Type.Optional(Type.String({ description: "`STOP`, `MAX_TOKENS`, `SAFETY` or others." })),
            index: Type.Optional(Type.Integer()),
          },
          { additionalProperties: true },
        ),
      ),
    ),
    usageMetadata: Type.Optional(
      Type.Object(
        {
          promptTokenCount: Type.Optional(Type.Integer()),
          candidatesTokenCount: Type.Optional(Type.Integer()),
          thoughtsTokenCount: Type.Optional(Type.Integer()),
          cachedContentTokenCount: Type.Optional(Type.Integer()),
          totalTokenCount: Type.Optional(Type.Integer()),
        },
        { additionalProperties: true },
      ),
    ),
    modelVersion: Type.Optional(Type.String({ description: "The catalog id of the model." })),
    responseId: Type.Optional(Type.String()),
  },
  { $id: "GeminiAnswer", additionalProperties: true },
);

const example = { contents: [{ role: "user", parts: [{ text: "Say hello." }] }] };

const GENERATE: EndpointText = {
  id: "generateContent",
  ...SHARED,
  address: `${ADDRESS}:generateContent`,
  summary: "Answer a conversation",
  description: `The format of Gemini's API, for every chat model. ${KEYS}`,
  body: { schema: REQUEST, examples: { whole: example } },
  answer: { description: "The answer.", schema: ANSWER, headers: CHAT_HEADERS },
  errors: CHAT_ERRORS,
};

const STREAM: EndpointText = {
  id: "streamGenerateContent",
  ...SHARED,
  address: `${ADDRESS}:streamGenerateContent`,
  summary: "Answer a conversation as a stream",
  description:
    "The same in pieces, each of which is an answer with a few more parts: as server-sent events with the query parameter `alt=sse`, " +
    "else as one JSON list. An error within the stream is a last piece `{error}`.",
  parameters: [
    ...SHARED.parameters,
    { name: "alt", in: "query", schema: Type.String({ description: "`sse` for server-sent events." }), example: "sse" },
  ],
  body: { schema: REQUEST, examples: { streamed: example } },
  answer: {
    description: "The pieces.",
    schema: Type.Array(ANSWER),
    headers: CHAT_HEADERS,
    events: { description: "One event's `data:`.", schema: ANSWER },
  },
  errors: CHAT_ERRORS,
};

const EMBEDDED = Type.Object(
  { values: Type.Array(Type.Number()) },
  { $id: "GeminiVector", additionalProperties: true },
);
const TO_EMBED = {
  content: Type.Object({ parts: Type.Array(PART) }, { additionalProperties: true }),
  outputDimensionality: Type.Optional(Type.Integer({ minimum: 1, description: "The length of the vector." })),
  taskType: Type.Optional(Type.String({ description: "What the vector is for, for providers of the same protocol." })),
};
const EMBEDS = {
  ...SHARED,
  parameters: [pathId("model", "A model whose `type` is `embedding`.", "demo-embed")],
  errors: MODEL_ERRORS,
};
const content = { parts: [{ text: "The food was delicious." }] };
const used = { usageMetadata: Type.Optional(anyObject("`promptTokenCount`.")), model: Type.Optional(Type.String()) };

const EMBED: EndpointText = {
  id: "embedContent",
  ...EMBEDS,
  address: `${ADDRESS}:embedContent`,
  summary: "Create the embedding of a text",
  description: "The format of Gemini's API, for models whose `type` is `embedding`. The parts are one text.",
  body: {
    schema: Type.Object(TO_EMBED, { $id: "GeminiEmbedRequest", additionalProperties: true }),
    examples: { text: { content } },
  },
  answer: {
    description: "The vector.",
    schema: Type.Object({ embedding: EMBEDDED, ...used }, { $id: "GeminiEmbedding", additionalProperties: true }),
    headers: MODEL_HEADERS,
  },
};

const BATCH_EMBED: EndpointText = {
  id: "batchEmbedContents",
  ...EMBEDS,
  address: `${ADDRESS}:batchEmbedContents`,
  summary: "Create the embeddings of several texts",
  description: "The same for several texts.",
  body: {
    schema: Type.Object(
      { requests: Type.Array(Type.Object(TO_EMBED, { additionalProperties: true }), { minItems: 1 }) },
      { $id: "GeminiBatchEmbedRequest", additionalProperties: true },
    ),
    examples: { texts: { requests: [{ content }] } },
  },
  answer: {
    description: "The vectors, in the order of the requests.",
    schema: Type.Object(
      { embeddings: Type.Array(EMBEDDED), ...used },
      { $id: "GeminiEmbeddings", additionalProperties: true },
    ),
    headers: MODEL_HEADERS,
  },
};

const COUNT: NamelessText = {
  ...SHARED,
  address: `${ADDRESS}:countTokens`,
  summary: "Count tokens",
  description:
    "The number of tokens of `contents`, or of a whole request in `generateContentRequest`. Providers of the same protocol count " +
    "themselves, else the gateway counts. Free of the rate limit.",
  body: {
    schema: Type.Object(
      { contents: Type.Optional(Type.Array(CONTENT)), generateContentRequest: Type.Optional(REQUEST) },
      { $id: "GeminiCountRequest", additionalProperties: true },
    ),
    examples: { contents: example },
  },
  answer: {
    description: "The count.",
    schema: Type.Object({ totalTokens: Type.Integer() }, { $id: "GeminiCount", additionalProperties: true }),
    headers: { "x-sallyport-model": CHAT_HEADERS["x-sallyport-model"] },
  },
  errors: COUNT_ERRORS,
};

/** The descriptions by path. */
export const GEMINI_PATHS = {
  "/v1beta/generateContent": GENERATE,
  "/v1beta/streamGenerateContent": STREAM,
  "/v1beta/embedContent": EMBED,
  "/v1beta/batchEmbedContents": BATCH_EMBED,
};

/** The descriptions of the others, by the names of the operations. */
export const GEMINI_CHAT_TEXTS = { countGeminiTokens: COUNT };
