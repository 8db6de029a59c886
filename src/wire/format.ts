// A client's protocol: it reads requests into the neutral form and writes neutral answers in the client's format. It knows
// nothing of upstreams.

import type { ErrorBody } from "../base/errors.ts";
import type { JsonEdit } from "../base/json-edit.ts";
import type { EditedContext } from "../chat/context-edits.ts";
import type { EntryFormat } from "../chat/entries.ts";
import type { ChatEvent, TextDelta } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { ChatResult } from "../chat/result.ts";
import type { HistoryReader } from "../chat/seals.ts";
import type { WebToolKind } from "../chat/server-tools.ts";
import type { NamedFormat } from "./client-names.ts";
import type { FormatFields } from "./fields.ts";
import type { McpFormat } from "./mcp-format.ts";
import type { Source } from "./seal-envelopes.ts";
import type { Known } from "./unread.ts";

/** What an answer contains beside its content: the gateway's ids and names, and members of the request that are repeated. */
export interface AnswerContext {
  /** The answer's id, with the format's own prefix. */
  id: string;
  /** The id of the model in the catalog. */
  model: string;
  createdSeconds: number;
  /** The current time in whole seconds, for formats that state when an answer was completed. */
  nowSeconds(): number;
  requestId: string;
  request: ChatRequest;
  /** The validated body of the request, for formats that repeat members of it. */
  body: Readonly<Record<string, unknown>>;
  /** The temperature that is sent if the request has none. If absent, the provider's default applies. */
  defaultTemperature?: number | undefined;
  /** The edits that were applied to the client's conversation, if it requested any. */
  edited?: EditedContext;
  /** When the request began, as `performance.now()` tells it, for formats that state durations. */
  startedMs?: number;
  /** The provider that answers, to which the answer's seals are bound. */
  source?: Source;
  /** Whether the client sent `x-sallyport-event-types: short` (responses only). */
  shortEventTypes?: boolean;
}

/** An error within a stream. */
export interface StreamError extends ErrorBody {
  request_id: string;
}

/** The edits to a body that open the seals in its history. */
export interface OpenedSeals {
  edits: JsonEdit[];
  removed: boolean;
  /** Whether the text of reasoning was removed that no provider sealed. */
  lost?: boolean;
}

/** What stands before and after the text of a delta. */
export interface TextSurroundings {
  readonly before: string;
  readonly after: string;
}

