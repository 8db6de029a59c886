// Models without budget control: their prices are unknown, so their requests count as free.

import type { TierId } from "../config/schema.ts";
import { TIER_IDS } from "../config/schema-server.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import { KINDS } from "./kinds.ts";
import type { CatalogModel } from "./models.ts";
import { tierIncludes } from "./tiers.ts";

/** A provider, as far as it tells whether its models cost anything. */
export interface NamedProvider {
  readonly name: string;
  readonly kind: string;
}

/** It includes what all other plans include. */
const TOP_TIER = TIER_IDS[TIER_IDS.length - 1]!;

/**
 * Ids of the models without known prices that an account on this plan may use. The embedded demo is left out, since it
 * costs nothing.
 */
export function unpricedModels(
  models: readonly CatalogModel[],
  providers: readonly NamedProvider[],
  tier: TierId,
): string[] {
  const demos = new Set(providers.filter(isEmbedded).map(({ name }) => name));
  return models
    .filter(({ prices, tier: needed }) => prices === undefined && tierIncludes(tier, needed))
    .filter(({ kind }) => KINDS[kind].endpoints.length > 0)
    .filter(({ routes }) => routes.some(({ provider }) => !demos.has(provider)))
    .map(({ id }) => id);
}

/** The days of usage that are looked at. */
const USED_DAYS = 30;

/** The span of them, as the usage verbs take it. */
export function usedSpan(today: number) {
  return { unit: "day", from: today - USED_DAYS + 1, to: today } as const;
}

/** The models that used tokens. */
export function usedModels(
  sums: readonly { readonly name: string; readonly inputTokens: number; readonly outputTokens: number }[],
): ReadonlySet<string> {
  return new Set(sums.filter((row) => row.inputTokens + row.outputTokens > 0).map(({ name }) => name));
}

/** The same for the models that were used, whatever their plan. */
export function usedUnpriced(
  models: readonly CatalogModel[],
  providers: readonly NamedProvider[],
  used: ReadonlySet<string>,
): string[] {
  return unpricedModels(models, providers, TOP_TIER).filter((id) => used.has(id));
}

/** A sentence about them; undefined if there are none. */
export function usedUnpricedNote(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return undefined;
  return `used in the last 30 days without a known price: ${named(ids)}; their cost is not counted. Set models[].prices or providers.NAME.model_defaults.prices, or renew the known prices with \`sallyport models refresh\``;
}

function named(ids: readonly string[]): string {
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  return `${ids.slice(0, NAMED_MAX).join(", ")}${more}`;
}

/** More names would not be readable. */
const NAMED_MAX = 5;

/** A sentence about them; undefined if there are none. */
export function unpricedNote(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return undefined;
  return `no price is known for ${named(ids)}: requests to ${ids.length === 1 ? "it" : "them"} do not count against a budget; set models[].prices or providers.NAME.model_defaults.prices, or renew the known prices with \`sallyport models refresh\``;
}
