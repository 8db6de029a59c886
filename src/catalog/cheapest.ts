// Chooses a model where none is configured: the cheapest that meets the requirements.

import { keyMayUse } from "./key-models.ts";
import type { Catalog, CatalogModel } from "./models.ts";
import { costMicros } from "./prices.ts";
import type { ModelAccess } from "./resolve.ts";
import { tierIncludes } from "./tiers.ts";

/** The requirements. */
export interface Wanted extends ModelAccess {
  /** Minimum context size in tokens. */
  readonly contextMin: number;
  /** Providers whose models are excluded. */
  readonly isLeftOut: (provider: string) => boolean;
}

/** The usage by which models are compared: a long input and a short output. */
const TYPICAL_USAGE = { inputTokens: 10_000, outputTokens: 500 };

/** The cheapest listed chat model with known prices; of equal ones the first. */
export function cheapestChatModel(
  catalog: Catalog,
  { tier, models, contextMin, isLeftOut }: Wanted,
): CatalogModel | undefined {
  let best: { model: CatalogModel; micros: number } | undefined;
  for (const model of catalog.models) {
    const { kind, visibility, prices, contextLength, routes } = model;
    if (kind !== "chat" || visibility !== "list" || prices === undefined || contextLength < contextMin) continue;
    if (!tierIncludes(tier, model.tier) || !keyMayUse(models, model)) continue;
    if (routes.some(({ provider }) => isLeftOut(provider))) continue;
    const micros = costMicros(prices, TYPICAL_USAGE);
    if (best === undefined || micros < best.micros) best = { model, micros };
  }
  return best?.model;
}
