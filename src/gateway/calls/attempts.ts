// Tries a model's routes until one succeeds: each once in order, then again after a pause, within the providers' retry settings
// and the request's deadline. The breaker of a route is asked before every call and updated after it.

import type { AtOnce } from "../../base/at-once.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { pause, retryWaitMs } from "../../base/retry.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { outcomeOfFault, type Permit } from "../../upstream/breaker.ts";
import type { Breakers } from "../../upstream/breakers.ts";
import { dialectFor } from "../../upstream/dialect-choice.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import type { Provider } from "../../upstream/provider.ts";
import { clientError, mayRetry, mayTryElsewhere } from "../rules/policy.ts";
import { orderRoutes } from "./order.ts";
import { type CallTrace, RouteAttempt } from "./route-call.ts";
import type { RouteScores } from "./route-scores.ts";

export interface AttemptDeps {
  clock: Clock;
  provider(name: string): Provider | undefined;
  breakers: Breakers;
  random(): number;
  /** What is measured of the routes of models that are chosen among by it. */
  scores?: RouteScores;
  scrub(text: string): string;
  /** Called when a call failed; another may follow. */
  failed?(route: ModelRoute, fault: UpstreamFault): void;
  /** Called when a call is over, with `ok` or the reason why it ended. */
  called?(provider: string, outcome: string, seconds: number): void;
  /** Called when a failed call is followed by another. */
  retried?(provider: string): void;
}

/** What the attempts at a request depend on. */
export interface TriesOptions {
  signal: StopSignal;
  remainingMs(): number;
  trace?: CallTrace;
  /** The route to try first, while its provider is healthy. */
  first?: Pick<ModelRoute, "provider" | "model"> | undefined;
  /** The request's content, if it determines with which protocol a provider is called. */
  chat?: ChatRequest;
  /** The client's protocol, if some provider speaks it too. */
  family?: string | undefined;
  /** The account that the calls are made for; absent: the gateway itself. */
  account?: string | undefined;
}

export interface TryOptions<T> extends TriesOptions {
  /** Makes one call. If it throws, `tryRoutes` ends the attempt; otherwise the code that reads the answer does. */
  attempt(attempt: RouteAttempt): Promise<T>;
}

interface Candidate {
  readonly route: ModelRoute;
  readonly provider: Provider;
  tries: number;
  over: boolean;
  /** The time, by `performance.now()`, until which the route's provider asked not to be called. */
  restsUntilMs: number;
}

/** The latest failure of a request's calls. */
interface Failure {
  fault: UpstreamFault;
  provider: string;
}

/**
 * Calls `attempt` for the routes in order and returns the first success. If none succeeds, throws the `ApiError` for the client,
 * or the signal's reason if it aborted.
 */
export async function tryRoutes<T>(
  routes: readonly ModelRoute[],
  deps: AttemptDeps,
  options: TryOptions<T>,
): Promise<T> {
  return tryOn(new RouteTries(routes, deps, options), options.attempt);
}

/** Calls `call` for one attempt after the other, from `first` on, until one succeeds. Throws as `tryRoutes` does. */
export async function tryOn<T>(
  tries: RouteTries,
  call: (attempt: RouteAttempt) => Promise<T>,
  first?: AtOnce<RouteAttempt>,
): Promise<T> {
  for (let next = first ?? tries.next(); ; next = tries.next()) {
    const attempt = next instanceof Promise ? await next : next;
    try {
      const answer = await call(attempt);
      tries.answered(attempt);
      return answer;
    } catch (error) {
      tries.failed(attempt, error);
    }
  }
}

/** The attempts at one request, one after the other: the order of routes, credentials and rounds. */
export class RouteTries {
  readonly #deps: AttemptDeps;
  readonly #options: TriesOptions;
  readonly #candidates: readonly Candidate[];
  #round = 0;
  /** How many candidates of the round had their turn. */
  #at = 0;
  /** The candidate whose turn it is, and how many of its credentials were tried. */
  #candidate: Candidate | undefined;
  #keys = 0;
  #last: Failure | undefined;

  /** Throws if none of the routes has a provider. */
  constructor(routes: readonly ModelRoute[], deps: AttemptDeps, options: TriesOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#candidates = candidatesOf(routes, deps, options);
  }

