// Calls that programs make when they are set up and used with a gateway, taken from their public sources. calls.test.ts
// sends each of them, and docs/reference/clients.md lists them.

/** One call of a program. */
export interface ClientCall {
  readonly client: string;
  /** The purpose, in a few words. */
  readonly use: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The header for the key; default `authorization`. */
  readonly keyHeader?: "x-api-key" | "api-key" | "x-goog-api-key";
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON body. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Or a form with fields and one file. */
  readonly form?: Readonly<Record<string, string>>;
  readonly file?: readonly [name: string, content: string];
  /** Or a message over a WebSocket, whose last event is the answer. */
  readonly message?: Readonly<Record<string, unknown>>;
  /** The expected content of the answer; for an answer that is not JSON, its media type. */
  readonly answer: Readonly<Record<string, unknown>> | string;
}

const bearer = { headers: { accept: "application/json" } };
const chat = { model: "demo-echo", messages: [{ role: "user", content: "Hi" }] };
const contents = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
const MODELS = { object: "list", data: [{ id: "demo-echo", object: "model" }] };
const VECTOR = { object: "list", data: [{ object: "embedding", index: 0 }] };
const RANKED = { results: [{ index: 1 }] };
const DOCUMENTS = ["About steel", "About bread"];

/** Stands for any string in an expected answer. */
function expectText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Stands for any number. */
function expectNumber(value: unknown): boolean {
  return typeof value === "number";
}

