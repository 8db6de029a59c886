// The engines that the contract tests. A further engine is one more entry: how it is opened, and whether it is
// available.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "../../../src/base/clock.ts";
import { openStore, type SqliteStore as Store } from "../../../src/store/engine/open.ts";
import { openPostgres, type PostgresStore } from "../../../src/store/engine/postgres/open.ts";
import { type Verbs, verbsOf } from "../../../src/store/verbs.ts";
import { placeNewDatabase } from "../../support/new-database.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../../support/postgres.ts";

/** A database that nothing else uses. */
export interface Opened {
  readonly verbs: Verbs;
  readonly clock: FakeClock;
  /** The verbs over a separate connection, as another process has. */
  again(): Promise<Verbs>;
  close(): Promise<void>;
}

/** A kind of database in which the store can keep its tables. */
export interface Engine {
  readonly name: string;
  /** Whether it is available here. */
  available(): Promise<boolean>;
  open(): Promise<Opened>;
}

/** How much an account may store in every test of the contract. */
export const STORAGE_BYTES = 10_000;

const sqlite: Engine = {
  name: "SQLite",
  available: async () => true,
  async open() {
    const dir = mkdtempSync(join(tmpdir(), "sallyport-contract-"));
    const clock = new FakeClock();
    const stores: Store[] = [];
    const dataDir = join(dir, "data");
    placeNewDatabase(dataDir);
    const connect = async () => {
      const store = openStore({ dataDir, clock });
      stores.push(store);
      return verbsOf(store, () => STORAGE_BYTES);
    };
    return {
      verbs: await connect(),
      clock,
      again: connect,
      async close() {
        for (const store of stores.reverse()) store.close();
        rmSync(dir, { recursive: true, force: true });
      },
    };
  },
};

/** Cases of concurrency need two connections, and a test opens several stores. */
const CONNECTIONS = 3;

/** Databases that were emptied and can be used again. */
const spare: TestDatabase[] = [];

const postgres: Engine = {
  name: "PostgreSQL",
  async available() {
    if (!HAS_POSTGRES) return false;
    // Created here and not within a test, which has less time.
    spare.push(await database());
    return true;
  },
  async open() {
    const dir = mkdtempSync(join(tmpdir(), "sallyport-contract-"));
    const own = spare.pop() ?? (await database());
    const clock = new FakeClock();
    const stores: PostgresStore[] = [];
    const connect = async () => {
      const store = await openPostgres({ url: own.url, dataDir: dir, clock, connections: CONNECTIONS });
      stores.push(store);
      return verbsOf(store, () => STORAGE_BYTES);
    };
    return {
      verbs: await connect(),
      clock,
      again: connect,
      async close() {
        await Promise.all(stores.map((store) => store.close()));
        await own.clear();
        spare.push(own);
        rmSync(dir, { recursive: true, force: true });
      },
    };
  },
};

async function database(): Promise<TestDatabase> {
  const server = await testPostgres();
  return server.copyOf("contract", async (url) => (await openPostgres({ url, dataDir: tmpdir() })).close());
}

/** All engines. */
export const ENGINES: readonly Engine[] = [sqlite, postgres];
