// Models without budget control: their prices are unknown, so their requests count as free.

import type { Config, TierId } from "../config/schema.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import { KINDS } from "./kinds.ts";
import type { CatalogModel } from "./models.ts";
import { tierIncludes } from "./tiers.ts";

/**
 * Ids of the models without known prices that an account on this plan may use. The embedded demo is left out, since it
 * costs nothing.
 */
export function unpricedModels(
  models: readonly CatalogModel[],
  { providers }: Pick<Config, "providers">,
  tier: TierId,
): string[] {
  const demos = new Set(providers.filter(isEmbedded).map(({ name }) => name));
  return models
    .filter(({ prices, tier: needed }) => prices === undefined && tierIncludes(tier, needed))
    .filter(({ kind }) => KINDS[kind].endpoints.length > 0)
    .filter(({ routes }) => routes.some(({ provider }) => !demos.has(provider)))
    .map(({ id }) => id);
}

/** More names would not be readable. */
const NAMED_MAX = 5;

/** A sentence about them; undefined if there are none. */
export function unpricedNote(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return undefined;
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  return `no price is known for ${ids.slice(0, NAMED_MAX).join(", ")}${more}: requests to them do not count against a budget; set models[].prices or providers.NAME.model_defaults.prices`;
}
