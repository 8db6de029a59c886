// What every feature depends on: the log, traces, the database, usage and authentication. Wiring only.

import { mkdirSync } from "node:fs";
import { type Clock, systemClock } from "../base/clock.ts";
import { lazily } from "../base/lazily.ts";
import { tierGrants } from "../catalog/from-config.ts";
import type { LiveConfig } from "../config/live.ts";
import { secretsOf } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { createAnonymousCallers } from "../gateway/admission/anonymous-callers.ts";
import { type CallersDeps, createCallers } from "../gateway/admission/callers.ts";
import { createKeyDebugging } from "../gateway/admission/key-debugging.ts";
import { createRateWindows } from "../gateway/admission/rate-windows.ts";
import { createListener, type Listener } from "../http/listen.ts";
import type { SubsystemState } from "../status/health.ts";
import { linksOf } from "../status/routes.ts";
import { openDatabase } from "../store/engine/database.ts";
import { openStore } from "../store/engine/open.ts";
import { acquireServeLock } from "../store/engine/serve-lock.ts";
import type { Store } from "../store/engine/store.ts";
import { OlderDatabase } from "../store/engine/store-error.ts";
import { Upkeep } from "../store/engine/upkeep.ts";
import { storeSweeps } from "../store/sweeps.ts";
import type { Spending } from "../store/usage/spending.ts";
import { UsageWriter } from "../store/usage/writer.ts";
import { type Verbs, verbsOf } from "../store/verbs.ts";
import type { Logger } from "../telemetry/log.ts";
import { makeRedactor } from "../telemetry/redact.ts";
import { type AlertService, createAlertService } from "./alerts.ts";
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

/** By how much a message may exceed the limit of a body before its connection is closed. */
const LONGER_BYTES = 1024 * 1024;
/** A body takes four times its length while it is answered; a message that has not fully arrived takes its length alone. */
const UNFINISHED_TIMES = 4;
/** How long the last writes of usage are repeated: a silent connection is given up after 10 seconds, then another can write. */
const LAST_WRITE_MS = 25_000;

/** Adds the services on which all others depend. */
export async function addFoundation({ lifecycle, live, log, clock: ownClock = systemClock }: FoundationDeps) {
  const { add } = lifecycle;
  const config = live.get;
  addLog(add, log, config);
  const tracer = await openTracer(log);
  add("traces", { stop: () => tracer?.stop() });
  const { store, node } = add("database", await takeDatabase(config(), { clock: ownClock, log }));
  // Nodes that share a database go by its time, also for usage and tokens: those of one are read by the others.
  const { clock } = store;
  const startedMs = clock.now();
  const { host, port, reusePort, maxBodyBytes } = config().server;
  const listener = createListener({
    ...{ host, port, reusePort },
    messages: {
      // A request over a WebSocket may be as long as one over HTTP. Slightly longer ones still get an answer that says so.
      one: maxBodyBytes + LONGER_BYTES,
      all: () => UNFINISHED_TIMES * config().server.bodyBudgetBytes,
    },
    certificate: () => certificateOf(config().server.tls),
  });
  // Like the database's lock, this comes first: no work starts before both are known to belong to this program.
  add("address", {
    start: () => listener.open(),
    reconfigure: () => renewCertificate(listener, log),
    stop: async () => void (await listener.stop(0)),
  });
  const { nameModels, ...programMetrics } = createProgramMetrics({
    startedMs,
    guarded: () => config().server.metrics.token !== "",
  });
  const verbs = verbsOf(store, () => config().limits.storagePerAccountBytes);
  const ground = { add, live, config, log, clock, store, verbs };
  const { writer, observer, upkeep } = addUsage({ ...ground, ...programMetrics });
  const grants = live.derive(tierGrants);
  const unwritten = unwrittenOf(writer);
  const sharing = { ...ground, ...programMetrics, liveNodes: node.live, unwritten };
  const shared = add("shared state", await openSharedState(sharing));
  const { answers } = shared;
  const isLive = async (keyId: string) => (await verbs.keys.findLiveKeyById(keyId)) !== undefined;
  if (answers !== undefined) upkeep.add(() => answers.deleteOfEnded(isLive));
  const alerts = add("alerts", createAlertService(ground));
  const callers = addCallers({ ...ground, ...programMetrics, writer, grants, shared, alerts });
  return {
    ...ground,
    ...{ tracer, writer, observer, upkeep, alerts, callers, grants, listener, nameModels, shared, node },
    uptimeSeconds: () => Math.floor((clock.now() - startedMs) / 1000),
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => log.warn(message, fields),
    bodyLimits: live.derive(({ server }) => ({ maxBytes: server.maxBodyBytes, valuesMax: server.maxBodyValues })),
    links: () => linksOf(config().server, listener.link),
  };
}

const certificates = lazily(() => {
  const { readCertificate }: typeof import("../http/certificate.ts") = require("../http/certificate.ts");
  return readCertificate;
});

function certificateOf(files: Config["server"]["tls"]) {
  return files.cert === "" ? undefined : certificates()(files);
}

