// The OpenAPI description of the endpoints of Ollama's API that answer by a model.

import { Type } from "@sinclair/typebox";
import { OLLAMA_ERRORS, OLLAMA_GROUP } from "../../catalog/ollama-errors.ts";
import { anyObject } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";
import { OLLAMA_CHAT_FIELDS, OLLAMA_GENERATE_FIELDS } from "../../wire/ollama/fields.ts";
import { ANY_SCHEMA, CHAT_ERRORS, CHAT_HEADERS, MODEL, MODEL_ERRORS, MODEL_HEADERS, requestSchema } from "./shared.ts";

const SHARED = { group: OLLAMA_GROUP, errorShape: OLLAMA_ERRORS };
const LINES =
  "Unless `stream` is false, the answer is a line of JSON (`application/x-ndjson`) for each piece of text, and the last line has " +
  "`done: true` and the counts of tokens. An error is `{error: TEXT}`.";

const MESSAGE = Type.Object(
  {
    role: Type.String({ description: "`system`, `user`, `assistant` or `tool`." }),
    content: Type.Optional(Type.String()),
    thinking: Type.Optional(Type.String({ description: "The reasoning of the model." })),
    images: Type.Optional(Type.Array(Type.String(), { description: "Images as base64." })),
    tool_calls: Type.Optional(Type.Array(anyObject("A call: `function` with `name` and `arguments`."))),
    tool_name: Type.Optional(Type.String({ description: "The tool whose result this is." })),
    tool_call_id: Type.Optional(Type.String({ description: "The call whose result this is, if calls have ids." })),
  },
  { $id: "OllamaMessage", additionalProperties: true },
);

const ENDING = {
  model: Type.String(),
  created_at: Type.String(),
  done: Type.Boolean(),
  done_reason: Type.Optional(Type.String({ description: "`stop`, `length`, `load` or `unload`." })),
  total_duration: Type.Optional(Type.Integer({ description: "In nanoseconds." })),
  load_duration: Type.Optional(Type.Integer()),
  prompt_eval_count: Type.Optional(Type.Integer({ description: "Input tokens." })),
  prompt_eval_duration: Type.Optional(Type.Integer()),
  eval_count: Type.Optional(Type.Integer({ description: "Output tokens." })),
  eval_duration: Type.Optional(Type.Integer()),
};

const TOOL = Type.Object(
  {
    type: Type.Optional(Type.String({ description: "`function`." })),
    function: anyObject("`name`, `description`, `parameters`."),
  },
  { $id: "OllamaTool", additionalProperties: true },
);

const CHAT: EndpointText = {
  id: "ollamaChat",
  ...SHARED,
  summary: "Answer a conversation",
  description: `The format of Ollama's chat endpoint, for every chat model. ${LINES} Without messages, no provider is called.`,
  body: {
    schema: requestSchema("OllamaChatRequest", OLLAMA_CHAT_FIELDS, {
      shapes: { messages: Type.Array(MESSAGE), tools: Type.Array(TOOL) },
    }),
    examples: { whole: { model: "demo-echo", messages: [{ role: "user", content: "Say hello." }], stream: false } },
  },
  answer: {
    description: "The answer, with `stream: false`.",
    schema: Type.Object({ ...ENDING, message: MESSAGE }, { $id: "OllamaChatAnswer", additionalProperties: true }),
    headers: CHAT_HEADERS,
  },
  errors: CHAT_ERRORS,
};

const GENERATE: EndpointText = {
  id: "ollamaGenerate",
  ...SHARED,
  summary: "Answer a prompt",
  description: `The format of Ollama's generate endpoint, for every chat model. ${LINES} Without a prompt, no provider is called.`,
  body: {
    schema: requestSchema("OllamaGenerateRequest", OLLAMA_GENERATE_FIELDS, { shapes: {} }),
    examples: { whole: { model: "demo-echo", prompt: "Say hello.", stream: false } },
  },
  answer: {
    description: "The answer, with `stream: false`.",
    schema: Type.Object(
      { ...ENDING, response: Type.String(), thinking: Type.Optional(Type.String()) },
      { $id: "OllamaGenerateAnswer", additionalProperties: true },
    ),
    headers: CHAT_HEADERS,
  },
  errors: CHAT_ERRORS,
};

const EMBED: EndpointText = {
  id: "ollamaEmbed",
  ...SHARED,
  summary: "Create embeddings of texts",
  description: "The format of Ollama's embed endpoint, for models whose `type` is `embedding`.",
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })]),
        dimensions: Type.Optional(Type.Integer({ minimum: 1, description: "The length of the vectors." })),
        options: Type.Optional(ANY_SCHEMA),
      },
      { $id: "OllamaEmbedRequest", additionalProperties: true },
    ),
    examples: { texts: { model: "demo-embed", input: ["The food was delicious."] } },
  },
  answer: {
    description: "The vectors, in the order of the input.",
    schema: Type.Object(
      {
        model: Type.String(),
        embeddings: Type.Array(Type.Array(Type.Number())),
        prompt_eval_count: Type.Optional(Type.Integer()),
      },
      { $id: "OllamaEmbeddings", additionalProperties: true },
    ),
    headers: MODEL_HEADERS,
  },
  errors: MODEL_ERRORS,
};

/** The descriptions by path. */
export const OLLAMA_PATHS = { "/api/chat": CHAT, "/api/generate": GENERATE, "/api/embed": EMBED };
