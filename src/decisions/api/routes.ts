// The decision endpoints in their three formats: docs/reference/http-api.md#post-v1systemone, TypeSafe's own under /typesafe, and
// OpenAI's Decisions. All share the same steps (admit, read, find the model, decide, record), and the same models, limits and
// keys.

import type { AtOnce } from "../../base/at-once.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError, ERRORS } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import { lazily } from "../../base/lazily.ts";
import { platformSignal } from "../../base/stop-signal.ts";
import { type CallerModels, keyMayUse } from "../../catalog/key-models.ts";
import type { Budgets } from "../../gateway/admission/budgets.ts";
import type { Caller } from "../../gateway/admission/caller.ts";
import type { EndUsers } from "../../gateway/admission/end-users.ts";
import { clientGone, withinDeadline } from "../../gateway/calls/request-deadline.ts";
import { callTraceOf } from "../../gateway/calls/route-call.ts";
import { headerText } from "../../gateway/centre/answer.ts";
import type { Guards } from "../../gateway/stages/guardrails/deps.ts";
import { guardedCall } from "../../gateway/stages/guardrails/guards.ts";
import { type BilledCost, NO_COST } from "../../gateway/usage/billed-cost.ts";
import { usageLabelsOf } from "../../gateway/usage/labels.ts";
import type { Exchange } from "../../http/exchange.ts";
import { admittingEndpoint, describedBy, endpointsBehind, type ServedEndpoint } from "../../http/served-endpoint.ts";
import { STOPPED, type UsageRecord } from "../../store/usage/record.ts";
import { type BackendAnswer, NonsenseAnswer, type PriorUse, type Upstream } from "../backends/backend.ts";
import type { CallDeadline } from "../backends/calls.ts";
import { backendOf } from "../backends/index.ts";
import type { Priors } from "../backends/prior.ts";
import type { DecisionModels } from "../models/models.ts";
import type { DecisionVersion } from "../models/versions.ts";
import { type DecisionRequest, readDecisionRequest } from "../questions.ts";
import { answersView, nativeAnswersView } from "./answers.ts";
import { measure } from "./budget.ts";
import { type Decision, type DecisionCost, decide, decisionRefusal, routeOf } from "./decide.ts";
import type { OpenaiDecisionRequest } from "./openai-shape.ts";
import { refuseRepeats } from "./repeats.ts";

/** The caller. */
export type DecisionCaller = Pick<Caller, "keyId" | "accountId" | "models" | "budgets" | "name"> & {
  readonly account: Pick<Caller["account"], "tier">;
};

/** The members of the edge's exchange that are used here. */
export type DecisionExchange = Pick<
  Exchange,
  | "requestId"
  | "path"
  | "startedMs"
  | "headers"
  | "log"
  | "span"
  | "failedRoutes"
  | "wire"
  | "recorded"
  | "atEnd"
  | "tags"
  | "runId"
  | "caller"
  | "tokens"
>;

export interface DecisionRoutesDeps {
  exchangeOf(request: Request): DecisionExchange;
  /** Checks only the key. Throws 401. */
  authenticate(request: Request): AtOnce<{ readonly models: CallerModels }>;
  /** Admits a request by key, plan, rate limit and budget. Throws 401, 402, 403 or 429. */
  admit(request: Request): AtOnce<DecisionCaller>;
  /** Reserves the maximum cost of a request in its caller's budgets. */
  budgets: Pick<Budgets, "reserve">;
  /** The maximum cost of a request in micro-dollars; 0 if no price is known. */
  worstCaseMicros(asked: DecisionRequest, version: DecisionVersion): Promise<number>;
  /** Reads the body as text and as a JSON object. Throws 400, 408 or 413. */
  readJson(request: Request): Promise<{ readonly text: string; readonly body: Readonly<Record<string, unknown>> }>;
  models: DecisionModels;
  /** Whether a version is listed. Versions whose engines failed their probe are not. */
  isListed(version: DecisionVersion): boolean;
  isChatModel(id: string): boolean;
  /** Opens the upstreams of a version for one request. */
  upstream(version: DecisionVersion, deadline: CallDeadline): Upstream;
  /** The priors of all versions. */
  priors: Priors;
  timeoutMs(): number;
  /** Called with the upstream model that answered for a version, so that a change is noticed. */
  answered(version: DecisionVersion, answer: BackendAnswer): void;
  /** Called for an unusable answer, so that unfit engines are noticed. */
  answeredNonsense(version: DecisionVersion): void;
  record(usage: UsageRecord): void;
  /** The cost of an answered request, in micro-dollars. */
  cost(decision: DecisionCost, version: DecisionVersion): BilledCost;
  clock: Clock;
  /** The name of a caller for a provider that is told who its requests are from. */
  endUserOf: EndUsers;
  guards?: Guards | undefined;
}

