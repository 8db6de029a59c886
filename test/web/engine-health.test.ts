import { expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { HealthBook } from "../../src/search/health.ts";
import { keepEngineHealth } from "../../src/web/engine-health.ts";

/** One value that several nodes change. */
function shared() {
  let value: unknown;
  return {
    readSetting: async () => structuredClone(value),
    changeSetting: async <T>(_: string, change: (value: unknown) => T): Promise<T> => {
      const next = change(structuredClone(value));
      value = JSON.parse(JSON.stringify(next));
      return next;
    },
  };
}

test("what two nodes know of the search engines is kept together", async () => {
  const store = shared();
  const node = () => {
    const book = new HealthBook(new FakeClock());
    return { book, kept: keepEngineHealth(book, store, (error) => expect(error).toBeUndefined()) };
  };
  const [one, other] = [node(), node()];
  const at = (lastOkAtMs?: number, failedAtMs?: number) => ({
    lastOkAtMs,
    failingSinceMs: failedAtMs,
    lastError: failedAtMs === undefined ? undefined : { kind: "http", message: `at ${failedAtMs}`, atMs: failedAtMs },
  });
  one.book.restore({ only: at(5), both: at(10), failing: at(1, 7) } as never);
  other.book.restore({ mine: at(6), both: at(20), failing: at(2, 4), answered: at(undefined, 3) } as never);
  await one.kept.stop();
  await other.kept.stop();
  one.book.restore({ answered: at(9) } as never);
  await one.kept.stop();
  const third = node();
  third.kept.start();
  while (Object.keys(third.book.snapshot()).length === 0) await Bun.sleep(1);
  await third.kept.stop();
  const known = third.book.snapshot();
  expect(known["only"]?.lastOkAtMs).toBe(5);
  expect(known["mine"]?.lastOkAtMs).toBe(6);
  expect(known["both"]).toMatchObject({ lastOkAtMs: 20, failingSinceMs: undefined });
  expect(known["failing"]).toMatchObject({ lastOkAtMs: 2, failingSinceMs: 4, lastError: { atMs: 7 } });
  expect(known["answered"]).toMatchObject({ lastOkAtMs: 9, failingSinceMs: undefined, lastError: { atMs: 3 } });
});
