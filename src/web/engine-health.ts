// Stores when each search engine last answered and last failed, so that these times survive a restart.

import type { Search } from "../search/run.ts";

/** Named JSON values that survive a restart. */
export interface EngineHealthStore {
  readSetting(name: string): Promise<unknown>;
  changeSetting<T>(name: string, change: (value: unknown) => T): Promise<T>;
}

/** The name of the stored value. `sallyport doctor` reads it too. */
export const ENGINE_HEALTH_SETTING = "search_engine_health";

/** The interval between two writes; a crash loses at most this much. */
const WRITE_EVERY_MS = 60_000;

type Saved = ReturnType<Search["health"]["snapshot"]>;

/** Restores the stored health at `start`, and writes changes once a minute and at `stop`. */
export function keepEngineHealth(
  health: Search["health"],
  store: EngineHealthStore,
  problem: (error: unknown) => void,
) {
  let written = "";
  let timer: ReturnType<typeof setInterval> | undefined;
  const write = async () => {
    const snapshot = health.snapshot();
    const text = JSON.stringify(snapshot);
    if (text === written) return;
    // Every node calls engines. The state that other nodes stored is kept and applied to this node.
    const merged = await store.changeSetting(ENGINE_HEALTH_SETTING, (value) => merge(savedOf(value), snapshot));
    health.restore(merge(merged, health.snapshot()));
    written = text;
  };
  return {
    start(): void {
      timer = setInterval(() => void write().catch(problem), WRITE_EVERY_MS);
      readEngineHealth(store).then((saved) => health.restore(saved), problem);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await write().catch(problem);
    },
  };
}

/** The stored health; empty if it cannot be read. */
export async function readEngineHealth(store: Pick<EngineHealthStore, "readSetting">): Promise<Saved> {
  return savedOf(await store.readSetting(ENGINE_HEALTH_SETTING));
}

function savedOf(value: unknown): Saved {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value as Record<string, Record<string, unknown>>).map(([name, one]) => [
      name,
      {
        lastOkAtMs: timeOf(one["lastOkAtMs"]),
        failingSinceMs: timeOf(one["failingSinceMs"]),
        lastError: errorOf(one["lastError"]),
      },
    ]),
  );
}

/**
 * Merges the states of two nodes: the latest value of each engine, and the time since which an engine has failed without an
 * answer in between.
 */
function merge(one: Saved, other: Saved): Saved {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, mergeOf(one[name] ?? NOTHING, other[name] ?? NOTHING)]));
}

const NOTHING: Saved[string] = { lastOkAtMs: undefined, failingSinceMs: undefined, lastError: undefined };

function mergeOf(one: Saved[string], other: Saved[string]): Saved[string] {
  const ok = Math.max(one.lastOkAtMs ?? 0, other.lastOkAtMs ?? 0);
  const [lastError] = [one.lastError, other.lastError]
    .filter((error) => error !== undefined)
    .sort((a, b) => b.atMs - a.atMs);
  const failing = [one.failingSinceMs, other.failingSinceMs].filter((since) => since !== undefined && since > ok);
  return {
    lastOkAtMs: ok === 0 ? undefined : ok,
    lastError,
    failingSinceMs: failing.length === 0 ? undefined : Math.min(...(failing as number[])),
  };
}

function timeOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function errorOf(value: unknown): Saved[string]["lastError"] {
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, message, atMs } = value as Record<string, unknown>;
  return { kind: String(kind), message: String(message), atMs: timeOf(atMs) ?? 0 };
}