const decisionText = describedBy(() => {
  const { DECISION_TEXTS }: typeof import("../openapi.ts") = require("../openapi.ts");
  return DECISION_TEXTS;
});

const keyed = endpointsBehind("key", (deps: DecisionRoutesDeps, request) => deps.authenticate(request));

/** An endpoint that decides, in its own format. */
const deciding = <R extends DecisionRequest>(
  shape: Shape<R>,
  describe: ServedEndpoint<DecisionRoutesDeps>["describe"],
): ServedEndpoint<DecisionRoutesDeps> =>
  admittingEndpoint("counted", "POST", shape.path, {
    describe,
    handle: (deps, { request }) => answer(request, deps, shape),
  });

/** Answers a request in the format of `/v1/systemone`, at whatever path it arrived. */
export function answerSystemone(request: Request, deps: DecisionRoutesDeps): Promise<Response> {
  return answer(request, deps, systemoneShape);
}

/** The versions and aliases that a key may use, each once. */
export async function listed(
  deps: DecisionRoutesDeps,
  models: CallerModels = null,
): Promise<{ id: string; version: DecisionVersion }[]> {
  const { versions, aliases } = await deps.models.current();
  const out = [...versions.values()].map((version) => ({ id: version.id, version }));
  for (const [id, target] of aliases) {
    const version = versions.get(target);
    if (version !== undefined && !versions.has(id)) out.push({ id, version });
  }
  // The first one is what pages and tools propose.
  out.sort((a, b) => Number(a.version.embedded === true) - Number(b.version.embedded === true));
  return out.filter(({ version }) => deps.isListed(version) && keyMayUse(models, deps.models.namesOf(version)));
}

/** How a client format is read and written. */
interface Shape<R extends DecisionRequest> {
  readonly path: string;
  read(body: Readonly<Record<string, unknown>>, text: string): R;
  /** Whether its answers have a place for a refused question; without one, a refusal fails the request. */
  readonly tellsRefusals?: boolean;
  answers(decision: Decision, request: R): unknown;
  usage(decision: Decision): Record<string, unknown>;
}

const plainUsage = ({ inputTokens, outputTokens }: Decision) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

function readOnce(text: string, request: DecisionRequest): DecisionRequest {
  refuseRepeats(text);
  return request;
}

const systemoneShape: Shape<DecisionRequest> = {
  path: "/v1/systemone",
  read: (body, text) => readOnce(text, readDecisionRequest(body)),
  answers: ({ answered }) => answersView(answered),
  usage: plainUsage,
};

const nativeShape: Shape<DecisionRequest> = {
  path: "/typesafe/v1/systemone",
  read: (body, text) => readOnce(text, readDecisionRequest(body, { criteriaMayAsk: true })),
  answers: ({ answered }) => nativeAnswersView(answered),
  usage: plainUsage,
};

/** Few installations use this format, so its code is loaded with its first request. */
const openaiCode = lazily(() => {
  const { openaiAnswersView, readOpenaiDecisions }: typeof import("./openai-shape.ts") = require("./openai-shape.ts");
  return { openaiAnswersView, readOpenaiDecisions };
});

const openaiShape: Shape<OpenaiDecisionRequest> = {
  path: "/v1/decisions",
  read: (body) => openaiCode().readOpenaiDecisions(body),
  tellsRefusals: true,
  answers: ({ answered }, { asked }) => openaiCode().openaiAnswersView(answered, asked),
  usage: ({ inputTokens, outputTokens, backend: { cachedTokens = 0, cacheWriteTokens = 0 } = {} }) => ({
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  }),
};

