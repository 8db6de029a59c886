// What is done with a request to an endpoint of models that do not chat once its caller was let in: plan, budget, routes with fallback
// and breakers, and the usage row work as for a chat. The body is forwarded unchanged except for the model, and the answer likewise.

import { ApiError } from "../../../base/errors.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import type { JsonObject, ModelEndpoint } from "../../../catalog/endpoints/endpoint.ts";
import { type CatalogModel, type ModelRoute, modelOnRoute } from "../../../catalog/models.ts";
import type { Measured } from "../../../catalog/prices.ts";
import { requireModel } from "../../../catalog/resolve.ts";
import { readJsonBody } from "../../../http/body.ts";
import { JsonText } from "../../../http/edge.ts";
import { type Exchange, exchangeOf } from "../../../http/exchange.ts";
import type { Spools } from "../../../http/spool.ts";
import { openUpload, type Upload } from "../../../http/upload.ts";
import type { Caller } from "../../admission/caller.ts";
import { withoutTags } from "../../admission/tags.ts";
import { tryRoutes } from "../../calls/attempts.ts";
import { withinDeadline } from "../../calls/request-deadline.ts";
import { type CallTrace, callTraceOf } from "../../calls/route-call.ts";
import { headerText } from "../../centre/answer.ts";
import type { LookedUp, TextCache } from "../../stages/cache/deps.ts";
import type { GuardedCall } from "../../stages/guardrails/call.ts";
import type { Guards } from "../../stages/guardrails/deps.ts";
import { guardedCall } from "../../stages/guardrails/guards.ts";
import { highestCost, worstCostMicros } from "../../usage/worst-case.ts";
import { askRoute, type EndpointAnswer, hasEndpoint } from "./endpoint-call.ts";
import { type Asked, type EndpointDeps, fieldsAsBody } from "./endpoint-request.ts";

export interface ModelEndpointDeps extends EndpointDeps {
  spools: Spools;
  guards?: Guards;
  /** Maximum number of bytes of a form. */
  uploadBytesMax(): number;
  /** Answers equal requests for embeddings. */
  cached: TextCache;
}

/** The request's content. */
export interface Sent {
  readonly text: string;
  readonly body: JsonObject;
  readonly upload?: Upload;
}

/** A request to an endpoint whose caller was let in. */
export interface AdmittedCall {
  readonly request: Request;
  readonly endpoint: ModelEndpoint;
  readonly exchange: Exchange;
  readonly caller: Caller;
}

/** The model of a request, with the routes that have the endpoint. */
interface FoundModel {
  readonly model: CatalogModel;
  readonly able: readonly ModelRoute[];
  /** The request in the cache of answers, if it was looked up. */
  readonly looked?: Promise<LookedUp> | undefined;
}

/** Answers a request of which nothing was read. */
export async function answerAdmitted(deps: ModelEndpointDeps, call: AdmittedCall): Promise<EndpointAnswer> {
  const { request, endpoint, exchange } = call;
  const sent =
    endpoint.file === undefined ? withoutTags(await readJsonBody(request, deps.bodyLimits()), exchange) : undefined;
  const read: Sent = sent ?? (await readForm(deps, request, endpoint.file as string));
  const { upload } = read;
  if (upload !== undefined) exchange.atEnd(() => void upload.close());
  return answerFound(deps, call, read, foundModel(deps, call, read.body));
}

/** Checks a body and finds its model. Throws `ApiError`. */
export function foundModel(
  deps: ModelEndpointDeps,
  { endpoint, exchange, caller }: AdmittedCall,
  body: JsonObject,
): FoundModel {
  const id = body["model"];
  if (typeof id !== "string" || id === "") {
    throw new ApiError("invalid_request", "'model' must be the id of a model.", { param: "model" });
  }
  endpoint.check(body);
  const { model, routes } = requireModel(deps.catalog(), id, {
    tier: caller.account.tier,
    models: caller.models,
    isDecisionModel: deps.isDecisionModel,
    kind: endpoint.kind,
  });
  exchange.log["model"] = model.id;
  exchange.headers["x-sallyport-model"] = headerText(model.id);
  return { model, able: routesThatHave(deps, endpoint, { model, routes }) };
}

/** Answers a request whose model was found. */
export async function answerFound(
  deps: ModelEndpointDeps,
  call: AdmittedCall,
  read: Sent,
  { model, able, looked = undefined }: FoundModel,
): Promise<EndpointAnswer> {
  const { request, endpoint, exchange, caller } = call;
  const { upload } = read;
  const guarded = guardedCall(deps.guards, { caller, model: model.id, exchange });
  const { text, body } = guarded === undefined ? read : await guardedRequest(guarded, read, request.signal);
  // What is kept has placeholders: each request restores its own values.
  const lookUp = looked ?? lookedUp(deps, call, { text, body }, model);
  const { hit, keep }: LookedUp = lookUp === undefined ? {} : await lookUp;
  const given = (response: Response) =>
    guarded?.hears === true ? guardedResponse(guarded, response, request.signal) : response;
  if (hit !== undefined) return given(hit);
  const measured = endpoint.measure(body);
  if (caller.budgets !== undefined || exchange.tokens !== undefined) {
    const bytes = upload?.declaredBytes ?? deps.uploadBytesMax();
    const worst = endpoint.worst?.(body, bytes) ?? measured;
    await exchange.tokens?.reserve(tokensBetween(measured, worst));
    const micros = highestCost(model, (prices) => worstCostMicros(prices, worst));
    if (caller.budgets !== undefined) await deps.budgets.reserve(caller.budgets, exchange, micros);
  }
  const asked = { request, endpoint, exchange, caller, model, text, body, measured, upload };
  const answered = await answerFromRoutes(deps, able, asked);
  // Few answers are read before they leave.
  if (keep === undefined && guarded?.hears !== true) return answered;
  const response = answered instanceof JsonText ? answered.response() : answered;
  return given(keep === undefined ? response : await keep(response));
}

