// Budgets that have no effect: models without prices that an account or key with a budget may use.

import { systemClock } from "../base/clock.ts";
import { discoveredProviders } from "../catalog/from-config.ts";
import { readKept } from "../catalog/renewal.ts";
import { isTierId } from "../catalog/tiers.ts";
import {
  unpricedModels,
  unpricedNote,
  usedModels,
  usedSpan,
  usedUnpriced,
  usedUnpricedNote,
} from "../catalog/unpriced.ts";
import type { Config } from "../config/schema.ts";
import { TIER_IDS } from "../config/schema-server.ts";
import { accountBudgetStore } from "../store/access/account-budgets.ts";
import { maybeDatabase, openDatabase } from "../store/engine/database.ts";
import { dayOf } from "../store/usage/record.ts";
import { usageStore } from "../store/usage/usage.ts";
import { configureProvider } from "../upstream/configure.ts";
import { listModels } from "../upstream/list-models.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";
import { catalogOf } from "./budget-flags.ts";
import type { Finding } from "./doctor-provider.ts";

const LIST_TIMEOUT_MS = 10_000;

/** Warnings about such models, and about models that were used without a known price; empty if there is nothing to check. */
export async function checkBudgets(config: Config): Promise<Finding[]> {
  const name = "budgets";
  let stored: Stored;
  try {
    stored = await readStored(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ name, status: "warning", message: `the database cannot be read: ${message}` }];
  }
  const tiers = [...config.tiers.flatMap(({ id, budget }) => (budget === undefined ? [] : [id])), ...stored.tiers];
  // The highest plan includes everything that the others include.
  const highest = TIER_IDS.findLast((id) => tiers.includes(id));
  if (highest === undefined && stored.used.size === 0) return [];
  const { lists, missing } = await listsOf(config);
  const { models } = await catalogOf(config, lists);
  const findings: Finding[] = [];
  const used = usedUnpricedNote(usedUnpriced(models, config.providers, stored.used));
  if (used !== undefined) findings.push({ name: "prices", status: "warning", message: used });
  if (highest === undefined || !isTierId(highest)) return findings;
  const note = unpricedNote(unpricedModels(models, config.providers, highest));
  if (note === undefined && missing.length > 0) {
    const message = `cannot tell whether every model has a price: no model list from ${missing.join(", ")}`;
    return [...findings, { name, status: "warning", message }];
  }
  const message = note ?? "every model of accounts and keys with a budget has a price";
  return [...findings, { name, status: note === undefined ? "ok" : "warning", message }];
}

/** Whether the renewed prices and limits can be read; empty if there are none. */
export function checkPriceList(config: Config): Finding[] {
  const name = "prices";
  try {
    const renewed = readKept(config);
    if (renewed === undefined) return [];
    return [{ name, status: "ok", message: `a renewed list with ${renewed.count} models` }];
  } catch (error) {
    return [{ name, status: "failed", message: error instanceof Error ? error.message : String(error) }];
  }
}

interface Stored {
  /** Of accounts and keys with budgets. */
  readonly tiers: readonly string[];
  /** The models that answered lately. */
  readonly used: ReadonlySet<string>;
}

async function readStored(config: Config): Promise<Stored> {
  if (!maybeDatabase(config)) return { tiers: [], used: new Set() };
  const store = await openDatabase(config, { create: false });
  try {
    const sums = await usageStore(store).sumsBySlot(usedSpan(dayOf(systemClock.now())), "model");
    return { tiers: await accountBudgetStore(store).tiersWithBudgets(), used: usedModels(sums) };
  } finally {
    await store.close();
  }
}

/** The list of each provider. A provider that does not answer already has its own line. */
async function listsOf(config: Config) {
  const lists = new Map<string, readonly DiscoveredModel[]>();
  const missing: string[] = [];
  await Promise.all(
    discoveredProviders(config).map(async (entry) => {
      const provider = configureProvider(entry);
      if (provider === undefined) return;
      const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
      try {
        lists.set(entry.name, await listModels(provider, { signal, nowMs: systemClock.now() }));
      } catch {
        // The check of that provider reports the reason.
        missing.push(entry.name);
      }
    }),
  );
  return { lists, missing: missing.toSorted() };
}
