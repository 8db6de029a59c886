// How a protocol speaks, apart from who speaks it (provider.ts). A dialect parses its protocol in one place: the stream
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
  /** The model id the upstream knows. */
  model: string;
  stream: boolean;
  quirks: Quirks;
  /** The catalog's word: reasoning models get no default temperature and some parameters differ. */
  supportsReasoning: boolean;
  maxOutputTokens: number;
  /** Reasoning that another provider minted was taken out of the history. */
  reasoningRemoved?: boolean;
  /** The answer is stored here, with what the next turn needs. */
  storesAnswer?: boolean;
  /** What the client's text parses to, where that is known already: long histories are not parsed twice. */
  body?: Readonly<Record<string, unknown>>;
  /** The client's protocol has cache markers of its own: what it leaves unmarked is not to be cached. */
  clientCaches?: boolean;
  /** Client headers the dialect forwards, lower-case names (`anthropic-beta`, `openai-beta` …). */
  clientHeaders: Readonly<Record<string, string>>;
}

/** What goes over the wire, relative to the provider's base URL. */
export interface UpstreamRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Parameters that the target cannot express and that were harmless to drop. */
  dropped: string[];
  /** Stop sequences that the upstream was not told of: its answer is to be cut at them here. */
  cutAt?: readonly string[];
  /** Encrypted reasoning was asked for here, to be stored: the client is not to see it. */
  hidesEncrypted?: boolean;
}

/** Turns the frames of one streamed answer into events. */
export interface EventReader {
  /** Appends the events of one frame to `out`. Never throws: broken frames become an `error` event. */
  push(frame: SseFrame, out: ChatEvent[]): void;
  /** The upstream closed: closes open blocks and finishes, or appends an error `provider_stream_interrupted`. */
  end(out: ChatEvent[]): void;
}

/** Is told what an answer thought and which tools it called, where that has to be put together again later. */
export interface AnswerListener {
  thought(text: string): void;
  called(callId: string): void;
  /** The answer is complete. */
  finished(): void;
}

/** The values of ours that replace the upstream's on the lossless path. */
export interface RelayIdentity {
  /** Top-level response id. */
  id: string;
  /**
   * Present: the answer keeps the upstream's own id, by which the client will ask that upstream to go on; told as soon as it
   * is known.
   */
  keepsId?(id: string): void;
  /** Canonical catalog id. */
  model: string;
  /** False: usage frames that only we asked for are withheld. */
  includeUsage: boolean;
  requestId: string;
  createdSeconds: number;
  /** Further top-level members of the answer, for protocols that echo the request. */
  echo?: Readonly<Record<string, unknown>>;
  /** Encrypted reasoning is taken out of what the client gets. */
  hidesEncrypted?: boolean;
  /** Told of every sealed value that goes to the client as it came; undefined: of reasoning that has none. */
  sealed?(value: string | undefined): void;
  /** Told of reasoning that stands beside tool calls without any seal. */
  listener?: AnswerListener | undefined;
  /** Counts tokens here where the upstream reported none; `outputText` is what was streamed. */
  estimate(outputText: string): Usage;
  /** What the client is told of a failure: a provider's text without secrets, or ours in its place. */
  say(fault: AnswerFault): string;
}

/** Relays a same-format stream: frames pass as they came but for id and model; what must be known is read on the way. */
export interface FrameRelay {
  /** Takes whole frames (text that ends at a frame boundary) and gives what the client gets, maybe "". */
  push(block: string): string;
  /**
   * The upstream closed. Returns the closing text: terminator, or the family's error event when the answer broke off.
   */
  end(): string;
  /** True once the answer's own end was seen. */
  readonly finished: boolean;
  /** True once content (not just the opening frame) was relayed: no other route may be tried. */
  readonly committed: boolean;
  /** Set when the upstream reported an error in the stream or broke off. */
  readonly fault: AnswerFault | undefined;
  /** True when the answer was ended here while the upstream goes on. */
  readonly cutShort?: boolean;
  readonly usage: Usage | undefined;
  /** The output text, bounded; for token counts when no usage came. */
  outputText(): string;
  /** The whole answer as the client got it, once it is complete; only protocols whose stream ends with it have one. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/** The lossless path of a dialect: same format in and out. Works on JSON text so that unknown and unusual values survive. */
export interface Lossless {
  /**
   * The original body with only what must change changed: model, stream options we need, defaults of the contract and
   * `members` (top-level members to set; undefined removes).
   */
  request(
    text: string,
    chat: ChatRequest,
    ctx: RequestContext,
    members: Readonly<Record<string, unknown>>,
  ): UpstreamRequest;
  relay(identity: RelayIdentity): FrameRelay;
  /**
   * A whole answer's text with id and model replaced, and the events it stands for. `answer`: the same as it is stored, where
   * the client is not to see all of it.
   */
  result(
    text: string,
    identity: RelayIdentity,
  ): { text: string; events: ChatEvent[]; answer?: Readonly<Record<string, unknown>> };
}

export interface Dialect {
  name: DialectName;
  /** What its names of tools must be beyond what all protocols want. */
  toolNames?: NameRules;
  /** Custom tools and namespaces are taken as they are; for others they are flattened first. */
  takesToolGroups?: boolean;
  /** The provider keeps conversations that a request may continue from, by the member `thread`. */
  hasThreads?: boolean;
  /** The smallest limit of output tokens that the protocol takes; absent: 1. */
  maxTokensMin?: number;
  /** Throws `ApiError` `unsupported_parameter` (400, param named) for what the protocol cannot express and may not be dropped. */
  request(chat: ChatRequest, ctx: RequestContext): UpstreamRequest;
  reader(): EventReader;
  /** The events of a whole (non-streaming) answer: equal, folded, to the streamed one's. */
  events(body: unknown): ChatEvent[];
  /** What an HTTP error answer of this protocol means. */
  fault(status: number, body: string, headers: Headers): UpstreamFault;
  lossless: Lossless;
  /** Headers of an answer, good or bad, on which clients of this protocol act; checked. */
  familyHeaders?(headers: Headers): Record<string, string>;
  /** Counting without generating, for protocols that have it: the client's own body, with `members` as on the lossless path. */
  tokenCount?(
    text: string,
    chat: ChatRequest,
    ctx: RequestContext,
    members: Readonly<Record<string, unknown>>,
  ): UpstreamRequest;
}
