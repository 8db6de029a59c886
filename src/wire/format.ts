// A client's protocol: reads requests into neutral words and writes neutral answers in the client's. Knows no upstream.

import type { ErrorBody } from "../base/errors.ts";
import type { JsonEdit } from "../base/json-edit.ts";
import type { ChatEvent } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { ChatResult } from "../chat/result.ts";
import type { HistoryReader } from "../chat/seals.ts";
import type { Source } from "./seal-envelopes.ts";

/** What an answer is dressed in: ids and names of ours, and what the request asked to be echoed. */
export interface Exchange {
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
  /** The family's own error event (contract §3 "an upstream that ends early"); nothing follows it. */
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

export interface WireFormat {
  /** Also the name of the dialect that speaks it, where there is one. */
  name: "openai-chat" | "openai-responses" | "anthropic-messages" | "openai-completions";
  path: string;
  /** Prefix of answer ids, as `chatcmpl-`. */
  idPrefix: string;
  /** The dialect whose upstreams can be spoken to losslessly; none for legacy completions. */
  dialect?: "openai-chat" | "openai-responses" | "anthropic-messages";
  /** What is sent in silence (contract §3 "silence in a stream"). */
  keepalive: string;
  /**
   * Validates a parsed JSON body and reads it. Throws `ApiError` `invalid_request` with `param` for whatever breaks the
   * specification's parameter table.
   */
  decode(body: Readonly<Record<string, unknown>>, options: DecodeOptions): ChatRequest;
  /**
   * What must change in a body before it may go up as it came: our envelopes are opened for the provider that minted what
   * is in them, and what another one minted is taken out. `removed`: reasoning is missing now.
   */
  openSeals?(body: Readonly<Record<string, unknown>>, reader: HistoryReader): OpenedSeals;
  /** The non-streaming answer. */
  encode(result: ChatResult, exchange: Exchange): Record<string, unknown>;
  writer(exchange: Exchange): EventWriter;
  /** The body of an HTTP error in this format (messages adds a top-level `type`). */
  error(body: ErrorBody): Record<string, unknown>;
}
