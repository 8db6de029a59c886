// How the upstream request of a turn is built for one route, and what relays and writers are told of the turn.

import type { AtOnce } from "../../base/at-once.ts";
import type { ErrorBody } from "../../base/errors.ts";
import { giveBackAll } from "../../base/give-back.ts";
import { jsonBytesInTurns } from "../../base/json-in-slices.ts";
import { type BodyText, LongJson } from "../../base/long-json.ts";
import { longStep } from "../../base/long-steps.ts";
import { createPause } from "../../base/time-slices.ts";
import type { AnswerFault } from "../../chat/answer-fault.ts";
import type { OpaqueEvent, Usage } from "../../chat/event.ts";
import { flattenTools } from "../../chat/tools.ts";
import { parseCallInputs } from "../../upstream/call-inputs.ts";
import {
  outlineOf,
  type RelayIdentity,
  type RequestContext,
  requestOf,
  type UpstreamRequest,
} from "../../upstream/dialect.ts";
import type { OutputText } from "../../upstream/output-text.ts";
import type { Provider } from "../../upstream/provider.ts";
import { conversationIdOf } from "../../wire/responses/conversation.ts";
import type { EndUsers } from "../admission/end-users.ts";
import { inClientTerms } from "../rules/client-terms.ts";
import { allowedDefaults, type Defaults, defaultsFor, isOwnDefault, tellAnswerFault } from "../rules/policy.ts";
import { refuseUntranslatable } from "../rules/untranslatable.ts";
import { isSettled, type SettleUsage, usageSettler } from "../usage/meter.ts";
import type { BodyMembers, ChatTurn, EventListener, Target } from "./stage.ts";

/** Whether the client's bytes may be sent unchanged, because both sides speak the same protocol. */
export function isLossless(turn: ChatTurn, provider: Provider): boolean {
  return turn.format.dialect === provider.dialect.name && turn.members !== undefined;
}

/** Whether the answer is returned unchanged: nothing must be added that its provider does not know. */
export function isRelayed(turn: ChatTurn, provider: Provider): boolean {
  const { edited, isHeard } = turn;
  if (isHeard === true) return false;
  if (edited !== undefined && (edited.cleared.length > 0 || edited.record !== undefined)) return false;
  return isLossless(turn, provider);
}

/** The event with which an answer begins before its provider has sent anything. */
export function openingOf({ edited, format, round }: ChatTurn): OpaqueEvent | undefined {
  const record = round === undefined ? edited?.record : undefined;
  return record === undefined ? undefined : { type: "opaque", choice: 0, origin: format.name, value: record };
}

/** Characters of a client's body from which the upstream's is serialised in steps. */
const IN_STEPS_CHARS = 512 * 1024;

/** Builds the upstream request for one route. Throws `ApiError` 400 for content that the route's protocol cannot express. */
export function buildRequest(
  deps: { endUserOf: EndUsers },
  turn: ChatTurn,
  target: Target,
): AtOnce<UpstreamRequest<BodyText>> {
  if (turn.text.length < IN_STEPS_CHARS || isLossless(turn, target.provider)) return builtAtOnce(deps, turn, target);
  return builtInSteps(deps, turn, target);
}

async function builtInSteps(
  deps: { endUserOf: EndUsers },
  turn: ChatTurn,
  target: Target,
): Promise<UpstreamRequest<BodyText>> {
  let body: object | undefined;
  const { startedMs } = turn.exchange;
  await longStep(startedMs);
  const named = inNamesOf(target.provider, turn.chat);
  if (target.provider.dialect.parsesInputs === true) await parseCallInputs(named.messages, createPause(startedMs));
  const json = (given: object) => {
    body = given;
    return "";
  };
  const request = builtAtOnce(deps, turn, target, { json, named });
  if (body === undefined) return request;
  await longStep(startedMs);
  const written = freedAtEnd(turn.exchange);
  return { ...request, body: LongJson.ofParts(written(await jsonBytesInTurns(body, startedMs))) };
}

type Parts = Awaited<ReturnType<typeof jsonBytesInTurns>>;

