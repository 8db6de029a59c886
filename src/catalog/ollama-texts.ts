// The descriptions of the model lists in the form of Ollama's API.

import { Type } from "@sinclair/typebox";
import { anyObject } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { OLLAMA_ERRORS, OLLAMA_GROUP } from "./ollama-errors.ts";

const SHARED = { group: OLLAMA_GROUP, errorShape: OLLAMA_ERRORS };

const MODEL = Type.Object(
  {
    name: Type.String(),
    model: Type.String({ description: "The value of `model` in requests." }),
    modified_at: Type.String(),
    size: Type.Integer({ description: "0, because it is not known." }),
    digest: Type.String({ description: "A value that differs for each model." }),
    details: anyObject("The owner of the model as its `family`; the rest is empty."),
  },
  { $id: "OllamaModel" },
);

/** The descriptions, by the names of the operations. */
export const OLLAMA_TEXTS = {
  getOllamaVersion: {
    ...SHARED,
    summary: "Read the version of Ollama's API",
    description: "The version with which the endpoints below `/api/` agree. Needs no key.",
    answer: { description: "The version.", schema: Type.Object({ version: Type.String() }, { $id: "OllamaVersion" }) },
  },
  listOllamaModels: {
    ...SHARED,
    summary: "List models in Ollama's form",
    description: "The listed chat and embedding models.",
    answer: {
      description: "The models.",
      schema: Type.Object({ models: Type.Array(MODEL) }, { $id: "OllamaModelList" }),
    },
  },
  listLoadedOllamaModels: {
    ...SHARED,
    summary: "List loaded models in Ollama's form",
    description: "An empty list, because providers load their models themselves.",
    answer: {
      description: "No models.",
      schema: Type.Object({ models: Type.Array(anyObject("A model.")) }, { $id: "OllamaLoadedModels" }),
    },
  },
  showOllamaModel: {
    ...SHARED,
    summary: "Read one model in Ollama's form",
    description: "By id or alias, in `model`. `NAME:latest` is the same as `NAME`.",
    body: {
      schema: Type.Object(
        { model: Type.String({ description: "The id of a model." }) },
        { $id: "OllamaShowRequest", additionalProperties: true },
      ),
      examples: { model: { model: "demo-echo" } },
    },
    answer: {
      description: "The model.",
      schema: Type.Object(
        {
          details: anyObject("As in the list."),
          model_info: anyObject("`general.architecture`, and `{architecture}.context_length`."),
          capabilities: Type.Array(Type.String(), {
            description: "`completion`, `tools`, `vision`, `thinking`, `embedding`.",
          }),
        },
        { $id: "OllamaModelDetails", additionalProperties: true },
      ),
    },
    errors: ["model_not_found"],
  },
} satisfies Readonly<Record<string, NamelessText>>;
