// The pipeline of one chat request: admit it, read it, find its model, check it, then answer it. The differences between
// protocols are in the dialects and formats.

import type { ModelRoute } from "../../catalog/models.ts";
import { requireModel, resolveModel } from "../../catalog/resolve.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { readJsonBody } from "../../http/body.ts";
import { type Exchange, exchangeOf } from "../../http/exchange.ts";
import type { Reservation } from "../../shared-state/reservations.ts";
import { traceHeaders } from "../../telemetry/span.ts";
import type { DecodeOptions, RoutingOptions, WireFormat } from "../../wire/format.ts";
import type { Caller } from "../admission/caller.ts";
import { refuseTooLong } from "../rules/context-window.ts";
import {
  bodiesByModel,
  chosenRoutes,
  dearest,
  firstThatAnswers,
  ROUTING_MEMBERS,
} from "../stages/choice/route-choice.ts";
import { RefusedReasoning } from "../stages/reasoning/refused-reasoning.ts";
import { refusesThread, routesOfThread, threadOf, withoutThreads } from "../stages/threads/upstream-threads.ts";
import { worstCaseMicros } from "../usage/worst-case.ts";
import { headerText } from "./accounting.ts";
import { answerRecord } from "./answer-record.ts";
import { answerStreaming } from "./answer-stream.ts";
import { answerWhole } from "./answer-whole.ts";
import { type AdmittedRequest, answerId, type Compactable, decodeOptions, forwardedHeaders } from "./chat-exchange.ts";
import type { GatewayDeps, Prepared } from "./deps.ts";
import { checkAgainstModel, defaultsFor, historyParam, lowered, refuseImages } from "./policy.ts";
import { answerPrompts } from "./prompts.ts";
import type { CallTrace } from "./route-call.ts";

const NO_MEMBERS = {};

/** A request that was admitted and read. */
interface Read {
  request: Request;
  exchange: Exchange;
  caller: Caller;
  format: WireFormat;
  text: string;
  body: Record<string, unknown>;
  chat: ChatRequest;
  options: DecodeOptions;
  /** The reservation of the whole request, if this is one of several prompts or models. */
  reservation: Reservation | undefined;
  /** Whether the gateway holds the new thread, because the provider refused to. */
  isThreadKeptHere?: boolean;
  /** The routing options of the request. */
  routing: RoutingOptions | undefined;
  nowSeconds(): number;
}

export type Gateway = ReturnType<typeof createGateway>;

/** Creates the pipeline. */
export function createGateway(deps: GatewayDeps) {
  const nowSeconds = () => Math.floor(deps.clock.now() / 1000);

  /** Answers a chat request in the given format. */
  async function handle(request: Request, format: WireFormat): Promise<Response> {
    const exchange = exchangeOf(request);
    const admitted = deps.admit(request, exchange);
    // Admission is usually synchronous, so that no turn of the event loop is needed for it.
    const caller = admitted instanceof Promise ? await admitted : admitted;
    const { text, body } = await readJsonBody(request, deps.bodyLimits());
    const prompts = format.prompts?.(body);
    const routing = routingOptionsOf(deps, format, body);
    let reservation: Reservation | undefined;
    const answer = async (body: Record<string, unknown>, exchange: Exchange) => {
      // One of several prompts may continue after another one has failed.
      const own = reservation?.share();
      try {
        return await answerOne(deps, {
          request,
          exchange,
          caller,
          format,
          text,
          body,
          reservation,
          routing,
          nowSeconds,
        });
      } finally {
        own?.release();
      }
    };
    const worstOf = (body: Record<string, unknown>) => {
      const chat = format.decode(body, decodeOptions(request));
      const { model } = modelFor(deps, chat, caller);
      return worstCaseMicros(chat, model, defaultsFor(chat, model, format));
    };
    if (routing !== undefined) {
      const bodies = bodiesByModel(body, routing);
      if (caller.budgets !== undefined) {
        reservation = await deps.budgets.reserve(caller.budgets, exchange, dearest(bodies, worstOf));
      }
      return firstThatAnswers(bodies, (one) => answer(one, exchange));
    }
    if (prompts === undefined) return answer(body, exchange);
    return answerPrompts(answer, prompts, {
      body,
      exchange,
      signal: request.signal,
      async reserve(bodies) {
        if (caller.budgets === undefined) return;
        const micros = bodies.reduce((sum, body) => sum + worstOf(body), 0);
        reservation = await deps.budgets.reserve(caller.budgets, exchange, micros);
      },
    });
  }

  return { handle };
}

