// The limits of the agent runs of a caller: the lowest of its plan, its key and its project.

import type { RunTerms } from "../../catalog/tiers.ts";
import type { OwnRunLimits } from "../../http/run-limits.ts";

/** The limits of a caller's runs. */
export interface CallerRuns extends RunTerms {
  /** Whether there is any. */
  readonly isLimited: boolean;
}

/** The limits of runs on a plan, for a key with limits of its own. */
export function callerRuns(plan: RunTerms | undefined, owners: readonly OwnRunLimits[]): CallerRuns | undefined {
  if (plan === undefined) return undefined;
  const micros = lowest(plan.micros, ...owners.map(({ runMicros }) => runMicros));
  const requests = lowest(plan.requests, ...owners.map(({ runRequests }) => runRequests));
  const repeats = lowest(plan.repeats, ...owners.map(({ runRepeats }) => runRepeats));
  return { ...plan, micros, requests, repeats, isLimited: micros + requests + repeats > 0 };
}

/** The lowest limit; 0 if there is none. */
function lowest(...limits: readonly (number | null)[]): number {
  const set = limits.filter((limit): limit is number => limit !== null && limit > 0);
  return set.length === 0 ? 0 : Math.min(...set);
}
