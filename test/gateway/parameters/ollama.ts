// The expected handling of the parameters of Ollama's API, written by hand. The SDK is not among the pinned ones, so the lists of what
// it documents stand here.

import { config, LOGPROBS, type Row, row, threadRows } from "./row.ts";

/** The request types of the package `ollama`, version 0.6. */
export const OLLAMA_CHAT_MEMBERS =
  "model messages stream format keep_alive tools think logprobs top_logprobs options".split(" ");
export const OLLAMA_GENERATE_MEMBERS =
  "model prompt suffix system template context stream raw format images keep_alive think logprobs top_logprobs options".split(
    " ",
  );

const options = (name: string, value: unknown) => ({ options: { [name]: value } });
const schema = { type: "object", properties: { a: { type: "string" } } };

const SHARED: readonly Row[] = [
  row("keep_alive", { keep_alive: "5m" }, "dropped", "dropped", "dropped", "dropped"),
  row("stream", { stream: false }, "ours", "ours", "ours", "ours"),
  row(
    "options.num_predict",
    options("num_predict", 50),
    { max_tokens: 50 },
    { max_output_tokens: 50 },
    { max_tokens: 50 },
    config({ maxOutputTokens: 50 }),
  ),
  row("options.num_ctx", options("num_ctx", 4096), "dropped", "dropped", "dropped", "dropped"),
  row(
    "options.temperature",
    options("temperature", 0.3),
    { temperature: 0.3 },
    { temperature: 0.3 },
    { temperature: 0.3 },
    config({ temperature: 0.3 }),
  ),
  row("options.seed", options("seed", 7), { seed: 7 }, "dropped", "dropped", config({ seed: 7 })),
  row(
    "options.stop",
    options("stop", ["END"]),
    { stop: ["END"] },
    "ours",
    { stop_sequences: ["END"] },
    config({ stopSequences: ["END"] }),
  ),
  row(
    "format",
    { format: "json" },
    { response_format: { type: "json_object" } },
    "ours",
    "ours",
    config({ responseMimeType: "application/json" }),
  ),
  row("format", { format: schema }, { response_format: { type: "json_schema" } }, "ours", "ours", "ours"),
  row("think", { think: "high" }, { reasoning_effort: "high" }, { reasoning: { effort: "high" } }, "ours", "ours"),
  row("think", { think: false }, "dropped", "dropped", "ours", "dropped"),
  row("logprobs", { logprobs: true }, { logprobs: true }, { include: LOGPROBS }, "dropped", "dropped"),
  row("a_new_one", { a_new_one: { x: 1 } }, "dropped", "dropped", "dropped", "dropped"),
  row("options.a_new_one", options("a_new_one", 1), "dropped", "dropped", "dropped", "dropped"),
  ...threadRows("thread_id", "conversation_id"),
];

const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The parameters of `POST /api/chat`. */
export const OLLAMA_CHAT: readonly Row[] = [
  ...SHARED,
  row(
    "tools",
    { tools: TOOLS },
    { tools: [{ function: { name: "f" } }] },
    { tools: [{ name: "f" }] },
    { tools: [{ name: "f" }] },
    { tools: [{ functionDeclarations: [{ name: "f" }] }] },
  ),
];

/** The parameters of `POST /api/generate`. */
export const OLLAMA_GENERATE: readonly Row[] = [
  ...SHARED,
  row("prompt", { prompt: "hello" }, { messages: [{ role: "user", content: "hello" }] }, "ours", "ours", "ours"),
  row(
    "system",
    { system: "Be brief." },
    { messages: [{ role: "system", content: "Be brief." }, {}] },
    "ours",
    "ours",
    "ours",
  ),
  row(
    "images",
    { images: [PNG] },
    { messages: [{ role: "user", content: [{ type: "text" }, { type: "image_url" }] }] },
    "ours",
    "ours",
    "ours",
  ),
  row("suffix", { suffix: "x" }, "refused", "refused", "refused", "refused"),
  row("template", { template: "x" }, "refused", "refused", "refused", "refused"),
  row("raw", { raw: true }, "refused", "refused", "refused", "refused"),
  row("context", { context: [1] }, "dropped", "dropped", "dropped", "dropped"),
];
