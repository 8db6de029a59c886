// The embeddings of Gemini's API, `embedContent` and `batchEmbedContents`: contents in, vectors out, one or several. The code that reads
// and writes them is loaded with the first request.

import { lazily } from "../../base/lazily.ts";
import { embeddings } from "./embeddings.ts";
import type { ModelEndpoint } from "./endpoint.ts";

const code = lazily(() => {
  const { GEMINI_ONE, GEMINI_SEVERAL }: typeof import("./gemini-embed-code.ts") = require("./gemini-embed-code.ts");
  return { GEMINI_ONE, GEMINI_SEVERAL };
});

function endpointOf(path: string, name: "GEMINI_ONE" | "GEMINI_SEVERAL"): ModelEndpoint {
  return {
    ...{ path, kind: "embedding", upstreamPath: embeddings.upstreamPath, dialects: [], operation: "embeddings" },
    formatConversion: (provider) => code()[name].formatConversion(provider),
    check: (body) => code()[name].check(body),
    measure: (body) => code()[name].measure(body),
    usage: (answer) => code()[name].usage(answer),
    shownUsage: () => ({}),
    addsUsage: false,
  };
}

/** One vector. */
export const geminiEmbed = endpointOf("/v1beta/embedContent", "GEMINI_ONE");
/** Several vectors. */
export const geminiBatchEmbed = endpointOf("/v1beta/batchEmbedContents", "GEMINI_SEVERAL");
