// A yes/no question that the operator asks for each request of some callers. The caller pays: it is a call within the request.

import { ApiError } from "../../base/errors.ts";
import type { Budgets } from "../../gateway/admission/budgets.ts";
import type { Caller } from "../../gateway/admission/caller.ts";
import { CallerRefused } from "../../gateway/stages/guardrails/tools.ts";
import { type LabelHolder, usageLabelsOf } from "../../gateway/usage/labels.ts";
import { NonsenseAnswer } from "../backends/backend.ts";
import type { Priors } from "../backends/prior.ts";
import type { DecisionVersion } from "../models/versions.ts";
import { type DecisionRequest, readDecisionRequest } from "../questions.ts";
import { decide, decisionRefusal, routeOf } from "./decide.ts";
import type { DecisionRoutesDeps } from "./routes.ts";

/** What a request has reserved in the budgets of its caller. */
type Reserved = Awaited<ReturnType<Budgets["reserve"]>>;

/** The question, and the request for which it is asked. */
export interface OwnQuestion {
  /** The id or alias of a version, which may be one of any plan. */
  readonly model: string;
  /** A question of the type `noul`, which is the default here. */
  readonly question: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly request: {
    readonly caller: Pick<Caller, "accountId" | "keyId" | "budgets">;
    /** What it has reserved in its caller's budgets; the question is paid beside it. */
    readonly reservation?: Reserved | undefined;
    readonly requestId: string;
    readonly endpoint: string;
    /** What reports group the request by; absent: its caller alone. */
    readonly labels?: LabelHolder;
  };
  readonly signal: AbortSignal;
}

/** What it needs of the decisions. */
export type OwnQuestionDeps = Pick<
  DecisionRoutesDeps,
  "models" | "upstream" | "timeoutMs" | "answered" | "answeredNonsense" | "record" | "cost" | "clock"
> &
  Pick<DecisionRoutesDeps, "budgets" | "worstCaseMicros"> & { readonly priors: Priors | undefined };

interface Question {
  readonly asked: DecisionRequest;
  readonly version: DecisionVersion;
}

const KEY = "asked";

/** The probability of yes. Throws `CallerRefused` if a budget of the caller does not admit it, and if there is no answer. */
export async function answerOwnQuestion(own: OwnQuestion, deps: OwnQuestionDeps): Promise<number> {
  const { model, question, state } = own;
  const asked = readDecisionRequest({ model, state, questions: { [KEY]: { type: "noul", ...question } } });
  const { versions, aliases } = await deps.models.current();
  const version = versions.get(model) ?? versions.get(aliases.get(model) ?? "");
  if (version === undefined)
    throw new ApiError("model_not_found", `There is no decision model ${JSON.stringify(model)}.`);
  const hold = await reserved(own, { asked, version }, deps);
  try {
    return await answered(own, { asked, version }, deps);
  } finally {
    // What it cost is recorded by then.
    hold?.release();
  }
}

/** Reserves the most that a question may cost beside its request: requests that run at the same time may each ask one. */
async function reserved(
  { request: { caller, reservation } }: OwnQuestion,
  { asked, version }: Question,
  deps: OwnQuestionDeps,
): Promise<Reserved | undefined> {
  if (caller.budgets === undefined) return undefined;
  const micros = await deps.worstCaseMicros(asked, version);
  try {
    return await deps.budgets.reserve(caller.budgets, { atEnd: () => undefined }, micros, reservation);
  } catch (error) {
    throw error instanceof ApiError ? new CallerRefused(error) : error;
  }
}

async function answered(
  { request, signal }: OwnQuestion,
  { asked, version }: Question,
  deps: OwnQuestionDeps,
): Promise<number> {
  const startedMs = performance.now();
  const upstream = deps.upstream(version, {
    signal,
    // The signal ends it before.
    remainingMs: () => deps.timeoutMs() - (performance.now() - startedMs),
    account: request.caller.accountId,
    endUserOf: () => undefined,
  });
  let decision: Awaited<ReturnType<typeof decide>>;
  try {
    decision = await decide(version, asked, upstream, deps.priors);
  } catch (error) {
    if (error instanceof ApiError && error.cause instanceof NonsenseAnswer) deps.answeredNonsense(version);
    throw error;
  }
  const route = routeOf(decision, version);
  deps.record({
    ...{ requestId: request.requestId, accountId: request.caller.accountId, keyId: request.caller.keyId },
    ...{ model: version.id, provider: route.provider, upstreamModel: route.model, endpoint: request.endpoint },
    ...{ status: 200, errorCode: null, isCall: true },
    ...{ inputTokens: decision.inputTokens, outputTokens: decision.outputTokens, reasoningTokens: 0 },
    cachedTokens: decision.backend?.cachedTokens ?? 0,
    cacheWriteTokens: decision.backend?.cacheWriteTokens ?? 0,
    estimated: decision.estimated,
    ...deps.cost(decision, version),
    latencyMs: Math.round(performance.now() - startedMs),
    ...{ ttfbMs: null, stream: false, createdAtMs: deps.clock.now() },
    ...usageLabelsOf(request.labels ?? { caller: request.caller }),
  });
  const refusal = decisionRefusal(decision, asked.names);
  if (refusal !== undefined) throw refusal;
  if (decision.backend !== undefined) deps.answered(version, decision.backend);
  return decision.answered[0]!.probabilities[0]!;
}