/** The routing options of a request, unless the model's provider reads them itself. */
function routingOptionsOf(
  deps: GatewayDeps,
  format: WireFormat,
  body: Record<string, unknown>,
): RoutingOptions | undefined {
  const options = format.routingOptions?.(body);
  const { model } = body;
  if (options === undefined || typeof model !== "string") return options;
  const routes = resolveModel(deps.catalog(), model)?.routes ?? [];
  return routes.some(({ provider }) => deps.provider(provider)?.quirks.route_wishes === true) ? undefined : options;
}

function modelFor(deps: GatewayDeps, chat: ChatRequest, caller: Caller) {
  return requireModel(deps.catalog(), chat.model, {
    tier: caller.account.tier,
    models: caller.models,
    isDecisionModel: deps.isDecisionModel,
  });
}

async function answerOne(deps: GatewayDeps, read: Omit<Read, "chat" | "options">): Promise<Response> {
  const { request, format, body } = read;
  const options = decodeOptions(request);
  const chat = format.decode(body, options);
  const admitted = await admittedRequest(deps, { ...read, chat, options });
  const due = deps.compaction?.pausing(admitted);
  const pausing = due === undefined ? undefined : await due;
  if (pausing !== undefined) return answerRecord(deps, request, pausing);
  if (admitted.asksRecord !== undefined) return answerRecord(deps, request, admitted);
  const answer = (one: AdmittedRequest) =>
    chat.stream ? answerStreaming(deps, request, one) : answerWhole(deps, request, one);
  if (admitted.thread === undefined || admitted.thread.previousId !== undefined) return answer(admitted);
  try {
    return await answer(admitted);
  } catch (error) {
    if (!refusesThread(error)) throw error;
    const again = await admittedRequest(deps, {
      ...read,
      chat,
      options,
      reservation: admitted.reservation,
      isThreadKeptHere: true,
    });
    // If compaction is disabled, the gateway holds no threads, so the refusal is passed on.
    if (again.gatewayThread === undefined) throw error;
    return answer(again);
  }
}

async function admittedRequest(deps: GatewayDeps, read: Read): Promise<AdmittedRequest> {
  const { request, exchange, caller, format, text, body, options, routing, nowSeconds } = read;
  const { model, routes: all } = modelFor(deps, read.chat, caller);
  const routes = routing === undefined ? all : chosenRoutes(all, routing);
  exchange.log["model"] = model.id;
  refuseImages(body, model);
  checkAgainstModel(read.chat, model, read);
  const { isThreadKeptHere } = read;
  const draft = {
    exchange,
    caller,
    format,
    chat: read.chat,
    body,
    options,
    model,
    routes,
    isThreadKeptHere,
  };
  const prepared = await deps.prepare?.(draft);
  const whole = prepared?.chat ?? read.chat;
  // The inserted history may contain images and tools that this model does not support.
  if (whole !== read.chat) {
    refuseImages({ ...body, ...prepared?.members }, model, historyParam(body) ?? format.turns);
    checkAgainstModel(whole, model, read);
  }
  const low = lowered(whole, model, read);
  const chat = low?.chat ?? whole;
  exchange.headers["x-sallyport-model"] = headerText(model.id);
  const gatewayThread = prepared?.gatewayThread;
  const thread = gatewayThread === undefined ? threadOf(format, body) : undefined;
  const left = prepared?.routes ?? routes;
  const compactable = compactableOf(deps, {
    chat,
    format,
    body,
    caller,
    keptConversation: prepared?.keptConversation,
    routes: left,
  });
  const asked = deps.compaction?.asked(body, format, { routes: left, conversation: compactable });
  const open = asked?.routes ?? left;
  // A conversation that may be shortened is counted when it is.
  if (compactable === undefined && asked === undefined)
    refuseTooLong(chat, { body, betas: () => betasOf(deps, options, open) }, model);
  const { accountId, budgets } = caller;
  const isOrdered = (routing?.providers?.order.length ?? 0) > 0;
  const placement = isOrdered ? undefined : deps.affinity.placementOf({ accountId, chat, body, model, routes: open });
  const defaults = defaultsFor(chat, model, format);
  // The cost is reserved in the last step before a provider is called, so that earlier refusals cost nothing.
  const reservation =
    read.reservation ??
    (budgets && (await deps.budgets.reserve(budgets, exchange, worstCaseMicros(chat, model, defaults))));
  return {
    exchange,
    caller,
    format,
    text,
    body,
    chat,
    model,
    routes: thread === undefined ? open : routesOfThread(thread, open, { ...deps, accountId }),
    ...(thread === undefined ? {} : { thread }),
    ...(compactable === undefined ? {} : { compactable }),
    ...(asked?.asksRecord === undefined ? {} : { asksRecord: asked.asksRecord }),
    ...(placement === undefined ? {} : { placement }),
    ...(gatewayThread === undefined ? {} : { gatewayThread }),
    options,
    defaults,
    reservation,
    refusedReasoning: new RefusedReasoning(),
    clientHeaders: gatewayThread === undefined ? forwardedHeaders(request) : withoutThreads(forwardedHeaders(request)),
    trace: traceOf(request, exchange, chat),
    id: answerId(format),
    createdSeconds: nowSeconds(),
    nowSeconds,
    ...changes(prepared, { low, routing }),
    ...(prepared?.keep === undefined ? {} : { keep: prepared.keep }),
  };
}

