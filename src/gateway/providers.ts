// The providers and the catalog of the running program. They are built from the configuration, and rebuilt when it or the
// providers' model lists change. They are replaced as a whole, so that a request sees one consistent state.

import type { Clock } from "../base/clock.ts";
import { createDiscovery, type Discovery, LISTED_EVERY_MS, type ModelListing } from "../catalog/discover.ts";
import { catalogProviders, configuredModels, discoveredProviders } from "../catalog/from-config.ts";
import { loadMetadata, type MetadataLookup } from "../catalog/metadata.ts";
import { buildCatalog, type Catalog, type ModelFacts } from "../catalog/models.ts";
import type { Config } from "../config/schema.ts";
import { type Flights, ownFlights } from "../shared-state/flights.ts";
import type { JoinBreaker } from "../upstream/breaker.ts";
import { Breakers } from "../upstream/breakers.ts";
import { configureProvider } from "../upstream/configure.ts";
import { listModels } from "../upstream/list-models.ts";
import type { Provider } from "../upstream/provider.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";

export interface FleetDeps {
  config(): Config;
  clock: Clock;
  /** Called when a provider's model list could not be fetched. */
  discoveryFailed(provider: string, cause: unknown, kept: number): void;
  breakerChanged(provider: string, state: string, model?: string): void;
  /** Connects breakers with those of other nodes, if several nodes are configured. */
  joinBreaker?: JoinBreaker | undefined;
  /** If several nodes are configured, one of them lists the models for all. */
  flights?: Flights | undefined;
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
  /** Whether a provider's last model list was read; undefined if the provider has no list. */
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

/** How long other nodes use a list. It ends when the next list is due. */
const LIST_KEPT_MS = LISTED_EVERY_MS * 0.9;

/** Creates the fleet. Nothing is fetched before `start`. */
export function createFleet(deps: FleetDeps): Fleet {
  const breakers = new Breakers(deps.clock, deps.breakerChanged, deps.joinBreaker);
  let providers = new Map<string, Provider>();
  let lists: ReadonlyMap<string, readonly DiscoveredModel[]> = new Map();
  let metadata: MetadataLookup | undefined;
  let catalog: Catalog;
  const sinceSeconds = Math.floor(deps.clock.now() / 1000);

  const known = (provider: string, model: string) => {
    const baseUrl = deps.config().providers.find(({ name }) => name === provider)?.baseUrl;
    return baseUrl === undefined ? undefined : metadata?.(baseUrl, model);
  };

  const rebuild = () => {
    const config = deps.config();
    catalog = buildCatalog({
      models: configuredModels(config),
      providers: catalogProviders(config),
      // The models of the embedded provider are known from the start.
      discovered: new Map([...lists, ...embeddedLists(config, providers)]),
      metadata: (model, provider) => known(provider, model),
      sinceSeconds,
    });
  };

  const reconfigure = () => {
    const config = deps.config();
    const next = new Map<string, Provider>();
    for (const entry of config.providers) {
      const provider = configureProvider(entry);
      if (provider !== undefined) next.set(entry.name, provider);
    }
    providers = next;
    const watched = config.providers.filter((provider) => !isEmbedded(provider));
    breakers.configure(new Map(watched.map(({ name, breaker }) => [name, breaker])));
    rebuild();
  };
  reconfigure();

  const discovery: Discovery = createDiscovery(
    {
      providers: () => discoveredProviders(deps.config()).map(({ name }) => ({ key: name })),
      listModels: async ({ key }, signal, options) => {
        const provider = providers.get(key);
        return provider === undefined ? [] : listOnce(deps, provider, { signal, ...options });
      },
      changed: (changed) => {
        lists = changed;
        rebuild();
        deps.catalogChanged?.();
      },
      failed: deps.discoveryFailed,
    },
    {},
  );

  return {
    catalog: () => catalog,
    provider: (name) => providers.get(name),
    breakers,
    known,
    listed: (provider, model) => discovery.offers(provider, model),
    listing: (provider) => discovery.listing(provider),
    reconfigure() {
      reconfigure();
      deps.catalogChanged?.();
    },
    async start() {
      const round = discovery.start();
      if (needsMetadata(deps.config())) {
        metadata = await loadMetadata();
        rebuild();
        deps.catalogChanged?.();
      }
      await round;
    },
    refresh: () => discovery.refresh(),
    stop: () => discovery.stop(),
  };
}

/** The models of a provider. One node lists them for all. */
async function listOnce(
  { config, clock, flights = ownFlights }: FleetDeps,
  provider: Provider,
  options: { readonly signal: AbortSignal; readonly anew: boolean },
): Promise<readonly DiscoveredModel[]> {
  const list = () => listModels(provider, { signal: options.signal, nowMs: clock.now() });
  // Nodes with other settings or credentials may get other models.
  const entry = config().providers.find(({ name }) => name === provider.name);
  const key = `models ${JSON.stringify(entry)}`;
  return (await flights.share(key, list, { keptMs: () => LIST_KEPT_MS, ...options })).value;
}

/** Whether metadata of well-known models are needed. A gateway with only the demo starts without them. */
function needsMetadata(config: Config): boolean {
  return config.providers.some((provider) => !isEmbedded(provider));
}

function embeddedLists({ providers: entries }: Config, providers: ReadonlyMap<string, Provider>) {
  return entries.filter(isEmbedded).map(({ name }): [string, readonly DiscoveredModel[]] => {
    return [name, providers.get(name)?.card.embeddedModels ?? []];
  });
}
