// A chat request in progress: what was asked, by whom, of which model; and how its upstream request is built.

import type { Clock } from "../base/clock.ts";
import { prefixedId } from "../base/ids.ts";
import type { CatalogModel, ModelRoute } from "../catalog/models.ts";
import type { ContextEdit, EditedContext } from "../chat/context-edits.ts";
import type { OpaqueEvent, Usage } from "../chat/event.ts";
import type { ChatMessage, ChatRequest } from "../chat/request.ts";
import { HISTORY_BINDER, type HistoryReader, withoutForeignSeals, withThoughts } from "../chat/seals.ts";
import { flattenTools } from "../chat/tools.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Hold } from "../shared-state/reservations.ts";
import type { RelayIdentity, RequestContext, UpstreamRequest } from "../upstream/dialect.ts";
import type { Provider } from "../upstream/provider.ts";
import type { DecodeOptions, WireFormat } from "../wire/format.ts";
import { conversationOf } from "../wire/responses/conversation.ts";
import type { Stay } from "./affinity.ts";
import { AnswerNotes } from "./answer-notes.ts";
import { CallNames } from "./call-names.ts";
import type { Caller } from "./caller.ts";
import { inClientTerms } from "./client-terms.ts";
import { compactionMembers } from "./compaction/items.ts";
import { estimateUsage } from "./meter.ts";
import { historyReader, openHistory } from "./open-history.ts";
import { allowedDefaults, type Defaults, isOwnDefault, textOfAnswerFault } from "./policy.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";
import { type RefusedReasoning, withoutReasoning } from "./refused-reasoning.ts";
import type { CallTrace } from "./route-call.ts";
import type { HeldRequest } from "./threads/held.ts";
import { refuseUntranslatable } from "./untranslatable.ts";
import type { ThreadRequest, UpstreamThreads } from "./upstream-threads.ts";

/** Stores a finished answer, given in the client's format. */
export type Keep = (answer: Readonly<Record<string, unknown>>) => Promise<void>;

/** What is known once a request is admitted and read. */
export interface AdmittedRequest {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly format: WireFormat;
  /** The body as received. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly chat: ChatRequest;
  readonly model: CatalogModel;
  readonly routes: readonly ModelRoute[];
  readonly defaults: Defaults;
  /** Client headers that upstreams of the same family understand; lower-case names. */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /** What is traced of its upstream calls. */
  readonly trace: CallTrace;
  /** The answer's public id. */
  readonly id: string;
  readonly createdSeconds: number;
  /** The time, in whole seconds. */
  nowSeconds(): number;
  /**
   * The request's messages were changed here (stored history, resolved files, compaction): top-level members that replace the
   * client's on the lossless path. Undefined: the change cannot be expressed in the client's format, so translate.
   */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  /** Parameters that were left out before any provider was chosen. */
  readonly dropped?: readonly string[];
  /** Stores the finished answer; absent if it is not to be stored. */
  readonly keep?: Keep;
  /** Its reservation in its caller's budgets, until its exchange ends. */
  readonly hold?: Hold | undefined;
  /** The routes that refused its reasoning. */
  readonly refusedReasoning: RefusedReasoning;
  /** Present: the answer belongs to a conversation that its upstream stores. */
  readonly thread?: ThreadRequest;
  /** The conversation is held here. */
  readonly held?: HeldRequest | undefined;
  /** Where the conversation is served; absent if there is no choice. */
  readonly stay?: Stay | undefined;
  /** Options with which the format read the body. */
  readonly options: DecodeOptions;
  /** Present: the answer is a record of the conversation, made here. */
  readonly asksRecord?: { readonly wish: string | undefined } | undefined;
  /** Present: the conversation may be shortened. */
  readonly conversation?: ConversationState | undefined;
}

/** A conversation that may be shortened. */
export interface ConversationState {
  /** The client's name for it; undefined: nothing of it is stored. */
  readonly threadId: string | undefined;
  /** What is stored: summaries of a conversation that is held here, or nothing; undefined: everything of a thread. */
  readonly keeps?: "conversation" | "nothing" | undefined;
  /** When the request arrived, on the clock of the memory of compactions. */
  readonly since?: number | undefined;
  /** The edits that the client asks for, which a provider may not support. */
  readonly edits?: readonly ContextEdit[];
  /** The result of those edits for this attempt. */
  readonly edited?: EditedContext & {
    /** The request as it was before. */
    readonly original: AdmittedRequest;
    /** A provider refused it as too long before: do not try again. */
    readonly atWall: boolean;
  };
  /** It was shortened for this attempt. */
  readonly shortened?: ShortenedConversation;
}

