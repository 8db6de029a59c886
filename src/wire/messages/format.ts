// The client format of `POST /v1/messages`. The code that reads and writes it is loaded with its first request.

import { lazily } from "../../base/lazily.ts";
import type { WireFormat } from "../format.ts";

const code = lazily(() => {
  const { MESSAGES_CODE }: typeof import("./code.ts") = require("./code.ts");
  return MESSAGES_CODE;
});

/** The messages format. */
export const messagesFormat: WireFormat = {
  name: "anthropic-messages",
  path: "/v1/messages",
  idPrefix: "msg_",
  dialect: "anthropic-messages",
  keepalive: 'event: ping\ndata: {"type":"ping"}\n\n',
  turns: "messages",
  get fields() {
    return code().fields;
  },
  get names() {
    return code().names;
  },
  get reads() {
    return code().reads;
  },
  get entries() {
    return code().entries;
  },
  decode: (body, options) => code().decode(body, options),
  decodeInSteps: (body, options, pause) => code().decodeInSteps(body, options, pause),
  openSeals: (body, reader) => code().openSeals(body, reader),
  encode: (result, exchange) => code().encode(result, exchange),
  writer: (exchange) => code().writer(exchange),
  reasoning: "messages.thinking",
  untranslatable: ["thread", "compaction", "mcp_servers", "container"],
  defaults: { temperature: false, maxTokens: false },
  lowersLimit: true,
  marksCaches: true,
  hasThreads: true,
  mcp: lazily(() => {
    const { mcpOfMessages }: typeof import("./mcp.ts") = require("./mcp.ts");
    return mcpOfMessages;
  }),
  ownTools: [
    [/^web_search_\d{8}$/, "web_search"],
    [/^web_fetch_\d{8}$/, "web_fetch"],
  ],
  edge: {
    // Anthropic's SDKs expect a top-level type and the request's id.
    envelope: (error, request_id) => ({ type: "error", error, request_id }),
    requestIdHeader: "request-id",
    // Anthropic's clients always send this header. It distinguishes them from OpenAI's, which use the same files endpoint.
    xApiKeyPaths: [{ path: "/v1/messages" }, { path: "/v1/models" }, { path: "/v1/files", with: "anthropic-version" }],
  },
};
