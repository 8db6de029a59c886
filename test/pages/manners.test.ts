import { describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { createManners, type JobTurn, type Manners } from "../../src/pages/manners.ts";
import { PoolFull } from "../../src/workers/pool.ts";

const HOST = { host: "a.example", delayMs: 0 };
const OTHER = { host: "b.example", delayMs: 0 };
const job = (id: string, accountId = "account") => ({ id, accountId });
const never = new AbortController().signal;

/** Lets everybody go on who can. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** Starts turns by name and remembers the order in which they came. */
function line(manners: Manners) {
  const order: string[] = [];
  const turns = new Map<string, JobTurn>();
  return {
    order,
    job: (name: string, id: string, claim: typeof HOST | undefined, account?: string) =>
      void manners.work(job(id, account), claim, never).then((turn) => {
        order.push(name);
        turns.set(name, turn);
      }),
    single: (name: string, claim: typeof HOST) =>
      void manners.ask(claim).then((leave) => {
        order.push(name);
        turns.set(name, { leaveHost: leave, end: leave });
      }),
    end: async (name: string) => {
      turns.get(name)?.end();
      await settle();
    },
    leaveHost: async (name: string) => {
      turns.get(name)?.leaveHost();
      await settle();
    },
  };
}

describe("one host", () => {
  test("is asked for four pages at once, whoever asks", async () => {
    const manners = createManners(new FakeClock(), () => 8);
    const { order, job, single, end, leaveHost } = line(manners);
    for (const n of [1, 2, 3]) job(`one ${n}`, "one", HOST);
    for (const n of [1, 2, 3]) job(`two ${n}`, "two", HOST);
    single("single", HOST);
    job("elsewhere", "two", OTHER);
    await settle();
    // Each job has its share of the four; the single page goes before the rest.
    expect(order).toEqual(["one 1", "one 2", "one 3", "two 1", "elsewhere"]);
    expect(manners.load()).toEqual({ running: 5, waiting: 3 });
    await end("one 1");
    expect(order.slice(5)).toEqual(["single"]);
    // A page that has been answered makes room on the host while it is converted.
    await leaveHost("one 2");
    await end("one 2");
    await end("single");
    expect(order.slice(6)).toEqual(["two 2", "two 3"]);
    for (const name of ["one 3", "two 1", "two 2", "two 3", "elsewhere", "elsewhere"]) await end(name);
    expect(manners.load()).toEqual({ running: 0, waiting: 0 });
  });

  test("has its delay between any two starts", async () => {
    const manners = createManners({ now: () => performance.now() }, () => 8);
    const starts: number[] = [];
    const claim = { host: "slow.example", delayMs: 40 };
    const turn = async (work: Promise<() => void>) => {
      const leave = await work;
      starts.push(performance.now());
      leave();
    };
    await Promise.all([
      turn(manners.ask(claim)),
      turn(manners.work(job("one"), claim, never).then(({ end }) => end)),
      turn(manners.work(job("two"), claim, never).then(({ end }) => end)),
      turn(manners.ask(claim)),
    ]);
    for (let n = 1; n < 4; n++) expect((starts[n] ?? 0) - (starts[n - 1] ?? 0)).toBeGreaterThan(38);
  });

  test("that wants a delay keeps nobody from another", async () => {
    const clock = new FakeClock();
    const { order, job } = line(createManners(clock, () => 2));
    for (const n of [1, 2, 3]) job(`slow ${n}`, "slow", { host: "slow.example", delayMs: 60_000 });
    job("quick", "quick", HOST);
    await settle();
    expect(order).toEqual(["slow 1", "quick"]);
  });

  test("is not silenced by a clock that was set back", async () => {
    const clock = new FakeClock();
    const manners = createManners(clock, () => 2);
    const claim = { host: "a.example", delayMs: 5 };
    (await manners.ask(claim))();
    clock.advance(-3_600_000);
    // Its delay at most, not an hour.
    const waits = manners.ask(claim);
    clock.advance(5);
    (await waits)();
  });
});

describe("jobs", () => {
  test("share the places evenly: a late small one does not wait for an early large one", async () => {
    const manners = createManners(new FakeClock(), () => 2);
    const { order, job, end } = line(manners);
    for (let n = 0; n < 50; n++) job(`large ${n}`, "large", { host: `${n}.example`, delayMs: 0 });
    for (let n = 0; n < 3; n++) job(`small ${n}`, "small", { host: `s${n}.example`, delayMs: 0 });
    await settle();
    expect(order).toEqual(["large 0", "large 1"]);
    await end("large 0");
    await end("large 1");
    await end("small 0");
    await end("small 1");
    expect(order).toEqual(["large 0", "large 1", "small 0", "large 2", "small 1", "small 2"]);
  });

  test("accounts share evenly, however many jobs each has", async () => {
    const { order, job, end } = line(createManners(new FakeClock(), () => 2));
    for (const n of [0, 1, 2, 3, 4]) job(`many ${n}`, `many ${n}`, { host: `${n}.example`, delayMs: 0 }, "many");
    for (const n of [0, 1, 2]) job(`one ${n}`, "one", { host: `o${n}.example`, delayMs: 0 }, "one");
    await settle();
    for (const name of ["many 0", "one 0", "one 1", "many 1"]) await end(name);
    expect(order).toEqual(["many 0", "many 1", "one 0", "one 1", "one 2", "many 2"]);
  });

  test("a page that was answered before waits for no host", async () => {
    const { order, job } = line(createManners(new FakeClock(), () => 8));
    for (let n = 0; n < 5; n++) job(`${n}`, "one", HOST);
    job("kept", "one", undefined);
    await settle();
    expect(order).toEqual(["0", "1", "2", "3", "kept"]);
  });

  test("single pages take no place of theirs", async () => {
    const { order, job, single } = line(createManners(new FakeClock(), () => 1));
    job("job", "one", HOST);
    single("single", OTHER);
    await settle();
    expect(order).toEqual(["job", "single"]);
  });
});

test("who gives up leaves the line", async () => {
  const manners = createManners(new FakeClock(), () => 1);
  const first = await manners.work(job("one"), HOST, never);
  const abort = new AbortController();
  const second = manners.work(job("two"), HOST, abort.signal);
  abort.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await expect(manners.ask(HOST, abort.signal)).rejects.toThrow("enough");
  expect(manners.load()).toEqual({ running: 1, waiting: 0 });
  first.end();
  expect(manners.load()).toEqual({ running: 0, waiting: 0 });
});

test("the line has an end", async () => {
  const manners = createManners(new FakeClock(), () => 1);
  const stop = new AbortController();
  const all = Array.from({ length: 5004 }, () => manners.ask(HOST, stop.signal).catch(() => undefined));
  await expect(manners.ask(HOST)).rejects.toThrow(PoolFull);
  stop.abort();
  await Promise.all(all);
});
