import { describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { createHostScheduler, type HostScheduler, type PageSlot } from "../../src/pages/schedule/host-scheduler.ts";
import { PoolFull } from "../../src/workers/pool.ts";
import { places } from "../support/places.ts";

const HOST = { host: "a.example", delayMs: 0 };
const OTHER = { host: "b.example", delayMs: 0 };
const job = (id: string, accountId = "account") => ({ id, accountId });
const never = new AbortController().signal;

/** Lets everything continue that can. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** Starts turns by name and records the order in which they began. */
function line(scheduler: HostScheduler) {
  const order: string[] = [];
  const turns = new Map<string, PageSlot>();
  return {
    order,
    job: (name: string, id: string, claim: typeof HOST | undefined, account?: string) =>
      void scheduler.work(job(id, account), claim, never).then((turn) => {
        order.push(name);
        turns.set(name, turn);
      }),
    single: (name: string, claim: typeof HOST) =>
      void scheduler.ask(claim).then((leave) => {
        order.push(name);
        turns.set(name, { leaveHost: leave, end: leave });
      }),
    end: async (name: string) => {
      turns.get(name)?.end();
      await settle();
    },
    visit: (name: string, account: string, claim: typeof HOST | undefined) =>
      void scheduler.visit(account, claim).then((turn) => {
        order.push(name);
        turns.set(name, turn);
      }),
    show: (name: string, account: string, claim: typeof HOST) =>
      void scheduler.show(account, claim).then((turn) => {
        order.push(name);
        turns.set(name, turn);
      }),
    leaveHost: async (name: string) => {
      turns.get(name)?.leaveHost();
      await settle();
    },
  };
}

describe("one host", () => {
  test("gets at most four requests at the same time, and one more of an account that has none there", async () => {
    const scheduler = createHostScheduler(new FakeClock(), places(9));
    const { order, job, end, leaveHost } = line(scheduler);
    for (const n of [1, 2, 3]) job(`one ${n}`, "one", HOST);
    for (const n of [1, 2, 3]) job(`two ${n}`, "two", HOST);
    job("elsewhere", "two", OTHER);
    await settle();
    // Each job gets its share of the four places.
    expect(order).toEqual(["one 1", "one 2", "one 3", "two 1", "elsewhere"]);
    job("newcomer", "three", HOST, "another account");
    job("second newcomer", "four", HOST, "third account");
    await settle();
    expect(order.slice(5)).toEqual(["newcomer"]);
    expect(scheduler.load()).toEqual({ running: 6, waiting: 3 });
    // The host has four requests in progress again: the next account without one there may start, the first may not.
    await end("one 1");
    expect(order.slice(6)).toEqual(["second newcomer"]);
    // While an answered page is converted, another page of the host can be loaded.
    await leaveHost("one 2");
    expect(order.slice(7)).toEqual([]);
    await leaveHost("newcomer");
    expect(order.slice(7)).toEqual(["two 2"]);
    await end("one 2");
    await end("second newcomer");
    expect(order.slice(8)).toEqual(["two 3"]);
    for (const name of ["newcomer", "one 3", "two 1", "two 2", "two 3", "elsewhere", "elsewhere"]) await end(name);
    expect(scheduler.load()).toEqual({ running: 0, waiting: 0 });
  });

  test("of one account that is slow does not block single pages of another account", async () => {
    const scheduler = createHostScheduler(new FakeClock(), places(9));
    const { order, job, visit, show } = line(scheduler);
    for (let n = 0; n < 20; n++) job(`job ${n}`, `${n}`, HOST);
    await settle();
    expect(order).toHaveLength(4);
    visit("own page", "account", HOST);
    await settle();
    expect(order).toHaveLength(4);
    visit("page", "another account", HOST);
    show("second page", "another account", HOST);
    await settle();
    expect(order.slice(4)).toEqual(["page"]);
  });

  test("has its delay between any two requests", async () => {
    const scheduler = createHostScheduler({ now: () => performance.now() }, places(8));
    const starts: number[] = [];
    const begunMs = performance.now();
    const claim = { host: "slow.example", delayMs: 40 };
    const turn = async (work: Promise<() => void>) => {
      const leave = await work;
      starts.push(performance.now());
      leave();
    };
    await Promise.all([
      turn(scheduler.ask(claim)),
      turn(scheduler.work(job("one"), claim, never).then(({ end }) => end)),
      turn(scheduler.work(job("two"), claim, never).then(({ end }) => end)),
      turn(scheduler.ask(claim)),
    ]);
    // From the beginning, since this test continues later than a request starts.
    for (let n = 1; n < 4; n++) expect((starts[n] ?? 0) - begunMs).toBeGreaterThanOrEqual(40 * n);
  });

  test("with a delay does not block requests to other hosts", async () => {
    const clock = new FakeClock();
    const { order, job } = line(createHostScheduler(clock, places(2)));
    for (const n of [1, 2, 3]) job(`slow ${n}`, "slow", { host: "slow.example", delayMs: 60_000 });
    job("quick", "quick", HOST);
    await settle();
    expect(order).toEqual(["slow 1", "quick"]);
  });

  test("is still used after the clock was set back", async () => {
    const clock = new FakeClock();
    const scheduler = createHostScheduler(clock, places(2));
    const claim = { host: "a.example", delayMs: 5 };
    (await scheduler.ask(claim))();
    clock.advance(-3_600_000);
    // It waits at most for its delay, not for an hour.
    const waits = scheduler.ask(claim);
    clock.advance(5);
    (await waits)();
  });
});

describe("jobs", () => {
  test("share the places evenly: a later small job does not wait for an earlier large one", async () => {
    const scheduler = createHostScheduler(new FakeClock(), places(2));
    const { order, job, end } = line(scheduler);
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
    const { order, job, end } = line(createHostScheduler(new FakeClock(), places(2)));
    for (const n of [0, 1, 2, 3, 4]) job(`many ${n}`, `many ${n}`, { host: `${n}.example`, delayMs: 0 }, "many");
    for (const n of [0, 1, 2]) job(`one ${n}`, "one", { host: `o${n}.example`, delayMs: 0 }, "one");
    await settle();
    for (const name of ["many 0", "one 0", "one 1", "many 1"]) await end(name);
    expect(order).toEqual(["many 0", "many 1", "one 0", "one 1", "one 2", "many 2"]);
  });

  test("a stored page waits for no host", async () => {
    const { order, job } = line(createHostScheduler(new FakeClock(), places(8)));
    for (let n = 0; n < 5; n++) job(`${n}`, "one", HOST);
    job("kept", "one", undefined);
    await settle();
    expect(order).toEqual(["0", "1", "2", "3", "kept"]);
  });

  test("single pages take no place of jobs", async () => {
    const { order, job, single } = line(createHostScheduler(new FakeClock(), places(1)));
    job("job", "one", HOST);
    single("single", OTHER);
    await settle();
    expect(order).toEqual(["job", "single"]);
  });
});

describe("single pages", () => {
  const away = (n: number) => ({ host: `${n}.example`, delayMs: 0 });

  test("have a fixed number of places, which accounts share evenly", async () => {
    const { order, visit, end } = line(createHostScheduler(new FakeClock(), places(2)));
    for (const n of [0, 1, 2, 3]) visit(`many ${n}`, "many", away(n));
    for (const n of [4, 5]) visit(`few ${n}`, "few", away(n));
    await settle();
    expect(order).toEqual(["many 0", "many 1"]);
    for (const name of ["many 0", "many 1", "few 4", "many 2"]) await end(name);
    expect(order.slice(2)).toEqual(["few 4", "many 2", "few 5", "many 3"]);
  });

  test("leave places to other accounts, however long the pages of one take", async () => {
    const { order, visit, end } = line(createHostScheduler(new FakeClock(), places(32)));
    for (let n = 0; n < 40; n++) visit(`${n}`, "slow", away(n));
    await settle();
    expect(order).toHaveLength(22);
    for (let n = 40; n < 80; n++) visit(`${n}`, "slow too", away(n));
    visit("other", "other", away(80));
    await settle();
    expect(order.at(-1)).toBe("other");
    // The places that slow pages give back go to others, as long as slow pages have most of them.
    await end("0");
    visit("another", "other", away(81));
    await settle();
    expect([order.at(-1), order.filter((name) => Number(name) < 40).length]).toEqual(["another", 22]);
  });

  test("take no place while they wait for their host, and free the host before their place", async () => {
    const { order, visit, leaveHost, end } = line(createHostScheduler(new FakeClock(), places(5)));
    for (const n of [0, 1, 2, 3, 4]) visit(`${n}`, "one", HOST);
    visit("elsewhere", "two", OTHER);
    visit("last", "two", undefined);
    await settle();
    expect(order).toEqual(["0", "1", "2", "3", "elsewhere"]);
    await leaveHost("0");
    expect(order).toHaveLength(5);
    await end("0");
    // The place goes to the one with fewer pages in progress, and the next place to the other.
    expect(order.slice(5)).toEqual(["last"]);
    await end("1");
    expect(order.slice(6)).toEqual(["4"]);
  });

  test("come before jobs at their host, after requests of pages in progress, and use separate places", async () => {
    const scheduler = createHostScheduler(new FakeClock(), places(3));
    const { order, job, visit, single, end } = line(scheduler);
    for (const n of [0, 1, 2]) job(`job ${n}`, "one", HOST);
    single("other", HOST);
    job("waiting", "two", HOST);
    visit("visit", "account", HOST);
    single("redirect", HOST);
    await settle();
    expect([order, scheduler.load()]).toEqual([["job 0", "job 1", "job 2", "other"], { running: 3, waiting: 3 }]);
    for (const name of ["job 0", "job 1", "job 2"]) await end(name);
    expect(order.slice(4)).toEqual(["redirect", "visit", "waiting"]);
  });

  test("may wait up to a limit, in total and per account", async () => {
    const scheduler = createHostScheduler(new FakeClock(), places(1));
    await scheduler.visit("first", undefined);
    const stop = new AbortController();
    const all: Promise<unknown>[] = [];
    const wait = (account: string) =>
      void all.push(scheduler.visit(account, undefined, stop.signal).catch(() => undefined));
    for (let n = 0; n < 250; n++) wait("eager");
    await expect(scheduler.visit("eager", undefined)).rejects.toThrow(PoolFull);
    for (let n = 0; n < 750; n++) wait(`account ${n % 5}`);
    await expect(scheduler.visit("late", undefined)).rejects.toThrow(PoolFull);
    // There is still room for other kinds of pages.
    (await scheduler.ask(HOST))();
    (await scheduler.work(job("job"), HOST, never)).end();
    stop.abort();
    await Promise.all(all);
    expect(scheduler.load().waiting).toBe(0);
  });
});

describe("pages in the browser", () => {
  const away = (n: number) => ({ host: `${n}.example`, delayMs: 0 });

  test("have a fixed number of places, which accounts share evenly", async () => {
    const { order, show, end } = line(createHostScheduler(new FakeClock(), places(2)));
    for (const n of [0, 1, 2, 3]) show(`many ${n}`, "many", away(n));
    for (const n of [4, 5]) show(`few ${n}`, "few", away(n));
    await settle();
    expect(order).toEqual(["many 0", "many 1"]);
    for (const name of ["many 0", "many 1", "few 4", "many 2"]) await end(name);
    expect(order.slice(2)).toEqual(["few 4", "many 2", "few 5", "many 3"]);
  });

  test("leave one place to other accounts, whatever other places these have", async () => {
    const { order, show, visit, job, end } = line(createHostScheduler(new FakeClock(), places(4)));
    for (let n = 0; n < 10; n++) show(`slow ${n}`, "slow", away(n));
    for (let n = 10; n < 13; n++) {
      visit(`visit ${n}`, "other", away(n));
      job(`job ${n}`, "job", away(n + 10), "other");
    }
    show("other", "other", away(30));
    await settle();
    expect(order.filter((name) => name.startsWith("slow"))).toEqual(["slow 0", "slow 1", "slow 2"]);
    expect(order.at(-1)).toBe("other");
    await end("other");
    show("again", "other", away(31));
    await settle();
    expect(order.at(-1)).toBe("again");
    await end("slow 0");
    expect(order.at(-1)).toBe("slow 3");
  });
});

test("a caller that gives up leaves the queue", async () => {
  const scheduler = createHostScheduler(new FakeClock(), places(1));
  const first = await scheduler.work(job("one"), HOST, never);
  const abort = new AbortController();
  const second = scheduler.work(job("two"), HOST, abort.signal);
  abort.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await expect(scheduler.ask(HOST, abort.signal)).rejects.toThrow("enough");
  expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
  first.end();
  expect(scheduler.load()).toEqual({ running: 0, waiting: 0 });
});

test("the length of the queue is limited", async () => {
  const scheduler = createHostScheduler(new FakeClock(), places(1));
  const stop = new AbortController();
  const all = Array.from({ length: 5004 }, () => scheduler.ask(HOST, stop.signal).catch(() => undefined));
  await expect(scheduler.ask(HOST)).rejects.toThrow(PoolFull);
  stop.abort();
  await Promise.all(all);
});
