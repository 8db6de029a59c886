import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { settingsStore } from "../../src/store/settings.ts";
import { Upkeep } from "../../src/store/upkeep.ts";
import { freshStore } from "./support.ts";

test("each sweep runs until nothing is left, and one that fails does not stop the others", async () => {
  const { store } = freshStore();
  const left = { a: 3, b: 2 };
  const errors: unknown[] = [];
  const boom = new Error("boom");
  const upkeep = new Upkeep(store, {
    sweeps: [
      async () => (left.a > 0 ? left.a-- : 0),
      async () => {
        throw boom;
      },
      async () => (left.b > 0 ? left.b-- : 0),
    ],
    onError: (error) => errors.push(error),
  });
  await upkeep.run();
  expect(left).toEqual({ a: 0, b: 0 });
  expect(errors).toEqual([boom]);
});

test("the log is emptied and pages that were freed go back to the file system", async () => {
  const { store, dataDir } = freshStore();
  const settings = settingsStore(store);
  await settings.writeSetting("big", "x".repeat(4_000_000));
  store.checkpoint();
  const full = statSync(join(dataDir, "sallyport.db")).size;
  await settings.deleteSetting("big");
  await new Upkeep(store, { sweeps: [], freePagesKept: 100 }).run();
  expect(statSync(join(dataDir, "sallyport.db-wal")).size).toBe(0);
  expect(statSync(join(dataDir, "sallyport.db")).size).toBeLessThan(full - 3_000_000);
  expect(store.integrityCheck()).toEqual([]);
});

test("it runs by itself, again and again, and stops when told, in the middle too", async () => {
  const { store } = freshStore();
  let rounds = 0;
  const { promise: third, resolve } = Promise.withResolvers<void>();
  const upkeep = new Upkeep(store, {
    intervalMs: 1,
    sweeps: [
      async () => {
        rounds += 1;
        if (rounds === 3) resolve();
        // From the third round on there is always more to do.
        return rounds < 3 ? 0 : 1;
      },
    ],
  });
  upkeep.start();
  await third;
  await upkeep.stop();
  const at = rounds;
  upkeep.start();
  await new Promise((done) => setTimeout(done, 5));
  expect(rounds).toBe(at);
});
