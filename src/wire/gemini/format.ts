// The client format of Gemini's API, `generateContent` and `streamGenerateContent`. Few installations use it, so the code that reads
// and writes it is loaded with its first request.

import { lazily } from "../../base/lazily.ts";
import type { WireFormat } from "../format.ts";

const code = lazily(() => {
  const { GEMINI_CODE }: typeof import("./code.ts") = require("./code.ts");
  return GEMINI_CODE;
});

/** The format. Addresses with the name of the model are aliases of its paths, which have it in the body. */
export const geminiFormat: WireFormat = {
  name: "gemini",
  path: "/v1beta/generateContent",
  streamPath: "/v1beta/streamGenerateContent",
  idPrefix: "gemini-",
  dialect: "gemini",
  untranslatable: ["cachedContent"],
  defaults: { temperature: false, maxTokens: false },
  lowersLimit: true,
  losesReasoning: true,
  ownTools: [
    [/^googleSearch(?:Retrieval)?$/, "web_search"],
    [/^urlContext$/, "web_fetch"],
  ],
  turns: "contents",
  reasoning: "contents.parts.thoughtSignature",
  keepalive: ": keepalive\n\n",
  edge: {
    alsoAt: ["/v1beta", "/upload/v1beta", "/ws"],
    envelope: (error, requestId, status) => code().envelope(error, requestId, status),
    // Without server-sent events, a stream is a list.
    streamsList: ({ url }) => !/[?&]alt=sse(?:&|$)/.test(url),
  },
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
  usualNames: (body) => code().usualNames(body),
  openSeals: (body, reader) => code().openSeals(body, reader),
  decode: (body) => code().decode(body),
  decodeInSteps: (body, options, pause) => code().decodeInSteps(body, options, pause),
  encode: (result, exchange) => code().encode(result, exchange),
  writer: (exchange) => code().writer(exchange),
};
