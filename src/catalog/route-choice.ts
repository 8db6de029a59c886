// How a model's routes are chosen among, and what of it is known before a request: their prices.

import { costMicros, type Prices } from "./prices.ts";

/** `models[].routing`. Without it a model's routes are tried by priority. */
export type RouteChoice = "priority" | "latency" | "cost" | "busy";

/** How a route is chosen among its model's; absent: by priority. */
export interface ChosenRoute {
  readonly choice?: Exclude<RouteChoice, "priority"> | undefined;
}

/** The usage by which routes are compared: a long input and a short output. */
const TYPICAL_USAGE = { inputTokens: 10_000, outputTokens: 500 };

/**
 * The routes with the way in which they are chosen. By cost, the cheapest has the first priority; those without known prices come
 * last, as nobody knows what they cost.
 */
export function chosenBy<R extends { readonly priority: number }>(
  choice: RouteChoice | undefined,
  routes: readonly R[],
  pricesOf: (route: R) => Prices | undefined,
): readonly (R & ChosenRoute)[] {
  if (choice === undefined || choice === "priority" || routes.length < 2) return routes;
  const marked = routes.map((route) => ({ ...route, choice }));
  if (choice !== "cost") return marked;
  const priced = marked.map((route) => {
    const prices = pricesOf(route);
    return { route, micros: prices === undefined ? Number.POSITIVE_INFINITY : costMicros(prices, TYPICAL_USAGE) };
  });
  priced.sort((a, b) => (a.micros === b.micros ? a.route.priority - b.route.priority : a.micros < b.micros ? -1 : 1));
  let place = 0;
  return priced.map(({ route, micros }, at) => {
    const before = priced[at - 1];
    if (before === undefined || before.micros !== micros || before.route.priority !== route.priority) place++;
    return { ...route, priority: place };
  });
}
