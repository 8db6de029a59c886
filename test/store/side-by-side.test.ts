// Upgrades several nodes one after the other. Versions whose migrations differ share a PostgreSQL database only if the
// migrations allow it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { VERSION } from "../../src/base/version.ts";
import { MIGRATIONS, type Migration } from "../../src/store/engine/migrate.ts";
import { KNOWN_STEPS, migratePostgres } from "../../src/store/engine/postgres/migrate.ts";
import { joinNodes } from "../../src/store/engine/postgres/nodes.ts";
import { openPostgres, type PostgresStore } from "../../src/store/engine/postgres/open.ts";
import { OWN_STEPS } from "../../src/store/engine/postgres/own-steps.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";

const server = HAS_POSTGRES ? await testPostgres() : undefined;
const STEPS = [...MIGRATIONS, ...OWN_STEPS];
const LAST = STEPS.at(-1)!.name;

const ADDED: Migration = { name: "9998_added", sql: "ALTER TABLE `accounts` ADD `colour` text", usableFrom: LAST };
const DROPPED: Migration = {
  name: "9999_dropped",
  sql: "ALTER TABLE `accounts` DROP COLUMN `colour`",
  usableFrom: ADDED.name,
};
const CHANGED: Migration = { name: "9998_changed", sql: "ALTER TABLE `accounts` RENAME COLUMN `email` TO `mail`" };

describe.skipIf(server === undefined)("versions that share a database", () => {
  let database: TestDatabase;
  let store: PostgresStore;
  beforeAll(async () => {
    database = await server!.database();
    store = await openPostgres({ url: database.url, dataDir: tmpdir() });
  });
  afterAll(async () => {
    await store?.close();
    await database?.drop();
  });

  /** Starts as a program does whose migrations are `steps`. */
  const start = async (steps: readonly Migration[], node = "later") => {
    return migratePostgres(store.pool, { nowMs: 0, create: true, node, steps });
  };
  /** Removes all migrations except `steps`. */
  const reset = async () => {
    await store.pool.query("DELETE FROM _migrations WHERE name >= '9' AND name < 'a'", []);
    await store.pool.query("ALTER TABLE accounts DROP COLUMN IF EXISTS colour", []);
    await store.pool.query("DELETE FROM nodes", []);
  };
  const seen = (name: string, steps: readonly string[], ago = 0) =>
    store.pool.query(
      `INSERT INTO nodes (name, version, url, started_at, seen_at, steps)
       VALUES ($1, '0.9.0', '', 0, extract(epoch FROM clock_timestamp()) * 1000 - $2, $3)`,
      [name, ago, steps.join(" ")],
    );

  test("an older program uses a database with a step that only adds, and applies nothing", async () => {
    await reset();
    expect(await start([...STEPS, ADDED])).toEqual([ADDED.name]);
    expect(await start(STEPS)).toEqual([]);
    const older = await openPostgres({ url: database.url, dataDir: tmpdir() });
    await older.close();
  });

  test("it is refused after a step that says nothing of older programs, and is told what to do", async () => {
    await reset();
    await store.pool.query("INSERT INTO _migrations (name, applied_at) VALUES ($1, 0)", [CHANGED.name]);
    const said = `newer version of Sallyport (it has migration ${CHANGED.name}). Upgrade this node.`;
    await expect(start(STEPS)).rejects.toThrow(said);
    await expect(openPostgres({ url: database.url, dataDir: tmpdir() })).rejects.toThrow(said);
  });

  test("what a release adds a later one may take away: the release between them uses the database, the one before does not", async () => {
    await reset();
    expect(await start([...STEPS, ADDED, DROPPED])).toEqual([ADDED.name, DROPPED.name]);
    expect(await start([...STEPS, ADDED])).toEqual([]);
    await expect(start(STEPS)).rejects.toThrow(`(${VERSION} or newer; it has migration ${DROPPED.name})`);
  });

  test("a step that a live node could not use is not applied; when that node is gone, it is", async () => {
    await reset();
    await seen("old", KNOWN_STEPS);
    await expect(start([...STEPS, ADDED, DROPPED])).rejects.toThrow(
      `The node old (version 0.9.0) could not use the database any more after migration ${DROPPED.name}. Stop all nodes`,
    );
    // All of them are applied, or none.
    expect(await start([...STEPS, ADDED])).toEqual([ADDED.name]);
    await store.pool.query("DELETE FROM nodes", []);
    await seen("old", KNOWN_STEPS, 60_000);
    expect(await start([...STEPS, ADDED, DROPPED])).toEqual([DROPPED.name]);
  });

  test("a program that starts again under its own name does not wait for itself", async () => {
    await reset();
    await seen("later", []);
    expect(await start([...STEPS, ADDED], "later")).toEqual([ADDED.name]);
  });

  test("a node tells the others which steps it knows", async () => {
    await reset();
    const place = await joinNodes({ url: database.url, name: "n", alone: false, problem: () => undefined });
    await place.appear(store);
    const { values } = await store.pool.query("SELECT steps FROM nodes WHERE name = 'n'", []);
    expect(String(values[0]?.[0]).split(" ")).toEqual([...KNOWN_STEPS]);
    await place.leave();
  });
});

// PostgreSQL's forms of what adds, and of what a later release takes away again. These triggers only tell other nodes, take the
// token of a claim away that an older program did not replace, add to the sum of an account's storage, or follow a column that older
// programs leave as it is. The unique index is one of a table that they do not know.
const SIDE_BY_SIDE =
  /^(?:CREATE TABLE|CREATE INDEX|CREATE UNIQUE INDEX .?agent_runs_open|CREATE (?:OR REPLACE )?FUNCTION|CREATE TRIGGER \S+_told |CREATE TRIGGER (?:thread_(?:item_)?rows|large_values)_(?:stored|removed) AFTER |CREATE TRIGGER (?:responses|threads|thread_items)_value_(?:named|changed|removed) AFTER |UPDATE account_storage SET bytes = bytes\s|DROP INDEX|DROP TABLE|ALTER TABLE \S+ DROP COLUMN|ALTER TABLE \S+ ADD (?!(?!.*DEFAULT).*NOT NULL|.*DEFAULT.*REFERENCES))/is;

test("a step that older programs can use adds, or takes away what they do not use, and says which ones", () => {
  const unfit = STEPS.filter(({ usableFrom }) => usableFrom !== undefined).flatMap(({ name, sql, usableFrom }) => {
    const isEarlier =
      KNOWN_STEPS.indexOf(usableFrom!) >= 0 && KNOWN_STEPS.indexOf(usableFrom!) < KNOWN_STEPS.indexOf(name);
    const statements = sql.split("--> statement-breakpoint").map((text) => text.trim());
    return [
      ...(isEarlier ? [] : [`${name}: ${usableFrom} is no earlier step`]),
      ...statements.filter((text) => !SIDE_BY_SIDE.test(text)).map((text) => `${name}: ${text}`),
    ];
  });
  expect(unfit).toEqual([]);
  expect([ADDED, DROPPED].filter(({ sql }) => !SIDE_BY_SIDE.test(sql))).toEqual([]);
  expect(SIDE_BY_SIDE.test(CHANGED.sql)).toBe(false);
  expect(SIDE_BY_SIDE.test("ALTER TABLE `a` ADD `b` text NOT NULL")).toBe(false);
  expect(SIDE_BY_SIDE.test("ALTER TABLE `a` ADD `b` text DEFAULT '' NOT NULL")).toBe(true);
});
