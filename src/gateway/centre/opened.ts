// What is done with a request once its body was read: its model is found, and the stages prepare it.

import type { BodyText } from "../../base/long-json.ts";
import { createPause } from "../../base/time-slices.ts";
import { resolveModel } from "../../catalog/resolve.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { DecodeOptions, RoutingOptions, WireFormat } from "../../wire/format.ts";
import { withoutTags } from "../admission/tags.ts";
import { headerText } from "./answer.ts";
import type { GatewayDeps } from "./deps.ts";
import type { Answer, ChatTurn } from "./stage.ts";
import { answerStreaming } from "./streamed.ts";
import { type AskedRequest, decodeOptions, turnOf, withUsualNames } from "./turn.ts";
import { isLongRequest, type Prepared, prepared } from "./walk.ts";
import { answerWhole } from "./whole.ts";

/** A request whose caller was let in. */
export type AdmittedRequest = Pick<AskedRequest, "source" | "request" | "exchange" | "caller" | "format">;

/** A body as text and as a JSON object. */
interface ReadBody {
  readonly text: BodyText;
  readonly body: Record<string, unknown>;
}

/** Answers a request whose body was read. */
export function answerRead(deps: GatewayDeps, admitted: AdmittedRequest, read: ReadBody): Promise<Answer> {
  const found = opened(deps, admitted, read);
  return found instanceof Promise ? found : answerReady(deps, admitted.request, found);
}

/** The turn as the stages left it; a promise of the answer if something is to be waited for. */
export function opened(
  deps: GatewayDeps,
  { source, request, exchange, caller, format }: AdmittedRequest,
  read: ReadBody,
): Prepared | Promise<Answer> {
  const { text, body } = withoutTags(withUsualNames(read, format), exchange);
  const routing = routingOptionsOf(deps, format, body);
  const asked = { source, request, exchange, caller, format, text, body, routing, reservation: undefined };
  if (routing === undefined && format.prompts === undefined) return openedOne(deps, asked);
  return answerSeveral(deps, asked);
}

/** Few requests name several models or have several prompts. */
async function answerSeveral(deps: GatewayDeps, asked: AskedRequest): Promise<Answer> {
  const { answerAll } = await import("./spread.ts");
  return answerAll(deps, asked, async (one) => answerOne(deps, one));
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
  return readsRouteWishes(deps, model) ? undefined : options;
}

function readsRouteWishes(deps: GatewayDeps, model: string): boolean {
  const routes = resolveModel(deps.catalog(), model)?.routes ?? [];
  return routes.some(({ provider }) => deps.provider(provider)?.quirks.route_wishes === true);
}

function answerOne(deps: GatewayDeps, asked: AskedRequest): Promise<Answer> {
  const found = openedOne(deps, asked);
  return found instanceof Promise ? found : answerReady(deps, asked.request, found);
}

function openedOne(deps: GatewayDeps, asked: AskedRequest): Prepared | Promise<Answer> {
  const { format, body } = asked;
  const options = decodeOptions(asked.request);
  if (format.decodeInSteps === undefined || !isLongRequest(asked))
    return openedChat(deps, asked, turnOf(deps, asked, format.decode(body, options), options));
  return decodedInSteps(
    deps,
    asked,
    format.decodeInSteps(body, options, createPause(asked.exchange.startedMs)),
    options,
  );
}

async function decodedInSteps(
  deps: GatewayDeps,
  asked: AskedRequest,
  decoded: Promise<ChatRequest>,
  options: DecodeOptions,
): Promise<Answer> {
  const found = openedChat(deps, asked, turnOf(deps, asked, await decoded, options));
  return found instanceof Promise ? found : answerReady(deps, asked.request, found);
}

function openedChat(deps: GatewayDeps, asked: AskedRequest, turn: ChatTurn): Prepared | Promise<Answer> {
  const { larger } = turn.model;
  if (larger !== undefined && asked.instead === undefined) return answerByLarger(deps, asked, turn, larger);
  turn.exchange.headers["x-sallyport-model"] = headerText(turn.model.id);
  const walked = prepared(deps.stages[turn.origin], turn);
  return walked instanceof Promise ? answerWalked(deps, asked.request, walked) : walked;
}

/** Few models name a larger one. */
async function answerByLarger(deps: GatewayDeps, asked: AskedRequest, turn: ChatTurn, larger: string): Promise<Answer> {
  const { answerOrLarger } = await import("./larger.ts");
  return answerOrLarger(deps, { asked, turn, larger }, async (one) => answerOne(deps, one));
}

async function answerWalked(deps: GatewayDeps, request: Request, walked: Promise<Prepared>): Promise<Answer> {
  return answerReady(deps, request, await walked);
}

/** Answers a turn as the stages left it. */
export function answerReady(deps: GatewayDeps, request: Request, ready: Prepared): Promise<Answer> {
  const { turn, made } = ready;
  if (made !== undefined && turn.isHeard !== true) {
    // Few answers are made by a stage.
    return import("./made.ts").then(({ answerMade }) => answerMade(deps, request, ready, made));
  }
  return turn.chat.stream ? answerStreaming(deps, request, ready) : answerWhole(deps, request, ready);
}
