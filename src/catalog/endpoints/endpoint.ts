// Defines an endpoint for models that do not chat: its path, its parameters, and how to read the usage from an answer.
// The gateway serves all of them in the same way. A provider that has the same format receives the client's body with
// only the model changed; for other formats the endpoint has a conversion.

import type { ModelKind } from "../../vendors/model-kind.ts";
import type { ProtocolFacts } from "../../vendors/protocols.ts";
import type { Quirks } from "../../vendors/quirks.ts";
import type { Measured } from "../prices.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The facts about a provider that an endpoint may use. */
export interface EndpointProvider {
  readonly dialect: string;
  readonly protocol: ProtocolFacts;
  readonly quirks: Quirks;
}

/** The conversion for a provider that has the endpoint in another format. */
export interface FormatConversion {
  /** The path below the provider's base URL; `model` is the provider's name of the model. */
  path(model: string, asked: JsonObject): string;
  /**
   * The body of the upstream request; of a form, the fields that are added to it. Throws `ApiError` 400 naming a parameter that the
   * provider does not support.
   */
  body(asked: JsonObject, model: string): JsonObject;
  /** Converts the provider's answer. Throws `TypeError` if it is not a valid answer. */
  answer(value: unknown): JsonObject;
  /** An answer in bytes is passed on as it is. */
  readonly passesBytes?: true;
  /** Of a form only the file is sent, as the whole body. */
  readonly sendsFileAlone?: true;
}

/** One endpoint. Its functions are pure and know neither the provider's address nor the client. */
export interface ModelEndpoint {
  /** The path, such as `/v1/embeddings`. */
  readonly path: string;
  /** The kind of model that it accepts. */
  readonly kind: ModelKind;
  /** The path at providers, below their base URL. */
  readonly upstreamPath: string;
  /** The dialects whose providers have the endpoint in this format. */
  readonly dialects: readonly string[];
  /** The conversion for a provider with another format; undefined for all others. */
  formatConversion?(provider: EndpointProvider): FormatConversion | undefined;
  /**
   * The answer for the client; undefined if the provider's answer is sent unchanged. Throws `TypeError` if it is not
   * valid.
   */
  answer?(answer: JsonObject, body: JsonObject): JsonObject | undefined;
  /**
   * For endpoints with long answers. Whether lists of numbers in the answer to this body are passed on unread: `answer` and `usage` then
   * get `[0]` for long ones.
   */
  relaysLists?(body: JsonObject): boolean;
  /** The name of the required file, for endpoints that accept a form; undefined for JSON. */
  readonly file?: string;
  /** `any`: an answer may also be text, bytes or server-sent events, which are relayed unchanged. Absent: only JSON. */
  readonly gives?: "any";
  /** Whether requests in JSON can name an end user, as chat completions do. */
  readonly namesEndUser?: boolean;
  /** Whether equal requests have equal answers, which may be kept. */
  readonly isRepeatable?: boolean;
  /** The operation in traces (OpenTelemetry's `gen_ai.operation.name`). */
  readonly operation: string;
  /** Throws `ApiError` 400 with the parameter's name. Of a form, only the fields before the first file are given. */
  check(body: JsonObject): void;
  /** The usage of the request, counted by the gateway: for answers that do not report it. */
  measure(body: JsonObject): Measured;
  /**
   * The largest usage that a request can have, for budgets. `bytes`: the size of a form as far as it is known. Absent:
   * the result of `measure`.
   */
  worst?(body: JsonObject, bytes: number): Measured;
  /** The usage that an answer or an event reports; undefined if it is missing or invalid. */
  usage(answer: JsonObject): Measured | undefined;
  /** The text that the model wrote in an answer or an event, for endpoints whose models write. */
  wrote?(answer: JsonObject): string;
  /** The usage object for the client, in place of the answer's own `raw`. */
  shownUsage(raw: unknown, usage: Measured): JsonObject;
  /** Whether an answer without a usage object gets one. */
  readonly addsUsage: boolean;
}
