// Serves the endpoints of models that do not chat: admission, plan, budget, routes with fallback and breakers, and the usage
// row, as for a chat. The body is forwarded unchanged except for the model, and so is the answer.

import { ApiError } from "../base/errors.ts";
import { spliceMembers } from "../base/json-splice.ts";
import type { JsonObject, ModelEndpoint, OtherWords } from "../catalog/endpoints/endpoint.ts";
import type { CatalogModel, ModelRoute } from "../catalog/models.ts";
import { requireModel } from "../catalog/resolve.ts";
import { readJsonBody } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import { traceHeaders } from "../telemetry/span.ts";
import { fetchAnswer } from "../upstream/ask.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import type { Provider } from "../upstream/provider.ts";
import { PROTOCOLS } from "../vendors/protocols.ts";
import { headerText } from "./accounting.ts";
import { tryRoutes } from "./attempts.ts";
import type { Caller } from "./caller.ts";
import type { GatewayDeps } from "./deps.ts";
import { usageRecord } from "./meter.ts";
import { withinDeadline } from "./request-deadline.ts";
import type { RouteAttempt } from "./route-call.ts";
import { worstCostMicros } from "./worst-case.ts";

type EndpointDeps = Omit<GatewayDeps, "reasoning" | "threads">;

/** One request to an endpoint. */
interface Asked {
  readonly endpoint: ModelEndpoint;
  readonly exchange: Exchange;
  readonly caller: Pick<Caller, "accountId" | "keyId">;
  readonly model: CatalogModel;
  readonly text: string;
  readonly body: JsonObject;
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
      models: caller.models,
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
    return answer(deps, request, able, { endpoint, exchange, caller, model, text, body, inputTokens });
  };
}

/** The routes whose provider has the endpoint. Throws 400 if none has. */
function routesThatHave(
  deps: EndpointDeps,
  endpoint: ModelEndpoint,
  { model, routes }: { model: CatalogModel; routes: readonly ModelRoute[] },
): readonly ModelRoute[] {
  const { dialects, path } = endpoint;
  const able = routes.filter((route) => {
    const provider = deps.provider(route.provider);
    if (provider === undefined) return false;
    return dialects.includes(provider.dialect.name) || otherWords(endpoint, provider) !== undefined;
  });
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
      attempt: (attempt) => askRoute(deps, attempt, asked, signal),
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

async function askRoute(
  deps: EndpointDeps,
  attempt: RouteAttempt,
  asked: Asked,
  signal: AbortSignal,
): Promise<Response> {
  const { endpoint, exchange, caller, model, inputTokens } = asked;
  const { provider, route } = attempt;
  const words = otherWords(endpoint, provider);
  const path = words?.path(route.model) ?? endpoint.upstreamPath;
  const body =
    words === undefined
      ? spliceMembers(asked.text, { model: route.model })
      : JSON.stringify(words.body(asked.body, route.model));
  const call = { path, headers: {}, body, dropped: [] };
  const { text } = await fetchAnswer(provider, call, { clock: deps.clock, signal, headers: attempt.headers });
  const ttfbMs = performance.now() - exchange.startedMs;
  const { read, said } = readAnswer(text, asked, words);
  const usage = endpoint.usage(read) ?? { inputTokens, outputTokens: 0, estimated: true };
  attempt.end({ outcome: "ok", label: "ok", usage });
  exchange.headers["x-sallyport-route"] = headerText(`${route.provider}/${route.model}`);
  exchange.recorded = true;
  Object.assign(exchange.log, { input_tokens: usage.inputTokens, output_tokens: 0, provider: route.provider });
  deps.record(
    usageRecord(
      { model, route, usage, status: 200, errorCode: null, ttfbMs },
      {
        ...{ requestId: exchange.requestId, accountId: caller.accountId, keyId: caller.keyId, endpoint: exchange.path },
        ...{ stream: false, startedMs: exchange.startedMs, nowMs: deps.clock.now() },
        ...{ failedRoutes: exchange.failedRoutes, askedMs: attempt.startedMs },
      },
    ),
  );
  return new Response(said, { headers: { "content-type": "application/json" } });
}

function otherWords(endpoint: ModelEndpoint, { dialect, quirks }: Provider): OtherWords | undefined {
  return endpoint.otherWords?.({ protocol: PROTOCOLS[dialect.name], quirks });
}

/** An answer in the endpoint's words, and the text of it that the client gets. Throws `UpstreamFault`. */
function readAnswer(text: string, asked: Asked, words: OtherWords | undefined): { read: JsonObject; said: string } {
  const { endpoint, model, body } = asked;
  try {
    const read = words === undefined ? fieldsOf(text) : words.answer(JSON.parse(text));
    const other = endpoint.answer?.(read, body);
    if (other !== undefined || words !== undefined) {
      const tokens = asked.inputTokens;
      const usage = { prompt_tokens: tokens, total_tokens: tokens };
      return { read, said: JSON.stringify({ usage, ...(other ?? read), model: model.id }) };
    }
    return { read, said: read["model"] === undefined ? text : spliceMembers(text, { model: model.id }) };
  } catch (cause) {
    if (cause instanceof UpstreamFault) throw cause;
    throw new UpstreamFault("unavailable", "The provider's answer is none.", { cause });
  }
}

/** The answer, which must be an object without an error. Throws `UpstreamFault`, so that another route is tried. */
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