/** Looks the request up in the cache of answers; undefined if that has none for it. */
export function lookedUp(
  { cached }: Pick<ModelEndpointDeps, "cached">,
  { request, endpoint, caller }: AdmittedCall,
  { text, body }: Pick<Sent, "text" | "body">,
  model: CatalogModel,
): Promise<LookedUp> | undefined {
  return endpoint.isRepeatable === true ? cached({ request, caller, model: model.id, text, body }) : undefined;
}

/** What was counted must be left; what it may be more is taken if it is left. */
function tokensBetween(measured: Measured, worst: Measured) {
  const least = Math.max(1, Math.ceil(measured.inputTokens + measured.outputTokens));
  return { least, most: Math.max(least, Math.ceil(worst.inputTokens + worst.outputTokens)) };
}

/** The request with the prices of its route. */
export function pricedOn<One extends { readonly model: CatalogModel }>(asked: One, route: ModelRoute): One {
  return route.prices === undefined ? asked : { ...asked, model: modelOnRoute(asked.model, route) };
}

/** The content as it may be sent. The fields of a form are passed on as they came, or the form is refused. */
async function guardedRequest(guarded: GuardedCall, sent: Sent, signal: AbortSignal): Promise<Sent> {
  // Something could leave in two pieces, each of which is harmless.
  if (guarded.guardsOutput && /^(?:true|1)$/i.test(String(sent.body["stream"]))) {
    throw new ApiError("invalid_request", "'stream' must be false: the answer is looked through as a whole.", {
      param: "stream",
    });
  }
  if (sent.upload !== undefined) {
    await guarded.readOnly(sent.body, signal);
    return sent;
  }
  const body = await guarded.input(sent.body, signal);
  const changed = Object.entries(body).filter(([name, value]) => sent.body[name] !== value);
  return changed.length === 0 ? sent : { text: spliceMembers(sent.text, Object.fromEntries(changed)), body };
}

/** The answer as the client may get it. Bytes such as audio cannot be read; a stream of events would leave piece by piece. */
async function guardedResponse(guarded: GuardedCall, response: Response, signal: AbortSignal): Promise<Response> {
  const type = response.headers.get("content-type") ?? "";
  if (!/json|^text\//.test(type)) return response;
  const text = await response.text();
  const given = (body: string) => new Response(body, { status: response.status, headers: response.headers });
  if (/event-stream/.test(type)) {
    if (guarded.guardsOutput) await guarded.unreadable(new Error("a stream is not looked through"));
    return given(text);
  }
  if (!/json/.test(type)) return given(await guarded.output(text, signal));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    await guarded.unreadable(error);
    return given(text);
  }
  return given(JSON.stringify(await guarded.output(value, signal)));
}

/** Reads the fields of a form before its first file. Throws 400 if the file is missing. */
async function readForm(
  deps: Pick<ModelEndpointDeps, "spools" | "uploadBytesMax">,
  request: Request,
  file: string,
): Promise<Sent> {
  const limits = { maxBytes: deps.uploadBytesMax() };
  const upload = await openUpload(request, deps.spools, { field: "model", limits });
  if (!upload.files.some((name) => name === file || name === `${file}[]`)) {
    await upload.close();
    throw new ApiError("invalid_request", `'${file}' must be a file of the form.`, { param: file });
  }
  const named = exchangeOf(request).alias?.model;
  return {
    text: "",
    body: { ...fieldsAsBody(upload.fields), ...(named === undefined ? {} : { model: named }) },
    upload,
  };
}

/** The routes whose provider has the endpoint. Throws 400 if there are none. */
function routesThatHave(
  deps: EndpointDeps,
  endpoint: ModelEndpoint,
  { model, routes }: { model: CatalogModel; routes: readonly ModelRoute[] },
): readonly ModelRoute[] {
  const able = routes.filter((route) => {
    const provider = deps.provider(route.provider);
    return provider !== undefined && hasEndpoint(endpoint, provider);
  });
  if (able.length > 0) return able;
  const message = `No provider of the model "${model.id}" supports ${endpoint.path}.`;
  throw new ApiError("wrong_model_family", message, { param: "model" });
}

function answerFromRoutes(deps: EndpointDeps, routes: readonly ModelRoute[], asked: Asked): Promise<EndpointAnswer> {
  const { request } = asked;
  return withinDeadline(request, deps.requestTimeoutMs(), (deadline) =>
    tryRoutes(routes, deps, {
      signal: deadline.signal,
      remainingMs: deadline.remainingMs,
      attempt: (attempt) => askRoute(deps, attempt, pricedOn(asked, attempt.route), deadline),
      account: asked.caller.accountId,
      trace: endpointTrace(asked),
    }),
  );
}

/** The trace of the calls for a request. */
export function endpointTrace({
  request,
  exchange,
  endpoint,
}: Pick<Asked, "request" | "exchange" | "endpoint">): CallTrace {
  return { ...callTraceOf(request, exchange), operation: endpoint.operation };
}