/** All calls. */
export const CLIENT_CALLS: readonly ClientCall[] = [
  { client: "Open WebUI", use: "list models", method: "GET", path: "/v1/models", ...bearer, answer: MODELS },
  {
    ...{ client: "Open WebUI", use: "chat", method: "POST", path: "/v1/chat/completions" },
    ...{ body: { ...chat, stream: false }, answer: { object: "chat.completion" } },
  },
  {
    ...{ client: "Open WebUI", use: "embed documents", method: "POST", path: "/v1/embeddings" },
    ...{ body: { input: ["a text"], model: "demo-embed" }, answer: VECTOR },
  },
  {
    ...{ client: "Open WebUI", use: "speech to text", method: "POST", path: "/v1/audio/transcriptions" },
    ...{ form: { model: "demo-transcribe" }, file: ["file", "RIFF"], answer: { text: expectText } },
  },
  {
    ...{ client: "Open WebUI", use: "text to speech", method: "POST", path: "/v1/audio/speech" },
    ...{ body: { input: "Hello.", model: "demo-speak", voice: "alloy" }, answer: "audio/wav" },
  },
  {
    ...{ client: "Open WebUI", use: "make a picture", method: "POST", path: "/v1/images/generations" },
    body: { model: "demo-image", prompt: "A gate", n: 1, size: "256x256", response_format: "b64_json" },
    answer: { data: [{ b64_json: expectText }] },
  },
  {
    ...{ client: "Open WebUI", use: "list models of an Ollama connection", method: "GET", path: "/api/tags" },
    answer: { models: [{ name: "demo-echo", model: "demo-echo", details: {} }] },
  },
  {
    ...{ client: "Open WebUI", use: "test an Ollama connection", method: "GET", path: "/api/version" },
    answer: { version: expectText },
  },
  {
    ...{ client: "Open WebUI", use: "models in memory", method: "GET", path: "/api/ps" },
    answer: { models: [] },
  },
  {
    ...{ client: "Open WebUI", use: "look at a model of an Ollama connection", method: "POST", path: "/api/show" },
    ...{ body: { model: "demo-echo" }, answer: { capabilities: ["completion"], model_info: {} } },
  },
  {
    ...{ client: "Open WebUI", use: "chat over an Ollama connection, streamed", method: "POST", path: "/api/chat" },
    ...{ body: { ...chat, stream: true, options: {} }, answer: "application/x-ndjson" },
  },
  {
    ...{ client: "Open WebUI", use: "embed documents over an Ollama connection", method: "POST", path: "/api/embed" },
    ...{ body: { model: "demo-embed", input: ["a text"], truncate: true }, answer: { embeddings: [[]] } },
  },
  { client: "LibreChat", use: "list models", method: "GET", path: "/v1/models", answer: MODELS },
  {
    ...{ client: "LibreChat", use: "speech to text", method: "POST", path: "/v1/audio/transcriptions" },
    ...{ form: { model: "demo-transcribe", language: "en" }, file: ["file", "RIFF"], answer: { text: expectText } },
  },
  { client: "n8n", use: "test a credential", method: "GET", path: "/v1/models", answer: MODELS },
  {
    ...{ client: "n8n", use: "test a credential (Anthropic)", method: "GET", path: "/v1/models" },
    ...{ keyHeader: "x-api-key", headers: { "anthropic-version": "2023-06-01" } },
    answer: { data: [{ id: "demo-echo", type: "model" }], has_more: false },
  },
  {
    ...{
      client: "Cline, Roo Code, Kilo Code",
      use: "sizes and prices of models",
      method: "GET",
      path: "/v1/model/info",
    },
    answer: { data: [{ model_name: "demo-echo", model_info: { max_input_tokens: expectNumber } }] },
  },
  {
    ...{ client: "Cline, Roo Code, Kilo Code", use: "list models without /v1", method: "GET", path: "/models" },
    answer: MODELS,
  },
  {
    ...{ client: "LangChain", use: "embed tokens", method: "POST", path: "/v1/embeddings" },
    ...{ body: { input: [[9906, 1917]], model: "demo-embed", encoding_format: "base64" }, answer: VECTOR },
  },
  {
    ...{ client: "Cohere's SDK", use: "rank documents", method: "POST", path: "/v2/rerank" },
    body: { model: "demo-rerank", query: "bread", documents: DOCUMENTS, top_n: 1 },
    answer: RANKED,
  },
  {
    ...{ client: "Jina's clients", use: "rank documents", method: "POST", path: "/v1/rerank" },
    body: { model: "demo-rerank", query: "bread", documents: DOCUMENTS, top_n: 1, return_documents: true },
    answer: { results: [{ index: 1, document: { text: "About bread" } }] },
  },
  {
    ...{ client: "Azure OpenAI's SDK", use: "embed", method: "POST", keyHeader: "api-key" },
    path: "/openai/deployments/demo-embed/embeddings?api-version=2024-10-21",
    ...{ body: { input: ["a text"] }, answer: VECTOR },
  },
  {
    ...{ client: "Azure OpenAI's SDK", use: "speech to text", method: "POST", keyHeader: "api-key" },
    path: "/openai/deployments/demo-transcribe/audio/transcriptions?api-version=2024-10-21",
    ...{ form: { response_format: "json" }, file: ["file", "RIFF"], answer: { text: expectText } },
  },
  {
    ...{ client: "Azure OpenAI's SDK", use: "make a picture", method: "POST", keyHeader: "api-key" },
    path: "/openai/deployments/demo-image/images/generations?api-version=2024-10-21",
    ...{ body: { prompt: "A gate", size: "256x256" }, answer: { data: [{ b64_json: expectText }] } },
  },
  {
    ...{ client: "OpenRouter's clients", use: "look at the key", method: "GET", path: "/api/v1/key" },
    answer: { data: { label: expectText } },
  },
  {
    ...{ client: "OpenRouter's clients", use: "chat", method: "POST", path: "/api/v1/chat/completions" },
    ...{ body: chat, answer: { object: "chat.completion" } },
  },
  {
    ...{ client: "LiteLLM's clients", use: "look at the key", method: "GET", path: "/key/info" },
    answer: {},
  },
  {
    ...{ client: "Google's SDK", use: "list models", method: "GET", path: "/v1beta/models" },
    ...{ keyHeader: "x-goog-api-key", answer: { models: [{ name: "models/demo-echo" }] } },
  },
  {
    ...{ client: "Google's SDK", use: "chat", method: "POST", path: "/v1beta/models/demo-echo:generateContent" },
    ...{ keyHeader: "x-goog-api-key", body: contents, answer: { candidates: [{ finishReason: "STOP" }] } },
  },
  {
    ...{ client: "Google's SDK", use: "count tokens", method: "POST", path: "/v1beta/models/demo-echo:countTokens" },
    ...{ keyHeader: "x-goog-api-key", body: contents, answer: { totalTokens: expectNumber } },
  },
  {
    ...{ client: "Google's SDK", use: "embed", method: "POST", path: "/v1beta/models/demo-embed:batchEmbedContents" },
    keyHeader: "x-goog-api-key",
    body: { requests: [{ model: "models/demo-embed", content: { parts: [{ text: "a text" }] } }] },
    answer: { embeddings: [{}] },
  },
  {
    ...{ client: "Gemini CLI", use: "chat, streamed", method: "POST", keyHeader: "x-goog-api-key" },
    path: "/v1beta/models/demo-echo:streamGenerateContent?alt=sse",
    ...{ body: contents, answer: "text/event-stream" },
  },
  {
    ...{ client: "Ollama's clients", use: "list models", method: "GET", path: "/api/tags" },
    answer: { models: [{ name: expectText }] },
  },
  {
    ...{ client: "Ollama's clients", use: "chat", method: "POST", path: "/api/chat" },
    ...{ body: { ...chat, stream: false }, answer: { done: true } },
  },
  {
    ...{ client: "OpenAI's SDK", use: "a response over WebSocket", method: "GET", path: "/v1/responses" },
    message: { type: "response.create", model: "demo-echo", store: false, input: "Hi", stream_id: "main" },
    answer: { type: "response.completed", stream_id: "main", response: { status: "completed" } },
  },
  {
    ...{ client: "Codex", use: "warm up a WebSocket", method: "GET", path: "/v1/responses" },
    headers: { "openai-beta": "responses_websockets=2026-02-06" },
    message: { type: "response.create", model: "demo-echo", store: false, input: "Hi", generate: false, tools: [] },
    answer: { type: "response.completed", response: { output: [] } },
  },
  { client: "LiteLLM's clients", use: "is it ready", method: "GET", path: "/health/readiness", answer: {} },
];
