// A yes/no question that the operator asks for each request of some callers. The caller pays: it is a call within the request.

import { ApiError } from "../../base/errors.ts";
import type { Caller } from "../../gateway/admission/caller.ts";
import { NonsenseAnswer } from "../backends/backend.ts";
import type { Priors } from "../backends/prior.ts";
import { readDecisionRequest } from "../questions.ts";
import { decide, decisionRefusal, routeOf } from "./decide.ts";
import type { DecisionRoutesDeps } from "./routes.ts";

/** The question, and the request for which it is asked. */
export interface OwnQuestion {
  /** The id or alias of a version, which may be one of any plan. */
  readonly model: string;
  /** A question of the type `noul`, which is the default here. */
  readonly question: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly request: {
    readonly caller: Pick<Caller, "accountId" | "keyId">;
    readonly requestId: string;
    readonly endpoint: string;
  };
  readonly signal: AbortSignal;
}

/** What it needs of the decisions. */
export type OwnQuestionDeps = Pick<
  DecisionRoutesDeps,
  "models" | "upstream" | "timeoutMs" | "answered" | "answeredNonsense" | "record" | "costMicros" | "clock"
> & { readonly priors: Priors | undefined };

const KEY = "asked";

/** The probability of yes. Throws if there is no answer. */
export async function answerOwnQuestion(
  { model, question, state, request, signal }: OwnQuestion,
  deps: OwnQuestionDeps,
): Promise<number> {
  const asked = readDecisionRequest({ model, state, questions: { [KEY]: { type: "noul", ...question } } });
  const { versions, aliases } = await deps.models.current();
  const version = versions.get(model) ?? versions.get(aliases.get(model) ?? "");
  if (version === undefined)
    throw new ApiError("model_not_found", `There is no decision model ${JSON.stringify(model)}.`);
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
    costMicros: deps.costMicros(decision, version),
    latencyMs: Math.round(performance.now() - startedMs),
    ...{ ttfbMs: null, stream: false, createdAtMs: deps.clock.now() },
  });
  const refusal = decisionRefusal(decision, asked.names);
  if (refusal !== undefined) throw refusal;
  if (decision.backend !== undefined) deps.answered(version, decision.backend);
  return decision.answered[0]!.probabilities[0]!;
}
