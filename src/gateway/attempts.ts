// Tries a model's routes until one works: each once in order, then again after a backoff, within the providers' retry
// settings and the request's deadline. Breakers are asked before and told after every call.

import { ApiError } from "../base/errors.ts";
import { pause, retryWaitMs } from "../base/retry.ts";
import type { ModelRoute } from "../catalog/models.ts";
import { type Breakers, outcomeOfFault, type Permit } from "../upstream/breaker.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import type { Provider } from "../upstream/provider.ts";
import { orderRoutes } from "./order.ts";
import { clientError, mayRetry, mayTryElsewhere } from "./policy.ts";

export interface AttemptDeps {
  provider(name: string): Provider | undefined;
  breakers: Breakers;
  random(): number;
  scrub(text: string): string;
  /** A call failed; another may follow. */
  failed?(route: ModelRoute, fault: UpstreamFault): void;
}

/** One route's turn. */
export interface Turn {
  route: ModelRoute;
  provider: Provider;
  /** Settled by `tryRoutes` when the attempt throws; else by whoever sees the answer's end. */
  permit: Permit;
}

interface Candidate {
  route: ModelRoute;
  provider: Provider;
  tries: number;
  over: boolean;
}

/**
 * Runs `attempt` on the routes in turn and gives the first that succeeds. Throws the `ApiError` the client gets when none
 * does, or the signal's reason when it aborted.
 */
export async function tryRoutes<T>(
  routes: readonly ModelRoute[],
  deps: AttemptDeps,
  options: { signal: AbortSignal; remainingMs(): number; attempt(turn: Turn): Promise<T> },
): Promise<T> {
  const candidates = candidatesOf(routes, deps);
  let last: UpstreamFault | undefined;
  for (let round = 0; ; round++) {
    for (const candidate of candidates) {
      if (candidate.over || candidate.tries > round) continue;
      const permit =
        deps.breakers.get(candidate.provider.name)?.acquire() ??
        (deps.breakers.get(candidate.provider.name) === undefined ? FREE : undefined);
      if (permit === undefined) continue;
      candidate.tries++;
      try {
        return await options.attempt({ route: candidate.route, provider: candidate.provider, permit });
      } catch (error) {
        if (!(error instanceof UpstreamFault)) {
          permit.settle("unknown");
          throw error;
        }
        permit.settle(outcomeOfFault(error.kind));
        deps.failed?.(candidate.route, error);
        last = error;
        if (!mayTryElsewhere(error.kind)) throw clientError(error, deps.scrub);
        candidate.over = !mayRetry(error.kind) || candidate.tries >= candidate.provider.retry.attempts;
      }
    }
    const next = candidates.find(
      (candidate) => !candidate.over && deps.breakers.get(candidate.provider.name)?.refuses !== true,
    );
    if (next === undefined) throw last === undefined ? circuitOpen(candidates, deps) : clientError(last, deps.scrub);
    const { retry } = next.provider;
    const asked = last?.retryAfterSeconds;
    // A provider that asks for more patience than the operator's longest wait: the client decides what to do.
    if (asked !== undefined && asked * 1000 > retry.maxMs && last !== undefined) throw clientError(last, deps.scrub);
    const waitMs = retryWaitMs(round, retry, {
      random: deps.random,
      remainingMs: options.remainingMs(),
      retryAfterSeconds: asked,
    });
    if (waitMs === undefined && last !== undefined) throw clientError(last, deps.scrub);
    await pause(waitMs ?? 0, options.signal);
  }
}

/** For providers without a breaker (embedded ones). */
const FREE: Permit = { settle() {} };

function candidatesOf(routes: readonly ModelRoute[], deps: AttemptDeps): Candidate[] {
  const out: Candidate[] = [];
  const ordered = routes.length === 1 ? routes : orderRoutes(routes, { random: deps.random });
  for (const route of ordered) {
    const provider = deps.provider(route.provider);
    if (provider !== undefined) out.push({ route, provider, tries: 0, over: false });
  }
  if (out.length === 0) throw new ApiError("provider_unavailable", "No provider of this model is configured.");
  return out;
}

/** Every route's breaker is open: the client is told when the first may be tried. */
function circuitOpen(candidates: readonly Candidate[], deps: AttemptDeps): ApiError {
  const waits = candidates.map(({ provider }) => deps.breakers.get(provider.name)?.waitMs() ?? 0);
  return new ApiError(
    "provider_circuit_open",
    "The providers of this model are failing and are being left alone for a moment.",
    {
      retryAfterSeconds: Math.min(...waits) / 1000,
    },
  );
}
