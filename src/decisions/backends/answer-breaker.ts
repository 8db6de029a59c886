// Suspends routes that answer, but do not answer the question. This is a breaker of its own: the provider's breaker is for
// providers that fail, and is shared with chats, for which such a route may work well. Since the caller's input may be the cause,
// routes are never all suspended; doubtful ones are tried last.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { mayTryElsewhere } from "../../gateway/rules/policy.ts";
import { Breaker, type BreakerSettings } from "../../upstream/breaker.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import type { DecisionRoute } from "./backend.ts";
import type { CallTurn } from "./calls.ts";

export interface AnswerBreakerDeps {
  clock: Clock;
  /** The settings of a provider's breaker; undefined if the provider is not configured. */
  settingsOf(provider: string): BreakerSettings | undefined;
}

/** Maximum number of routes in memory; new routes only come with new configurations. */
const ROUTES_MAX = 1000;

/** The breakers of routes, for versions with several routes. */
export class AnswerBreakers {
  readonly #deps: AnswerBreakerDeps;
  readonly #byRoute = new Map<string, Breaker>();

  constructor(deps: AnswerBreakerDeps) {
    this.#deps = deps;
  }

  /** Runs `attempt` on the healthy routes, then on the others. Throws the error of `tryRoutes`. */
  async tryRoutes<T>(
    routes: readonly DecisionRoute[],
    attempt: (turn: CallTurn) => Promise<T>,
    tryRoutes: (routes: readonly DecisionRoute[], attempt: (turn: CallTurn) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    if (routes.length === 1) return tryRoutes(routes, attempt);
    const watched = (turn: CallTurn) => {
      const route = routes.find((own) => own === turn.route);
      return this.#watch(route === undefined ? undefined : this.#breakerOf(route), () => attempt(turn));
    };
    const inDoubt = routes.filter((route) => this.#breakerOf(route)?.refuses() === true);
    if (inDoubt.length === 0 || inDoubt.length === routes.length) return tryRoutes(routes, watched);
    try {
      return await tryRoutes(
        routes.filter((route) => !inDoubt.includes(route)),
        watched,
      );
    } catch (error) {
      if (!mayBeAnsweredElsewhere(error)) throw error;
      return await tryRoutes(inDoubt, watched);
    }
  }

  async #watch<T>(breaker: Breaker | undefined, attempt: () => Promise<T>): Promise<T> {
    const permit = breaker?.acquire();
    try {
      const answer = await attempt();
      permit?.settle("ok");
      return answer;
    } catch (error) {
      permit?.settle(error instanceof UpstreamFault && error.kind === "answer_invalid" ? "failed" : "unknown");
      throw error;
    }
  }

  #breakerOf({ provider, model, path }: DecisionRoute): Breaker | undefined {
    const settings = this.#deps.settingsOf(provider);
    if (settings === undefined) return undefined;
    const key = JSON.stringify([provider, model, path]);
    let breaker = this.#byRoute.get(key);
    if (breaker === undefined) {
      if (this.#byRoute.size >= ROUTES_MAX) this.#byRoute.clear();
      breaker = new Breaker(settings, this.#deps.clock);
      this.#byRoute.set(key, breaker);
    }
    breaker.settings = settings;
    return breaker;
  }
}

function mayBeAnsweredElsewhere(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.apiCode === "provider_circuit_open") return true;
  return error.cause instanceof UpstreamFault && mayTryElsewhere(error.cause.kind);
}
