// The endpoints for models that do not chat: one line each. The fixture of an endpoint is the file with its name in
// test/gateway/endpoints.

import { embeddings } from "./embeddings.ts";
import type { ModelEndpoint } from "./endpoint.ts";
import { geminiBatchEmbed, geminiEmbed } from "./gemini-embed.ts";
import { imageEdits, imageGenerations } from "./images.ts";
import { ollamaEmbed } from "./ollama-embed.ts";
import { rerank } from "./rerank.ts";
import { speech } from "./speech.ts";
import { transcriptions, translations } from "./transcriptions.ts";

/** All endpoints for models that do not chat. */
export const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [
  embeddings,
  ollamaEmbed,
  geminiEmbed,
  geminiBatchEmbed,
  rerank,
  transcriptions,
  translations,
  speech,
  imageGenerations,
  imageEdits,
];
