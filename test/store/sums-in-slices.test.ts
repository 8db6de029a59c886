// The sums of all accounts, which SQLite reads in slices: they are what one statement gives, and the event loop goes on meanwhile.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type SqliteStore } from "../../src/store/engine/open.ts";
import { GROUPS, type ReportQuery } from "../../src/store/usage/report.ts";
import { usageStore } from "../../src/store/usage/usage.ts";

const ROWS = 9000;
const DAY = 20_000;
const HOUR = DAY * 24;
/** Names of each kind whose order by bytes is not that of their UTF-16. */
const NAMES = ["a", "b", "é", "\u{ffee}", "\u{1f600}"];

const dataDir = mkdtempSync(join(tmpdir(), "sallyport-slices-"));
let store: SqliteStore;
afterAll(() => {
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeAll(async () => {
  store = openStore({ dataDir });
  const counter = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${ROWS})`;
  const sums = "requests, errors, input_tokens, output_tokens, cost_micros";
  const values = "i % 7 + 1, i % 2, i, i * 2, i % 11";
  const name = `CASE i % 5 ${NAMES.map((one, at) => `WHEN ${at} THEN '${one}'`).join(" ")} END`;
  const key = `'account ' || (i % 40), 'key ' || (i / 2), ${name}`;
  const into = (table: string, columns: string, own: string, more: string, amounts: string) =>
    store.statement(`INSERT INTO ${table} (${columns}, ${more}) ${counter} SELECT ${own}, ${amounts} FROM n`).run();
  const ids = "account_id, key_id, model";
  await into("usage_daily", `day, ${ids}`, `${DAY} + i % 3, ${key}`, sums, values);
  await into("usage_hourly", `hour, ${ids}`, `${HOUR} + i % 3, ${key}`, sums, values);
  for (const kind of ["tag", "project"]) {
    const own = `'day', ${DAY} + i % 3, '${kind}', ${name} || (i % 9), ${key}`;
    await into("usage_labels", `unit, start, kind, name, ${ids}`, own, sums, values);
  }
  const histogram = `unit, start, ${ids}, status_class, bucket`;
  await into(
    "usage_latency",
    histogram,
    `'day', ${DAY} + i % 3, ${key}, 2 + i % 3, i % 20`,
    "requests, first_bytes",
    "1, i % 2",
  );
});

/** Reads with one statement. PostgreSQL is read so. */
const atOnce = () => usageStore({ ...store, engine: "postgres" });
type Usage = ReturnType<typeof usageStore>;

const SPAN = { unit: "day", from: DAY, to: DAY + 2 } as const;
const report = (query: Partial<ReportQuery>) => (usage: Usage) =>
  usage.sumsBy({ span: SPAN, perSlot: false, limit: 100_000, ...query });
const READS: Readonly<Record<string, (usage: Usage) => Promise<readonly unknown[]>>> = {
  "a report of everything": report({}),
  "a report by day": report({ perSlot: true }),
  ...Object.fromEntries(
    GROUPS.flatMap((by) =>
      [false, true].map((perSlot) => [`a report by ${by}${perSlot ? " and day" : ""}`, report({ by, perSlot })]),
    ),
  ),
  "a report of more groups than are wanted": report({ by: "key", limit: 500 }),
  "a report of more groups and days than are wanted": report({ by: "key", perSlot: true, limit: 500 }),
  "a report of one model": report({ by: "key", model: "a" }),
  "a report of some keys": report({ by: "model", keyIds: ["key 1", "key 4000"] }),
  "a report by hour": report({ span: { unit: "hour", from: HOUR, to: HOUR + 2 }, perSlot: true }),
  "sums by slot and model": (usage) => usage.sumsBySlot(SPAN, "model"),
  "sums by slot and key": (usage) => usage.sumsBySlot(SPAN, "keyId"),
  "latency by slot and key": (usage) => usage.latencyBySlot(SPAN, "keyId"),
  "latency by model": (usage) => usage.latencyByModel(SPAN),
};
/** Of one slot, a third of the rows. */
const OF_SLOT: typeof READS = {
  "sums of an hour": (usage) => usage.sumsOfHour(HOUR),
  "sums of a day": (usage) => usage.sumsOfDay(DAY + 1),
};

test.each(Object.entries({ ...READS, ...OF_SLOT }))(
  "%s of all accounts: as by one statement, in slices",
  async (name, read) => {
    let turns = 0;
    let isOver = false;
    const count = () => {
      if (isOver) return;
      turns++;
      setImmediate(count);
    };
    setImmediate(count);
    const found = await read(usageStore(store));
    isOver = true;
    expect(found).toEqual((await read(atOnce())) as never);
    expect(found.length).toBeGreaterThan(0);
    expect(turns).toBeGreaterThanOrEqual(name in OF_SLOT ? 1 : 4);
  },
);

test("a span without sums", async () => {
  const span = { unit: "day", from: 1, to: 5 } as const;
  expect(await usageStore(store).sumsBy({ span, perSlot: true, limit: 10 })).toEqual([]);
  expect(await usageStore(store).sumsBy({ span, perSlot: false, limit: 10 })).toEqual([]);
});
