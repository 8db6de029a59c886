// What the kinds of model mean to clients: the endpoints that accept them, their input and output. When an endpoint for a
// kind is added, its path goes into the row here, and discovered models of that kind are listed.

import { MODEL_KINDS, type ModelKind } from "../vendors/model-kind.ts";
import { FORMATS } from "../wire/index.ts";

interface KindFacts {
  /** Stands before "model" in a message. */
  readonly called: string;
  /** Every model of the kind serves all of them; errors name the first. Empty: no endpoint accepts the kind. */
  readonly endpoints: readonly string[];
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** Every kind. */
export const KINDS: Readonly<Record<ModelKind, KindFacts>> = {
  // Every client format speaks to every chat model (contract §3 "catalog fields").
  chat: {
    called: "a chat",
    endpoints: FORMATS.map(({ path }) => path),
    input: ["text"],
    output: ["text"],
  },
  embedding: { called: "an embedding", endpoints: [], input: ["text"], output: ["embeddings"] },
  rerank: { called: "a rerank", endpoints: [], input: ["text"], output: ["scores"] },
  transcription: { called: "a transcription", endpoints: [], input: ["audio"], output: ["text"] },
  speech: { called: "a speech", endpoints: [], input: ["text"], output: ["audio"] },
  image: { called: "an image", endpoints: [], input: ["text"], output: ["image"] },
};

/** True for the words that are kinds of model here. */
export function isModelKind(word: string | undefined): word is ModelKind {
  return MODEL_KINDS.some((kind) => kind === word);
}
