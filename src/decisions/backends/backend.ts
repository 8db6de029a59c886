// Answers the questions of a version. A backend converts questions to upstream calls, and their answers to readings. It knows
// nothing of calibration and of the client's format. Either all questions are answered or it throws.

import { isRecord } from "../../base/json-object.ts";
import type { Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { ChatResult } from "../../chat/result.ts";
import { reportedUsage } from "../../chat/usage.ts";
import type { DecisionFacts } from "../../vendors/vendor.ts";
import type { Observation } from "../calibration/calibration.ts";
import type { Content, InputItems, PromptCacheWishes, Question } from "../questions.ts";
import type { Priors } from "./prior.ts";

/** How a version is answered. This is a part of its record. */
export interface BackendSpec {
  /** The name of a backend. */
  readonly kind: string;
  readonly routes: readonly DecisionRoute[];
  /**
   * The limits of the upstream, for example `{ questions: 64, options: 26 }`. All backends support `options`; each states which
   * others it supports.
   */
  readonly limits: Readonly<Record<string, number>>;
  /** In how many orders the options are shown (logprobs, verbalized). */
  readonly orders: number;
  /** The number of concurrent upstream calls of one request. */
  readonly concurrency: number;
  /** The revision of the prompts and formulas. */
  readonly revision: number;
  /** What is subtracted from each reading: nothing, or the model's answer without a state (logprobs). */
  readonly prior?: "none" | "content_free";
  /** Whether levels are also shown starting from the middle, for rows from which position biases are learned. */
  readonly turning?: boolean;
  /** If the labels together have less probability than this, the text model did not answer the question (logprobs). */
  readonly minLabelMass: number;
}

/** An upstream of the version. All routes of a version serve the same model. */
export interface DecisionRoute {
  readonly provider: string;
  readonly model: string;
  /** The path of the endpoint; "" for the backend's default. */
  readonly path: string;
  readonly priority: number;
  readonly weight: number;
}

/** The questions to answer. Choices with one option were answered before. */
export interface DecisionTask {
  readonly state: Content;
  readonly questions: readonly Question[];
  readonly spec: BackendSpec;
  /** The priors that were made before. Absent: they are made for this task alone. */
  readonly priors?: Priors | undefined;
  /** The client's wishes for the prompt cache of an upstream of its own format. */
  readonly promptCache?: PromptCacheWishes | undefined;
  /** The state as the client's input items, for an upstream of its own format. */
  readonly items?: InputItems | undefined;
}

/** The result of a JSON call. */
export interface PostResult {
  readonly body: unknown;
  readonly route: DecisionRoute;
}

/** The result of a chat call. */
export interface ChatCallResult {
  readonly result: ChatResult;
  readonly route: DecisionRoute;
}

/**
 * The upstreams of the version. Each call is tried on its routes, with breakers, retries and the request's deadline. `read`
 * parses an answer; if it throws `NonsenseAnswer`, the next route is tried.
 */
export interface Upstream {
  /**
   * Makes a JSON call. `server` is the kind of server behind a route, if it is known, and `endUser` the name of the user if the
   * provider is told it.
   */
  post<T>(
    path: string,
    body: (route: DecisionRoute, server: DecisionFacts, endUser?: string) => Readonly<Record<string, unknown>>,
    read: (answer: PostResult) => T,
  ): Promise<T>;
  /** Makes a chat call. `tokens`: tokens to score in addition to the most probable ones. */
  chat<T>(
    request: (route: DecisionRoute) => ChatRequest,
    read: (answer: ChatCallResult) => T,
    options?: { readonly tokens?: readonly number[] },
  ): Promise<T>;
  /** How the engine splits a text into tokens, if it offers that. */
  tokens(text: string): Promise<readonly TextToken[]>;
}

/** A token of a text. */
export interface TextToken {
  readonly id: number;
  readonly text: string;
}

/** The result. */
export interface BackendAnswer {
  /** The readings, in the order of the task's questions. */
  readonly readings: readonly (readonly Observation[])[];
  /** The indices of the questions that the upstream refused to answer, which have no readings. */
  readonly refused?: readonly number[];
  /** The upstream's own token count; absent if it has none that can be billed. */
  readonly inputTokens?: number;
  readonly outputTokens: number;
  /** How many of the input tokens the upstream read from a cache, and wrote to one, if it reports them. */
  readonly cachedTokens?: number;
  readonly cacheWriteTokens?: number;
  /** The total usage of the upstream's calls, if a question is sent several times. */
  readonly spent?: Usage | undefined;
  readonly route: DecisionRoute;
  /** The upstream's name for the model that answered, to notice when a pinned version has changed. */
  readonly upstreamModel?: string;
  readonly fingerprint?: string;
  /** The lowest total probability of the labels in any reading (logprobs). */
  readonly labelMass?: number;
  /** How many alternatives of a token the engine returned, if it withheld some of those that were requested (logprobs). */
  readonly capped?: number;
  /** For a version with a prior (logprobs): how the questions were answered with it. */
  readonly prior?: PriorUse;
}

/** How the questions of a request were answered with their priors. */
export interface PriorUse {
  /** The number of upstream calls to make priors; 0 if all were there. */
  readonly calls: number;
  /** The number of questions whose prior could not be made. They were answered without one. */
  readonly missing: number;
  /** The number of questions that were asked in groups, for which there is none. */
  readonly grouped: number;
}

export interface DecisionBackend {
  /** The name of the backend in the configuration. */
  readonly kind: string;
  /** Whether a text model answers, so that the gateway's prompts are billed and questions are sent in several orders. */
  readonly asText: boolean;
  /** Whether an engine's log probabilities are read, so that its fitness is watched and position biases are learned. */
  readonly readsLogprobs?: boolean;
  /** Whether the limits affect the prompts, so that they are a part of the version. */
  readonly limitsDecide?: boolean;
  /** A remark on the backend's probabilities for the person who calibrates. */
  readonly remark?: string;
  /** What the probabilities of a version without a fit are based on; `none` if absent. */
  calibrationOf?(spec: BackendSpec): "upstream" | "prior" | "none";
  /** The settings that affect answers, in addition to those that all backends have; they are part of a version's hash. */
  hashed?(spec: BackendSpec): Readonly<Record<string, unknown>>;
  /**
   * Answers the questions. Throws `NonsenseAnswer`, the error of the upstream, or `ApiError` 422 for questions that this backend
   * does not support.
   */
  answer(task: DecisionTask, upstream: Upstream): Promise<BackendAnswer>;
}

const CAME_CHARACTERS = 200;

/** The upstream answered, but not the question. No other backend may be used instead. The message is for the log. */
export class NonsenseAnswer extends Error {
  /** The beginning of the text that came, for the person who calibrates. */
  readonly came: string | undefined;

  constructor(message: string, came?: string) {
    super(message);
    this.came = came?.slice(0, CAME_CHARACTERS);
    this.name = "NonsenseAnswer";
  }
}

/** An upstream's token count if it is valid, which is a safe integer that is not negative. */
export function tokensOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The usage that the body of an answer reports. Figures that cannot be true are missing, and the gateway counts instead. */
export function usageIn(body: unknown): Usage | undefined {
  const usage = isRecord(body) && isRecord(body["usage"]) ? body["usage"] : {};
  const details = isRecord(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  return reportedUsage({
    ...{ input: usage["input_tokens"], output: usage["output_tokens"] },
    ...{ cached: details["cached_tokens"], cacheWrite: details["cache_write_tokens"] },
  });
}

/** The members of an answer for its reported usage. The input, which is billed, is missing if it was not reported. */
export function tokensIn(
  body: unknown,
): Pick<BackendAnswer, "inputTokens" | "outputTokens" | "cachedTokens" | "cacheWriteTokens"> {
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 } = usageIn(body) ?? {};
  return inputTokens === 0 ? { outputTokens } : { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
}

const COUNTS = ["inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens"] as const;

/** The sum of the calls' usage; undefined if one call reported none, or an invalid one. */
export function totalUsage(calls: readonly (Usage | undefined)[]): Usage | undefined {
  const total = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 };
  for (const usage of calls) {
    if (usage === undefined || usage.inputTokens === 0) return undefined;
    for (const name of COUNTS) {
      const sum = tokensOf(total[name] + (tokensOf(usage[name] ?? 0) ?? Number.NaN));
      if (sum === undefined) return undefined;
      total[name] = sum;
    }
  }
  return total;
}

/** The sum of the output tokens that calls reported. */
export function outputOf(calls: readonly (Usage | undefined)[]): number {
  return tokensOf(calls.reduce((sum, usage) => sum + (tokensOf(usage?.outputTokens) ?? 0), 0)) ?? 0;
}

/** Runs tasks, at most `limit` at once. Results are in the order of the tasks; the first failure ends all. */
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