  /** The next attempt, after a pause if one is due. Throws the `ApiError` for the client if none is left, or what the signal says. */
  next(): AtOnce<RouteAttempt> {
    for (;;) {
      const candidate = this.#candidate ?? this.#nextCandidate();
      if (candidate === undefined) return this.#nextRound();
      const permit = permitOf(candidate, this.#deps, this.#options.account);
      // It is only asynchronous if other nodes are asked.
      if (permit instanceof Promise) return this.#beginLater(candidate, permit);
      const attempt = this.#begin(candidate, permit);
      if (attempt !== undefined) return attempt;
    }
  }

  async #beginLater(candidate: Candidate, permit: Promise<Permit | undefined>): Promise<RouteAttempt> {
    return this.#begin(candidate, await permit) ?? this.next();
  }

  /** The attempt succeeded. The code that reads the answer ends it. */
  answered({ route, startedMs }: RouteAttempt): void {
    if (route.choice === undefined) return;
    this.#deps.scores?.answered(route, this.#isStream, performance.now() - startedMs);
  }

  /** Ends an attempt that threw. Throws the error for the client if no other attempt may follow. */
  failed(attempt: RouteAttempt, error: unknown): void {
    const { route, provider } = attempt;
    if (!(error instanceof UpstreamFault)) {
      const isTimeout = error instanceof ApiError && error.apiCode === "provider_timeout";
      attempt.end(isTimeout ? { outcome: "failed", label: "timeout" } : { outcome: "unknown", label: "abandoned" });
      throw error;
    }
    const deps = this.#deps;
    attempt.end({ outcome: outcomeOfFault(error), label: error.kind, status: error.status });
    deps.failed?.(route, error);
    if (!mayTryElsewhere(error.kind)) throw clientError(error, deps.scrub, this.#options.family);
    if (route.choice !== undefined) deps.scores?.failed(route, this.#isStream);
    this.#last = { fault: error, provider: provider.name };
    const keyFailed = error.kind === "auth" || error.kind === "rate_limited";
    if (!keyFailed || this.#keys >= provider.keys.size || !provider.keys.hasFresh(deps.clock.now()))
      this.#leave(this.#last);
  }

  get #isStream(): boolean {
    return this.#options.trace?.stream === true;
  }

  #nextCandidate(): Candidate | undefined {
    while (this.#at < this.#candidates.length) {
      const candidate = this.#candidates[this.#at++] as Candidate;
      const isDue = !candidate.over && candidate.tries <= this.#round;
      // Few have failed before, and only these may rest.
      if (!isDue || (candidate.tries > 0 && performance.now() + TIMER_SLACK_MS < candidate.restsUntilMs)) continue;
      this.#candidate = candidate;
      this.#keys = 0;
      return candidate;
    }
    return undefined;
  }

  /** Calls the candidate with its next credential. Undefined if the breaker is open. */
  #begin(candidate: Candidate, permit: Permit | undefined): RouteAttempt | undefined {
    const last = this.#last;
    if (permit === undefined) {
      if (this.#keys === 0 || last === undefined) this.#candidate = undefined;
      else this.#leave(last);
      return undefined;
    }
    this.#keys++;
    const deps = this.#deps;
    if (last !== undefined) deps.retried?.(last.provider);
    const { route, provider } = candidate;
    // Nothing is measured of most routes.
    const ended = route.choice === undefined ? undefined : deps.scores?.begun(route);
    return new RouteAttempt({ route, provider, permit, trace: this.#options.trace, called: deps.called, ended });
  }

  /** Ends the turn of the candidate, which failed. */
  #leave({ fault }: Failure): void {
    const candidate = this.#candidate as Candidate;
    this.#candidate = undefined;
    candidate.tries++;
    const askedMs = (fault.retryAfterSeconds ?? 0) * 1000;
    candidate.restsUntilMs = performance.now() + askedMs;
    const { retry } = candidate.provider;
    // If a provider asks for a longer wait than the operator allows, the client decides what to do.
    candidate.over = !mayRetry(fault) || candidate.tries >= retry.attempts || askedMs > retry.maxMs;
  }

  async #nextRound(): Promise<RouteAttempt> {
    const { account, family, signal } = this.#options;
    const remainingMs = this.#options.remainingMs();
    const deps = this.#deps;
    const last = this.#last;
    const waitMs = waitBeforeNext(this.#candidates, deps, { round: this.#round, remainingMs, account });
    if (waitMs === undefined) {
      throw last === undefined
        ? circuitOpen(this.#candidates, deps, account)
        : clientError(last.fault, deps.scrub, family);
    }
    await pause(waitMs, signal);
    this.#round++;
    this.#at = 0;
    return this.next();
  }
}

/** Milliseconds until a route may be tried again; undefined if none may, or none in time. */
function waitBeforeNext(
  candidates: readonly Candidate[],
  deps: AttemptDeps,
  { round, remainingMs, account }: { round: number; remainingMs: number; account: string | undefined },
): number | undefined {
  const available = candidates.filter(({ over, route }) => !over && !refuses(deps, route, account));
  const first = available[0];
  if (first === undefined) return undefined;
  // The breakers have just ended their suspension and nothing was tried, so there is no need to wait.
  if (available.every(({ tries }) => tries === 0)) return 0;
  const restMs = Math.min(...available.map(({ restsUntilMs }) => restsUntilMs)) - performance.now();
  return retryWaitMs(round, first.provider.retry, {
    random: deps.random,
    remainingMs,
    retryAfterSeconds: restMs / 1000,
  });
}

/** Timers may fire this much too early. */
const TIMER_SLACK_MS = 5;

/** The permit for providers without a breaker, which are built into the gateway. */
const FREE: Permit = { settle() {} };

function permitOf({ route }: Candidate, deps: AttemptDeps, account = ""): AtOnce<Permit | undefined> {
  const breaker = deps.breakers.of(route.provider, route.model);
  return breaker === undefined ? FREE : breaker.acquire(account);
}

/** Whether a route's breaker is open for the account. */
function refuses({ breakers }: AttemptDeps, { provider, model }: Pick<ModelRoute, "provider" | "model">, account = "") {
  return breakers.of(provider, model)?.refuses(account) === true;
}

/** The routes in the order in which they are tried. The log and the trace tell why, if it is not by priority. */
function inOrder(
  routes: readonly ModelRoute[],
  deps: AttemptDeps,
  trace: CallTrace | undefined,
): readonly ModelRoute[] {
  const { scores, random } = deps;
  if (scores === undefined || routes[0]?.choice === undefined) return orderRoutes(routes, { random });
  const { routes: ordered, why } = scores.order(routes, trace?.stream === true);
  if (trace?.log !== undefined) trace.log["routing"] = why;
  trace?.span?.set({ "sallyport.routing": why });
  return ordered;
}

function startingWith(first: Pick<ModelRoute, "provider" | "model">, routes: readonly ModelRoute[]): ModelRoute[] {
  const isFirst = ({ provider, model }: ModelRoute) => provider === first.provider && model === first.model;
  return [...routes.filter(isFirst), ...routes.filter((route) => !isFirst(route))];
}

function candidatesOf(
  routes: readonly ModelRoute[],
  deps: AttemptDeps,
  { chat, first, trace, account, family }: Pick<TriesOptions, "chat" | "first" | "trace" | "account" | "family">,
): Candidate[] {
  const out: Candidate[] = [];
  let ordered = routes.length === 1 ? routes : inOrder(routes, deps, trace);
  if (first !== undefined && routes.length > 1 && !refuses(deps, first, account)) {
    ordered = startingWith(first, ordered);
    if (trace?.log?.["routing"] !== undefined) trace.log["routing"] = "conversation";
  }
  for (const route of ordered) {
    const named = deps.provider(route.provider);
    if (named === undefined) continue;
    const spoken = chat === undefined ? named : dialectFor(named, route, chat, family);
    const transport = trace?.transport;
    const provider =
      transport === undefined
        ? spoken
        : { ...spoken, client: undefined, transport: transport(spoken.name, spoken.transport) };
    out.push({ route, provider, tries: 0, over: false, restsUntilMs: 0 });
  }
  if (out.length === 0) throw new ApiError("provider_unavailable", "No provider of this model is configured.");
  return out;
}

/** The error if the breakers of all routes are open. It tells the client when the first route may be tried. */
function circuitOpen(candidates: readonly Candidate[], deps: AttemptDeps, account = ""): ApiError {
  const waits = candidates.map(({ route }) => deps.breakers.of(route.provider, route.model)?.waitMs(account) ?? 0);
  return new ApiError(
    "provider_circuit_open",
    "All providers of this model have failed and are suspended for a short time. Try again later.",
    {
      retryAfterSeconds: Math.min(...waits) / 1000,
    },
  );
}
