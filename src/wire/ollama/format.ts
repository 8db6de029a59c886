// The client formats of Ollama's API, `POST /api/chat` and `POST /api/generate`. Few installations use them, so the code that reads
// and writes them is loaded with their first request.

import type { ErrorBody } from "../../base/errors.ts";
import { lazily } from "../../base/lazily.ts";
import type { WireFormat } from "../format.ts";

const code = lazily(() => {
  const { CHAT, GENERATE }: typeof import("./code.ts") = require("./code.ts");
  return { CHAT, GENERATE };
});

const SHARED = {
  idPrefix: "ollama-",
  untranslatable: [],
  defaults: { temperature: false, maxTokens: false },
  losesReasoning: true,
  loadsModels: true,
  turns: "messages",
} as const;

const EDGE = {
  // Ollama's clients print the member `error` as a text.
  envelope: ({ message, code, param }: ErrorBody) => ({ error: message, code, ...(param === null ? {} : { param }) }),
  streamType: "application/x-ndjson",
} as const;

const OTHER_PATHS = "embed tags show ps version blobs copy create delete embeddings pull push"
  .split(" ")
  .map((name) => `/api/${name}`);

/** The format of `POST /api/chat`. */
export const ollamaChatFormat: WireFormat = {
  ...SHARED,
  name: "ollama-chat",
  path: "/api/chat",
  edge: { ...EDGE, alsoAt: OTHER_PATHS },
  // A line with an empty piece of text. Clients parse every line, so it cannot be a comment.
  keepalive: '{"message":{"role":"assistant","content":""},"done":false}\n',
  reasoning: "messages.thinking",
  get fields() {
    return code().CHAT.fields;
  },
  get names() {
    return code().CHAT.names;
  },
  get reads() {
    return code().CHAT.reads;
  },
  decode: (body, options) => code().CHAT.decode(body, options),
  encode: (result, exchange) => code().CHAT.encode(result, exchange),
  writer: (exchange) => code().CHAT.writer(exchange),
};

/** The format of `POST /api/generate`. */
export const ollamaGenerateFormat: WireFormat = {
  ...SHARED,
  name: "ollama-generate",
  path: "/api/generate",
  edge: EDGE,
  keepalive: '{"response":"","done":false}\n',
  reasoning: "thinking",
  get fields() {
    return code().GENERATE.fields;
  },
  get names() {
    return code().GENERATE.names;
  },
  get reads() {
    return code().GENERATE.reads;
  },
  decode: (body, options) => code().GENERATE.decode(body, options),
  encode: (result, exchange) => code().GENERATE.encode(result, exchange),
  writer: (exchange) => code().GENERATE.writer(exchange),
};
