// A chat request in progress: its content, its caller and its model, and how its upstream request is built.

import type { Clock } from "../../base/clock.ts";
import { prefixedId } from "../../base/ids.ts";
import type { CatalogModel, ModelRoute } from "../../catalog/models.ts";
import type { ContextEdit, EditedContext } from "../../chat/context-edits.ts";
import type { OpaqueEvent } from "../../chat/event.ts";
import type { ChatMessage, ChatRequest } from "../../chat/request.ts";
import { HISTORY_BINDER, type HistoryReader, withoutForeignSeals, withThoughts } from "../../chat/seals.ts";
import { flattenTools } from "../../chat/tools.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { Reservation } from "../../shared-state/reservations.ts";
import type { RelayIdentity, RequestContext, UpstreamRequest } from "../../upstream/dialect.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { DecodeOptions, WireFormat } from "../../wire/format.ts";
import { conversationIdOf } from "../../wire/responses/conversation.ts";
import type { Caller } from "../admission/caller.ts";
import type { EndUsers } from "../admission/end-users.ts";
import { inClientTerms } from "../rules/client-terms.ts";
import { refuseUntranslatable } from "../rules/untranslatable.ts";
import type { Placement } from "../stages/affinity/affinity.ts";
import { compactionMembers } from "../stages/compaction/items.ts";
import { AnswerNotes } from "../stages/reasoning/answer-notes.ts";
import { CallNames } from "../stages/reasoning/call-names.ts";
import { historyReader, openHistory } from "../stages/reasoning/open-history.ts";
import type { ReasoningMemory } from "../stages/reasoning/reasoning-memory.ts";
import { type RefusedReasoning, withoutReasoning } from "../stages/reasoning/refused-reasoning.ts";
import type { GatewayThread } from "../stages/threads/gateway-threads.ts";
import type { ThreadRequest, UpstreamThreads } from "../stages/threads/upstream-threads.ts";
import { usageSettler } from "../usage/meter.ts";
import { allowedDefaults, type Defaults, isOwnDefault, tellAnswerFault } from "./policy.ts";
import type { CallTrace } from "./route-call.ts";

/** Stores a finished answer in the client's format. */
export type Keep = (answer: Readonly<Record<string, unknown>>) => Promise<void>;

/** A request that was admitted and read. */
export interface AdmittedRequest {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly format: WireFormat;
  /** The text of the body as it was received. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly chat: ChatRequest;
  readonly model: CatalogModel;
  readonly routes: readonly ModelRoute[];
  readonly defaults: Defaults;
  /** The client's headers that upstreams of the same protocol understand, by lower-case name. */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /** The trace of the request's upstream calls. */
  readonly trace: CallTrace;
  /** The public id of the answer. */
  readonly id: string;
  readonly createdSeconds: number;
  /** The current time in whole seconds. */
  nowSeconds(): number;
  /**
   * Top-level members that replace the client's on the relayed path, because the gateway changed the messages (stored history,
   * resolved files, compaction). If undefined, the change cannot be expressed in the client's format, and the request must be
   * translated.
   */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  /** Parameters that were dropped before a provider was chosen. */
  readonly dropped?: readonly string[];
  /** Stores the finished answer; absent if it is not to be stored. */
  readonly keep?: Keep;
  /** The reservation in the caller's budgets, until the exchange ends. */
  readonly reservation?: Reservation | undefined;
  /** The routes that refused the request's reasoning. */
  readonly refusedReasoning: RefusedReasoning;
  /** Present if the answer belongs to a conversation that its upstream stores. */
  readonly thread?: ThreadRequest;
  /** Present if the gateway holds the conversation. */
  readonly gatewayThread?: GatewayThread | undefined;
  /** Where the conversation is served; absent if there is no choice. */
  readonly placement?: Placement | undefined;
  /** The options with which the format read the body. */
  readonly options: DecodeOptions;
  /** Present if the answer is a record of the conversation, which the gateway makes. */
  readonly asksRecord?: { readonly wish: string | undefined } | undefined;
  /** Present if the conversation may be shortened. */
  readonly compactable?: Compactable | undefined;
}

/** A conversation that may be shortened. */
export interface Compactable {
  /** The client's name for the conversation; if undefined, nothing of it is stored. */
  readonly threadId: string | undefined;
  /**
   * Which part is stored: only summaries, for a conversation that the gateway holds, or nothing. If undefined, everything that
   * belongs to a thread.
   */
  readonly keeps?: "conversation" | "nothing" | undefined;
  /** When the request arrived, as a mark of the memory of compactions. */
  readonly since?: number | undefined;
  /** The context edits that the client requests, which a provider may not support. */
  readonly edits?: readonly ContextEdit[];
  /** The result of these edits in this attempt. */
  readonly edited?: EditedContext & {
    /** The request before the edits. */
    readonly original: AdmittedRequest;
    /** Whether it was shortened because a provider refused it as too long, so that it is not tried again. */
    readonly isAfterOverflow: boolean;
  };
  /** Present if the conversation was shortened in this attempt. */
  readonly shortened?: ShortenedConversation;
}

/** A shortened conversation. */
export interface ShortenedConversation {
  /** The request with all of the client's messages. */
  readonly original: AdmittedRequest;
  /** Ids of the tool calls whose reasoning was removed. */
  readonly strippedCalls: ReadonlySet<string>;
  /** Tokens of the shortened request as counted by the gateway, without correction. */
  readonly counted: number;
  /** Whether it was shortened because a provider refused it as too long, so that it is not tried again. */
  readonly isAfterOverflow: boolean;
}

