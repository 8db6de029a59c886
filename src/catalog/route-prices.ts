// Prices by provider and upstream model, for requests that name these instead of a model of the catalog: decisions and calls that
// are passed through.

import type { Catalog, ConfiguredModel } from "./models.ts";
import type { Prices } from "./prices.ts";

const keyOf = (provider: string, model: string) => `${provider}\n${model}`;

/**
 * Returns the look-up of a catalog. A route's own prices come first. Configured prices hold for every route of their model, all others only for the first route,
 * from which they were read. If two models have a route, the first one decides.
 */
export function pricesByRoute(
  { models }: Catalog,
  configured: readonly ConfiguredModel[],
): (provider: string, model: string) => Prices | undefined {
  const isConfigured = new Set(configured.flatMap(({ id, prices }) => (prices === undefined ? [] : [id])));
  const known = new Map<string, Prices>();
  for (const { routes } of models) {
    for (const { provider, model, prices } of routes) {
      const key = keyOf(provider, model);
      if (prices !== undefined && !known.has(key)) known.set(key, prices);
    }
  }
  for (const takesAll of [true, false]) {
    for (const { id, prices, routes } of models) {
      if (prices === undefined || isConfigured.has(id) !== takesAll) continue;
      for (const { provider, model } of takesAll ? routes : routes.slice(0, 1)) {
        const key = keyOf(provider, model);
        if (!known.has(key)) known.set(key, prices);
      }
    }
  }
  return (provider, model) => known.get(keyOf(provider, model));
}
