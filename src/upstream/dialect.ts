// The protocol of an upstream, independent of who speaks it (provider.ts). A dialect parses its protocol in one place, the stream
// reader; a whole answer is converted to the same events.
// Readers and relays are synchronous: frames are pushed in, and events or text come out. With async iterables there would be one
// await for each token; like this, there is one for each read from the network, which keeps the cost of a chunk low.

import type { ErrorBody } from "../base/errors.ts";
import type { BodyText } from "../base/long-json.ts";
import type { SseFrame } from "../base/sse.ts";
import type { AnswerFault } from "../chat/answer-fault.ts";
import type { ChatEvent, Usage } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { NameRules } from "../chat/tools.ts";
import type { DialectName } from "../vendors/protocols.ts";
import type { Quirks } from "../vendors/quirks.ts";
import type { UpstreamFault } from "./fault.ts";
import type { OutputText } from "./output-text.ts";

export interface RequestContext {
  /** The id of the model at the upstream. */
  model: string;
  stream: boolean;
  quirks: Quirks;
  /** From the catalog. Reasoning models get no default temperature, and some of their parameters differ. */
  supportsReasoning: boolean;
  maxOutputTokens: number;
  /** Whether reasoning of another provider was removed from the history. */
  reasoningRemoved?: boolean;
  /** Whether the gateway stores the answer, with all that the next turn needs. */
  storesAnswer?: boolean;
  /** The parsed text of the client, so that long histories are not parsed twice. */
  body?: Readonly<Record<string, unknown>>;
  /** Whether the client's protocol has cache markers of its own, so that a request without any must not be cached. */
  clientCaches?: boolean;
  /** Writes the body in place of `JSON.stringify`, for a caller that serialises megabytes in steps. */
  json?: (body: object) => string;
  /** The name of the user that the request is from, for providers that are told; it is added if the client gives none. */
  endUser?: string | undefined;
  /** The client's headers that the dialect forwards, by lower-case name (`anthropic-beta`, `openai-beta` …). */
  clientHeaders: Readonly<Record<string, string>>;
}

/** The request as it is sent, relative to the provider's base URL. Dialects make texts, which may be the outline of a long body. */
export interface UpstreamRequest<Body extends BodyText = string> {
  path: string;
  headers: Record<string, string>;
  body: Body;
  /** Parameters that were dropped, because the protocol cannot express them and the answer does not depend on them. */
  dropped: string[];
  /** Stop sequences that were not sent upstream, so that the gateway cuts the answer at them. */
  cutAt?: readonly string[];
  /** Whether the gateway requested encrypted reasoning in order to store it. The client must not see it. */
  hidesEncrypted?: boolean;
}

/** The text from which a dialect makes a request. */
export function outlineOf(text: BodyText): string {
  return typeof text === "string" ? text : text.outline;
}

/** The request of a text. `made`: that of its outline. */
export function requestOf(text: BodyText, made: UpstreamRequest): UpstreamRequest<BodyText> {
  return typeof text === "string" ? made : { ...made, body: text.edited(made.body) };
}

/** What a reader says of its frames that add a piece of text and nothing else. */
export interface PlainReading {
  /** The text of a frame if the reader makes a delta of it and reads nothing else there but what varies. */
  textOf(data: Readonly<Record<string, unknown>>): string | undefined;
  /** Finds the members beside the text that differ from frame to frame, up to their values: numbers, or strings without escapes. */
  readonly varying?: RegExp;
  /** Called when such frames were not given to the reader. `chars`: the length of their texts; `last`: the last of the frames. */
  passed(chars: number, last: string): void;
}

/** Reads the frames of one streamed answer into events. */
export interface EventReader {
  /** Present if the reader need not be given frames that repeat the last one with another text. */
  readonly plain?: PlainReading;
  /** Appends the events of a frame to `out`. Never throws: an invalid frame becomes an `error` event. */
  push(frame: SseFrame, out: ChatEvent[]): void;
  /**
   * Called when the upstream closed the stream. Ends open blocks and finishes, or appends the error
   * `provider_stream_interrupted`.
   */
  end(out: ChatEvent[]): void;
}

/** Takes the reasoning and tool calls of an answer, if they are put together again later. */
export interface AnswerListener {
  thought(text: string): void;
  called(callId: string): void;
  /** Called when the answer is complete. */
  finished(): void;
}

