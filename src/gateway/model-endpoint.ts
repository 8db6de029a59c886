// Serves the endpoints for models that do not chat: admission, plan, budget, routes with fallback and breakers, and the
// usage row, as for a chat. The body goes up as it came but for the model, and the answer comes back so.

import { ApiError } from "../base/errors.ts";
import { spliceMembers } from "../base/json-splice.ts";
import type { JsonObject, ModelEndpoint } from "../catalog/endpoints/endpoint.ts";
import type { CatalogModel, ModelRoute } from "../catalog/models.ts";
import { requireModel } from "../catalog/resolve.ts";
import { readJsonBody } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import { traceHeaders } from "../telemetry/span.ts";
import { fetchAnswer } from "../upstream/ask.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import { headerText } from "./accounting.ts";
import { tryRoutes } from "./attempts.ts";
import type { Caller } from "./caller.ts";
import type { GatewayDeps } from "./deps.ts";
import { usageRecord } from "./meter.ts";
import { withinDeadline } from "./request-deadline.ts";
import type { RouteAttempt } from "./route-call.ts";
import { worstCostMicros } from "./worst-case.ts";

type EndpointDeps = Omit<GatewayDeps, "reasoning" | "threads">;

/** One request at an endpoint. */
interface Asked {
  readonly endpoint: ModelEndpoint;
  readonly exchange: Exchange;
  readonly caller: Pick<Caller, "accountId" | "keyId">;
  readonly model: CatalogModel;
  readonly text: string;
  readonly inputTokens: number;
}

/** Answers requests at a model endpoint. */
export function createModelEndpoint(deps: EndpointDeps) {
  return async (request: Request, endpoint: ModelEndpoint): Promise<Response> => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange);
    const { text, body } = await readJsonBody(request, deps.bodyLimits());
    const id = body["model"];
    if (typeof id !== "string" || id === "") {
      throw new ApiError("invalid_request", "'model' must be the id of a model.", { param: "model" });
    }
    endpoint.check(body);
    const { model, routes } = requireModel(deps.catalog(), id, {
      tier: caller.account.tier,
      isDecisionModel: deps.isDecisionModel,
      kind: endpoint.kind,
    });
    exchange.log["model"] = model.id;
    exchange.headers["x-sallyport-model"] = headerText(model.id);
    const able = routesThatHave(deps, endpoint, { model, routes });
    const inputTokens = endpoint.inputTokens(body);
    if (caller.budgets !== undefined) {
      const usage = { inputTokens, outputTokens: 0 };
      const micros = model.prices === undefined ? 0 : worstCostMicros(model.prices, usage);
      await deps.budgets.reserve(caller.budgets, exchange, micros);
    }
    return answer(deps, request, able, { endpoint, exchange, caller, model, text, inputTokens });
  };
}

/** The routes whose provider has the endpoint in these words. Throws 400 when none has. */
function routesThatHave(
  deps: EndpointDeps,
  { dialects, path }: ModelEndpoint,
  { model, routes }: { model: CatalogModel; routes: readonly ModelRoute[] },
): readonly ModelRoute[] {
  const able = routes.filter(({ provider }) => dialects.includes(deps.provider(provider)?.dialect.name ?? ""));
  if (able.length > 0) return able;
  const message = `No provider of the model "${model.id}" can be asked for ${path}.`;
  throw new ApiError("wrong_model_family", message, { param: "model" });
}

function answer(deps: EndpointDeps, request: Request, routes: readonly ModelRoute[], asked: Asked): Promise<Response> {
  const { exchange, endpoint } = asked;
  return withinDeadline(request, deps.requestTimeoutMs(), ({ signal, remainingMs }) =>
    tryRoutes(routes, deps, {
      signal,
      remainingMs,
      attempt: (turn) => askRoute(deps, turn, asked, signal),
      trace: {
        span: exchange.span,
        headers: exchange.span === undefined ? traceHeaders(request.headers) : {},
        stream: false,
        failedRoutes: exchange.failedRoutes,
        operation: endpoint.operation,
      },
    }),
  );
}

async function askRoute(deps: EndpointDeps, turn: RouteAttempt, asked: Asked, signal: AbortSignal): Promise<Response> {
  const { endpoint, exchange, caller, model, inputTokens } = asked;
  const { provider, route } = turn;
  const body = spliceMembers(asked.text, { model: route.model });
  const call = { path: endpoint.upstreamPath, headers: {}, body, dropped: [] };
  const { text } = await fetchAnswer(provider, call, { clock: deps.clock, signal, headers: turn.headers });
  const ttfbMs = performance.now() - exchange.startedMs;
  const read = fieldsOf(text);
  const usage = endpoint.usage(read) ?? { inputTokens, outputTokens: 0, estimated: true };
  turn.end({ outcome: "ok", label: "ok", usage });
  exchange.headers["x-sallyport-route"] = headerText(`${route.provider}/${route.model}`);
  exchange.recorded = true;
  Object.assign(exchange.log, { input_tokens: usage.inputTokens, output_tokens: 0, provider: route.provider });
  deps.record(
    usageRecord(
      { model, route, usage, status: 200, errorCode: null, ttfbMs },
      {
        ...{ requestId: exchange.requestId, accountId: caller.accountId, keyId: caller.keyId, endpoint: exchange.path },
        ...{ stream: false, startedMs: exchange.startedMs, nowMs: deps.clock.now() },
        failedRoutes: exchange.failedRoutes,
      },
    ),
  );
  const said = read["model"] === undefined ? text : spliceMembers(text, { model: model.id });
  return new Response(said, { headers: { "content-type": "application/json" } });
}

/** The answer, which must be an object that reports no failure. Throws `UpstreamFault`, so that another route is tried. */
function fieldsOf(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamFault("unavailable", "The provider's answer is not JSON.", { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !("error" in value && value.error))
    return value as JsonObject;
  throw new UpstreamFault("unavailable", "The provider's answer is none.");
}
