// The cost of one upstream call of any kind, in the members in which its usage record holds it.

import { billedClasses, knownCostMicros, type Measured, type Prices } from "../../catalog/prices.ts";
import type { UsageRecord } from "../../store/usage/record.ts";

/** The members of a usage record that say what a call costs and why. */
export type BilledCost = Pick<
  UsageRecord,
  "costMicros" | "unpriced" | "classes" | "service" | "searches" | "cacheWriteHourTokens"
>;

/** The cost of something that no provider bills. */
export const NO_COST: BilledCost = { costMicros: 0 };

/** The cost of a call. Without known prices it counts as 0, and is marked where anything was used. */
export function billedCost(prices: Prices | undefined, usage: Measured): BilledCost {
  const known = knownCostMicros(prices, usage);
  const classes = billedClasses(prices, usage);
  const { service, searches, cacheWriteHourTokens } = usage;
  return {
    costMicros: known ?? 0,
    classes,
    ...(known === undefined && classes.length > 0 ? UNPRICED : undefined),
    ...(service === undefined ? undefined : { service }),
    ...(searches === undefined ? undefined : { searches }),
    ...(cacheWriteHourTokens === undefined ? undefined : { cacheWriteHourTokens }),
  };
}

const UNPRICED = { unpriced: true } as const;
