// A client's protocol: reads requests into neutral form and writes neutral answers in the client's format. Knows no upstream.

import type { ErrorBody } from "../base/errors.ts";
import type { JsonEdit } from "../base/json-edit.ts";
import type { EditedContext } from "../chat/context-edits.ts";
import type { EntryFormat } from "../chat/entries.ts";
import type { ChatEvent } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { ChatResult } from "../chat/result.ts";
import type { HistoryReader } from "../chat/seals.ts";
import type { NamedFormat } from "./client-names.ts";
import type { Source } from "./seal-envelopes.ts";
import type { Known } from "./unread.ts";

/** What an answer contains besides its content: our ids and names, and the echoed request fields. */
export interface AnswerContext {
  /** The answer's top-level id, in the format's own prefix. */
  id: string;
  /** Canonical catalog id. */
  model: string;
  createdSeconds: number;
  /** The time in whole seconds, for formats that state when an answer was completed. */
  nowSeconds(): number;
  requestId: string;
  request: ChatRequest;
  /** The validated request body, for formats that echo it. */
  body: Readonly<Record<string, unknown>>;
  /** The temperature that is sent if the request has none; absent: the provider's default. */
  defaultTemperature?: number | undefined;
  /** The edits applied to the client's conversation, if it asked for any. */
  edited?: EditedContext;
  /** The provider that answers, to which its seals are bound. */
  source?: Source;
  /** `x-sallyport-event-types: short` was sent (responses only). */
  shortEventTypes?: boolean;
}

/** An error within a stream. */
export interface StreamError extends ErrorBody {
  request_id: string;
}

/** The edits that open a history's seals. */
export interface OpenedSeals {
  edits: JsonEdit[];
  removed: boolean;
}

/** Writes one streamed answer. Returns text; the caller handles bytes. */
export interface EventWriter {
  /** The SSE text of one event, "" if this format has none. No event may follow the last choice's `finish`, or `error`. */
  push(event: ChatEvent): string;
  /** After the last event of a successful answer: the terminator (`data: [DONE]` if the format has one). */
  end(): string;
  /** The family's own error event; nothing follows it. */
  fail(error: StreamError): string;
  /** The whole answer once it is complete, in formats with stored answers. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/** Request headers that affect how a body is read. */
export interface DecodeOptions {
  /** `anthropic-beta` and `anthropic-version`: both may relax the messages format. */
  betas?: string;
  version?: string;
  /** `user-agent` */
  userAgent?: string;
}

/** A request's routing options. */
export interface RouteWishes {
  /** Ids of fallback models, in order. */
  readonly models: readonly string[];
  /** Providers by name: `order`: these first; `only`: no others; and whether others may follow. */
  readonly providers?: {
    readonly order: readonly string[];
    readonly only: readonly string[] | undefined;
    readonly mayFallBack: boolean;
  };
  /** Members that are not supported. */
  readonly dropped: readonly string[];
}

/** Properties of a format's endpoints at the HTTP edge. */
export interface EdgeTraits {
  /** The body of an HTTP error; absent: `{error}` alone. */
  envelope?(error: ErrorBody, requestId: string): Record<string, unknown>;
  /** A further response header with the request's id. */
  requestIdHeader?: string;
  /** Paths, including everything below them, where `x-api-key` is accepted as a key. */
  xApiKeyPaths?: readonly { readonly path: string /** A required header. */; readonly with?: string }[];
}

/** A client's protocol. Differences between formats are members here, so that no code has to compare names. */
export interface WireFormat extends NamedFormat {
  /** Also the name of the dialect of the same protocol, if there is one. */
  name: string;
  path: string;
  /** Prefix of answer ids, such as `chatcmpl-`. */
  idPrefix: string;
  /** The dialect of the lossless path; none for legacy completions. */
  dialect?: string;
  /** The nested members that `decode` reads. */
  reads: Known;
  /** The name of a history's reasoning in `x-sallyport-dropped`. */
  reasoning: string;
  /** Top-level parameters that a translation must not drop, because the answer would change. */
  untranslatable: readonly string[];
  /** Our defaults: if the protocol has none, `maxTokens` or both are left to the provider. */
  defaults: { readonly temperature: boolean; readonly maxTokens: boolean };
  /** Clients mark what to cache. */
  marksCaches?: boolean;
  /** Clients may not return reasoning: it is stored by the ids of the calls that follow it. */
  losesReasoning?: boolean;
  /** Answers are stored here, and later requests may refer to them. */
  storesAnswers?: boolean;
  /** A body may continue an answer that the provider stores, with the member `thread`. */
  hasThreads?: boolean;
  /** The prompts of a body with several; undefined: an ordinary body. */
  prompts?(body: Readonly<Record<string, unknown>>): readonly unknown[] | undefined;
  /** A body's routing options; undefined for most. Throws `ApiError` 400 that names the member. */
  routeWishes?(body: Readonly<Record<string, unknown>>): RouteWishes | undefined;
  edge?: EdgeTraits;
  /** The text of a keepalive. */
  keepalive: string;
  /**
   * Validates a parsed JSON body and reads it. Throws `ApiError` `invalid_request` with `param` for whatever violates the
   * documented parameters.
   */
  decode(body: Readonly<Record<string, unknown>>, options: DecodeOptions): ChatRequest;
  /**
   * The changes to a relayed body: our envelopes are opened for the provider that issued their content, and what another
   * provider issued is removed. `removed`: some reasoning was removed.
   */
  openSeals?(body: Readonly<Record<string, unknown>>, reader: HistoryReader): OpenedSeals;
  /** Its list of messages, as compaction reads and changes it; none for legacy completions. */
  entries?: EntryFormat;
  /** The non-streaming answer. */
  encode(result: ChatResult, exchange: AnswerContext): Record<string, unknown>;
  writer(exchange: AnswerContext): EventWriter;
}
