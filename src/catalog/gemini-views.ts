// The models in the form of Gemini's API.

import { entryOf } from "../base/json-object.ts";
import { asShown, type CatalogModel } from "./models.ts";

/** What can be asked of the kinds of models that this protocol has. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  chat: ["generateContent", "countTokens"],
  embedding: ["embedContent"],
};

/** The list of models, which is one page. */
export function geminiList(models: readonly CatalogModel[]) {
  return {
    models: models
      .filter(({ kind, visibility }) => visibility === "list" && Object.hasOwn(METHODS, kind))
      .map((model) => geminiModel(model)),
  };
}

/** One model. */
export function geminiModel(given: CatalogModel) {
  const { id, name, description, kind, contextLength, maxOutputTokens, supportsReasoning } = asShown(given);
  return {
    name: `models/${id}`,
    version: "",
    displayName: name,
    description: description,
    inputTokenLimit: contextLength,
    outputTokenLimit: kind === "embedding" ? 1 : maxOutputTokens,
    supportedGenerationMethods: entryOf(METHODS, kind) ?? [],
    ...(kind === "chat" ? { thinking: supportsReasoning } : {}),
  };
}
