// Lists every provider's models at the start, at intervals and on demand (SIGHUP). An unreachable provider keeps its
// last list; one removed from the config loses it. Never throws, and rounds never overlap.

import { atIntervals } from "../base/at-intervals.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";

/** A provider, as far as discovery needs it. */
export interface DiscoverySource {
  readonly key: string;
}

export interface DiscoveryDeps<P extends DiscoverySource> {
  /** The providers with discovery enabled, in config order; read again each round, so that a reload applies. */
  providers(): readonly P[];
  /** Lists one provider's models; throws if it is unreachable. */
  listModels(provider: P, signal: AbortSignal, options: ListOptions): Promise<readonly DiscoveredModel[]>;
  /** A list changed, appeared or disappeared: rebuild the catalog. */
  changed(lists: ReadonlyMap<string, readonly DiscoveredModel[]>): void;
  /** A provider that had been listed could not be, or the other way round, while no list changed. */
  turned?(): void;
  /** Called for each provider that could not be listed; `kept` models stay offered. */
  failed(provider: string, cause: unknown, kept: number): void;
}

/** How a list is obtained. */
export interface ListOptions {
  /** The provider itself is asked, since someone wants to know the current list. */
  readonly anew: boolean;
}

export interface Discovery {
  /** Continues at every interval after the first round; resolves after that one, if it is now. */
  start(): Promise<void>;
  /** Runs a round now; joins a running one. If the providers changed meanwhile, another round follows. */
  refresh(): Promise<void>;
  /** Begins the interval anew, with its current length. */
  again(): void;
  /**
   * Whether a provider offers a model, by its last listing: false if its list lacks it or could not be fetched, undefined if
   * it was not fetched yet or never is.
   */
  offers(provider: string, model: string): boolean | undefined;
  /** The state of a provider's last listing; undefined if there was none. */
  listing(provider: string): ModelListing | undefined;
  stop(): void;
}

/** The result of a provider's last listing. */
export interface ModelListing {
  readonly ok: boolean;
  /** Number of models, by its last successful list. */
  readonly models: number;
}

/** Provider lists are fetched again after this time, or earlier if the health of models depends on them. */
export const LISTED_EVERY_MS = 5 * 60_000;
/** A model list is small; a provider that needs longer counts as unreachable. */
const LIST_TIMEOUT_MS = 15_000;
/** The largest public aggregator lists under a thousand. */
const MODELS_PER_PROVIDER_MAX = 5000;
const ID_CHARS_MAX = 256;

/** Creates a discovery, not yet started. */
export function createDiscovery<P extends DiscoverySource>(
  deps: DiscoveryDeps<P>,
  options: { intervalMs?(): number; timeoutMs?: number; firstRound?: "at start" | "after the interval" } = {},
): Discovery {
  const lists = new Map<string, readonly DiscoveredModel[]>();
  /** Lower-case ids of the last listing; undefined after a failure. */
  const answers = new Map<string, ReadonlySet<string> | undefined>();
  let stopped = false;
  /** Someone wants to know the current lists. */
  let asked = false;
  let abort = new AbortController();

  async function ask(provider: P, anew: boolean): Promise<void> {
    try {
      const within = AbortSignal.any([abort.signal, AbortSignal.timeout(options.timeoutMs ?? LIST_TIMEOUT_MS)]);
      const list = usable(await withAbort(deps.listModels(provider, within, { anew }), within));
      lists.set(provider.key, list);
      answers.set(provider.key, new Set(list.map(({ id }) => id.toLowerCase())));
    } catch (cause) {
      answers.set(provider.key, undefined);
      if (!stopped) deps.failed(provider.key, cause, lists.get(provider.key)?.length ?? 0);
    }
  }

  async function round(): Promise<void> {
    const providers = deps.providers();
    const anew = asked;
    asked = false;
    const before = fingerprint(lists);
    const failedBefore = failing();
    const wanted = new Set(providers.map((provider) => provider.key));
    for (const known of [lists, answers]) {
      for (const key of known.keys()) if (!wanted.has(key)) known.delete(key);
    }
    await Promise.all(providers.map((provider) => ask(provider, anew)));
    if (stopped) return;
    if (fingerprint(lists) !== before) deps.changed(new Map(lists));
    else if (failing() !== failedBefore) deps.turned?.();
  }

  const failing = () => [...answers].flatMap(([key, answer]) => (answer === undefined ? [key] : [])).join("\n");

  const rounds = oneAtATime(round, () => stopped);

  const timer = atIntervals(
    () => options.intervalMs?.() ?? LISTED_EVERY_MS,
    () => {
      // A running round is enough; the timer must not queue another one.
      if (!rounds.running()) void rounds.run();
    },
  );

  return {
    start() {
      stopped = false;
      abort = new AbortController();
      timer.start();
      return options.firstRound === "after the interval" ? Promise.resolve() : rounds.run();
    },
    refresh() {
      asked = true;
      timer.again();
      return rounds.run();
    },
    again: timer.again,
    offers: (provider, model) =>
      answers.has(provider) ? answers.get(provider)?.has(model.toLowerCase()) === true : undefined,
    listing(provider) {
      if (!answers.has(provider)) return undefined;
      return { ok: answers.get(provider) !== undefined, models: lists.get(provider)?.length ?? 0 };
    },
    stop() {
      stopped = true;
      timer.stop();
      abort.abort();
    },
  };
}

/** Runs rounds that never overlap: a request during a round joins it, and another follows. */
function oneAtATime(round: () => Promise<void>, stopped: () => boolean) {
  let running: Promise<void> | undefined;
  let again = false;
  const runUntilCurrent = async () => {
    do {
      again = false;
      await round();
    } while (again && !stopped());
  };
  return {
    running: () => running !== undefined,
    run() {
      if (running !== undefined) {
        again = true;
        return running;
      }
      running = runUntilCurrent().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** Bounded, without unknown kinds and invalid ids; of equal ids the first is kept. */
function usable(models: readonly DiscoveredModel[]): readonly DiscoveredModel[] {
  const seen = new Set<string>();
  const out: DiscoveredModel[] = [];
  for (const model of models) {
    if (model.kind === "other" || !isUsableId(model.id) || seen.has(model.id)) continue;
    seen.add(model.id);
    out.push(model);
    if (out.length === MODELS_PER_PROVIDER_MAX) break;
  }
  return out;
}

/** Control characters and line separators would reach logs, terminals and headers. */
function isUsableId(id: string): boolean {
  return id !== "" && id.length <= ID_CHARS_MAX && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(id);
}

function fingerprint(lists: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...lists].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A `listModels` that ignores its signal must not delay the round. */
function withAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
