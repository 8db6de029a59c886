// The turn of a request as its client sent it: read, with its model, and checked against it.

import { idNamedByRequest, prefixedId } from "../../base/ids.ts";
import type { BodyText } from "../../base/long-json.ts";
import type { ResolvedModel } from "../../catalog/models.ts";
import { requireModel } from "../../catalog/resolve.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { traceHeaders } from "../../telemetry/span.ts";
import type { DecodeOptions, WireFormat } from "../../wire/format.ts";
import type { Caller } from "../admission/caller.ts";
import type { CallTrace } from "../calls/route-call.ts";
import { checkAgainstModel, refuseImages } from "../rules/policy.ts";
import type { GatewayDeps } from "./deps.ts";
import type { RequestSource } from "./request-source.ts";
import type { Asker, ChatTurn, ClientRequest } from "./stage.ts";

const NO_MEMBERS = {};
const NONE_DROPPED: readonly string[] = [];

/** A request that was admitted and whose body was read. */
export interface AskedRequest
  extends Pick<ClientRequest, "exchange" | "caller" | "format" | "text" | "routing">,
    Pick<ChatTurn, "reservation"> {
  readonly source: RequestSource;
  readonly request: Request;
  readonly body: Record<string, unknown>;
  /**
   * The model that answers in place of the one that the client named, under this id. `none`: the named one answers, even if the
   * prompt is too long for it.
   */
  readonly instead?: (ResolvedModel & { readonly shownId: string }) | "none" | undefined;
}

/** The body with the names that the format reads. Its text follows, so that what is relayed has the same names. */
export function withUsualNames(
  read: { text: BodyText; body: Record<string, unknown> },
  { usualNames }: Pick<WireFormat, "usualNames">,
): { text: BodyText; body: Record<string, unknown> } {
  if (usualNames === undefined) return read;
  const named = usualNames(read.body);
  return named === read.body ? read : { text: JSON.stringify(named), body: { ...named } };
}

/** Finds the model of a request that was read, and checks the request against it. */
export function turnOf(
  deps: Pick<GatewayDeps, "catalog" | "isDecisionModel" | "clock">,
  asked: AskedRequest,
  chat: ChatRequest,
  options: DecodeOptions,
): ChatTurn {
  const { request, exchange, caller, format, text, body, routing, reservation, instead } = asked;
  const other = typeof instead === "object" ? instead : undefined;
  const { model, routes } = other ?? modelFor(deps, chat.model, caller);
  exchange.log["model"] = model.id;
  refuseImages(body, model);
  checkAgainstModel(chat, model, asked);
  const asker = new HttpAsker(request, deps.clock);
  // The log finds such an answer by the request, so it needs no second id of each. A client's own id may be any text, and repeat.
  const namedByRequest = exchange.namesAnswer === true;
  exchange.namesAnswer = false;
  return {
    origin: asked.source.origin,
    edge: asked.source.edge,
    connection: asked.source.connection,
    exchange,
    caller,
    format,
    text,
    body,
    asker,
    options,
    routing,
    traceContext: exchange.span === undefined ? traceHeaders(request.headers) : NO_MEMBERS,
    id: namedByRequest ? idNamedByRequest(format.idPrefix, exchange.requestId) : prefixedId(format.idPrefix),
    namedByRequest,
    createdSeconds: asker.nowSeconds(),
    chat,
    model,
    routes,
    content: body,
    members: NO_MEMBERS,
    dropped: NONE_DROPPED,
    clientHeaders: forwardedHeaders(request, options),
    reservation,
    ...(other === undefined ? {} : { shownId: other.shownId }),
  };
}

/** The client of a request over HTTP. */
class HttpAsker implements Asker {
  readonly #request: Request;
  readonly #clock: { now(): number };

  constructor(request: Request, clock: { now(): number }) {
    this.#request = request;
    this.#clock = clock;
  }

  header(name: string): string | null {
    return this.#request.headers.get(name);
  }

  leaving(): AbortSignal {
    return this.#request.signal;
  }

  nowSeconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

/** The model that a caller names, with the routes that it may use. */
export function modelFor(
  deps: Pick<GatewayDeps, "catalog" | "isDecisionModel">,
  id: string,
  { account, models }: Caller,
) {
  return requireModel(deps.catalog(), id, {
    tier: account.tier,
    models,
    isDecisionModel: deps.isDecisionModel,
  });
}

/** The client's headers of a protocol, which are forwarded to upstreams of the same protocol. */
function forwardedHeaders({ headers }: Request, { betas, version }: DecodeOptions): Record<string, string> {
  const out: Record<string, string> = {};
  if (betas !== undefined) out["anthropic-beta"] = betas;
  if (version !== undefined) out["anthropic-version"] = version;
  const openaiBetas = headers.get("openai-beta");
  if (openaiBetas !== null) out["openai-beta"] = openaiBetas;
  return out;
}

/** The options with which a format reads a body. */
export function decodeOptions({ headers }: Request): DecodeOptions {
  const userAgent = headers.get("user-agent") ?? "";
  const betas = headers.get("anthropic-beta");
  const version = headers.get("anthropic-version");
  if (betas === null && version === null) return { userAgent };
  return { ...(betas === null ? {} : { betas }), ...(version === null ? {} : { version }), userAgent };
}

/** What the attempts on a turn's routes need to know of it. */
export function tryOptions({ exchange, chat, format, caller, preference, traceContext, transport }: ChatTurn) {
  const trace: CallTrace = {
    span: exchange.span,
    log: exchange.log,
    headers: traceContext,
    stream: chat.stream,
    failedRoutes: exchange.failedRoutes,
    transport,
    maxTokens: chat.maxTokens,
    temperature: chat.temperature,
    topP: chat.topP,
  };
  return { trace, chat, family: format.dialect, account: caller.accountId, first: preference?.first };
}
