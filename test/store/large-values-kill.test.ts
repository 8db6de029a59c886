// A program that is killed by SIGKILL while it stores answers and threads of megabytes, and its successor with the same data. The
// killed programs are real processes.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "../../src/base/clock.ts";
import { openStore, type SqliteStore } from "../../src/store/engine/open.ts";
import { type Verbs, verbsOf } from "../../src/store/verbs.ts";
import { expiredValuesSweep } from "../../src/store/work/large-values.ts";

const BYTES = 3_500_000;
const PARTS = 4;
const LATER = 1e15;
const EXPIRED_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "sallyport-large-kill-"));
const dataDir = join(folder, "data");
const source = (path: string) => JSON.stringify(join(import.meta.dir, "../../src", path));
let accountId: string;

/** Opens the database as the next program does, and closes it after `use`. */
async function reopened(use: (opened: { store: SqliteStore; verbs: Verbs; clock: FakeClock }) => Promise<void>) {
  const clock = new FakeClock();
  const store = openStore({ dataDir, clock });
  try {
    await use({ store, clock, verbs: verbsOf(store, () => 1e12) });
  } finally {
    store.close();
  }
}

const name = () => ({ accountId, kind: "thread" as const, threadId: "t" });
const thread = (fill: number) => ({
  ...{ ...name(), model: "m", messages: 1, tokens: 1 },
  ...{ state: Buffer.alloc(BYTES, fill), expiresAtMs: LATER },
});
beforeAll(async () => {
  await reopened(async ({ verbs }) => {
    const made = await verbs.accounts.createAccount({ username: "k", email: "k@x.example", tier: "free" });
    accountId = "id" in made ? made.id : "";
    await verbs.threads.saveThread(thread(1));
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Starts a program that runs `write` with the store's `verbs`, and in each turn of its event loop, so between any two statements,
 * looks whether the SQL expression `killedWhen` is true. It then kills itself as the system would.
 */
function writer(write: string, killedWhen: string) {
  const script = `
    const { FakeClock } = await import(${source("base/clock.ts")});
    const { openStore } = await import(${source("store/engine/open.ts")});
    const { verbsOf } = await import(${source("store/verbs.ts")});
    const store = openStore({ dataDir: ${JSON.stringify(dataDir)}, clock: new FakeClock() });
    const verbs = verbsOf(store, () => 1e12);
    const accountId = ${JSON.stringify(accountId)};
    const response = (id) => ({
      id, accountId, model: "m", previousId: null, provider: null, upstreamId: null,
      input: ["a".repeat(${BYTES})], body: { output: [{ id: "item-" + id }] }, expiresAtMs: ${LATER},
    });
    const killed = store.sqlite.query(${JSON.stringify(`SELECT ${killedWhen} AS yes`)});
    const look = () => {
      if (killed.get().yes) process.kill(process.pid, "SIGKILL");
      setImmediate(look);
    };
    look();
    ${write}`;
  return Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
}

/** The last value is begun, and has this number of parts. */
const withParts = (parts: number) =>
  `(SELECT COUNT(*) FROM large_values WHERE expires_at IS NOT NULL) = 1 AND ${parts} = (SELECT COUNT(*) FROM large_value_parts
    WHERE value_id IN (SELECT id FROM large_values WHERE expires_at IS NOT NULL))`;

/** Deletes what a killed program began; `begun` is how many values that must be. */
async function sweeps({ store, clock }: { store: SqliteStore; clock: FakeClock }, begun: number): Promise<void> {
  const sweep = expiredValuesSweep(store);
  expect(await sweep()).toBe(0);
  clock.advance(EXPIRED_MS);
  expect([await sweep(), await sweep()]).toEqual([begun, 0]);
  const whole = store.sqlite.query(
    "SELECT COUNT(*) AS n, (SELECT COUNT(*) FROM large_value_parts) AS parts FROM large_values",
  );
  const { n, parts } = whole.get() as { n: number; parts: number };
  expect(parts).toBe(n * PARTS);
}

const isWhole = (found: { input: readonly unknown[] } | undefined) => found?.input[0] === "a".repeat(BYTES);

test.each([
  ["before its first part", withParts(0), false],
  ["after its first part", withParts(1), false],
  ["after its last part", withParts(PARTS), false],
  ["after its row", "EXISTS (SELECT 1 FROM responses WHERE id = 'new')", true],
])(
  "a response is whole or absent if the program is killed %s",
  async (_, killedWhen, stored) => {
    const child = writer(
      `await verbs.responses.saveResponse(response("new")); setInterval(() => {}, 1000);`,
      killedWhen,
    );
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await reopened(async (opened) => {
      expect(opened.store.integrityCheck()).toEqual([]);
      const found = await opened.verbs.responses.findResponse(accountId, "new");
      expect([found !== undefined, isWhole(found)]).toEqual([stored, stored]);
      await sweeps(opened, stored ? 0 : 1);
      if (stored) expect(await opened.verbs.responses.deleteResponse(accountId, "new")).toBe(true);
    });
  },
  30_000,
);

test.each([
  ["after the first part of its next content", withParts(1), 1],
  ["after the last part of its next content", withParts(PARTS), 1],
  ["after its row is changed", "(SELECT messages FROM threads) = 2", 2],
])(
  "a thread has its old content or its new one if the program is killed %s",
  async (_, killedWhen, fill) => {
    const write = `await verbs.threads.saveThread({
      accountId, kind: "thread", threadId: "t", model: "m", messages: 2, tokens: 1,
      state: Buffer.alloc(${BYTES}, 2), expiresAtMs: ${LATER},
    }); setInterval(() => {}, 1000);`;
    const child = writer(write, killedWhen);
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await reopened(async (opened) => {
      const found = await opened.verbs.threads.findThread(name());
      expect([found?.messages, found?.state.equals(Buffer.alloc(BYTES, fill))]).toEqual([fill, true]);
      await sweeps(opened, fill === 1 ? 1 : 0);
    });
  },
  30_000,
);

test("of responses stored one after the other, those that were told as stored are whole after a kill from outside", async () => {
  const child = writer(
    `for (let n = 0; ; n++) { await verbs.responses.saveResponse(response("r" + n)); console.log(n); }`,
    "0",
  );
  let told = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    told += text;
    if (told.split("\n").length > 3) child.kill("SIGKILL");
  }
  await child.exited;
  const stored = told.split("\n").length - 1;
  await reopened(async (opened) => {
    expect(opened.store.integrityCheck()).toEqual([]);
    const { verbs, store } = opened;
    const rows = store.sqlite.query("SELECT id FROM responses").all() as { id: string }[];
    expect(rows.length).toBeGreaterThanOrEqual(stored);
    for (const { id } of rows) expect(isWhole(await verbs.responses.findResponse(accountId, id))).toBe(true);
    const begun = store.sqlite.query("SELECT COUNT(*) AS n FROM large_values WHERE expires_at IS NOT NULL");
    await sweeps(opened, (begun.get() as { n: number }).n);
  });
}, 30_000);