/** Writes one streamed answer. It returns text, which the caller sends as bytes. */
export interface EventWriter {
  /**
   * What stands around the text of further deltas of a block, as long as no other event comes; undefined if each has to be written
   * on its own. Between the two stands the text as JSON holds it without escapes.
   */
  around?(event: TextDelta): TextSurroundings | undefined;
  /** The text of one event; "" if this format has none. After the last choice's `finish`, or an `error`, no event may follow. */
  push(event: ChatEvent): string;
  /** The text after the last event of a successful answer: `data: [DONE]`, if the format has it. */
  end(): string;
  /** The protocol's error event, after which nothing follows. */
  fail(error: StreamError): string;
  /** The whole answer once it is complete, in formats whose answers can be stored. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/** Request headers that affect how a body is read. */
export interface DecodeOptions {
  /** The headers `anthropic-beta` and `anthropic-version`, both of which may relax the messages format. */
  betas?: string;
  version?: string;
  /** The header `user-agent`. */
  userAgent?: string;
}

/** The routing options of a request. */
export interface RoutingOptions {
  /** The ids of fallback models, in order. */
  readonly models: readonly string[];
  /**
   * The providers by name: `order` lists those to try first, `only` excludes all others; the rest says whether others may follow.
   */
  readonly providers?: {
    readonly order: readonly string[];
    readonly only: readonly string[] | undefined;
    readonly mayFallBack: boolean;
  };
  /** The routing members that are not supported. */
  readonly dropped: readonly string[];
}

/** The properties of a format's endpoints that the HTTP edge needs. */
export interface EdgeTraits {
  /** Builds the body of an HTTP error. If absent, the body is `{error}` alone. */
  envelope?(error: ErrorBody, requestId: string, status: number): Record<string, unknown>;
  /** Other paths whose errors have the same form. */
  alsoAt?: readonly string[];
  /** The media type of a stream. If absent, it consists of server-sent events. */
  streamType?: string;
  /** Whether a request to the path whose answers are streamed gets a JSON list instead of events. */
  streamsList?(request: Request): boolean;
  /** An additional response header that contains the request's id. */
  requestIdHeader?: string;
  /** The paths at which, and below which, a key may be sent as `x-api-key`. */
  xApiKeyPaths?: readonly { readonly path: string /** A required header. */; readonly with?: string }[];
}

/** A client's protocol. Differences between formats are members of this interface, so that no code compares names. */
export interface WireFormat extends NamedFormat {
  /** The name of the format, which is also that of the dialect of the same protocol, if there is one. */
  name: string;
  path: string;
  /** A second path, whose answers are streamed. */
  streamPath?: string;
  /** Prefix of answer ids, such as `chatcmpl-`. */
  idPrefix: string;
  /** The dialect that can relay this format unchanged; none for legacy completions. */
  dialect?: string;
  /** The table of its requests' members. */
  fields: FormatFields;
  /** The nested members that `decode` reads. */
  reads: Known;
  /** The name for removed reasoning in `x-sallyport-dropped`. */
  reasoning: string;
  /** Top-level parameters that a translation must not drop, since the answer would change. */
  untranslatable: readonly string[];
  /** Whether the gateway's defaults apply. If the protocol has none, the provider's own defaults are used. */
  defaults: { readonly temperature: boolean; readonly maxTokens: boolean };
  /**
   * Whether an output limit above the model's own is lowered, because the format's coding agents send one number for every model.
   * Otherwise it is refused.
   */
  lowersLimit?: boolean;
  /** The tools that providers run and that the gateway can run in their place, by their names in this format. */
  ownTools?: readonly (readonly [names: RegExp, kind: WebToolKind])[];
  /** How clients of this format name MCP servers; absent if they cannot. */
  mcp?: () => McpFormat;
  /** Whether clients of this format mark what to cache. */
  marksCaches?: boolean;
  /** Whether clients may not return reasoning, so that the gateway stores it by the ids of the calls that follow it. */
  losesReasoning?: boolean;
  /** Whether a request without messages loads or unloads a model. */
  loadsModels?: boolean;
  /** Whether the gateway stores answers, to which later requests may refer. */
  storesAnswers?: boolean;
  /** Whether a body may continue an answer that the provider stores, with the member `thread`. */
  hasThreads?: boolean;
  /** The body with the names of members as `decode` reads them, if the protocol has several; usually the same body. */
  usualNames?(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** The prompts of a body with several; undefined for an ordinary body. */
  prompts?(body: Readonly<Record<string, unknown>>): readonly unknown[] | undefined;
  /** Reads the routing options of a body; undefined for most bodies. Throws `ApiError` 400 that names the member. */
  routingOptions?(body: Readonly<Record<string, unknown>>): RoutingOptions | undefined;
  edge?: EdgeTraits;
  /** The text of a keepalive. */
  keepalive: string;
  /**
   * Validates a parsed JSON body and reads it. Throws `ApiError` `invalid_request` with `param` for any violation of the
   * documented parameters.
   */
  decode(body: Readonly<Record<string, unknown>>, options: DecodeOptions): ChatRequest;
  /** The same for a body of megabytes, where that takes long: calls `pause` at intervals, and awaits what it returns. */
  decodeInSteps?(
    body: Readonly<Record<string, unknown>>,
    options: DecodeOptions,
    pause: () => Promise<void> | undefined,
  ): Promise<ChatRequest>;
  /**
   * Finds the changes to the history of a relayed body: the gateway's envelopes are opened for the provider that issued their
   * content, and values of other providers are removed. `removed`: whether some reasoning was removed.
   */
  openSeals?(body: Readonly<Record<string, unknown>>, reader: HistoryReader): OpenedSeals;
  /** How compaction reads and changes the list of messages; none for legacy completions. */
  entries?: EntryFormat;
  /** Writes an answer that is not streamed. */
  encode(result: ChatResult, exchange: AnswerContext): Record<string, unknown>;
  writer(exchange: AnswerContext): EventWriter;
}
