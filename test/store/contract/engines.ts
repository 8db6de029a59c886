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
  /** Ends the connections that it keeps for the next test. */
  end(): Promise<void>;
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
  end: async () => undefined,
};

/** Cases of concurrency need two connections, and a test opens several stores. */
const CONNECTIONS = 3;

/** A database with the stores that were opened on it. Opening one makes three connections, which costs more than most tests. */
interface Kept {
  readonly database: TestDatabase;
  readonly stores: PostgresStore[];
  /** The clock of the test that uses it. */
  clock: FakeClock;
}

/** Databases that were emptied and can be used again. */
const spare: Kept[] = [];

const postgres: Engine = {
  name: "PostgreSQL",
  async available() {
    if (!HAS_POSTGRES) return false;
    // Created here and not within a test, which has less time.
    spare.push(await emptyDatabase());
    return true;
  },
  async open() {
    const kept = spare.pop() ?? (await emptyDatabase());
    kept.clock = new FakeClock();
    let taken = 0;
    const connect = async () => {
      const at = taken++;
      kept.stores[at] ??= await connected(kept);
      return verbsOf(kept.stores[at], () => STORAGE_BYTES);
    };
    return {
      verbs: await connect(),
      clock: kept.clock,
      again: connect,
      async close() {
        await kept.database.clear();
        spare.push(kept);
      },
    };
  },
  async end() {
    await Promise.all(spare.splice(0).flatMap(({ stores }) => stores.map((store) => store.close())));
  },
};

/** Opens one more store on the database, whose clock is that of the test that uses it. */
function connected(kept: Kept): Promise<PostgresStore> {
  const clock = { now: () => kept.clock.now() };
  return openPostgres({ url: kept.database.url, dataDir: tmpdir(), clock, connections: CONNECTIONS });
}

async function emptyDatabase(): Promise<Kept> {
  const server = await testPostgres();
  const prepare = async (url: string) => (await openPostgres({ url, dataDir: tmpdir() })).close();
  return { database: await server.copyOf("contract", prepare), stores: [], clock: new FakeClock() };
}

/** All engines. */
export const ENGINES: readonly Engine[] = [sqlite, postgres];
