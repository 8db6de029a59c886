// The model lists of the providers: what the catalog is built of, and what the health of models is judged by.

import type { Clock } from "../base/clock.ts";
import { type Flights, ownFlights } from "../base/flights.ts";
import { createDiscovery, type Discovery, LISTED_EVERY_MS } from "../catalog/discover.ts";
import { discoveredProviders } from "../catalog/from-config.ts";
import type { Config } from "../config/schema.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import { listModels } from "../upstream/list-models.ts";
import type { Provider } from "../upstream/provider.ts";
import { isEmbedded } from "../vendors/protocols.ts";
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
  /** Whether a model with a route to the provider is offered. */
  isUsed(name: string): boolean;
  changed(lists: ReadonlyMap<string, readonly DiscoveredModel[]>): void;
  /** Something else changed that the health of models is judged by. */
  turned(): void;
}

/** How long other nodes use a list, as a part of the interval. It ends when the next list is due. */
const LIST_KEPT = 0.9;
/** The status of a server that does not know the path. */
const NOT_IMPLEMENTED = 501;

/** Creates the lists. Nothing is fetched before `start`. */
export function createModelLists(deps: ModelListsDeps, listed: Listed): ModelLists {
  const { provider, changed, turned } = listed;
  const discovery = createDiscovery(
    {
      providers: () => discoveredProviders(deps.config()).map(({ name }) => ({ key: name })),
      listModels: async ({ key }, signal, options) => {
        const found = provider(key);
        return found === undefined ? [] : listOnce(deps, found, { signal, ...options });
      },
      changed,
      turned,
      failed: deps.discoveryFailed,
    },
    { intervalMs: () => listedEveryMs(deps) },
  );
  const unoffered = createUnofferedLists(deps, listed);
  return {
    listing: discovery.listing,
    async start() {
      await Promise.all([discovery.start(), unoffered.start()]);
    },
    refresh() {
      unoffered.reconfigured();
      return discovery.refresh();
    },
    stop() {
      discovery.stop();
      unoffered.stop();
    },
    listed(name, model) {
      if (provider(name)?.embedded === true) return true;
      if (deps.config().health.probe === "off") return undefined;
      return discovery.offers(name, model) ?? unoffered.listed(name, model);
    },
  };
}

/**
 * The lists of providers whose models are not offered from it (`discover: false`), fetched only to judge the health of the
 * configured models. They may name models otherwise than the routes do, and some servers have no list: only one that cannot be
 * reached or fails is down. The first round waits for the interval, since no request depends on it.
 */
function createUnofferedLists(deps: ModelListsDeps, { provider, isUsed, turned }: Listed) {
  const answering = new Set<string>();
  const asked = () => {
    const { health, providers } = deps.config();
    if (deps.watches !== true || health.probe === "off") return [];
    const discovered = new Set(discoveredProviders(deps.config()).map(({ name }) => name));
    return providers.filter((one) => !isEmbedded(one) && !discovered.has(one.name) && isUsed(one.name));
  };
  const lists = createDiscovery(
    {
      providers: () => asked().map(({ name }) => ({ key: name })),
      listModels: async ({ key }, signal, options) => {
        const found = provider(key);
        return found === undefined ? [] : listOnce(deps, found, { signal, ...options });
      },
      changed: turned,
      turned,
      failed(name, cause) {
        // Not forgotten while the list is asked for again, since health may be judged meanwhile.
        if (cause instanceof SyntaxError || (cause instanceof UpstreamFault && isAnswer(cause.status)))
          answering.add(name);
        else answering.delete(name);
      },
    },
    { intervalMs: () => listedEveryMs(deps), firstRound: "after the interval" },
  );
  let everyMs = listedEveryMs(deps);
  return {
    start: lists.start,
    stop: lists.stop,
    /** Applies a changed interval, which else would follow the one that has begun. */
    reconfigured() {
      const nowMs = listedEveryMs(deps);
      // Reloads that change nothing of it must not put the next round off.
      if (nowMs !== everyMs) lists.again();
      everyMs = nowMs;
    },
    listed(name: string, model: string): boolean | undefined {
      if (lists.offers(name, model) === true) return true;
      return lists.listing(name)?.ok === false && !answering.has(name) ? false : undefined;
    },
  };
}

/** Whether the server works, though it gives no list to this key or at this path. */
function isAnswer(status: number): boolean {
  return (status >= 200 && status < 500) || status === NOT_IMPLEMENTED;
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
