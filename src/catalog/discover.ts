// Asks every provider for its models at start, every five minutes and on demand (SIGHUP). An unreachable provider keeps
// its last list; one removed from the config loses it. Never throws, never overlaps with itself.

import type { DiscoveredModel } from "../vendors/vendor.ts";

/** A provider as discovery needs it. */
export interface DiscoverySource {
  readonly key: string;
}

export interface DiscoveryDeps<P extends DiscoverySource> {
  /** The providers with discovery on, in config order; read again each round, so that a reload is seen. */
  providers(): readonly P[];
  /** Asks one provider; throws when it is down. */
  listModels(provider: P, signal: AbortSignal): Promise<readonly DiscoveredModel[]>;
  /** A list changed, appeared or went: build the catalog again. */
  changed(lists: ReadonlyMap<string, readonly DiscoveredModel[]>): void;
  /** One line per provider that could not be asked; `kept` models stay offered. */
  failed(provider: string, cause: unknown, kept: number): void;
}

export interface Discovery {
  /** Begins now and continues every interval; resolves after the first round. */
  start(): Promise<void>;
  /** A round at once; joins the one that runs. One asked for meanwhile with new providers follows it. */
  refresh(): Promise<void>;
  /**
   * Whether a provider offers a model, by its last answer: false when its list lacks it or could not be fetched this
   * time, undefined when it was not fetched yet or never is.
   */
  offers(provider: string, model: string): boolean | undefined;
  /** How the last listing of a provider went; undefined when it was not asked yet or never is. */
  listing(provider: string): ModelListing | undefined;
  stop(): void;
}

/** How a provider's last listing went. */
export interface ModelListing {
  readonly ok: boolean;
  /** Models that it offers, by its last good list. */
  readonly models: number;
}

/** The catalog is live: provider lists are fetched again after this time. */
const INTERVAL_MS = 5 * 60_000;
/** A model list is small; a provider that needs longer is down for this purpose. */
const LIST_TIMEOUT_MS = 15_000;
/** The largest public aggregator lists under a thousand. */
const MODELS_PER_PROVIDER_MAX = 5000;
const ID_CHARS_MAX = 256;

/** Makes a discovery that has not begun. */
export function createDiscovery<P extends DiscoverySource>(
  deps: DiscoveryDeps<P>,
  options: { intervalMs?: number; timeoutMs?: number } = {},
): Discovery {
  const lists = new Map<string, readonly DiscoveredModel[]>();
  /** Lower-case ids of the last answer; undefined after a failure. */
  const answers = new Map<string, ReadonlySet<string> | undefined>();
  let timer: Timer | undefined;
  let stopped = false;
  let running: Promise<void> | undefined;
  let again = false;
  let abort = new AbortController();

  async function ask(provider: P, signal: AbortSignal): Promise<void> {
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs ?? LIST_TIMEOUT_MS)]);
      const list = usable(await withAbort(deps.listModels(provider, within), within));
      lists.set(provider.key, list);
      answers.set(provider.key, new Set(list.map(({ id }) => id.toLowerCase())));
    } catch (cause) {
      answers.set(provider.key, undefined);
      if (!stopped) deps.failed(provider.key, cause, lists.get(provider.key)?.length ?? 0);
    }
  }

  async function round(): Promise<void> {
    const providers = deps.providers();
    const before = fingerprint(lists);
    const wanted = new Set(providers.map((provider) => provider.key));
    for (const known of [lists, answers]) {
      for (const key of known.keys()) if (!wanted.has(key)) known.delete(key);
    }
    await Promise.all(providers.map((provider) => ask(provider, abort.signal)));
    if (!stopped && fingerprint(lists) !== before) deps.changed(new Map(lists));
  }

  async function rounds(): Promise<void> {
    do {
      again = false;
      await round();
    } while (again && !stopped);
  }

  function refresh(): Promise<void> {
    if (running !== undefined) {
      again = true;
      return running;
    }
    running = rounds().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    start() {
      stopped = false;
      abort = new AbortController();
      timer ??= setInterval(() => {
        // A round that still runs is enough; the timer must not ask for another behind it.
        if (running === undefined) void refresh();
      }, options.intervalMs ?? INTERVAL_MS);
      timer.unref();
      return refresh();
    },
    refresh,
    offers: (provider, model) =>
      answers.has(provider) ? answers.get(provider)?.has(model.toLowerCase()) === true : undefined,
    listing(provider) {
      if (!answers.has(provider)) return undefined;
      return { ok: answers.get(provider) !== undefined, models: lists.get(provider)?.length ?? 0 };
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      timer = undefined;
      abort.abort();
    },
  };
}

/** Bounded, and without what is of no kind that the catalog has or cannot be an id; the first of equal ids stays. */
function usable(models: readonly DiscoveredModel[]): readonly DiscoveredModel[] {
  const seen = new Set<string>();
  const out: DiscoveredModel[] = [];
  for (const model of models) {
    if (model.kind === "other" || model.id === "" || model.id.length > ID_CHARS_MAX || seen.has(model.id)) continue;
    seen.add(model.id);
    out.push(model);
    if (out.length === MODELS_PER_PROVIDER_MAX) break;
  }
  return out;
}

function fingerprint(lists: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...lists].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A `listModels` that does not heed its signal must not hold the round. */
function withAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