/** The endpoints of decisions. */
export const DECISION_ENDPOINTS: readonly ServedEndpoint<DecisionRoutesDeps>[] = [
  deciding(systemoneShape, decisionText("decide")),
  keyed("GET", "/v1/systemone/models", {
    describe: decisionText("listDecisionModels"),
    handle: async (deps, { caller }) => {
      const ids = (await listed(deps, caller.models)).map(({ id }) => ({ id, type: "systemone" }));
      return Response.json({ object: "list", data: ids });
    },
  }),
  deciding(nativeShape, decisionText("decideNative")),
  keyed("GET", "/typesafe/v1/models", {
    describe: decisionText("listDecisionModelsNative"),
    handle: async (deps, { caller }) => {
      const models = (await listed(deps, caller.models)).map(({ id, version }) => ({
        name: id,
        description: version.description,
        release_date: isoTime(version.createdAtMs ?? deps.clock.now()),
      }));
      return Response.json({ models });
    },
  }),
  deciding(openaiShape, decisionText("decideOpenai")),
];

async function answer<R extends DecisionRequest>(
  request: Request,
  deps: DecisionRoutesDeps,
  shape: Shape<R>,
): Promise<Response> {
  const exchange = deps.exchangeOf(request);
  // The header that clients of the format expect, also on errors.
  if (shape.path !== "/v1/decisions") exchange.headers["x-typesafe-request-id"] = exchange.requestId;
  const caller = await deps.admit(request);
  const { text, body } = await deps.readJson(request);
  let asked = shape.read(body, text);
  const version = await versionFor(asked.model, caller, deps);
  exchange.log["model"] = version.id;
  exchange.headers["x-sallyport-model"] = headerText(version.id);
  exchange.headers["x-sallyport-calibration"] = calibrationOf(version);
  const guarded = guardedCall(deps.guards, { caller, model: version.id, exchange });
  if (guarded !== undefined) asked = shape.read(await guarded.input(body, request.signal), text);
  if (exchange.tokens !== undefined) {
    const { inputTokens } = await sentOf(asked, version);
    const tokens = Math.max(1, Math.ceil(inputTokens));
    await exchange.tokens.reserve({ least: tokens, most: tokens });
  }
  if (caller.budgets !== undefined) {
    await deps.budgets.reserve(caller.budgets, exchange, await deps.worstCaseMicros(asked, version));
  }
  const decision = await withDeadline(request, { ...deps, caller, asked }, async (deadline) => {
    const used = (ended?: Used["ended"]) => ({ version, caller, exchange, endpoint: shape.path, ended });
    let refusal: ApiError | undefined;
    try {
      const made = await decide(version, asked, deps.upstream(version, deadline), deps.priors);
      refusal = shape.tellsRefusals ? undefined : decisionRefusal(made, asked.names);
      recordUsage(made, used(refusal && endOf(refusal)), deps);
      if (refusal === undefined) return made;
    } catch (error) {
      if (request.signal.aborted) {
        exchange.log["client_gone"] = true;
        recordUsage(await sentOf(asked, version), used(GONE), deps);
        throw clientGone();
      }
      if (error instanceof ApiError && error.cause instanceof NonsenseAnswer) deps.answeredNonsense(version);
      // A request that is refused here has reached no upstream and gets no usage row.
      if (error instanceof ApiError && (error.status >= 429 || error.apiCode === "content_policy_violation")) {
        recordUsage(undefined, used(endOf(error)), deps);
      }
      throw error;
    }
    throw refusal;
  });
  if (decision.backend !== undefined) {
    const { provider, model } = decision.backend.route;
    exchange.log["provider"] = provider;
    exchange.headers["x-sallyport-route"] = headerText(`${provider}/${model}`);
    const { labelMass } = decision.backend;
    if (labelMass !== undefined) {
      exchange.log["label_mass"] = labelMass;
      // Rounded down, so that 1 means that nothing is left for other answers.
      exchange.headers["x-sallyport-label-mass"] = (Math.floor(labelMass * 1000) / 1000).toString();
    }
    const { prior } = decision.backend;
    if (prior !== undefined) {
      exchange.log["prior_calls"] = prior.calls;
      if (prior.missing > 0) exchange.log["prior_missing"] = prior.missing;
      exchange.headers["x-sallyport-prior-calls"] = prior.calls.toString();
      exchange.headers["x-sallyport-calibration"] = calibrationOf(version, prior);
    }
    deps.answered(version, decision.backend);
  }
  const model = version.floating === true ? decision.backend?.upstreamModel || version.id : version.id;
  const told = { model, answers: shape.answers(decision, asked), usage: shape.usage(decision) };
  // The client knows its options by their own words.
  return Response.json(guarded === undefined ? told : JSON.parse(guarded.restored(JSON.stringify(told))));
}

