// The real program in the test's own process, on a free port, with a temporary data directory. With TEST_ENGINE=postgres it keeps
// its data in a private PostgreSQL, where the test does not choose its database itself.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PasswordHasher } from "../../src/accounts/passwords/hash-queue.ts";
import { startApp } from "../../src/app/start.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { LiveConfig } from "../../src/config/live.ts";
import { loadConfig } from "../../src/config/load.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import { noteAnswer } from "./answers.ts";
import { placeNewDatabase } from "./new-database.ts";
import { type TestDatabase, testPostgres } from "./postgres.ts";

export interface TestAppOptions {
  /** The configuration in its file form. The test sets data_dir, host and port. */
  config?: Record<string, unknown>;
  /** The name of the prepared account. Programs that share a database need different names. */
  name?: string;
  /** The plan of the prepared account. */
  tier?: "free" | "pro" | "premium";
  /** Further columns of the prepared account and of its key. */
  account?: { trialEndsAtMs?: number; subscriptionUntilMs?: number; emailVerified?: boolean };
  key?: { rpm?: number; budgetMicros?: number; expiresAtMs?: number };
  /** The system clock, unless a test controls the time. */
  clock?: Clock;
  /** The program's own intervals, unless a test needs shorter ones. */
  hasher?: PasswordHasher;
  /**
   * How long the headers of a stream wait for its first event: the program's 10 s, unless a test needs a shorter time.
   */
  peekMs?: number;
}

export interface TestApp {
  readonly url: string;
  /** A key of the prepared account. */
  key: string;
  accountId: string;
  dataDir: string;
  /** The program's database, opened once more; close it. */
  openStore(clock?: Clock): Promise<Store>;
  /** The log lines so far, parsed. */
  logs: Record<string, unknown>[];
  /** `fetch` with the key, and JSON for an object body. */
  call(path: string, init?: CallInit): Promise<Response>;
  /** Sends a POST request with the key and a JSON body. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Resolves when everything that was logged so far is in `logs`. */
  flushLogs(): Promise<void>;
  /** Every route of the program. */
  routes(): readonly { method: string; path: string }[];
  /** Replaces the configuration of the running program. */
  reconfigure(config: Record<string, unknown>): Promise<void>;
  /** Stops the program and starts it again with the same data; `url` changes unless the port is kept. */
  restart(config?: Record<string, unknown>, port?: "kept"): Promise<void>;
  stop(): Promise<void>;
}

type CallInit = Omit<RequestInit, "headers"> & { headers?: Record<string, string> };

/** Starts the gateway. Stop it in afterAll. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-test-"));
  const own = options.config?.["database"] === undefined ? await ownDatabase(dataDir) : undefined;
  const place = own === undefined ? {} : { database: { url: own.url }, node: { name: "test" } };
  const { key, accountId } = await prepare(dataDir, { ...options, config: { ...options.config, ...place } });
  const file = join(dataDir, "test.yaml");
  const configure = (config: Record<string, unknown> = {}) =>
    Bun.write(file, JSON.stringify({ ...config, ...place, data_dir: dataDir }));
  await configure(options.config);
  let port = 0;
  const load = () => loadConfig({ file, dataDir, host: "127.0.0.1", port, env: {} });
  const logs: Record<string, unknown>[] = [];
  const log = logInto(logs);
  const hasher = options.hasher === undefined ? {} : { hasher: options.hasher };
  const start = async () => {
    const loaded = load();
    if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
    const live = new LiveConfig(loaded, load);
    const { clock = systemClock, peekMs } = options;
    return { live, app: await startApp(live, log, { clock, peekMs, ...hasher }) };
  };
  let running: Awaited<ReturnType<typeof start>> | undefined = await start();
  let { url } = running.app;
  const started = () => {
    if (running === undefined) throw new Error("The gateway has been stopped.");
    return running;
  };
  const call = (path: string, init: CallInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  return {
    get url() {
      return url;
    },
    key,
    accountId,
    dataDir,
    openStore: (clock = systemClock) =>
      openDatabase({ dataDir, database: { url: own?.url ?? urlOf(options.config) } }, { clock }),
    logs,
    call,
    post: (path, body, headers = {}) =>
      call(path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", ...headers },
      }),
    flushLogs: () => log.flush(),
    routes: () => started().app.routes(),
    async reconfigure(config) {
      await configure(config);
      const result = started().live.reload();
      if (!result.ok) throw new Error(result.problems.join("\n"));
      started().app.reconfigured();
    },
    async restart(config = options.config, wanted) {
      port = wanted === "kept" ? Number(new URL(url).port) : 0;
      await running?.app.stop(1000);
      await configure(config);
      running = await start();
      url = running.app.url;
    },
    async stop() {
      await running?.app.stop(1000);
      // The file of a test stays in memory. The gateway of each would slow down every garbage collection after it.
      running = undefined;
      await log.flush();
      await own?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A log whose lines are put into a list. */
function logInto(logs: Record<string, unknown>[]) {
  return createLogger({
    level: "debug",
    format: "json",
    clock: systemClock,
    secrets: [],
    write: (text) => {
      for (const line of text.split("\n")) {
        if (line === "") continue;
        const fields = JSON.parse(line) as Record<string, unknown>;
        noteAnswer(fields);
        logs.push(fields);
      }
    },
  });
}

function urlOf(config: Record<string, unknown> = {}): string {
  const { url = "" } = (config["database"] ?? {}) as { url?: string };
  return url;
}

/** A database of this program alone, if the tests are to run on PostgreSQL. */
async function ownDatabase(dataDir: string): Promise<TestDatabase | undefined> {
  if (process.env["TEST_ENGINE"] !== "postgres") return undefined;
  const server = await testPostgres();
  return server.copyOf("app", async (url) => (await openDatabase({ dataDir, database: { url } })).close());
}

async function prepare(dataDir: string, options: TestAppOptions): Promise<{ key: string; accountId: string }> {
  const url = urlOf(options.config);
  if (url === "") placeNewDatabase(dataDir);
  const store = await openDatabase({ dataDir, database: { url } });
  try {
    const { name = "tester" } = options;
    const account = await accountStore(store).createAccount({
      username: name,
      email: `${name}@example.com`,
      tier: options.tier ?? "premium",
      emailVerified: true,
      ...options.account,
    });
    if ("refused" in account) throw new Error(account.refused);
    const { key } = await keyStore(store).createKey({ accountId: account.id, name: "test", ...options.key });
    return { key, accountId: account.id };
  } finally {
    await store.close();
  }
}
