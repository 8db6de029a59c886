// Selects the enabled engines by their own facts and the operator's settings, in their default order.

import type { Config } from "../config/schema.ts";
import type { Category, EngineSettings, SearchEngine } from "./engine.ts";

/** An engine with its settings. */
export interface ChosenEngine {
  readonly engine: SearchEngine;
  readonly name: string;
  readonly weight: number;
  readonly timeoutMs: number;
  readonly settings: EngineSettings;
  /** The network, which is suspended as a whole. An engine at the operator's own address is a network of its own. */
  readonly network: string;
}

/** Why an engine is not enabled. */
export type WhyOff = "off" | "no key" | "no base_url" | "not in search.only";

/** The enabled engines: first those with a key, then the others in the order of the list. */
export function chooseEngines(
  engines: readonly SearchEngine[],
  search: Config["search"],
  userAgent: string,
): ChosenEngine[] {
  const chosen = engines.filter((engine) => whyOff(engine, search) === undefined);
  const keyed = chosen.filter(({ key }) => key !== undefined);
  return [...keyed, ...chosen.filter(({ key }) => key === undefined)].map((engine) =>
    asUsed(engine, search, userAgent),
  );
}

/** An engine with the operator's settings, enabled or not. */
export function asUsed(engine: SearchEngine, search: Config["search"], userAgent: string): ChosenEngine {
  const { name, network } = engine;
  const own = search.engines.get(name);
  const settings = { baseUrl: own?.baseUrl, apiKey: own?.apiKey || undefined, selectors: own?.selectors, userAgent };
  return {
    engine,
    name,
    weight: own?.weight ?? engine.weight ?? 1,
    timeoutMs: own?.timeoutMs ?? engine.timeoutMs,
    settings,
    network: settings.baseUrl === undefined ? network : `${name} at ${settings.baseUrl}`,
  };
}

/** Why an engine is not enabled; undefined if it is. */
export function whyOff(engine: SearchEngine, { only, engines }: Config["search"]): WhyOff | undefined {
  const own = engines.get(engine.name);
  if (own?.enabled === false) return "off";
  if (engine.key !== undefined && !own?.apiKey) return "no key";
  if (engine.needsBaseUrl === true && own?.baseUrl === undefined) return "no base_url";
  if (only.length > 0) return only.includes(engine.name) ? undefined : "not in search.only";
  const isGiven = engine.key !== undefined || engine.needsBaseUrl === true;
  return own?.enabled === true || isGiven || engine.enabledByDefault ? undefined : "off";
}

/** The engines that support this category. */
export function ofCategory(engines: readonly ChosenEngine[], category: Category): ChosenEngine[] {
  return engines.filter(({ engine }) => engine.categories.includes(category));
}