/**
 * Frees the parts that it is told when the exchange ends, unless it has ended before: what is asked after it still needs them. They are
 * not held until then, as there may be those of several routes and rounds. One of several prompts is sent on after the exchange of all
 * has ended by the failure of another, so the collector frees its parts.
 */
function freedAtEnd(exchange: ChatTurn["exchange"]): (parts: Parts) => Parts {
  if (exchange.isPart === true) return (parts) => parts;
  let held: WeakRef<Parts> | undefined;
  exchange.atEnd(() => {
    for (const { buffer } of held?.deref() ?? []) giveBackAll(buffer);
  });
  return (parts) => {
    held = new WeakRef(parts);
    return parts;
  };
}

/** What was made of a long body before its request is built. */
interface MadeBefore {
  readonly json: NonNullable<RequestContext["json"]>;
  readonly named: ChatTurn["chat"];
}

function builtAtOnce(
  deps: { endUserOf: EndUsers },
  turn: ChatTurn,
  { provider, route }: Target,
  before?: MadeBefore,
): UpstreamRequest<BodyText> {
  const { chat, model, format } = turn;
  const ctx: RequestContext = {
    model: route.model,
    stream: chat.stream,
    quirks: provider.quirks,
    supportsReasoning: model.supportsReasoning,
    maxOutputTokens: model.maxOutputTokens,
    clientCaches: format.marksCaches === true,
    clientHeaders: turn.clientHeaders,
    endUser: deps.endUserOf(turn.caller, provider),
    storesAnswer: turn.storesAnswer === true,
  };
  if (before !== undefined) ctx.json = before.json;
  const own = defaultsFor(chat, model, format);
  const defaults = allowedDefaults(own, ctx, model);
  return isLossless(turn, provider)
    ? relayedRequest(turn, provider, { ctx, defaults })
    : translatedRequest(turn, provider, { ctx, defaults, own, named: before?.named });
}

/** The chat with tools as the provider's protocol can name them. */
function inNamesOf({ dialect }: Provider, chat: ChatTurn["chat"]): ChatTurn["chat"] {
  return dialect.takesToolGroups === true ? chat : flattenTools(chat, dialect.toolNames);
}

function relayedRequest(
  turn: ChatTurn,
  provider: Provider,
  { ctx, defaults }: { ctx: RequestContext; defaults: Defaults },
): UpstreamRequest<BodyText> {
  const members: Record<string, unknown> = { ...turn.members };
  if (defaults.temperature !== undefined) members["temperature"] = defaults.temperature;
  if (defaults.maxTokens !== undefined) members["max_tokens"] = defaults.maxTokens;
  // The wish for the cost is the gateway's to fulfil, and providers refuse unknown members.
  if (turn.chat.includeCost === true && provider.quirks.usage_include !== true) members["usage"] = undefined;
  const { text, body } = turn.relayed ?? turn;
  ctx.body = body;
  ctx.reasoningRemoved = turn.reasoningRemoved === true;
  return requestOf(text, provider.dialect.lossless.request(outlineOf(text), turn.chat, ctx, members));
}

interface TranslationParts {
  readonly ctx: RequestContext;
  readonly defaults: Defaults;
  readonly own: Defaults;
  readonly named: ChatTurn["chat"] | undefined;
}

function translatedRequest(
  turn: ChatTurn,
  provider: Provider,
  { ctx, defaults, own, named }: TranslationParts,
): UpstreamRequest {
  const { format, body } = turn;
  const terms = { format, body, isOurs: (name: string) => isOwnDefault(name, { defaults: own }) };
  return inClientTerms(terms, () => {
    refuseUntranslatable(turn.chat, format, provider);
    const { dialect } = provider;
    const { store, ...plain } = { ...(named ?? inNamesOf(provider, turn.chat)), ...defaults };
    // The gateway stores answers of the responses format itself, so the upstream must not.
    const stored = format.storesAnswers === true || store === undefined ? {} : { store };
    return dialect.request({ ...plain, ...stored }, ctx);
  });
}

