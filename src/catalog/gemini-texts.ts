// The descriptions of the model lists in the form of Gemini's API.

import { Type } from "@sinclair/typebox";
import { pathId } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { GEMINI_ERRORS, GEMINI_GROUP } from "./gemini-errors.ts";

const SHARED = { group: GEMINI_GROUP, errorShape: GEMINI_ERRORS };

const MODEL = Type.Object(
  {
    name: Type.String({ description: "`models/ID`. In addresses, `ID` stands behind `models/`." }),
    version: Type.String(),
    displayName: Type.String(),
    description: Type.String(),
    inputTokenLimit: Type.Integer(),
    outputTokenLimit: Type.Integer(),
    supportedGenerationMethods: Type.Array(Type.String()),
    thinking: Type.Optional(Type.Boolean({ description: "Whether the model reasons." })),
  },
  { $id: "GeminiModel" },
);

/** The descriptions, by the names of the operations. */
export const GEMINI_TEXTS = {
  listGeminiModels: {
    ...SHARED,
    summary: "List models in Gemini's form",
    description: "The listed chat and embedding models, on one page. The key may be sent as `x-goog-api-key`.",
    answer: {
      description: "The models.",
      schema: Type.Object({ models: Type.Array(MODEL) }, { $id: "GeminiModelList" }),
    },
  },
  getGeminiModel: {
    ...SHARED,
    summary: "Read one model in Gemini's form",
    description: "By id or alias.",
    parameters: [pathId("id", "The id or alias of a model.", "demo-echo")],
    answer: { description: "The model.", schema: MODEL },
    errors: ["model_not_found"],
  },
} satisfies Readonly<Record<string, NamelessText>>;
