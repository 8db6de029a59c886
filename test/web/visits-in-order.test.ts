import { expect, test } from "bun:test";
import { visitsInOrder } from "../../src/web/visits-in-order.ts";

const job = (id: string) => ({ id, lease: `lease of ${id}` });

test("visits of a job are stored one after the other, those of others meanwhile", async () => {
  const ends = new Map<string, () => void>();
  const began: string[] = [];
  const save = visitsInOrder((_job, visit: string) => {
    began.push(visit);
    return new Promise((resolve) => ends.set(visit, () => resolve(1)));
  });
  const [one, other] = [job("one"), job("other")];
  const all = [save(one, "a"), save(one, "b"), save(other, "c")];
  expect(began).toEqual(["a", "c"]);
  ends.get("a")?.();
  await all[0];
  while (began.length < 3) await Promise.resolve();
  expect(began).toEqual(["a", "c", "b"]);
  for (const end of ends.values()) end();
  expect(await Promise.all(all)).toEqual([1, 1, 1]);
});

test("after one that failed, none of its job is stored", async () => {
  const began: string[] = [];
  const save = visitsInOrder(async (_job, visit: string) => {
    began.push(visit);
    if (visit === "b") throw new Error("no answer");
    return 1;
  });
  const [one, again] = [job("one"), job("one")];
  const all = await Promise.allSettled(["a", "b", "c"].map((visit) => save(one, visit)));
  await expect(save(one, "d")).rejects.toThrow("no answer");
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  // The next claim of the job begins with what is stored.
  expect(await save(again, "b2")).toBe(1);
  expect(began).toEqual(["a", "b", "b2"]);
});
