// Shared by the commands that set budgets: parses an amount and a period, and reports which models no budget limits.

import { parseDurationMs } from "../base/quantity.ts";
import { catalogProviders, configuredModels, discoveredProviders } from "../catalog/from-config.ts";
import { buildCatalog } from "../catalog/models.ts";
import { loadKnownModels } from "../catalog/renewal.ts";
import { isTierId } from "../catalog/tiers.ts";
import { unpricedModels, unpricedNote } from "../catalog/unpriced.ts";
import type { Config } from "../config/schema.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";
import type { Context } from "./command.ts";
import { UsageError } from "./failure.ts";

export const MICROS_PER_USD = 1_000_000;

/** Parses US dollars to micro-dollars. */
export function microsOf(flag: string, usd: string): number {
  const micros = /^\d+(\.\d+)?$/.test(usd) ? Math.round(Number(usd) * MICROS_PER_USD) : Number.NaN;
  if (!Number.isSafeInteger(micros)) throw new UsageError(`--${flag}: expected an amount in USD, got "${usd}"`);
  return micros;
}

/** The period after which a budget renews; null: never. */
export function periodOf(flag: string, period: string | undefined): number | null {
  if (period === undefined) return null;
  const periodMs = parseDurationMs(period);
  if (periodMs === undefined || periodMs === 0) {
    throw new UsageError(`--${flag}: expected a time such as 30d, got "${period}"`);
  }
  return periodMs;
}

/** The catalog of the configuration, with the providers' lists as far as they were fetched. */
export async function catalogOf(config: Config, lists: ReadonlyMap<string, readonly DiscoveredModel[]> = new Map()) {
  const known = await loadKnownModels(config);
  const baseUrls = new Map(config.providers.map(({ name, baseUrl }) => [name, baseUrl]));
  return buildCatalog({
    models: configuredModels(config),
    providers: catalogProviders(config),
    discovered: lists,
    metadata: (model, provider) => known(baseUrls.get(provider) ?? "", model),
  });
}

/**
 * Reports on stderr which of the configured models a budget does not limit. No provider is asked for its list, since a
 * command for accounts and keys needs none; so it says what was left out.
 */
export async function noteUnpriced(context: Context, config: Config, tier: string): Promise<void> {
  if (!isTierId(tier)) return;
  const note = unpricedNote(unpricedModels((await catalogOf(config)).models, config.providers, tier));
  if (note !== undefined) context.err(`sallyport: ${note}\n`);
  const names = discoveredProviders(config)
    .filter((provider) => !isEmbedded(provider))
    .map(({ name }) => name);
  if (names.length === 0) return;
  context.err(
    `sallyport: prices of the models that ${names.join(", ")} may list were not checked; \`sallyport doctor\` checks them\n`,
  );
}