/**
 * How the probabilities were calibrated: fitted on rows, corrected by a prior, by the upstream itself, or not at all. If a
 * question has no prior, the answer as a whole does not count as corrected; a fit was made on readings with their priors.
 */
function calibrationOf(
  { calibration, spec, embedded }: DecisionVersion,
  { missing, grouped }: Omit<PriorUse, "calls"> = { missing: 0, grouped: 0 },
): "fitted" | "prior" | "upstream" | "none" {
  if (embedded === true || missing > 0) return "none";
  if (calibration.method === "fitted") return "fitted";
  return grouped > 0 ? "none" : (backendOf(spec).calibrationOf?.(spec) ?? "none");
}

async function versionFor(id: string, caller: DecisionCaller, deps: DecisionRoutesDeps): Promise<DecisionVersion> {
  await deps.models.current();
  if (!deps.models.has(id) && deps.isChatModel(id)) {
    throw new ApiError(
      "wrong_model_family",
      `${JSON.stringify(id.slice(0, 100))} is a chat model. Send it to POST /v1/chat/completions instead.`,
      { param: "model" },
    );
  }
  return deps.models.require(id, { tier: caller.account.tier, models: caller.models });
}

/** Aborts the calls when the client leaves, at the deadline, and when the answer is complete or has failed. */
async function withDeadline<T>(
  request: Request,
  { caller, asked, ...deps }: DecisionRoutesDeps & { readonly caller: DecisionCaller; readonly asked: DecisionRequest },
  work: (deadline: CallDeadline) => Promise<T>,
): Promise<T> {
  const trace = callTraceOf(request, deps.exchangeOf(request));
  const ended = new AbortController();
  try {
    // As in other endpoints, a late answer counts as a failure of the provider, so that its breaker records it.
    return await withinDeadline(request, deps.timeoutMs(), ({ signal, remainingMs }) =>
      work({
        ...{
          signal: AbortSignal.any([platformSignal(signal), ended.signal]),
          remainingMs,
          trace,
          account: caller.accountId,
        },
        endUserOf: (provider) => asked.endUser ?? deps.endUserOf(caller, provider),
      }),
    );
  } finally {
    // Aborts the other calls of a request that has failed.
    ended.abort(new ApiError("decision_unavailable", "Another question of the request failed."));
  }
}

interface Used {
  readonly version: DecisionVersion;
  readonly caller: DecisionCaller;
  readonly exchange: DecisionExchange;
  readonly endpoint: string;
  /** The status and code of a request that was not answered. */
  readonly ended: { readonly status: number; readonly code: string } | undefined;
}

function endOf({ status, apiCode }: ApiError): NonNullable<Used["ended"]> {
  return { status, code: apiCode };
}

/** The status in the log line, and the code under which streams are recorded as well. */
const GONE: Used["ended"] = { status: ERRORS.request_timeout.status, code: STOPPED };

/** The cost of a request whose client left. It reached the upstream, whose report of the usage will not be read. */
async function sentOf(asked: DecisionRequest, { spec }: DecisionVersion): Promise<DecisionCost> {
  const inputTokens = await (await measure(asked))();
  return { inputTokens, outputTokens: 0, estimated: true, backend: { route: spec.routes[0]! } };
}

/** Writes the usage row of one request. Input is billed, output is free. */
function recordUsage(decision: DecisionCost | undefined, used: Used, deps: DecisionRoutesDeps): void {
  const { version, caller, exchange, endpoint, ended } = used;
  const route = decision === undefined ? version.spec.routes[0]! : routeOf(decision, version);
  deps.record({
    requestId: exchange.requestId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    model: version.id,
    provider: route.provider,
    upstreamModel: route.model,
    endpoint,
    status: ended?.status ?? 200,
    errorCode: ended?.code ?? null,
    inputTokens: decision?.inputTokens ?? 0,
    outputTokens: decision?.outputTokens ?? 0,
    cachedTokens: decision?.backend?.cachedTokens ?? 0,
    cacheWriteTokens: decision?.backend?.cacheWriteTokens ?? 0,
    reasoningTokens: 0,
    estimated: decision?.estimated ?? false,
    ...(decision === undefined ? NO_COST : deps.cost(decision, version)),
    latencyMs: Math.round(performance.now() - exchange.startedMs),
    ttfbMs: null,
    stream: false,
    createdAtMs: deps.clock.now(),
    attempts: exchange.failedRoutes,
    arrivedMs: exchange.startedMs,
    ...usageLabelsOf(exchange),
  });
  exchange.recorded = true;
}
