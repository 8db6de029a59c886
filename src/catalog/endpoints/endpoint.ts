// What an endpoint for models that do not chat is: where it stands, what it takes, and what an answer used. The gateway
// serves all of them alike; bodies go to providers that speak the same words, changed in nothing but the model, and to
// others in words of their own where the endpoint has these.

import type { ModelKind } from "../../vendors/model-kind.ts";
import type { ProtocolFacts } from "../../vendors/protocols.ts";
import type { Quirks } from "../../vendors/quirks.ts";
import type { Measured } from "../prices.ts";

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
  /** The file that a request must have, for endpoints that take forms; undefined for JSON. */
  readonly file?: string;
  /** `any`: answers may also be text, bytes or server-sent events, which go on as they come. Absent: JSON only. */
  readonly gives?: "any";
  /** What traces call it (OpenTelemetry's `gen_ai.operation.name`). */
  readonly operation: string;
  /** Throws `ApiError` 400 that names the parameter. Of a form there is what came before the first file. */
  check(body: JsonObject): void;
  /** What the body holds, counted here: for answers that do not say. */
  measure(body: JsonObject): Measured;
  /** The most that a request may use, for budgets. `bytes`: of a form, as far as known. Absent: what `measure` says. */
  worst?(body: JsonObject, bytes: number): Measured;
  /** What the provider says it counted, in an answer or an event; undefined where it does not say, or says nonsense. */
  usage(answer: JsonObject): Measured | undefined;
}
