// Budgets that do not hold: models without prices, which an account or a key with a budget may use.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { discoveredProviders } from "../catalog/from-config.ts";
import { isTierId, TIER_IDS } from "../catalog/tiers.ts";
import { unpricedModels, unpricedNote } from "../catalog/unpriced.ts";
import type { Config } from "../config/schema.ts";
import { accountBudgetStore } from "../store/account-budgets.ts";
import { DATABASE_FILE, openStore } from "../store/open.ts";
import { configureProvider } from "../upstream/configure.ts";
import { listModels } from "../upstream/list-models.ts";
import type { DiscoveredModel } from "../upstream/provider.ts";
import { catalogOf } from "./budget-flags.ts";
import type { Finding } from "./doctor-provider.ts";

const LIST_TIMEOUT_MS = 10_000;

/** One line about them; none where nobody has a budget. */
export async function checkBudgets(config: Config): Promise<Finding[]> {
  const name = "budgets";
  let stored: string[];
  try {
    stored = await tiersOfStored(config.dataDir);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ name, status: "warning", message: `the database cannot be read: ${message}` }];
  }
  const tiers = [...config.tiers.flatMap(({ id, budget }) => (budget === undefined ? [] : [id])), ...stored];
  // The highest may use whatever the others may.
  const highest = TIER_IDS.findLast((id) => tiers.includes(id));
  if (highest === undefined || !isTierId(highest)) return [];
  const { models } = await catalogOf(config, await listsOf(config));
  const note = unpricedNote(unpricedModels(models, config, highest));
  return [
    note === undefined
      ? { name, status: "ok", message: "every model that they are for has a price" }
      : { name, status: "warning", message: note },
  ];
}

async function tiersOfStored(dataDir: string): Promise<string[]> {
  if (!existsSync(join(dataDir, DATABASE_FILE))) return [];
  const store = openStore({ dataDir, create: false });
  try {
    return await accountBudgetStore(store).tiersWithBudgets();
  } finally {
    store.close();
  }
}

/** What each provider lists. One that does not answer has a line of its own already. */
async function listsOf(config: Config): Promise<Map<string, readonly DiscoveredModel[]>> {
  const lists = await Promise.all(
    discoveredProviders(config).map(async (entry): Promise<[string, readonly DiscoveredModel[]]> => {
      const provider = configureProvider(entry);
      if (provider === undefined) return [entry.name, []];
      const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
      return [entry.name, await listModels(provider, { signal, nowMs: systemClock.now() }).catch(() => [])];
    }),
  );
  return new Map(lists);
}
