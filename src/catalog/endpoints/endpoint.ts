// What an endpoint for models that do not chat is: where it stands, what it takes, and what an answer used. The gateway
// serves all of them alike; bodies go to providers that speak the same words, changed in nothing but the model.

import type { Usage } from "../../chat/event.ts";
import type { ModelKind } from "../../vendors/model-kind.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One endpoint. Pure: knows neither providers nor who asks. */
export interface ModelEndpoint {
  /** As `/v1/embeddings`. */
  readonly path: string;
  /** The models that it takes. */
  readonly kind: ModelKind;
  /** Where providers have it, below their base URL. */
  readonly upstreamPath: string;
  /** The dialects whose providers have it in these words. */
  readonly dialects: readonly string[];
  /** What traces call it (OpenTelemetry's `gen_ai.operation.name`). */
  readonly operation: string;
  /** Throws `ApiError` 400 that names the parameter. */
  check(body: JsonObject): void;
  /** Tokens that the body holds, counted here: for budgets, and for answers that do not say. */
  inputTokens(body: JsonObject): number;
  /** What the provider says it counted; undefined where it does not say, or says nonsense. */
  usage(answer: JsonObject): Usage | undefined;
}
