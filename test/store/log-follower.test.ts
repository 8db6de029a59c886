import { expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { LogFollower } from "../../src/store/usage/log-follower.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { freshStore, usageRecord } from "./support.ts";

async function setUp() {
  const { store, clock } = freshStore();
  const account = await accountStore(store).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
  if (!("id" in account)) throw new Error("no account");
  const usage = usageStore(store);
  const write = async (requestId: string, model: string) => {
    const record = usageRecord({ accountId: account.id, requestId, model });
    await usage.writeUsage({
      id: crypto.randomUUID(),
      rows: [{ record, uid: crypto.randomUUID(), repeats: 1 }],
      sums: [],
    });
  };
  return { usage, clock, write };
}

test("a rare match is not searched for again in rows that were read long ago", async () => {
  const { usage, clock, write } = await setUp();
  const asked: number[] = [];
  const verbs: Pick<typeof usage, "followLog" | "lastLogId"> = {
    lastLogId: usage.lastLogId,
    followLog: (filter, after, limit) => {
      asked.push(after);
      return usage.followLog(filter, after, limit);
    },
  };
  const follower = new LogFollower({ usage: verbs, clock }, { model: "rare" }, 0);
  for (let second = 0; second < 30; second++) {
    await write(`r${second}`, second === 20 ? "rare" : "common");
    const found = (await follower.next()).map(({ requestId }) => requestId);
    expect(found).toEqual(second === 20 ? ["r20"] : []);
    clock.advance(1000);
  }
  const last = await usage.lastLogId();
  expect(asked.at(-1)).toBeGreaterThanOrEqual(last - 12);
  expect(asked.at(-1)).toBeLessThan(last);
});

test("a row that becomes visible after a later one is returned, once", async () => {
  const { usage, clock, write } = await setUp();
  let hidden = "late";
  const verbs: Pick<typeof usage, "followLog" | "lastLogId"> = {
    lastLogId: usage.lastLogId,
    followLog: async (...query) => (await usage.followLog(...query)).filter(({ requestId }) => requestId !== hidden),
  };
  const follower = new LogFollower({ usage: verbs, clock }, {}, 0);
  await write("late", "m");
  await write("early", "m");
  const next = async () => {
    clock.advance(1000);
    return (await follower.next()).map(({ requestId }) => requestId);
  };
  expect(await next()).toEqual(["early"]);
  for (let second = 0; second < 8; second++) expect(await next()).toEqual([]);
  hidden = "";
  expect(await next()).toEqual(["late"]);
  for (let second = 0; second < 15; second++) expect(await next()).toEqual([]);
});