/** How the calls of the request are traced. */
function traceOf(request: Request, exchange: Exchange, chat: ChatRequest): CallTrace {
  return {
    span: exchange.span,
    headers: exchange.span === undefined ? traceHeaders(request.headers) : NO_MEMBERS,
    stream: chat.stream,
    failedRoutes: exchange.failedRoutes,
    wire: exchange.wire,
    maxTokens: chat.maxTokens,
    temperature: chat.temperature,
    topP: chat.topP,
  };
}

/** The client's betas, and the operator's headers, in which there may be further ones. */
function betasOf(deps: GatewayDeps, { betas = "" }: DecodeOptions, routes: readonly ModelRoute[]): string {
  const headers = routes.flatMap(({ provider }) => Object.values(deps.provider(provider)?.extraHeaders ?? {}));
  return [betas, ...headers].join();
}

/** The members to change in the forwarded body, and those that are reported as dropped. */
function changes(
  prepared: Prepared | undefined,
  { low, routing }: { low: ReturnType<typeof lowered>; routing: RoutingOptions | undefined },
): Pick<AdmittedRequest, "members" | "dropped"> {
  const members = prepared === undefined ? NO_MEMBERS : prepared.members;
  const dropped = prepared?.dropped;
  if (low === undefined && routing === undefined) return dropped === undefined ? { members } : { members, dropped };
  const removed = routing === undefined ? NO_MEMBERS : ROUTING_MEMBERS;
  return {
    members: members === undefined ? undefined : { ...members, ...removed, ...low?.members },
    dropped: [...(dropped ?? []), ...(routing?.dropped ?? []), ...(low?.dropped ?? [])],
  };
}

/** The conversation that may be shortened: the client's thread, or one that the gateway holds. */
function compactableOf(
  deps: GatewayDeps,
  {
    chat,
    format,
    body,
    caller,
    keptConversation,
    routes,
  }: Pick<Read, "chat" | "format" | "body" | "caller"> & {
    keptConversation: Prepared["keptConversation"];
    routes: readonly ModelRoute[];
  },
): Compactable | undefined {
  const named = keptConversation === undefined ? chat : { ...chat, threadId: keptConversation.id };
  const thread = deps.compaction?.compactableOf(named, format);
  const edits = deps.compaction?.editsOf(body, { format, routes });
  const found = edits === undefined ? thread : { threadId: thread?.threadId, since: thread?.since, edits };
  const keeps = keptConversation?.keeps ?? (caller.noStore ? "nothing" : undefined);
  return found === undefined || keeps === undefined ? found : { ...found, keeps };
}
