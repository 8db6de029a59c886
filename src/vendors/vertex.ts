// Google's Vertex AI. Sources: cloud.google.com/vertex-ai/generative-ai/docs (partner models, OpenAI library, locations), and what
// `@anthropic-ai/vertex-sdk` 1.1, `@google/genai` 3.1 and openai 7.57 send (2026-11).

import type { Vendor } from "./vendor.ts";

const PLACE = "projects/{project}/locations/{region}";

/** Names are those of Vertex: `claude-…@DATE`, `gemini-…`, and `maker/model` for the others. */
export const vertex: Vendor = {
  name: "vertex",
  title: "Google Vertex AI",
  importNames: ["vertex_ai"],
  api: {
    kind: "openai",
    baseUrl: "",
    dialects: {
      "openai-chat": { free_model_names: true },
      "openai-responses": {},
      "anthropic-messages": {},
      gemini: {},
    },
    signsThinking: true,
    models: { path: "/models", list: "publisherModels", id: ["name", "id"], idPrefix: "publishers/google/models/" },
    cloud: {
      origins: [
        { region: /^global$/, origin: "https://aiplatform.googleapis.com" },
        { region: /^(?:us|eu)$/, origin: "https://aiplatform.{region}.rep.googleapis.com" },
        { origin: "https://{region}-aiplatform.googleapis.com" },
      ],
      places: {
        project: { variables: ["GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"] },
        region: { variables: ["GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"], usual: "global" },
      },
      credential: "google",
      offers: [
        {
          models: /^claude/i,
          protocols: ["anthropic-messages"],
          path: `/v1/${PLACE}/publishers/anthropic`,
          shape: "raw-predict",
          example: "claude-sonnet-4-5@20250929",
        },
        {
          models: /^gemini/,
          protocols: ["gemini"],
          path: `/v1beta1/${PLACE}/publishers/google`,
          example: "gemini-3.1-pro",
        },
        {
          models: /^(?:gpt-\d|o\d)/,
          protocols: ["openai-chat", "openai-responses"],
          path: `/v1/${PLACE}/publishers/openai/v1`,
          example: "gpt-5.4",
        },
        {
          protocols: ["openai-chat"],
          path: `/v1/${PLACE}/endpoints/openapi`,
          example: "meta/llama-4-maverick-17b-128e-instruct-maas",
        },
      ],
      list: "/v1beta1/publishers/google/models",
    },
    note: "Needs `project`; `region` is `global` by default. Lists Google's own models; those of others are configured.",
  },
};
