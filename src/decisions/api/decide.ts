// Answers one request with one version. Questions with one option are answered here, all others by the version's backend, and the
// probabilities are calibrated. Either all questions are answered or none. Any failure of an upstream is a 503
// `decision_unavailable`, and no other version or backend is used instead (docs/reference/errors.md).

import { ApiError, type ErrorCode } from "../../base/errors.ts";
import { type BackendAnswer, type DecisionRoute, NonsenseAnswer, type Upstream } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import type { Priors } from "../backends/prior.ts";
import { calibrate } from "../calibration/calibration.ts";
import type { DecisionVersion } from "../models/versions.ts";
import { badQuestion, type DecisionRequest, type ParamNames, type Question } from "../questions.ts";
import type { Answered } from "./answers.ts";
import { measure } from "./budget.ts";

/** The usage of a request. */
export interface DecisionCost {
  /** Input tokens, which are billed. */
  readonly inputTokens: number;
  /** Output tokens, which are free. */
  readonly outputTokens: number;
  /** False if the upstream counted the tokens. */
  readonly estimated: boolean;
  /** The backend's answer; undefined if no upstream was called. */
  readonly backend: Pick<BackendAnswer, "route" | "spent" | "cachedTokens" | "cacheWriteTokens"> | undefined;
}

/** An answered request. */
export interface Decision extends DecisionCost {
  readonly answered: readonly Answered[];
  readonly backend: BackendAnswer | undefined;
}

/** Answers the request. Throws `ApiError` 413, 422, 429 or 503, with `param` as named in the client's format. */
export async function decide(
  version: DecisionVersion,
  request: Omit<DecisionRequest, "model">,
  upstream: Upstream,
  priors?: Priors,
): Promise<Decision> {
  const countTokens = await measure(request);
  const { state, names, promptCache, items } = request;
  const open = request.questions.filter(({ options }) => options.length > 1);
  const backend =
    open.length === 0
      ? undefined
      : await ask(version, { state, questions: open, names, promptCache, items }, { upstream, priors });
  const readings = new Map(open.map((question, at) => [question, backend?.readings[at] ?? []]));
  const refused = new Set(backend?.refused?.map((at) => open[at]));
  const answered = request.questions.map((question): Answered => {
    if (refused.has(question)) return { question, probabilities: [], refused: true };
    const read = readings.get(question);
    return { question, probabilities: read === undefined ? [1] : calibrate(question, read, version.calibration) };
  });
  return {
    answered,
    inputTokens: backend?.inputTokens ?? (await countTokens()),
    outputTokens: backend?.outputTokens ?? 0,
    estimated: backend?.inputTokens === undefined,
    backend,
  };
}

async function ask(
  version: DecisionVersion,
  { state, questions, names, promptCache, items }: Omit<DecisionRequest, "model">,
  { upstream, priors }: { upstream: Upstream; priors: Priors | undefined },
): Promise<BackendAnswer> {
  const { spec } = version;
  try {
    refuseTooManyOptions(questions, spec.limits["options"] ?? Number.POSITIVE_INFINITY);
    return await backendOf(spec).answer({ state, questions, spec, priors, promptCache, items }, upstream);
  } catch (error) {
    throw inWordsOf(names, publicError(error));
  }
}

/** The error of an answer in a format that has no place for a refused question; undefined if no question was refused. */
export function decisionRefusal({ answered }: Decision, names: ParamNames): ApiError | undefined {
  const refused = answered.find((one) => one.refused);
  if (refused === undefined) return undefined;
  const message = "The decision model refuses to answer this question. Change it: the same question is refused again.";
  return new ApiError("content_policy_violation", message, { param: names.of(`questions.${refused.question.key}`) });
}

/** The same error with `param` as named in the client's format. */
function inWordsOf(names: ParamNames, error: unknown): unknown {
  if (!(error instanceof ApiError) || typeof error.detail.param !== "string") return error;
  const param = names.of(error.detail.param);
  return param === error.detail.param ? error : new ApiError(error.apiCode, error.message, { ...error.detail, param });
}

/** The errors that clients get as they are. What a vendor refuses for its content would be refused again, so it is no outage. */
const PUBLIC: ReadonlySet<ErrorCode> = new Set([
  "provider_rate_limited",
  "invalid_question",
  "decision_unavailable",
  "content_policy_violation",
]);

/** The error that a client gets for a failure. */
export function publicError(error: unknown): unknown {
  if (error instanceof NonsenseAnswer)
    return unavailable("The decision model did not return a usable answer. Try again.", error);
  if (!(error instanceof ApiError)) return error;
  const { apiCode, detail, message } = error;
  if (PUBLIC.has(apiCode)) return error;
  if (apiCode === "context_length_exceeded") {
    return new ApiError("context_too_large", "The request is too large for this model. Send less.", {
      param: "state",
      cause: error,
    });
  }
  // If an upstream's error names a question, it refuses that question and not the whole request.
  if (apiCode === "invalid_request" && detail.param?.startsWith("questions") === true) {
    return new ApiError("invalid_question", message, { param: detail.param, cause: error });
  }
  // An input item goes up as the client wrote it, so what is wrong with it is the client's to mend.
  if (apiCode === "invalid_request" && detail.param?.startsWith("input[") === true) return error;
  const what = apiCode === "provider_timeout" ? "did not answer in time" : "is unavailable";
  return unavailable(`The decision model ${what}. Try again.`, error, detail.retryAfterSeconds);
}

/** Throws 422 for a question with more options than the version supports. */
function refuseTooManyOptions(questions: readonly Question[], most: number): void {
  for (const { key, options } of questions) {
    if (options.length > most) {
      const message = `This model supports at most ${most} options; the question has ${options.length}.`;
      throw badQuestion(`questions.${key}.criteria`, message);
    }
  }
}

function unavailable(message: string, cause: unknown, retryAfterSeconds?: number): ApiError {
  return new ApiError("decision_unavailable", message, {
    cause,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** The route that answered, for the usage row; the version's first route if none was called. */
export function routeOf(decision: DecisionCost, version: DecisionVersion): DecisionRoute {
  return decision.backend?.route ?? version.spec.routes[0]!;
}