export interface IdentityDeps {
  scrub(text: string): string;
  /** Remembers which provider issued a sealed value, or that it returned reasoning without one. */
  sealed(value: string | undefined, minter: string): void;
}

/** The members of an answer that the gateway sets itself. */
export function identityOf(
  deps: IdentityDeps,
  turn: ChatTurn,
  {
    provider,
    request,
    listener,
  }: { provider: Provider; request: Pick<UpstreamRequest, "hidesEncrypted">; listener: EventListener | undefined },
): RelayIdentity {
  const echo = turn.format.storesAnswers === true ? echoOf(turn.body) : undefined;
  const { keepsUpstreamId } = turn;
  const identity: RelayIdentity = new TurnIdentity(deps, turn, { minter: provider.minter, listener });
  // Nearly all have none of them.
  if (keepsUpstreamId !== undefined) keepIds(identity, keepsUpstreamId, provider.name);
  if (echo !== undefined) identity.echo = echo;
  if (request.hidesEncrypted === true) identity.hidesEncrypted = true;
  return identity;
}

function keepIds(identity: RelayIdentity, keeps: NonNullable<ChatTurn["keepsUpstreamId"]>, provider: string): void {
  identity.keepsId = (id) => keeps(id, provider);
}

/** What every answer has of it, without functions of its own. */
class TurnIdentity implements RelayIdentity {
  readonly id: string;
  readonly model: string;
  readonly includeUsage: boolean;
  readonly requestId: string;
  readonly createdSeconds: number;
  readonly listener: EventListener | undefined;
  readonly #deps: IdentityDeps;
  readonly #turn: ChatTurn;
  readonly #minter: string;
  #settle: SettleUsage | undefined;

  constructor(
    deps: IdentityDeps,
    turn: ChatTurn,
    { minter, listener }: { minter: string; listener: EventListener | undefined },
  ) {
    this.#deps = deps;
    this.#turn = turn;
    this.#minter = minter;
    this.id = turn.id;
    this.model = turn.shownId ?? turn.model.id;
    this.includeUsage = turn.chat.includeUsage;
    this.requestId = turn.exchange.requestId;
    this.createdSeconds = turn.createdSeconds;
    this.listener = listener;
  }

  sealed(value: string | undefined): void {
    this.#deps.sealed(value, this.#minter);
  }

  settle(told: Usage | undefined, output: OutputText): Usage {
    const { chat, model } = this.#turn;
    if (isSettled(chat, told)) return told;
    // Kept, since the prompt is counted once.
    this.#settle ??= usageSettler(chat, model.prices);
    return this.#settle(told, output);
  }

  tell(fault: AnswerFault): ErrorBody {
    return tellAnswerFault(fault, this.#deps.scrub);
  }
}

/**
 * The members of the request to repeat in the answer. The upstream got the history itself, so it cannot name the previous answer
 * or the conversation.
 */
function echoOf(body: BodyMembers): Record<string, unknown> | undefined {
  const previous = body["previous_response_id"];
  if (previous != null) return { previous_response_id: previous };
  const conversation = conversationIdOf(body);
  return conversation === undefined ? undefined : { conversation: { id: conversation } };
}

/** What the writers of the format need for an answer. `provider` is the one that answers, if it is known. */
export function writerContext(turn: ChatTurn, provider: Provider | undefined, shortEventTypes = false) {
  return {
    id: turn.id,
    model: turn.shownId ?? turn.model.id,
    createdSeconds: turn.createdSeconds,
    nowSeconds: () => turn.asker.nowSeconds(),
    requestId: turn.exchange.requestId,
    startedMs: turn.exchange.startedMs,
    request: turn.chat,
    defaultTemperature: defaultsFor(turn.chat, turn.model, turn.format).temperature,
    body: turn.body,
    ...(provider === undefined ? {} : { source: { protocol: provider.dialect.name, minter: provider.minter } }),
    ...(shortEventTypes ? { shortEventTypes } : {}),
    ...(turn.edited === undefined ? {} : { edited: turn.edited }),
  };
}