/** What is known of a shortened conversation. */
export interface ShortenedConversation {
  /** The request with all of the client's messages. */
  readonly original: AdmittedRequest;
  /** Calls that lost the reasoning behind them. */
  readonly strippedCalls: ReadonlySet<string>;
  /** Tokens counted here of what goes up, before any correction. */
  readonly counted: number;
  /** A provider refused it as too long before: do not try again. */
  readonly atWall: boolean;
}

/** Client headers of a protocol that are forwarded to upstreams that speak it. */
const FORWARDED = ["anthropic-beta", "anthropic-version", "openai-beta"];

/** Selects the client headers that may be forwarded. */
export function forwardedHeaders(request: Request): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of FORWARDED) {
    const value = request.headers.get(name);
    if (value !== null) out[name] = value;
  }
  return out;
}

/** Options with which a format reads a body. */
export function decodeOptions({ headers }: Request): DecodeOptions {
  const betas = headers.get("anthropic-beta");
  const version = headers.get("anthropic-version");
  return {
    ...(betas === null ? {} : { betas }),
    ...(version === null ? {} : { version }),
    userAgent: headers.get("user-agent") ?? "",
  };
}

/** A fresh public id for an answer. */
export function answerId(format: WireFormat): string {
  return prefixedId(format.idPrefix);
}

/** Whether the client's bytes may be sent unchanged: same protocol on both sides. */
export function isLossless(admitted: AdmittedRequest, provider: Provider): boolean {
  return admitted.format.dialect === provider.dialect.name && admitted.members !== undefined;
}

/** Whether the answer is returned unchanged: nothing must be added that its provider does not know. */
export function isRelayed(admitted: AdmittedRequest, provider: Provider): boolean {
  const { cleared = [], record } = admitted.conversation?.edited ?? {};
  return cleared.length === 0 && record === undefined && isLossless(admitted, provider);
}

/** How an answer starts before its provider has said anything. */
export function openingOf({ conversation, format }: AdmittedRequest): OpaqueEvent | undefined {
  const record = conversation?.edited?.record;
  return record === undefined ? undefined : { type: "opaque", choice: 0, origin: format.name, value: record };
}

/** Where reasoning is stored. */
interface ReasoningDeps {
  reasoning: ReasoningMemory;
  clock: Clock;
}

/** The upstream request for one route. Throws `ApiError` 400 for what it cannot express. */
export function buildRequest(
  deps: ReasoningDeps,
  admitted: AdmittedRequest,
  { provider, route }: { provider: Provider; route: ModelRoute },
): UpstreamRequest {
  const refused = admitted.refusedReasoning.has(route);
  const reader = readerOf(deps, admitted, { provider, route, refused });
  const request = requestFor(admitted, {
    provider,
    model: route.model,
    reader,
    storesAnswer: admitted.keep !== undefined && deps.reasoning.maySeal(provider.minter, route.model),
  });
  return refused ? withoutReasoning(request, admitted.format) : request;
}

/** The reader of the history: in a shortened conversation, reasoning that is bound to earlier messages is left out. */
function readerOf(
  deps: ReasoningDeps,
  admitted: AdmittedRequest,
  { provider, route, refused }: { provider: Provider; route: ModelRoute; refused: boolean },
): HistoryReader {
  const { accountId } = admitted.caller;
  const messages = wholeMessages(admitted);
  const reader = historyReader(provider, route.model, { ...deps, accountId, messages, refused });
  const stripped = admitted.conversation?.shortened?.strippedCalls;
  if (stripped === undefined || stripped.size === 0) return reader;
  return {
    ...reader,
    thoughtOf: (callId) => {
      const thought = reader.thoughtOf(callId);
      const isBound = stripped.has(callId) && thought?.parts.some(({ origin }) => origin === HISTORY_BINDER);
      return isBound ? undefined : thought;
    },
  };
}

/** The client's messages, even if fewer are sent upstream. */
function wholeMessages({ chat, conversation }: AdmittedRequest): readonly ChatMessage[] {
  return conversation?.shortened?.original.chat.messages ?? chat.messages;
}