/** The gateway's values that replace the upstream's in a relayed answer. */
export interface RelayIdentity {
  /** The id of the response. */
  id: string;
  /**
   * Present if the answer keeps the upstream's own id, with which the client continues at that upstream. Called as soon as the id
   * is known.
   */
  keepsId?(id: string): void;
  /** The id of the model in the catalog. */
  model: string;
  /** If false, usage frames that only the gateway requested are not sent to the client. */
  includeUsage: boolean;
  requestId: string;
  createdSeconds: number;
  /** Further top-level members of the answer, for protocols that repeat members of the request. */
  echo?: Readonly<Record<string, unknown>>;
  /** Whether encrypted reasoning is removed from what the client gets. */
  hidesEncrypted?: boolean;
  /** Called with every sealed value that is relayed unchanged, and with undefined for reasoning without one. */
  sealed?(value: string | undefined): void;
  /** Takes reasoning without any seal that belongs to tool calls. */
  listener?: AnswerListener | undefined;
  /** Decides the usage of the answer from what the upstream reported and what it wrote. */
  settle(told: Usage | undefined, output: OutputText): Usage;
  /** An error for the client: with the provider's words without secrets, or the gateway's own. */
  tell(fault: AnswerFault): ErrorBody;
}

/**
 * Relays a stream of the client's own format. Frames pass unchanged except for id and model, and the facts that the gateway needs
 * are read on the way.
 */
export interface FrameRelay {
  /** Takes whole frames (text that ends at the end of a frame) and returns the client's text, which may be empty. */
  push(block: string): string;
  /**
   * The same for bytes that are a frame like the last one with another text, which is added to the output; undefined for all others,
   * of which nothing is taken. What it returns is valid until the next call.
   */
  rewritten?(bytes: Uint8Array, from: number, to: number): Uint8Array | undefined;
  /**
   * Called when the upstream closed the stream. Returns the last text: the terminator or, if the answer broke off, the protocol's
   * error event.
   */
  end(): string;
  /** Whether the answer's own end has passed. */
  readonly finished: boolean;
  /** Whether content was relayed, beyond the opening frame. Then no other route may be tried. */
  readonly committed: boolean;
  /** The error that the upstream reported in the stream, or that it broke off. */
  readonly fault: AnswerFault | undefined;
  /** Whether the gateway ended the answer although the upstream continues. */
  readonly cutShort?: boolean;
  /** The usage so far, or the settled one once the answer is complete. Undefined if none was reported before that. */
  readonly usage: Usage | undefined;
  /** How many reasoning items of the history the upstream left out, once the answer is complete. Only for protocols that tell it. */
  readonly reasoningRemoved?: number;
  /** What the model wrote, to count its tokens. */
  readonly output: OutputText;
  /** The whole answer as the client got it, once it is complete. Only for protocols whose stream ends with it. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * How a dialect relays requests and answers of its own format. It works on the JSON text, so that unknown and unusual values are
 * kept.
 */
export interface Lossless {
  /**
   * The original body with only the necessary changes: the model, needed stream options, documented defaults, and `members`
   * (top-level members to set; undefined removes one).
   */
  request(
    text: string,
    chat: ChatRequest,
    ctx: RequestContext,
    members: Readonly<Record<string, unknown>>,
  ): UpstreamRequest;
  relay(identity: RelayIdentity): FrameRelay;
  /**
   * The text of a whole answer with id, model and settled usage in place, and its events with the same usage. `answer`: the form
   * to store, if the client must not see all of it.
   */
  result(
    text: string,
    identity: RelayIdentity,
  ): { text: string; events: ChatEvent[]; answer?: Readonly<Record<string, unknown>> };
}

export interface Dialect {
  name: DialectName;
  /** Rules for tool names, beyond those of all protocols. */
  toolNames?: NameRules;
  /** Whether custom tools and namespaces are sent unchanged. For other dialects they are flattened first. */
  takesToolGroups?: boolean;
  /** Whether requests have the inputs of tool calls as objects. */
  parsesInputs?: boolean;
  /** Whether the provider stores conversations that a request may continue with the member `thread`. */
  hasThreads?: boolean;
  /** The smallest allowed limit of output tokens; 1 if absent. */
  maxTokensMin?: number;
  /**
   * Writes a request. Throws `ApiError` `unsupported_parameter` (400, with the parameter's name) for content that the protocol
   * cannot express and that must not be dropped.
   */
  request(chat: ChatRequest, ctx: RequestContext): UpstreamRequest;
  reader(): EventReader;
  /** The events of a whole answer. Folded together, they equal those of the same answer as a stream. */
  events(body: unknown): ChatEvent[];
  /** The meaning of an HTTP error in this protocol. */
  fault(status: number, body: string, headers: Headers): UpstreamFault;
  lossless: Lossless;
  /** Validated headers of any answer that clients of this protocol use. */
  familyHeaders?(headers: Headers): Record<string, string>;
  /**
   * Counts tokens without generating, in protocols that support it. The body is the client's own, with `members` set as in a
   * relayed request.
   */
  tokenCount?(
    text: string,
    chat: ChatRequest,
    ctx: RequestContext,
    members: Readonly<Record<string, unknown>>,
  ): UpstreamRequest;
}
