// What every feature depends on: the log, traces, the database, usage and authentication. Wiring only.

import { mkdirSync } from "node:fs";
import { type Clock, systemClock } from "../base/clock.ts";
import { tierGrants } from "../catalog/from-config.ts";
import type { LiveConfig } from "../config/live.ts";
import { secretsOf } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { createCallers } from "../gateway/callers.ts";
import { createRateWindows } from "../gateway/rate-windows.ts";
import { createListener } from "../http/listen.ts";
import { linksOf } from "../status/routes.ts";
import { openStore } from "../store/engine/open.ts";
import { acquireServeLock } from "../store/engine/serve-lock.ts";
import type { Store } from "../store/engine/store.ts";
import { upgradeStore } from "../store/engine/upgrade.ts";
import { Upkeep } from "../store/engine/upkeep.ts";
import { storeSweeps } from "../store/sweeps.ts";
import { UsageWriter } from "../store/usage/writer.ts";
import { type Verbs, verbsOf } from "../store/verbs.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { createObserver, createProgramMetrics, openTracer } from "./observe.ts";
import { openSharedState, type SharedState } from "./shared-state.ts";

export interface FoundationDeps {
  readonly lifecycle: Lifecycle;
  readonly live: LiveConfig;
  readonly log: Logger;
  readonly clock?: Clock | undefined;
}

export type Foundation = Awaited<ReturnType<typeof addFoundation>>;

/** Adds the services that all others stand on. */
export async function addFoundation({ lifecycle, live, log, clock = systemClock }: FoundationDeps) {
  const { add } = lifecycle;
  const startedMs = clock.now();
  const config = () => live.get();
  addLog(add, log, config);
  const tracer = await openTracer(log);
  add("traces", { stop: () => tracer?.stop() });
  const { store } = add("database", await openDatabase({ dataDir: config().dataDir, clock, log }));
  const { host, port } = config().server;
  const listener = createListener({ host, port });
  // Like the lock of the database: nothing starts to work before both are known to be ours.
  add("address", { start: () => listener.open(), stop: async () => void (await listener.stop(0)) });
  const { nameModels, ...programMetrics } = createProgramMetrics({
    startedMs,
    guarded: () => config().server.metrics.token !== "",
  });
  const verbs = verbsOf(store, () => config().limits.storagePerAccountBytes);
  const ground = { add, live, config, log, clock, store, verbs };
  const { writer, observer, upkeep } = addUsage({ ...ground, ...programMetrics });
  const grants = live.derive(tierGrants);
  const liveNodes = () => 1;
  const shared = add("shared state", await openSharedState({ ...ground, ...programMetrics, liveNodes }));
  const callers = addCallers({ ...ground, ...programMetrics, writer, grants, shared });
  return {
    ...ground,
    ...{ tracer, writer, observer, upkeep, callers, grants, listener, nameModels, shared },
    uptimeSeconds: () => Math.floor((clock.now() - startedMs) / 1000),
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => log.warn(message, fields),
    bodyLimits: () => ({ maxBytes: config().server.maxBodyBytes, valuesMax: config().server.maxBodyValues }),
    links: () => linksOf(config().server, listener.link),
  };
}

interface Ground {
  readonly add: Lifecycle["add"];
  config(): Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly verbs: Verbs;
}

type ProgramMetrics = Omit<ReturnType<typeof createProgramMetrics>, "nameModels">;

function addLog(add: Lifecycle["add"], log: Logger, config: () => Config): void {
  const hideSecrets = () => log.setSecrets(secretsOf(config()));
  hideSecrets();
  add("log", {
    reconfigure() {
      hideSecrets();
      log.setLevel(config().log.level);
    },
    stop: () => log.flush(),
  });
}

/** Adds what records usage and what keeps the database small. */
function addUsage({ add, config, log, clock, store, verbs, metrics, time }: Ground & ProgramMetrics) {
  const writer = new UsageWriter(
    { writeUsage: (batch) => time("flush_usage", () => verbs.usage.writeUsage(batch)) },
    {
      flushMs: config().usage.flushMs,
      onError: (error) => log.error("usage could not be written; it is kept and will be retried", { error }),
    },
  );
  add("usage", {
    async stop() {
      if (!(await writer.close())) log.error("usage could not be written");
    },
  });
  const upkeep = add(
    "upkeep",
    new Upkeep(store, {
      sweeps: storeSweeps(store, () => config().usage.rollupAfterMs),
      onError: (error) => log.error("upkeep failed", { error }),
    }),
  );
  const observer = createObserver({
    clock,
    log,
    metrics,
    mayQuote: () => config().log.prompts,
    record: (row) => writer.record(row),
  });
  return { writer, observer, upkeep };
}

/** Adds authentication, and the memory of request rates. */
function addCallers(
  deps: Ground &
    ProgramMetrics & {
      readonly writer: UsageWriter;
      grants(): ReturnType<typeof tierGrants>;
      readonly shared: Pick<SharedState, "limiter" | "ownWindows">;
    },
) {
  const { add, config, log, clock, store, verbs, metrics, time, writer, grants } = deps;
  const { limiter, ownWindows } = deps.shared;
  if (ownWindows !== undefined) {
    const failed = (error: unknown) =>
      log.warn("the rate windows could not be saved; saving will be retried", { error });
    add("rate windows", createRateWindows({ limiter: ownWindows, rates: verbs.rates, clock, failed }));
  }
  return add(
    "callers",
    createCallers({
      ...{ clock, limiter, grants, time },
      keys: verbs.keys,
      accountBudgets: verbs.budgets,
      changeCounter: () => store.changeCounter(),
      requireVerifiedEmail: () => config().auth.requireVerifiedEmail,
      pendingMicros: (id) => writer.pendingCostMicros(id),
      whenWritten: (listener) => writer.whenWritten(listener),
      writing: () => writer.underWay,
      rejected: () => metrics.rateLimited(),
    }),
  );
}

/** Opens the database of a data directory, upgraded if an older version created it. */
async function openDatabase({ dataDir, clock, log }: { dataDir: string; clock: Clock; log: Logger }) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // The lock comes first: a newer program that is refused must not have migrated the running one's database.
  const lock = acquireServeLock(dataDir);
  try {
    const upgraded = await upgradeStore({ dataDir, clock, lockHeld: true });
    if (upgraded !== undefined) log.info("the database was upgraded", { ...upgraded });
    const store = openStore({ dataDir, clock });
    return {
      store,
      stop() {
        store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