/** Client headers of a protocol that are forwarded to upstreams of the same protocol. */
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

/** The options with which a format reads a body. */
export function decodeOptions({ headers }: Request): DecodeOptions {
  const betas = headers.get("anthropic-beta");
  const version = headers.get("anthropic-version");
  return {
    ...(betas === null ? {} : { betas }),
    ...(version === null ? {} : { version }),
    userAgent: headers.get("user-agent") ?? "",
  };
}

/** Creates a public id for an answer. */
export function answerId(format: WireFormat): string {
  return prefixedId(format.idPrefix);
}

/** Whether the client's bytes may be sent unchanged, because both sides speak the same protocol. */
export function isLossless(admitted: AdmittedRequest, provider: Provider): boolean {
  return admitted.format.dialect === provider.dialect.name && admitted.members !== undefined;
}

/** Whether the answer is returned unchanged: nothing must be added that its provider does not know. */
export function isRelayed(admitted: AdmittedRequest, provider: Provider): boolean {
  const { cleared = [], record } = admitted.compactable?.edited ?? {};
  return cleared.length === 0 && record === undefined && isLossless(admitted, provider);
}

/** The event with which an answer begins before its provider has sent anything. */
export function openingOf({ compactable, format }: AdmittedRequest): OpaqueEvent | undefined {
  const record = compactable?.edited?.record;
  return record === undefined ? undefined : { type: "opaque", choice: 0, origin: format.name, value: record };
}

/** What is needed to find stored reasoning. */
interface ReasoningDeps {
  reasoning: ReasoningMemory;
  clock: Clock;
}

/** Builds the upstream request for one route. Throws `ApiError` 400 for content that the route's protocol cannot express. */
export function buildRequest(
  deps: ReasoningDeps & { endUserOf: EndUsers },
  admitted: AdmittedRequest,
  { provider, route }: { provider: Provider; route: ModelRoute },
): UpstreamRequest {
  const refused = admitted.refusedReasoning.has(route);
  const reader = readerOf(deps, admitted, { provider, route, refused });
  const request = requestFor(admitted, {
    provider,
    model: route.model,
    reader,
    endUser: deps.endUserOf(admitted.caller, provider),
    storesAnswer: admitted.keep !== undefined && deps.reasoning.maySeal(provider.minter, route.model),
  });
  return refused ? withoutReasoning(request, admitted.format) : request;
}

/** Creates the reader of the history. In a shortened conversation, it leaves out reasoning that is bound to earlier messages. */
function readerOf(
  deps: ReasoningDeps,
  admitted: AdmittedRequest,
  { provider, route, refused }: { provider: Provider; route: ModelRoute; refused: boolean },
): HistoryReader {
  const { accountId } = admitted.caller;
  const messages = wholeMessages(admitted);
  const reader = historyReader(provider, route.model, { ...deps, accountId, messages, refused });
  const stripped = admitted.compactable?.shortened?.strippedCalls;
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

/** All of the client's messages, even if fewer are sent upstream. */
function wholeMessages({ chat, compactable }: AdmittedRequest): readonly ChatMessage[] {
  return compactable?.shortened?.original.chat.messages ?? chat.messages;
}

function requestFor(
  admitted: AdmittedRequest,
  target: { provider: Provider; model: string; reader: HistoryReader } & Pick<RequestContext, "endUser"> & {
      storesAnswer: boolean;
    },
): UpstreamRequest {
  const { provider, model: upstreamModel, reader, endUser, storesAnswer } = target;
  const ctx: RequestContext = {
    model: upstreamModel,
    stream: admitted.chat.stream,
    quirks: provider.quirks,
    supportsReasoning: admitted.model.supportsReasoning,
    maxOutputTokens: admitted.model.maxOutputTokens,
    clientCaches: admitted.format.marksCaches === true,
    clientHeaders: admitted.clientHeaders,
    endUser,
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
    const { text, body, removed, lost } = opened;
    const left = provider.quirks.compaction === false ? compactionMembers(body, members, admitted.format) : [];
    for (const name of left) members[name] = undefined;
    const request = provider.dialect.lossless.request(
      text,
      admitted.chat,
      { ...ctx, body, reasoningRemoved: removed || admitted.compactable?.shortened !== undefined },
      members,
    );
    if (lost && !reader.refused) left.push(admitted.format.reasoning);
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
    // The gateway stores answers of the responses format itself, so the upstream must not.
    const stored = admitted.format.storesAnswers === true || store === undefined ? {} : { store };
    return provider.dialect.request({ ...plain, ...stored }, ctx);
  });
}

/** The members of an answer that the gateway sets itself. */
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
    settle: usageSettler(admitted.chat),
    tell: (fault) => tellAnswerFault(fault, deps.scrub),
  };
}

/**
 * The members of the request to repeat in the answer. The upstream got the history itself, so it cannot name the previous answer
 * or the conversation.
 */
function echoOf(body: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const previous = body["previous_response_id"];
  if (previous != null) return { previous_response_id: previous };
  const conversation = conversationIdOf(body);
  return conversation === undefined ? undefined : { conversation: { id: conversation } };
}

/**
 * Records the answer for a chat client, which may not return its reasoning. A translated answer is always recorded, a relayed one
 * only if the provider refuses the next turn without its reasoning.
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

/** What the writers of the format need for an answer. `provider` is the one that answers, if it is known. */
export function writerContext(admitted: AdmittedRequest, provider: Provider | undefined, shortEventTypes = false) {
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
    ...(admitted.compactable?.edited === undefined ? {} : { edited: admitted.compactable.edited }),
  };
}
