// The protocol of an upstream, apart from who speaks it (provider.ts). A dialect parses its protocol in one place: the stream
// reader; a whole (non-streaming) answer is turned into the same events.
//
// Readers and relays are synchronous transducers (push frames in, take events or text out) rather than async iterables:
// one await per network read instead of one per token is what keeps the cost per chunk near the floor.

import type { SseFrame } from "../base/sse.ts";
import type { AnswerFault } from "../chat/answer-fault.ts";
import type { ChatEvent, Usage } from "../chat/event.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { NameRules } from "../chat/tools.ts";
import type { DialectName } from "../vendors/protocols.ts";
import type { Quirks } from "../vendors/quirks.ts";
import type { UpstreamFault } from "./fault.ts";

export interface RequestContext {
  /** The model's id at the upstream. */
  model: string;
  stream: boolean;
  quirks: Quirks;
  /** From the catalog: reasoning models get no default temperature and some parameters differ. */
  supportsReasoning: boolean;
  maxOutputTokens: number;
  /** Reasoning issued by another provider was removed from the history. */
  reasoningRemoved?: boolean;
  /** The answer is stored here, including what the next turn needs. */
  storesAnswer?: boolean;
  /** The client's text, already parsed: long histories are not parsed twice. */
  body?: Readonly<Record<string, unknown>>;
  /** The client's protocol has its own cache markers: without one nothing is to be cached. */
  clientCaches?: boolean;
  /** Client headers that the dialect forwards, lower-case names (`anthropic-beta`, `openai-beta` …). */
  clientHeaders: Readonly<Record<string, string>>;
}

/** The request as sent, relative to the provider's base URL. */
export interface UpstreamRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Parameters that the protocol cannot express and that were harmless to drop. */
  dropped: string[];
  /** Stop sequences that were not sent upstream: the answer is cut at them here. */
  cutAt?: readonly string[];
  /** Encrypted reasoning was requested here, to be stored: the client must not see it. */
  hidesEncrypted?: boolean;
}

/** Turns the frames of one streamed answer into events. */
export interface EventReader {
  /** Appends the events of one frame to `out`. Never throws: broken frames become an `error` event. */
  push(frame: SseFrame, out: ChatEvent[]): void;
  /** The upstream closed: closes open blocks and finishes, or appends the error `provider_stream_interrupted`. */
  end(out: ChatEvent[]): void;
}

/** Receives an answer's reasoning and tool calls, where they must be reassembled later. */
export interface AnswerListener {
  thought(text: string): void;
  called(callId: string): void;
  /** The answer is complete. */
  finished(): void;
}

/** Our values that replace the upstream's on the lossless path. */
export interface RelayIdentity {
  /** Top-level response id. */
  id: string;
  /**
   * Present: the answer keeps the upstream's own id, with which the client continues at that upstream; called as soon as it
   * is known.
   */
  keepsId?(id: string): void;
  /** Canonical catalog id. */
  model: string;
  /** False: usage frames that only we requested are withheld. */
  includeUsage: boolean;
  requestId: string;
  createdSeconds: number;
  /** Further top-level members of the answer, for protocols that echo the request. */
  echo?: Readonly<Record<string, unknown>>;
  /** Removes encrypted reasoning from what the client gets. */
  hidesEncrypted?: boolean;
  /** Called with every sealed value that is relayed unchanged; undefined: reasoning without one. */
  sealed?(value: string | undefined): void;
  /** Called with reasoning beside tool calls without any seal. */
  listener?: AnswerListener | undefined;
  /** Counts tokens here if the upstream reported none; `outputText` is what was streamed. */
  estimate(outputText: string): Usage;
  /** The failure text for the client: a provider's text without secrets, or ours instead. */
  say(fault: AnswerFault): string;
}

/** Relays a stream of the same format: frames pass unchanged except for id and model; what must be known is read on the way. */
export interface FrameRelay {
  /** Takes whole frames (text that ends at a frame boundary) and returns the client's text, possibly "". */
  push(block: string): string;
  /**
   * The upstream closed. Returns the closing text: terminator, or the family's error event if the answer broke off.
   */
  end(): string;
  /** Whether the answer's own end was seen. */
  readonly finished: boolean;
  /** Whether content (not just the opening frame) was relayed: then no other route may be tried. */
  readonly committed: boolean;
  /** Set if the upstream reported an error in the stream or broke off. */
  readonly fault: AnswerFault | undefined;
  /** Whether the answer was ended here although the upstream continues. */
  readonly cutShort?: boolean;
  readonly usage: Usage | undefined;
  /** The output text, bounded; for token counts if no usage was reported. */
  outputText(): string;
  /** The whole answer as the client got it, once complete; only for protocols whose stream ends with it. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/** The lossless path of a dialect: same format in and out. Works on JSON text so that unknown and unusual values survive. */
export interface Lossless {
  /**
   * The original body with only the necessary changes: model, stream options that we need, documented defaults and `members`
   * (top-level members to set; undefined removes).
   */
  request(
    text: string,
    chat: ChatRequest,
    ctx: RequestContext,
    members: Readonly<Record<string, unknown>>,
  ): UpstreamRequest;
  relay(identity: RelayIdentity): FrameRelay;
  /**
   * A whole answer's text with id and model replaced, and its events. `answer`: the stored form, if the client must not see
   * all of it.
   */
  result(
    text: string,
    identity: RelayIdentity,
  ): { text: string; events: ChatEvent[]; answer?: Readonly<Record<string, unknown>> };
}

export interface Dialect {
  name: DialectName;
  /** Constraints on tool names beyond those of all protocols. */
  toolNames?: NameRules;
  /** Custom tools and namespaces are sent unchanged; for other dialects they are flattened first. */
  takesToolGroups?: boolean;
  /** The provider stores conversations that a request may continue with the member `thread`. */
  hasThreads?: boolean;
  /** The minimum limit of output tokens; absent: 1. */
  maxTokensMin?: number;
  /**
   * Throws `ApiError` `unsupported_parameter` (400, names the parameter) for what the protocol cannot express and must not be
   * dropped.
   */
  request(chat: ChatRequest, ctx: RequestContext): UpstreamRequest;
  reader(): EventReader;
  /** The events of a whole (non-streaming) answer: folded, they equal those of the streamed one. */
  events(body: unknown): ChatEvent[];
  /** The meaning of an HTTP error in this protocol. */
  fault(status: number, body: string, headers: Headers): UpstreamFault;
  lossless: Lossless;
  /** Headers of any answer that clients of this protocol use; validated. */
  familyHeaders?(headers: Headers): Record<string, string>;
  /**
   * Counting without generating, for protocols that support it: the client's own body, with `members` as on the lossless
   * path.
   */
  tokenCount?(
    text: string,
    chat: ChatRequest,
    ctx: RequestContext,
    members: Readonly<Record<string, unknown>>,
  ): UpstreamRequest;
}
