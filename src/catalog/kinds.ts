// The meaning of each kind of model for clients: the endpoints that accept it, its input and its output. The endpoints
// of models that do not chat come from their list. Discovered models of a kind are listed if the kind has an endpoint.

import { MODEL_KINDS, type ModelKind } from "../vendors/model-kind.ts";
import { WIRE_FORMATS } from "../wire/index.ts";
import { MODEL_ENDPOINTS } from "./endpoints/index.ts";

/** The facts about a kind that do not depend on the endpoints. */
interface Kind {
  /** Precedes "model" in a message. */
  readonly called: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** A kind with its endpoints. */
interface KindFacts extends Kind {
  /** Every model of the kind supports all of them; errors name the first. Empty: no endpoint accepts the kind. */
  readonly endpoints: readonly string[];
}

const FACTS: Readonly<Record<ModelKind, Kind>> = {
  chat: { called: "a chat", input: ["text"], output: ["text"] },
  embedding: { called: "an embedding", input: ["text"], output: ["embeddings"] },
  rerank: { called: "a rerank", input: ["text"], output: ["scores"] },
  transcription: { called: "a transcription", input: ["audio"], output: ["text"] },
  speech: { called: "a speech", input: ["text"], output: ["audio"] },
  image: { called: "an image", input: ["text"], output: ["image"] },
};

/** Every kind. */
export const KINDS: Readonly<Record<ModelKind, KindFacts>> = byKind((kind) => ({
  ...FACTS[kind],
  endpoints: [
    // Every client format can use every chat model.
    ...(kind === "chat" ? WIRE_FORMATS.map(({ path }) => path) : []),
    ...MODEL_ENDPOINTS.filter((endpoint) => endpoint.kind === kind).map(({ path }) => path),
  ],
}));

function byKind<T>(of: (kind: ModelKind) => T): Record<ModelKind, T> {
  return Object.fromEntries(MODEL_KINDS.map((kind) => [kind, of(kind)])) as Record<ModelKind, T>;
}

/** Whether a word is a kind of model. */
export function isModelKind(word: string | undefined): word is ModelKind {
  return MODEL_KINDS.some((kind) => kind === word);
}