function renewCertificate(listener: Listener, log: Logger): void {
  try {
    listener.renewCertificate();
  } catch (error) {
    log.error("the certificate was not renewed, the one before stays in use", { error });
  }
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

/** Adds the services that record usage and that limit the size of the database. */
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
      if (await writer.close(LAST_WRITE_MS)) return;
      log.error("usage could not be written before the end and is lost", { requests: writer.unwrittenRequests });
    },
  });
  const upkeep = add(
    "upkeep",
    new Upkeep(store, {
      sweeps: storeSweeps(store, () => {
        const { usage, log } = config();
        return { rowsMs: usage.rollupAfterMs, sumsMs: usage.retentionMs, auditMs: log.auditRetentionMs };
      }),
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

function unwrittenOf(writer: UsageWriter) {
  return {
    pendingMicros: (id: string) => writer.pendingCostMicros(id),
    whenWritten: (listener: (spent: readonly Spending[]) => void) => writer.whenWritten(listener),
  };
}

/** Adds authentication, and the rate windows that survive a restart. */
function addCallers(
  deps: Ground &
    ProgramMetrics & {
      readonly writer: UsageWriter;
      grants(): ReturnType<typeof tierGrants>;
      readonly alerts: Pick<AlertService, "budgetSpent">;
      readonly shared: Pick<SharedState, "limiter" | "slots" | "tokens" | "ownWindows" | "reservations">;
    },
) {
  const { add, config, log, clock, store, verbs, metrics, time, writer, grants } = deps;
  const { limiter, slots, tokens, ownWindows, reservations } = deps.shared;
  if (ownWindows !== undefined) {
    const failed = (error: unknown) =>
      log.warn("the rate windows could not be saved; saving will be retried", { error });
    add("rate windows", createRateWindows({ limiter: ownWindows, rates: verbs.rates, clock, failed }));
  }
  return add(
    "callers",
    createCallers({
      ...{ clock, limiter, slots, tokens, reservations, grants, time },
      keys: verbs.keys,
      accountBudgets: verbs.budgets,
      projectBudget: (id) => verbs.projects.findProjectBudget(id),
      changeCounter: store.changeCounter,
      requireVerifiedEmail: () => config().auth.requireVerifiedEmail,
      ...unwrittenOf(writer),
      readBetweenWrites: (read) => writer.readBetweenWrites(read),
      budgetSpent: deps.alerts.budgetSpent,
      rejected: () => metrics.rateLimited(),
      anonymous: anonymousOf(deps),
      debug: createKeyDebugging({
        store: verbs.keyDebug,
        clock,
        redact: (text) => makeRedactor(secretsOf(config()))(text),
        failed: (error, requestId) =>
          log.warn("what passed for a debugged key was not kept", { request_id: requestId, error }),
      }),
    }),
  );
}

/** The callers of Ollama's format without a key. Their code is loaded by the first one, if any address is listed. */
function anonymousOf({ config, verbs }: Pick<Ground, "config" | "verbs">): CallersDeps["anonymous"] {
  const allowed = () => config().compat.ollama.anonymous;
  let find: ReturnType<typeof createAnonymousCallers> | undefined;
  return (request, callerOf) => {
    if (allowed().length === 0) return undefined;
    find ??= anonymousCallers()({ accounts: verbs.accounts, keys: verbs.keys, allowed, callerOf });
    return find(request);
  };
}

const anonymousCallers = lazily(() => {
  const { createAnonymousCallers: create }: typeof import("../gateway/admission/anonymous-callers.ts") =
    require("../gateway/admission/anonymous-callers.ts");
  return create;
});

interface Opening {
  readonly clock: Clock;
  readonly log: Logger;
}

/** This program's place among those that share its database. */
export interface Node {
  /** Unique, and the same after a restart. */
  readonly name: string;
  /** The number of live nodes, including this one. */
  live(): number;
  /** Tells the others that this node is stopping. Does not wait. */
  announceLeaving(): void;
  /** The nodes in the answer of `/health`; absent where there can be only one. */
  readonly state?: () => Promise<SubsystemState>;
}

/** The place of a program that does not share its database. */
const SINGLE: Node = { name: "gateway", live: () => 1, announceLeaving: () => undefined };

/** Opens the database for a server. Either no other server uses it, or it is configured to be shared. */
function takeDatabase(config: Config, opening: Opening) {
  return config.database.url === "" ? takeFile(config.dataDir, opening) : takeShared(config, opening);
}

/** Opens the database of a data directory, upgraded if an older version created it. */
async function takeFile(dataDir: string, { clock, log }: Opening) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // The lock comes first: a newer program that is refused must not have migrated the running one's database.
  const lock = acquireServeLock(dataDir);
  try {
    const store: Store = await openUpgraded(dataDir, { clock, log });
    return {
      store,
      node: SINGLE,
      async stop() {
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opens the database; only one of an older version is opened twice. */
async function openUpgraded(dataDir: string, { clock, log }: Opening): Promise<Store> {
  try {
    return openStore({ dataDir, clock });
  } catch (error) {
    if (!(error instanceof OlderDatabase)) throw error;
  }
  const { upgradeStore } = await import("../store/engine/upgrade.ts");
  const upgraded = await upgradeStore({ dataDir, clock, lockHeld: true });
  if (upgraded !== undefined) log.info("the database was upgraded", { ...upgraded });
  return openStore({ dataDir, clock });
}

/** Joins the nodes of a database on PostgreSQL. */
async function takeShared(config: Config, { clock, log }: Opening) {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const { joinNodes } = await import("../store/engine/postgres/nodes.ts");
  const problem = (message: string, error: unknown) => log.error(message, { error });
  const alone = config.redis.url === "";
  const place = await joinNodes({ url: config.database.url, name: config.node.name, alone, problem });
  try {
    const reached = (isUp: boolean, error?: unknown) =>
      isUp
        ? log.info("the database answers again")
        : log.error("the database does not answer; requests that need it are refused until it does", { error });
    const store = await openDatabase(config, { clock, node: place.name, reached });
    await place.appear(store);
    const node: Node = {
      name: place.name,
      live: place.live,
      announceLeaving: place.announceLeaving,
      state: async () => ({ status: place.holds() ? "ok" : "degraded", live: place.live() }),
    };
    return {
      store,
      node,
      async stop() {
        await place.leave();
        await store.close();
      },
    };
  } catch (error) {
    await place.leave();
    throw error;
  }
}
