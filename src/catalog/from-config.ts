// The part of the configuration that the catalog uses. An empty string there means "not set".

import type { Config, ModelConfig, ProviderConfig, TierConfig, TierId } from "../config/schema.ts";
import { TIER_IDS } from "../config/schema-server.ts";
import { isEmbedded, kindFacts } from "../vendors/protocols.ts";
import type { CatalogProvider, ConfiguredModel, ModelFacts } from "./models.ts";
import { isTierId, type RunTerms, type TierBudget, type TierGrant } from "./tiers.ts";

/** The config's `models`. */
export function configuredModels(config: Pick<Config, "models">): ConfiguredModel[] {
  return config.models.map((model) => ({
    ...model,
    name: said(model.name),
    description: said(model.description),
    ownedBy: said(model.ownedBy),
    tier: tierOf(model.tier),
    larger: said(model.larger),
    routes: model.routes.map((route) => ({ ...route, model: said(route.model) })),
  }));
}

/** The config's `providers`, as far as the catalog needs them, in order. */
export function catalogProviders(config: Pick<Config, "providers">): CatalogProvider[] {
  return config.providers.map((provider) => ({
    key: provider.name,
    discoverTier: tierOf(provider.discoverTier),
    modelDefaults: provider.modelDefaults satisfies ModelFacts,
    demo: isEmbedded(provider),
  }));
}

/** The providers whose models are listed: chat protocols with discovery enabled. */
export function discoveredProviders(config: Pick<Config, "providers">): ProviderConfig[] {
  return config.providers.filter(({ discover, kind }) => discover && kindFacts(kind).dialect !== undefined);
}

/** The plans by id. A plan missing in the config grants the least. */
export function tierGrants(config: Pick<Config, "tiers">): Record<TierId, TierGrant> {
  const grants = Object.fromEntries(TIER_IDS.map((id) => [id, { rpm: 1 }])) as Record<TierId, TierGrant>;
  for (const { id, rpm, tpm, parallel, trialMs, budget, runs } of config.tiers) {
    // In the config zero means unlimited.
    const limits = { tpm: tpm || undefined, parallel: parallel || undefined, trialMs: trialMs || undefined };
    if (isTierId(id)) grants[id] = { rpm, ...limits, budget: budgetOf(budget), runs: runTermsOf(runs) };
  }
  return grants;
}

const MICROS_PER_USD = 1_000_000;

function budgetOf(budget: TierConfig["budget"]): TierBudget | undefined {
  if (budget === undefined) return undefined;
  return { limitMicros: Math.round(budget.usd * MICROS_PER_USD), periodMs: budget.periodMs || null };
}

function runTermsOf({ usd, requests, repeats, idleMs, maxAgeMs }: TierConfig["runs"]): RunTerms {
  return { micros: Math.round(usd * MICROS_PER_USD), requests, repeats, idleMs, ageMs: maxAgeMs };
}

function said(text: ModelConfig["name"]): string | undefined {
  return text === "" ? undefined : text;
}

function tierOf(word: string): TierId | undefined {
  return isTierId(word) ? word : undefined;
}
