// The model lists of the providers: what the catalog is built of, and what the health of models is judged by.

import type { Clock } from "../base/clock.ts";
import { createDiscovery, type Discovery, LISTED_EVERY_MS } from "../catalog/discover.ts";
import { discoveredProviders } from "../catalog/from-config.ts";
import type { Config } from "../config/schema.ts";
import { type Flights, ownFlights } from "../shared-state/flights.ts";
import { listModels } from "../upstream/list-models.ts";
import type { Provider } from "../upstream/provider.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";

export interface ModelListsDeps {
  config(): Config;
  clock: Clock;
  /** Called when a provider's model list could not be fetched. */
  discoveryFailed(provider: string, cause: unknown, kept: number): void;
  /** If several nodes are configured, one of them lists the models for all. */
  flights?: Flights | undefined;
  /** Whether lists are also fetched to judge the health of models (`health.probe`). */
  watches?: boolean;
}

/** The lists, and what they say of the health of a model. */
export interface ModelLists extends Pick<Discovery, "start" | "refresh" | "listing" | "stop"> {
  /** Whether a provider's last model list has a model; undefined if nothing is known from lists. */
  listed(provider: string, model: string): boolean | undefined;
}

/** What lists need of the providers. */
interface Listed {
  provider(name: string): Provider | undefined;
  changed(lists: ReadonlyMap<string, readonly DiscoveredModel[]>): void;
}

/** How long other nodes use a list, as a part of the interval. It ends when the next list is due. */
const LIST_KEPT = 0.9;

/** Creates the lists. Nothing is fetched before `start`. */
export function createModelLists(deps: ModelListsDeps, { provider, changed }: Listed): ModelLists {
  const discovery = createDiscovery(
    {
      providers: () => discoveredProviders(deps.config()).map(({ name }) => ({ key: name })),
      listModels: async ({ key }, signal, options) => {
        const found = provider(key);
        return found === undefined ? [] : listOnce(deps, found, { signal, ...options });
      },
      changed,
      failed: deps.discoveryFailed,
    },
    { intervalMs: () => listedEveryMs(deps) },
  );
  return {
    ...discovery,
    listed(name, model) {
      if (provider(name)?.embedded === true) return true;
      if (deps.config().health.probe === "off") return undefined;
      return discovery.offers(name, model);
    },
  };
}

/** The interval of lists: that of the health of models, if it is judged by them. */
function listedEveryMs({ config, watches }: ModelListsDeps): number {
  const { probe, intervalMs } = config().health;
  return watches === true && probe !== "off" ? Math.min(LISTED_EVERY_MS, intervalMs) : LISTED_EVERY_MS;
}

/** The models of a provider. One node lists them for all. */
async function listOnce(
  deps: ModelListsDeps,
  provider: Provider,
  options: { readonly signal: AbortSignal; readonly anew: boolean },
): Promise<readonly DiscoveredModel[]> {
  const { config, clock, flights = ownFlights } = deps;
  const keptMs = () => listedEveryMs(deps) * LIST_KEPT;
  const list = () => listModels(provider, { signal: options.signal, nowMs: clock.now() });
  // Nodes with other settings or credentials may get other models.
  const entry = config().providers.find(({ name }) => name === provider.name);
  const key = `models ${JSON.stringify(entry)}`;
  return (await flights.share(key, list, { keptMs, ...options })).value;
}
