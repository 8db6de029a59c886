// The OpenAPI description of the endpoints of Gemini's API that answer by a model.

import { type TSchema, Type } from "@sinclair/typebox";
import { GEMINI_ERRORS, GEMINI_GROUP } from "../../catalog/gemini-errors.ts";
import { anyObject, pathId } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";
import { GEMINI_FIELDS } from "../../wire/gemini/fields.ts";
import { CHAT_ERRORS, CHAT_HEADERS, requestSchema } from "./shared.ts";

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

/** The descriptions by path. */
export const GEMINI_PATHS = { "/v1beta/generateContent": GENERATE, "/v1beta/streamGenerateContent": STREAM };
