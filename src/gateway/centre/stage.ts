// What a feature of chat is to the pipeline: the moments at which a stage may act, and the one shape of a request. The centre knows
// no stage; a stage knows the types of the centre.

import type { AtOnce } from "../../base/at-once.ts";
import type { BodyText } from "../../base/long-json.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import type { CatalogModel, ModelRoute } from "../../catalog/models.ts";
import type { AnswerFault } from "../../chat/answer-fault.ts";
import type { EditedContext } from "../../chat/context-edits.ts";
import type { ChatEvent, FinishEvent, FinishReason, Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { ResultBlock, ResultChoice } from "../../chat/result.ts";
import type { CallTransport, Exchange } from "../../http/exchange.ts";
import type { SseSource } from "../../http/sse-response.ts";
import type { Budget, Reservation } from "../../shared-state/reservations.ts";
import type { KeyChoice } from "../../upstream/ask.ts";
import type { AnswerListener, UpstreamRequest } from "../../upstream/dialect.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { DecodeOptions, RoutingOptions, WireFormat } from "../../wire/format.ts";
import type { Source } from "../../wire/seal-envelopes.ts";
import type { Caller } from "../admission/caller.ts";
import type { RequestOrigin, RequestSource } from "./request-source.ts";

/** Top-level members of a body; undefined for those to leave out. */
export type BodyMembers = Readonly<Record<string, unknown>>;

/** What is known and noted of a request, by whatever way it came in: an exchange without what only HTTP has. */
export type TurnExchange = Omit<
  Exchange,
  | "method"
  | "route"
  | "alias"
  | "address"
  | "secure"
  | "isUnnamedProxy"
  | "holder"
  | "holdBody"
  | "thrown"
  | "caller"
  | "takeAnswer"
>;

/** Who asks, over which connection and when. */
export interface Asker {
  /** A header of the request; null if it has none of this name. */
  header(name: string): string | null;
  /** Aborts when the client leaves. */
  leaving(): AbortSignal;
  /** The current time in whole seconds. */
  nowSeconds(): number;
}

/** What admission and reading made of a request. */
export interface ClientRequest extends RequestSource {
  readonly exchange: TurnExchange;
  readonly caller: Caller;
  readonly format: WireFormat;
  /** The text of the body as it was received. */
  readonly text: BodyText;
  readonly body: BodyMembers;
  readonly asker: Asker;
  /** The options with which the format read the body. */
  readonly options: DecodeOptions;
  /** The routing options of the request, unless its provider reads them itself. */
  readonly routing: RoutingOptions | undefined;
  /** The client's trace context. */
  readonly traceContext: Readonly<Record<string, string>>;
  /** The public id of the answer. */
  readonly id: string;
  /** Whether the id is made of the request's id. */
  readonly namedByRequest?: boolean;
  readonly createdSeconds: number;
}

/** The one shape of a request. It is never mutated: a change makes a new turn whose `before` is the old one. */
export interface ChatTurn extends ClientRequest {
  readonly chat: ChatRequest;
  readonly model: CatalogModel;
  /** The id that the answer names, if the model answers in place of another. */
  readonly shownId?: string;
  readonly routes: readonly ModelRoute[];
  /** The client's body with all that stages inserted, from which `chat` was read. */
  readonly content: BodyMembers;
  /**
   * Members that replace the client's on the relayed path. If undefined, a change cannot be expressed in the client's format, and
   * the request must be translated.
   */
  readonly members: BodyMembers | undefined;
  /** The body for the relayed path, if its values were changed where they stand. */
  readonly relayed?: { readonly text: BodyText; readonly body: BodyMembers } | undefined;
  /** Parameters that were dropped, to be reported. */
  readonly dropped: readonly string[];
  /** The client's headers that upstreams of the same protocol understand, by lower-case name. */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /** The route to try first, and the choice among a route's credentials. */
  readonly preference?: RoutePreference | undefined;
  /** Stands between the gateway and the providers, if a stage looks at what they say to each other. */
  readonly transport?: CallTransport | undefined;
  /** The reservation of the request in the caller's budgets, until the exchange ends. */
  readonly reservation?: Reservation | undefined;
  /** The names of the functions whose calls the gateway answers itself, after which another round follows. */
  readonly ownTools?: ReadonlySet<string> | undefined;
  /** Whether calls that the client has approved are made before a provider is asked. */
  readonly awaitsCalls?: true | undefined;
  /** What the agent run of the request may still cost, if that is limited. */
  readonly runBudget?: Budget | undefined;
  /** The number of the round, if it is not the first one. */
  readonly round?: number;
  /** Whether a stage hears the events of the answer, so that it cannot be relayed. */
  readonly isHeard?: true;
  /** Whether a stage sees to a prompt that is too long. */
  readonly isShortenable?: true;
  /** Whether parts of the history were left out that the protocol binds to the rest. */
  readonly reasoningRemoved?: true;
  /** Whether the gateway stores the answer, with all that the next turn needs. */
  readonly storesAnswer?: boolean;
  /** Takes the upstream's own id of the answer, with which the client continues there; absent if it gets the gateway's. */
  readonly keepsUpstreamId?: ((id: string, provider: string) => void) | undefined;
  /** A conversation that a stage keeps: its id, and what of it may be stored beside the stage's own text. */
  readonly keptConversation?: { readonly id: string; readonly keeps: "conversation" | "nothing" } | undefined;
  /** What was done to the context, for the answer to report. */
  readonly edited?: EditedContext | undefined;
  /** Ids of the tool calls whose reasoning is not sent, because the conversation was shortened. */
  readonly strippedCalls?: ReadonlySet<string> | undefined;
  readonly before?: ChatTurn;
}

/** The members of a turn that a stage may change. */
type Changeable = Omit<ChatTurn, keyof ClientRequest | "model" | "shownId" | "before" | "dropped" | "round">;

/** A change of a turn. `why` stands in the log line; `dropped`: further parameters. */
export type Change = Partial<Changeable> & { readonly why: string; readonly dropped?: readonly string[] };

/** An answer that a stage gives in place of an upstream. */
export interface StageAnswer {
  readonly why: string;
  /** Makes the events of the answer, with the usage that it reports. */
  readonly answer: (signal: AbortSignal) => Promise<{
    readonly events: readonly ChatEvent[];
    readonly edited?: EditedContext | undefined;
    /** Who issued the sealed values in it, if it was a provider. */
    readonly source?: Source | undefined;
  }>;
  /** The turn that it answers, if it is not the one that was given. */
  readonly change?: Change;
}

export interface RoutePreference {
  readonly first: Pick<ModelRoute, "provider" | "model"> | undefined;
  /** Chooses one of a route's credentials, and learns whether it works. */
  choice(route: ModelRoute): KeyChoice;
}

/** A route with its provider, as it is called. */
export interface Target {
  readonly provider: Provider;
  readonly route: ModelRoute;
}

/** A call that failed before any content. */
export interface FailedCall extends Target {
  readonly error: unknown;
  readonly built: UpstreamRequest<BodyText>;
}

/** An answer that is complete, before the client sees its end. */
export interface CompleteAnswer {
  /** The turn as it was sent. */
  readonly turn: ChatTurn;
  /** Undefined if a stage answered. */
  readonly target: Target | undefined;
  readonly usage: Usage | undefined;
  /** The failure that the answer ends with. */
  readonly fault: AnswerFault | undefined;
  /** The answer as the client gets it. */
  text(): string;
  /** The parsed answer, in formats whose answers can be stored. */
  body(): BodyMembers | undefined;
  /** Whether encrypted reasoning in it is hidden from the client. */
  readonly hidesEncrypted: boolean;
}

/** Ends an answer in place of what would follow of it. Open blocks are closed. */
export interface AnswerStop {
  readonly finish: FinishReason;
  /** The word for it in the client's answer, if its format has one. */
  readonly rawReason?: string;
}

/** Takes the events of one answer, before those stages that stand above it in the list. */
export interface Hearing {
  /** Returns what goes on to the client: nothing to hold the event back, several to let go what was held. */
  hear(event: ChatEvent): readonly ChatEvent[] | AnswerStop;
  /** Called before the finish of a complete answer: returns what was held for a check of the whole text. */
  release?(end: AnswerEnd): AtOnce<readonly ChatEvent[] | AnswerStop>;
}

/** The end of an answer, or of a round of it. */
export interface AnswerEnd {
  /** Its last finish. */
  readonly finish: FinishEvent | undefined;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/** One whole round of an answer, as the stages below left it. */
export interface Round {
  /** 0 for the first one. */
  readonly index: number;
  /** The route that answered; undefined if a stage did. */
  readonly route: ModelRoute | undefined;
  readonly message: ResultChoice;
  /** The tool calls of the message. */
  readonly calls: readonly Extract<ResultBlock, { type: "tool-call" }>[];
  readonly usage: Usage | undefined;
}

/** What a stage may use between two rounds. */
export interface BetweenRounds {
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** Sends an event of the stage's own at once, by way of the stages above it. The ids of its blocks must be unique in the answer. */
  emit(event: ChatEvent): void;
}

/** The cost of one round. */
export interface RoundEnd {
  /** Undefined if a stage answered. */
  readonly route: ModelRoute | undefined;
  readonly usage: Usage | undefined;
  /** Undefined if the price is unknown. */
  readonly costMicros: number | undefined;
}

/** An answer that is over. */
export interface TurnEnd {
  /** The turn as it was sent last. */
  readonly turn: ChatTurn;
  /** The rounds whose answers were read; most answers have one. */
  readonly rounds: readonly RoundEnd[];
}

/** The answer to a request before it is sent, which every way in can send as its own: the whole text, or its stream. */
export type Answer =
  | { readonly text: string }
  | {
      readonly source: SseSource;
      readonly keepalive: string;
      /** Aborts when the client leaves. Absent: the request's own signal does. */
      readonly left?: StopSignal | undefined;
    };

/** Collects what an answer says beside its text. */
export interface EventListener extends AnswerListener {
  push(event: ChatEvent): void;
}

/**
 * The work of a stage for one request. `prepare` and `adapt` run in the order of the list; `hears`, `complete` and `settle` in
 * reverse, so that a stage sees the answer as the stages below it left it.
 */
export interface StageRun {
  /** Before a route is tried: changes the conversation or the routes, reserves, or answers. May throw `ApiError`. */
  prepare?(turn: ChatTurn): AtOnce<Change | StageAnswer | undefined>;
  /**
   * A check that runs beside the call. Before it resolves, no byte and no header of the answer leaves, no further round begins and
   * nothing is kept. Throws `ApiError` to refuse; the call is aborted. Undefined: nothing is checked.
   */
  gate?(turn: ChatTurn, signal: AbortSignal): Promise<void> | undefined;
  /** Adapts the turn to one route. */
  adapt?(turn: ChatTurn, target: Target, signal: AbortSignal): AtOnce<Change | undefined>;
  /**
   * After a failure before content: a change of the turn that `adapt` was given, with which the same route is asked once more.
   * `turn` is the one that was sent. Called until it has given a change for the route.
   */
  again?(turn: ChatTurn, failed: FailedCall): AtOnce<Change | undefined>;
  /** What listens to the answer; undefined for nothing. */
  listener?(turn: ChatTurn, target: Target): EventListener | undefined;
  /**
   * Creates what takes every event of an answer. Called for each round of an answer that is asked below the stage. An answer that a
   * stage hears is translated where it could be relayed.
   */
  readonly hears?: ((turn: ChatTurn) => Hearing) | undefined;
  /**
   * After a whole round that no stage below stopped: a change with which another round is asked, which passes the stages below
   * again. The client sees one answer: one start, one finish, with the usage of all rounds. `turn`: the one that was sent, as
   * the stages below were given it. Its `members` must hold the change too, or be undefined.
   */
  next?(turn: ChatTurn, round: Round, between: BetweenRounds): Promise<Change | undefined>;
  /** In place of `prepare` before a further round that a stage above asks for. `turn.round` counts it. */
  round?(turn: ChatTurn): AtOnce<Change | StageAnswer | undefined>;
  /** Whether `complete` reads the text of an answer. */
  readonly readsText?: boolean;
  /**
   * Awaited before the client sees the end, unless a stage above stopped the answer. Returns members of the answer to correct. Must
   * not throw.
   */
  complete?(answer: CompleteAnswer): AtOnce<BodyMembers | undefined>;
  /** Once an answer that has begun is over, however it ends. Must not throw. */
  settle?(end: TurnEnd): void;
}

/** The stages that open for requests of each origin, in order. */
export type StagesByOrigin = Readonly<Record<RequestOrigin, readonly Stage[]>>;

/** No feature acts. */
export const NO_STAGES: StagesByOrigin = { client: [], row: [], inner: [] };

/** One feature, built once per program. */
export interface Stage {
  readonly name: string;
  /** Undefined for nearly all requests: reads members, and allocates nothing. May throw `ApiError`. */
  open(turn: ChatTurn): StageRun | undefined;
  /** Learns from a call that failed before any content, whether the stage was opened or not. */
  failed?(turn: ChatTurn, error: unknown): void;
}

/**
 * Whether names or values of the client's body may contain a word of letters, `-`, `_` and `"`. JSON allows each of these letters to
 * be spelled as an escape, so a body with such escapes may contain any.
 */
export function mayContain({ text }: Pick<ClientRequest, "text">, word: string): boolean {
  if (typeof text === "string") return text.includes(word) || text.includes("\\u");
  return text.spellsCharacters || text.includes(word);
}

/** The turn after a change. */
export function changed(turn: ChatTurn, change: Change): ChatTurn {
  const { why, dropped, ...rest } = change;
  const { log } = turn.exchange;
  log["stages"] = log["stages"] === undefined ? why : `${String(log["stages"])}, ${why}`;
  return {
    ...turn,
    ...rest,
    dropped: dropped === undefined ? turn.dropped : [...turn.dropped, ...dropped],
    before: turn,
  };
}

/** The turn with all of the client's messages, even if fewer are sent. */
export function beforeShortening(turn: ChatTurn): ChatTurn {
  let whole = turn;
  while (whole.strippedCalls !== undefined && whole.before !== undefined) whole = whole.before;
  return whole;
}

/** Reads the chat anew from a changed body. Whether the answer is stored stays as it was decided. */
export function reread({ format, options, chat }: ChatTurn, content: BodyMembers): ChatRequest {
  const read = format.decode({ ...content }, options);
  return chat.store === undefined ? read : { ...read, store: chat.store };
}
