// Answers a version's questions. A backend turns questions into upstream calls and their answers into readings; it knows
// neither calibration nor the client's format. All questions or none: it throws if any is unanswered.

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
  /** For example `{ questions: 64, options: 26 }`; `options` applies to all, each backend states which others it supports. */
  readonly limits: Readonly<Record<string, number>>;
  /** The number of orders in which the options are shown (logprobs, verbalized). */
  readonly orders: number;
  /** Concurrent upstream calls of one request. */
  readonly concurrency: number;
  /** The prompts and formulas. */
  readonly revision: number;
  /** What is subtracted from each reading: nothing, or the model's answer without a state (logprobs). */
  readonly prior?: "none" | "content_free";
  /** Also shows levels starting from the middle; for rows from which position biases are learned. */
  readonly turning?: boolean;
  /** If the labels have less probability together, a text model did not answer the question (logprobs). */
  readonly minLabelMass: number;
}

/** An upstream of the version; all routes of a version serve the same model. */
export interface DecisionRoute {
  readonly provider: string;
  readonly model: string;
  /** "" is the backend's default path. */
  readonly path: string;
  readonly priority: number;
  readonly weight: number;
}

/** The task. Choices with one option are answered before a backend sees them. */
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
 * The version's upstreams: each call is tried on its routes, with breakers, retries and the request's deadline. `read` parses
 * an answer; if it throws `NonsenseAnswer`, the next route is tried.
 */
export interface Upstream {
  /** `server`: the known kind of server behind a route. */
  post<T>(
    path: string,
    body: (route: DecisionRoute, server: DecisionFacts) => Readonly<Record<string, unknown>>,
    read: (answer: PostResult) => T,
  ): Promise<T>;
  /** `tokens`: the tokens to score besides the most probable ones. */
  chat<T>(
    request: (route: DecisionRoute) => ChatRequest,
    read: (answer: ChatCallResult) => T,
    options?: { readonly tokens?: readonly number[] },
  ): Promise<T>;
  /** The engine's tokenisation of a text, if it offers that. */
  tokens(text: string): Promise<readonly TextToken[]>;
}

/** A token of a text. */
export interface TextToken {
  readonly id: number;
  readonly text: string;
}

/** The result. */
export interface BackendAnswer {
  /** In the order of the task's questions. */
  readonly readings: readonly (readonly Observation[])[];
  /** The upstream's own count; absent if it has none that can be billed. */
  readonly inputTokens?: number;
  readonly outputTokens: number;
  /** The total usage of the upstream's calls, if a question is asked several times. */
  readonly spent?: Usage | undefined;
  readonly route: DecisionRoute;
  /** The upstream's name for what answered, to notice when a pinned version changed. */
  readonly upstreamModel?: string;
  readonly fingerprint?: string;
  /** The lowest total probability of the labels in any reading (logprobs). */
  readonly labelMass?: number;
  /** How many alternatives of a token the engine returned, if it was asked for more and withheld some (logprobs). */
  readonly capped?: number;
}

export interface DecisionBackend {
  /** The word that the configuration uses. */
  readonly kind: string;
  /** Whether a text model answers: then our prompts are billed, and questions are asked in several orders. */
  readonly asText: boolean;
  /** Whether an engine's log probabilities are read: its fitness is watched, and position biases are learned. */
  readonly readsLogprobs?: boolean;
  /** Whether the limits affect the prompts, so that they are part of the version. */
  readonly limitsDecide?: boolean;
  /** A remark on its probabilities for the person who calibrates. */
  readonly remark?: string;
  /** What a version without a fitted calibration is based on; absent: `none`. */
  calibrationOf?(spec: BackendSpec): "upstream" | "prior" | "none";
  /** The part of a version's configuration that affects the answers, besides what all backends have; part of a version's hash. */
  hashed?(spec: BackendSpec): Readonly<Record<string, unknown>>;
  /** Throws `NonsenseAnswer`, what the upstream threw, or `ApiError` 422 for what this backend does not support. */
  answer(task: DecisionTask, upstream: Upstream): Promise<BackendAnswer>;
}

/** The upstream answered, but not the question; no other backend may be used instead. The message is for the log. */
export class NonsenseAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NonsenseAnswer";
  }
}

/** An upstream's token count if it is valid: a non-negative safe integer. */
export function tokensOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

const COUNTS = ["inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens"] as const;

/** Sums the usage of calls; undefined if one of them did not report any, or an impossible one. */
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

/** The output tokens of calls, as far as they are reported. */
export function outputOf(calls: readonly (Usage | undefined)[]): number {
  return tokensOf(calls.reduce((sum, usage) => sum + (tokensOf(usage?.outputTokens) ?? 0), 0)) ?? 0;
}

/** Runs tasks with at most `limit` at once, results in order; the first failure ends it. */
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
