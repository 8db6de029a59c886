// The providers and the catalog of the running program. They are built from the configuration, and rebuilt when it or the
// providers' model lists change. They are replaced as a whole, so that a request sees one consistent state.

import type { ModelListing } from "../catalog/discover.ts";
import { catalogProviders, configuredModels } from "../catalog/from-config.ts";
import { buildCatalog, type Catalog, type ModelFacts } from "../catalog/models.ts";
import type { Prices } from "../catalog/prices.ts";
import { createKnownModels } from "../catalog/renewal.ts";
import { pricesByRoute } from "../catalog/route-prices.ts";
import type { Config } from "../config/schema.ts";
import type { JoinBreaker } from "../upstream/breaker.ts";
import { Breakers } from "../upstream/breakers.ts";
import { configureProvider } from "../upstream/configure.ts";
import type { Provider } from "../upstream/provider.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";
import { createModelLists, type ModelListsDeps } from "./model-lists.ts";

export interface FleetDeps extends ModelListsDeps {
  /** Called when the renewed prices and limits could not be read or fetched. */
  renewalFailed?(error: unknown): void;
  breakerChanged(provider: string, state: string, model?: string): void;
  /** Connects breakers with those of other nodes, if several nodes are configured. */
  joinBreaker?: JoinBreaker | undefined;
  /** Called when the catalog was rebuilt, but not while the fleet itself is created. */
  catalogChanged?(): void;
}

/** All providers with their breakers and models. */
export interface Fleet {
  catalog(): Catalog;
  provider(name: string): Provider | undefined;
  breakers: Breakers;
  /** The public metadata of a provider's model; undefined until `start` has loaded it. */
  known(provider: string, model: string): ModelFacts | undefined;
  /** The prices of a provider's model: those of a model in the catalog that has it as a route, else the publicly known ones. */
  prices(provider: string, model: string): Prices | undefined;
  /** Whether a provider's last model list has a model; undefined if nothing is known from lists. */
  listed(provider: string, model: string): boolean | undefined;
  /** The state of a provider's last model list; undefined if the provider has no list. */
  listing(provider: string): ModelListing | undefined;
  /** Applies a new configuration. */
  reconfigure(): void;
  /** Loads the metadata of well-known models and starts discovery. Resolves after the first round. */
  start(): Promise<void>;
  refresh(): Promise<void>;
  stop(): void;
}

/** Creates the fleet. Nothing is fetched before `start`. */
export function createFleet(deps: FleetDeps): Fleet {
  const breakers = new Breakers(deps.clock, deps.breakerChanged, deps.joinBreaker);
  let providers = new Map<string, Provider>();
  let lists: ReadonlyMap<string, readonly DiscoveredModel[]> = new Map();
  let catalog: Catalog;
  let routePrices: ReturnType<typeof pricesByRoute>;
  const sinceSeconds = Math.floor(deps.clock.now() / 1000);

  const wellKnown = createKnownModels({
    config: deps.config,
    clock: deps.clock,
    failed: deps.renewalFailed,
    changed: () => tellChange(),
  });

  const known = (provider: string, model: string) => {
    const baseUrl = deps.config().providers.find(({ name }) => name === provider)?.baseUrl;
    return baseUrl === undefined ? undefined : wellKnown.find(baseUrl, model);
  };

  const rebuild = () => {
    const config = deps.config();
    const models = configuredModels(config);
    catalog = buildCatalog({
      models,
      providers: catalogProviders(config),
      // The models of the embedded provider are known from the start.
      discovered: new Map([...lists, ...embeddedLists(config, providers)]),
      metadata: (model, provider) => known(provider, model),
      sinceSeconds,
    });
    routePrices = pricesByRoute(catalog, models);
  };

  const tellChange = () => {
    rebuild();
    deps.catalogChanged?.();
  };

  const reconfigure = () => {
    const config = deps.config();
    providers = configured(config);
    const watched = config.providers.filter((provider) => !isEmbedded(provider));
    breakers.configure(new Map(watched.map(({ name, breaker }) => [name, breaker])));
    rebuild();
  };
  reconfigure();

  const discovery = createModelLists(deps, {
    provider: (name) => providers.get(name),
    changed(changed) {
      lists = changed;
      tellChange();
    },
    isUsed: (name) => catalog.models.some(({ routes }) => routes.some(({ provider }) => provider === name)),
    turned: () => deps.catalogChanged?.(),
  });

  return {
    catalog: () => catalog,
    provider: (name) => providers.get(name),
    breakers,
    known,
    prices: (provider, model) => routePrices(provider, model) ?? known(provider, model)?.prices,
    listed: discovery.listed,
    listing: discovery.listing,
    reconfigure() {
      reconfigure();
      wellKnown.reconfigure();
      deps.catalogChanged?.();
    },
    start: async () => void (await Promise.all([discovery.start(), wellKnown.start()])),
    refresh: discovery.refresh,
    stop() {
      discovery.stop();
      wellKnown.stop();
    },
  };
}

function configured({ providers: entries }: Config): Map<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const entry of entries) {
    const provider = configureProvider(entry);
    if (provider !== undefined) providers.set(entry.name, provider);
  }
  return providers;
}

function embeddedLists({ providers: entries }: Config, providers: ReadonlyMap<string, Provider>) {
  return entries.filter(isEmbedded).map(({ name }): [string, readonly DiscoveredModel[]] => {
    return [name, providers.get(name)?.card.embeddedModels ?? []];
  });
}
