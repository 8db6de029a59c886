// A client's protocol: reads requests into neutral words and writes neutral answers in the client's. Knows no upstream.

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

/** What an answer carries besides its content: our ids and names, and the request fields that are echoed. */
export interface AnswerContext {
  /** The answer's top-level id, in the format's own prefix. */
  id: string;
  /** Canonical catalog id. */
  model: string;
  createdSeconds: number;
  /** The time, in whole seconds, for formats that say when an answer was complete. */
  nowSeconds(): number;
  requestId: string;
  request: ChatRequest;
  /** The validated request body, for formats that echo it. */
  body: Readonly<Record<string, unknown>>;
  /** The temperature that goes up where the request has none; absent: the provider's own. */
  defaultTemperature?: number | undefined;
  /** What was done here to the client's conversation, where it asked for that. */
  edited?: EditedContext;
  /** The provider that answers, which its seals are bound to. */
  source?: Source;
  /** `x-sallyport-event-types: short` was sent (responses only). */
  shortEventTypes?: boolean;
}

/** An error as it stands in a stream. */
export interface StreamError extends ErrorBody {
  request_id: string;
}

/** The changes that open a history's seals. */
export interface OpenedSeals {
  edits: JsonEdit[];
  removed: boolean;
}

/** Writes one streamed answer. Text in, text out; whoever holds it does the bytes. */
export interface EventWriter {
  /** The SSE text of one event, "" when it says nothing in this format. Takes no event after `finish` of the last choice or `error`. */
  push(event: ChatEvent): string;
  /** After the last event of a good answer: the terminator (`data: [DONE]` where the format has one). */
  end(): string;
  /** The family's own error event; nothing follows it. */
  fail(error: StreamError): string;
  /** The whole answer once it is complete, in formats whose answers are stored. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/** Request headers that change how a body is read. */
export interface DecodeOptions {
  /** `anthropic-beta` and `anthropic-version`: both may loosen the messages format. */
  betas?: string;
  version?: string;
  /** `user-agent` */
  userAgent?: string;
}

/** What a request says of how it is to be routed. */
export interface RouteWishes {
  /** Ids of models that are asked, in this order, when those before cannot answer. */
  readonly models: readonly string[];
  /** Providers by name: `order`: these first; `only`: no others; and whether others may be asked after those. */
  readonly providers?: {
    readonly order: readonly string[];
    readonly only: readonly string[] | undefined;
    readonly mayFallBack: boolean;
  };
  /** What is said beside that and not honoured. */
  readonly dropped: readonly string[];
}

/** How the endpoints of a format differ from others where requests come in. */
export interface EdgeTraits {
  /** The body of an HTTP error; absent: `{error}` alone. */
  envelope?(error: ErrorBody, requestId: string): Record<string, unknown>;
  /** A further response header that holds the request's id. */
  requestIdHeader?: string;
  /** Paths of this and other endpoints where `x-api-key` counts as a key does, with what is below them. */
  xApiKeyPaths?: readonly { readonly path: string /** A header that must be there. */; readonly with?: string }[];
}

/** A client's protocol. What differs between formats is said here, so that no one has to ask one for its name. */
export interface WireFormat extends NamedFormat {
  /** Also the name of the dialect that speaks it, where there is one. */
  name: string;
  path: string;
  /** Prefix of answer ids, as `chatcmpl-`. */
  idPrefix: string;
  /** The dialect whose upstreams can be spoken to losslessly; none for legacy completions. */
  dialect?: string;
  /** The nested members that `decode` reads. */
  reads: Known;
  /** What the reasoning of a history is called in `x-sallyport-dropped`. */
  reasoning: string;
  /** Top-level parameters that a translation may not leave out, because the answer would be another one. */
  untranslatable: readonly string[];
  /** Our defaults: of the protocols that have none, `maxTokens` or both are left to the provider. */
  defaults: { readonly temperature: boolean; readonly maxTokens: boolean };
  /** Clients mark what is to be cached. */
  marksCaches?: boolean;
  /** Clients may not hand reasoning back: it is remembered by the ids of the calls that follow it. */
  losesReasoning?: boolean;
  /** Answers are stored here, and later requests may name them. */
  storesAnswers?: boolean;
  /** A body may continue from an answer that the provider keeps, by the member `thread`. */
  hasThreads?: boolean;
  /** The prompts of a body that asks for several answers at once; undefined: an ordinary body. */
  prompts?(body: Readonly<Record<string, unknown>>): readonly unknown[] | undefined;
  /** What a body says of its routing; undefined for most. Throws `ApiError` 400 that names the member. */
  routeWishes?(body: Readonly<Record<string, unknown>>): RouteWishes | undefined;
  edge?: EdgeTraits;
  /** What is sent in silence. */
  keepalive: string;
  /**
   * Validates a parsed JSON body and reads it. Throws `ApiError` `invalid_request` with `param` for whatever breaks the
   * documented parameter table.
   */
  decode(body: Readonly<Record<string, unknown>>, options: DecodeOptions): ChatRequest;
  /**
   * What must change in a body before it may go up as it came: our envelopes are opened for the provider that minted what
   * is in them, and what another one minted is taken out. `removed`: reasoning is missing now.
   */
  openSeals?(body: Readonly<Record<string, unknown>>, reader: HistoryReader): OpenedSeals;
  /** Its list of messages as compaction reads and changes it; none for legacy completions. */
  entries?: EntryFormat;
  /** The non-streaming answer. */
  encode(result: ChatResult, exchange: AnswerContext): Record<string, unknown>;
  writer(exchange: AnswerContext): EventWriter;
}
