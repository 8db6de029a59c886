// What an endpoint for models that do not chat is: where it stands, what it takes, and what an answer used. The gateway
// serves all of them alike; bodies go to providers that speak the same words, changed in nothing but the model, and to
// others in words of their own where the endpoint has these.

import type { Usage } from "../../chat/event.ts";
import type { ModelKind } from "../../vendors/model-kind.ts";
import type { ProtocolFacts } from "../../vendors/protocols.ts";
import type { Quirks } from "../../vendors/quirks.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What an endpoint may know of a provider. */
export interface EndpointProvider {
  readonly protocol: ProtocolFacts;
  readonly quirks: Quirks;
}

/** The words of a provider that has an endpoint in its own way. */
export interface OtherWords {
  /** Where it has it, below its base URL, for the model as the provider names it. */
  path(model: string): string;
  /** The body that goes up. Throws `ApiError` 400 that names what the provider cannot take. */
  body(asked: JsonObject, model: string): JsonObject;
  /** Its answer in the endpoint's words. Throws `TypeError` for what is none. */
  answer(value: unknown): JsonObject;
}

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
  /** How a provider is asked that has it in other words; undefined for all others. */
  otherWords?(provider: EndpointProvider): OtherWords | undefined;
  /** What the client gets where that is not what came; undefined: it is. Throws `TypeError` for what is no such answer. */
  answer?(answer: JsonObject, body: JsonObject): JsonObject | undefined;
  /** What traces call it (OpenTelemetry's `gen_ai.operation.name`). */
  readonly operation: string;
  /** Throws `ApiError` 400 that names the parameter. */
  check(body: JsonObject): void;
  /** Tokens that the body holds, counted here: for budgets, and for answers that do not say. */
  inputTokens(body: JsonObject): number;
  /** What the provider says it counted; undefined where it does not say, or says nonsense. */
  usage(answer: JsonObject): Usage | undefined;
}