function requestFor(
  admitted: AdmittedRequest,
  target: { provider: Provider; model: string; reader: HistoryReader; storesAnswer: boolean },
): UpstreamRequest {
  const { provider, model: upstreamModel, reader, storesAnswer } = target;
  const ctx: RequestContext = {
    model: upstreamModel,
    stream: admitted.chat.stream,
    quirks: provider.quirks,
    supportsReasoning: admitted.model.supportsReasoning,
    maxOutputTokens: admitted.model.maxOutputTokens,
    clientCaches: admitted.format.marksCaches === true,
    clientHeaders: admitted.clientHeaders,
    storesAnswer,
  };
  const defaults = allowedDefaults(admitted.defaults, ctx, admitted.model);
  if (isLossless(admitted, provider)) {
    const opened = openHistory(
      { text: admitted.text, body: admitted.body, members: admitted.members ?? {} },
      admitted.format,
      reader,
    );
    const members: Record<string, unknown> = { ...opened.members };
    if (defaults.temperature !== undefined) members["temperature"] = defaults.temperature;
    if (defaults.maxTokens !== undefined) members["max_tokens"] = defaults.maxTokens;
    const { text, body, removed } = opened;
    const left = provider.quirks.compaction === false ? compactionMembers(body, members, admitted.format) : [];
    for (const name of left) members[name] = undefined;
    const request = provider.dialect.lossless.request(
      text,
      admitted.chat,
      { ...ctx, body, reasoningRemoved: removed || admitted.conversation?.shortened !== undefined },
      members,
    );
    return left.length === 0 ? request : { ...request, dropped: [...request.dropped, ...left] };
  }
  const terms = {
    format: admitted.format,
    body: admitted.body,
    isOurs: (name: string) => isOwnDefault(name, admitted),
  };
  return inClientTerms(terms, () => {
    refuseUntranslatable(admitted.chat, admitted.format, provider);
    const whole = admitted.format.losesReasoning === true ? withThoughts(admitted.chat, reader) : admitted.chat;
    const own = withoutForeignSeals(whole, reader);
    const chat = provider.dialect.takesToolGroups === true ? own : flattenTools(own, provider.dialect.toolNames);
    const { store, ...plain } = { ...chat, ...defaults };
    // Answers of the responses format are stored here; the upstream is not asked to.
    const stored = admitted.format.storesAnswers === true || store === undefined ? {} : { store };
    return provider.dialect.request({ ...plain, ...stored }, ctx);
  });
}

/** Our own values in an answer. */
export function identityOf(
  deps: ReasoningDeps & { threads: UpstreamThreads; scrub(text: string): string },
  admitted: AdmittedRequest,
  { provider, request }: { provider: Provider; request: Pick<UpstreamRequest, "hidesEncrypted"> },
): RelayIdentity {
  const echo = admitted.format.storesAnswers === true ? echoOf(admitted.body) : undefined;
  const { accountId } = admitted.caller;
  return {
    id: admitted.id,
    ...(admitted.thread === undefined
      ? {}
      : { keepsId: (id: string) => deps.threads.answered(id, { accountId, provider: provider.name }) }),
    model: admitted.model.id,
    ...(echo === undefined ? {} : { echo }),
    includeUsage: admitted.chat.includeUsage,
    ...(request.hidesEncrypted === true ? { hidesEncrypted: true } : {}),
    requestId: admitted.exchange.requestId,
    createdSeconds: admitted.createdSeconds,
    sealed: (value) => deps.reasoning.minted(value, provider.minter),
    listener: answerNotesOf(deps, admitted, provider),
    estimate: (outputText): Usage => estimateUsage(admitted.chat, outputText),
    say: (fault) => textOfAnswerFault(fault, deps.scrub),
  };
}

/** The upstream got the history itself, so it cannot name the previous answer or the conversation. */
function echoOf(body: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const previous = body["previous_response_id"];
  if (previous != null) return { previous_response_id: previous };
  const conversation = conversationOf(body);
  return conversation === undefined ? undefined : { conversation: { id: conversation } };
}

/**
 * Records the answer for a chat client, which may not return its reasoning: always for a translated answer, and on the
 * lossless path only if the provider refuses the next turn without it.
 */
export function answerNotesOf(
  { reasoning, clock }: ReasoningDeps,
  admitted: AdmittedRequest,
  provider: Provider,
): AnswerNotes | undefined {
  if (admitted.format.losesReasoning !== true) return undefined;
  if (isLossless(admitted, provider) && provider.quirks.return_reasoning_content !== true) return undefined;
  const { accountId } = admitted.caller;
  return new AnswerNotes(provider.minter, (callIds, thought) => {
    const names = new CallNames(wholeMessages(admitted));
    const own = callIds.map((callId) => names.next(callId));
    reasoning.calls.keep(accountId, own, thought, clock.now());
  });
}

/** What the format's writers need for an answer. `provider` is the one that answers, if there is one. */
export function dressOf(admitted: AdmittedRequest, provider: Provider | undefined, shortEventTypes = false) {
  return {
    id: admitted.id,
    model: admitted.model.id,
    createdSeconds: admitted.createdSeconds,
    nowSeconds: admitted.nowSeconds,
    requestId: admitted.exchange.requestId,
    request: admitted.chat,
    defaultTemperature: admitted.defaults.temperature,
    body: admitted.body,
    ...(provider === undefined ? {} : { source: { protocol: provider.dialect.name, minter: provider.minter } }),
    ...(shortEventTypes ? { shortEventTypes } : {}),
    ...(admitted.conversation?.edited === undefined ? {} : { edited: admitted.conversation.edited }),
  };
}
