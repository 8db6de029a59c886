// What answers a version's questions. A backend turns questions into calls and answers into readings; it knows neither
// calibration nor the client's format. All questions or none: it throws when any stays unanswered.

import type { Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { ChatResult } from "../../chat/result.ts";
import type { DecisionFacts } from "../../vendors/vendor.ts";
import type { Observation } from "../calibration/calibration.ts";
import type { Content, Question } from "../questions.ts";

/** How a version is answered; part of its record. */
export interface BackendSpec {
  /** The name of a backend. */
  readonly kind: string;
  readonly routes: readonly DecisionRoute[];
  /** As `{ questions: 64, options: 26 }`; `options` holds for all, each backend says what else it knows. */
  readonly limits: Readonly<Record<string, number>>;
  /** Orders in which the options are shown (logprobs, verbalized). */
  readonly orders: number;
  /** Upstream calls of one request at once. */
  readonly concurrency: number;
  /** Which words and formulas it is asked and read with. */
  readonly revision: number;
  /** What is taken off each reading: nothing, or what the model says of the options without a state (logprobs). */
  readonly prior?: "none" | "content_free";
  /** Levels too are shown from the middle; for rows from which is learned what positions gain. */
  readonly turning?: boolean;
  /** Where the labels have less together, a text model did not answer the question (logprobs). */
  readonly minLabelMass: number;
}

/** A way to the version; all routes of a version serve the same one. */
export interface DecisionRoute {
  readonly provider: string;
  readonly model: string;
  /** "" is the backend's own path. */
  readonly path: string;
  readonly priority: number;
  readonly weight: number;
}

/** What is asked. One-option choices are answered before a backend sees them. */
export interface DecisionTask {
  readonly state: Content;
  readonly questions: readonly Question[];
  readonly spec: BackendSpec;
}

/** An answered JSON call. */
export interface PostResult {
  readonly body: unknown;
  readonly route: DecisionRoute;
}

/** An answered chat call. */
export interface ChatCallResult {
  readonly result: ChatResult;
  readonly route: DecisionRoute;
}

/**
 * The way to the version's upstreams: each call is tried on its routes, with breakers, retries and the request's deadline.
 * `read` makes of an answer what was asked for; where it throws `NonsenseAnswer`, the next route is tried.
 */
export interface Upstream {
  /** `server`: what is known of the server behind a route. */
  post<T>(
    path: string,
    body: (route: DecisionRoute, server: DecisionFacts) => Readonly<Record<string, unknown>>,
    read: (answer: PostResult) => T,
  ): Promise<T>;
  /** `tokens`: what the answer's first token is scored for, besides the most probable ones. */
  chat<T>(
    request: (route: DecisionRoute) => ChatRequest,
    read: (answer: ChatCallResult) => T,
    options?: { readonly tokens?: readonly number[] },
  ): Promise<T>;
  /** How the engine cuts a text; for engines that tell. */
  tokens(text: string): Promise<readonly TextToken[]>;
}

/** A token of a text. */
export interface TextToken {
  readonly id: number;
  readonly text: string;
}

/** What came back. */
export interface BackendAnswer {
  /** In the order of the task's questions. */
  readonly readings: readonly (readonly Observation[])[];
  /** The upstream's own count; absent where it has none that can be billed. */
  readonly inputTokens?: number;
  readonly outputTokens: number;
  /** What the upstream's calls took together, where a question is asked more than once. */
  readonly spent?: Usage | undefined;
  readonly route: DecisionRoute;
  /** What the upstream says answered, to notice when a pinned version is not. */
  readonly upstreamModel?: string;
  readonly fingerprint?: string;
  /** The least probability that the labels had together in any reading (logprobs). */
  readonly labelMass?: number;
  /** Alternatives of a token that the engine showed where it was asked for more, and kept some back (logprobs). */
  readonly capped?: number;
}

export interface DecisionBackend {
  /** The word that the configuration uses. */
  readonly kind: string;
  /** True where a text model answers: it is billed for prompts of ours, and asked in several orders. */
  readonly asText: boolean;
  /** True where an engine's own log-probabilities are read: its fitness is watched, and what positions gain is learned. */
  readonly readsLogprobs?: boolean;
  /** True where the limits decide what is asked, so that they belong to the version. */
  readonly limitsDecide?: boolean;
  /** What who calibrates is told of its probabilities. */
  readonly remark?: string;
  /** What a version without a fitted calibration rests on; absent: `none`. */
  calibrationOf?(spec: BackendSpec): "upstream" | "prior" | "none";
  /** What of a version's configuration decides the answers, beside what all backends have; part of a version's hash. */
  hashed?(spec: BackendSpec): Readonly<Record<string, unknown>>;
  /** Throws `NonsenseAnswer`, what the upstream threw, or `ApiError` 422 for what this backend cannot take. */
  answer(task: DecisionTask, upstream: Upstream): Promise<BackendAnswer>;
}

/** The upstream answered, but not what was asked; no other backend may step in. The message is for the log. */
export class NonsenseAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NonsenseAnswer";
  }
}

/** An upstream's token count that can be recorded: a whole number from 0 to the largest safe integer. */
export function tokensOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

const COUNTS = ["inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens"] as const;

/** Adds up what calls took; undefined when one of them did not say, or said what no call can take. */
export function totalUsage(calls: readonly (Usage | undefined)[]): Usage | undefined {
  const total = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 };
  for (const usage of calls) {
    if (usage === undefined) return undefined;
    for (const name of COUNTS) {
      const sum = tokensOf(total[name] + (tokensOf(usage[name] ?? 0) ?? Number.NaN));
      if (sum === undefined) return undefined;
      total[name] = sum;
    }
  }
  return total;
}

/** What calls generated, as far as they said so. */
export function outputOf(calls: readonly (Usage | undefined)[]): number {
  return tokensOf(calls.reduce((sum, usage) => sum + (tokensOf(usage?.outputTokens) ?? 0), 0)) ?? 0;
}

/** Runs the jobs with at most `limit` at once, results in order; the first failure ends it. */
export async function inParallel<T>(jobs: readonly (() => Promise<T>)[], limit: number): Promise<T[]> {
  const results = new Array<T>(jobs.length);
  let next = 0;
  let failed = false;
  const work = async () => {
    while (!failed && next < jobs.length) {
      const at = next++;
      try {
        results[at] = await jobs[at]!();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(Math.max(1, limit), jobs.length) }, work));
  return results;
}
