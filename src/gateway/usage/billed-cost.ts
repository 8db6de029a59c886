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
  const cost: WrittenCost = { costMicros: 0 };
  writeBilledCost(cost, prices, usage);
  return cost;
}

type WrittenCost = { -readonly [Name in keyof BilledCost]: BilledCost[Name] };

/** Sets the members of the cost of a call in its record. */
export function writeBilledCost(cost: WrittenCost, prices: Prices | undefined, usage: Measured): void {
  const known = knownCostMicros(prices, usage);
  const classes = billedClasses(prices, usage);
  const { service, searches, cacheWriteHourTokens } = usage;
  cost.costMicros = known ?? 0;
  cost.classes = classes;
  if (known === undefined && classes.length > 0) cost.unpriced = true;
  if (service !== undefined) cost.service = service;
  if (searches !== undefined) cost.searches = searches;
  if (cacheWriteHourTokens !== undefined) cost.cacheWriteHourTokens = cacheWriteHourTokens;
}
