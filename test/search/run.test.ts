import { afterEach, describe, expect, test } from "bun:test";
import { SearchError } from "../../src/search/failure.ts";
import { SUSPENDS } from "../../src/search/suspensions.ts";
import { whileSteady } from "../support/real-time.ts";
import { bread, fails, nobody, pages, silent, startToys, type Toys, toyEngine } from "./toy-engines.ts";

let toys: Toys;
afterEach(() => toys.stop());

const run = (more: Parameters<typeof bread>[0] = {}) => toys.search.search(bread(more), nobody());
const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);

/** The error of a search that must fail. */
async function failure(more: Parameters<typeof bread>[0] = {}): Promise<SearchError> {
  const error = await run(more).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SearchError)) throw new Error("The search did not fail.", { cause: error });
  return error;
}

describe("an answer", () => {
  test("is merged from the results of all engines", async () => {
    toys = startToys({
      a: () => pages("a", 3, ["https://both.example/"]),
      b: () => pages("b", 3, ["https://both.example"]),
    });
    const { results, unresponsive } = await run();
    expect(results).toHaveLength(5);
    expect(results[0]).toMatchObject({ engines: ["a", "b"], score: 1, category: "general" });
    expect(unresponsive).toEqual([]);
    expect(toys.outcomes.sort()).toEqual(["a ok", "b ok"]);
  });

  test("without results is an answer", async () => {
    toys = startToys({ a: () => Response.json([]) });
    expect(await run()).toEqual({ results: [], suggestions: [], corrections: [], unresponsive: [] });
  });

  test("has the suggestions and corrections that engines give, each once and never the query", async () => {
    const more = { suggestions: ["bread rolls", "Bread", "bread ROLLS"], corrections: ["breads"] };
    toys = startToys({ a: () => Response.json({ kind: "hits", hits: [], ...more }) });
    expect(await run()).toMatchObject({ suggestions: ["bread rolls"], corrections: ["breads"] });
  });

  test("names the engines that failed, and why", async () => {
    toys = startToys({
      good: () => pages("good", 5),
      lying: () =>
        Response.json(["x", "y", "z"].map((name) => ({ url: `https://${name}.example/`, title: name, snippet: "" }))),
      captcha: fails("captcha"),
      broken: () => new Response("no", { status: 503 }),
      rate: fails("rate_limited", 60_000),
    });
    const { results, unresponsive } = await run();
    expect(new Set(results.flatMap(({ engines }) => engines))).toEqual(new Set(["good"]));
    expect(Object.fromEntries(unresponsive.map(({ name, reason }) => [name, reason]))).toEqual({
      lying: "unrelated",
      captcha: "captcha",
      broken: "server_error",
      rate: "rate_limited",
    });
  });
});

describe("hits without words of the query", () => {
  const titled =
    (name: string, count: number, shared: readonly string[] = []) =>
    () =>
      Response.json(
        [...shared, ...Array.from({ length: count }, (_, at) => `https://${name}.example/${at}`)].map((url) => ({
          url,
          title: "Kubernetes",
          snippet: "",
        })),
      );

  test("are used if no other engine has better ones", async () => {
    toys = startToys({ a: titled("a", 6), none: () => Response.json([]), few: () => pages("few", 2) });
    const { results, unresponsive } = await run();
    expect(results).toHaveLength(5);
    expect(unresponsive).toEqual([]);
  });

  test("are used if another engine has one of the pages too", async () => {
    toys = startToys({
      good: () => pages("good", 4, ["https://both.example/"]),
      agreed: titled("agreed", 4, ["https://both.example/"]),
      alone: titled("alone", 4),
      chained: titled("chained", 4, ["https://agreed.example/0"]),
    });
    const { results, unresponsive } = await run({ limit: 40 });
    expect(new Set(results.flatMap(({ engines }) => engines))).toEqual(new Set(["good", "agreed", "chained"]));
    expect(unresponsive).toEqual([{ name: "alone", reason: "unrelated" }]);
    expect(toys.search.engines().map(({ suspended }) => suspended)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("time", () => {
  const timed = (name: string, check: () => Promise<void>) => test(name, () => whileSteady(check));

  timed(
    "a slow engine is no longer waited for if there are enough results and its share of the time is over",
    async () => {
      toys = startToys({ quick: () => pages("quick", 5), slow: silent });
      const startedMs = performance.now();
      const { results, unresponsive } = await run({ timeoutMs: 2000 });
      expect(performance.now() - startedMs).toBeLessThan(1500);
      expect(results).toHaveLength(5);
      expect(unresponsive).toEqual([{ name: "slow", reason: "too slow" }]);
      expect(toys.search.engines().find(({ name }) => name === "slow")).toMatchObject({
        failed: 0,
        suspended: undefined,
      });
    },
  );

  timed("further engines are called at once if the first return too few results", async () => {
    const first = Array.from({ length: 6 }, (_, index) => toyEngine(`first-${index}`, { weight: 2 }));
    toys = startToys(
      {
        ...Object.fromEntries(first.map(({ name }) => [name, () => pages(name, 0, ["https://one.example/"])])),
        next: () => pages("next", 5),
      },
      { engines: [...first, toyEngine("next")] },
    );
    const { results } = await run();
    expect(results).toHaveLength(5);
    expect(toys.asked("next")).toHaveLength(1);
  });

  timed("further engines are not called if the first return enough results", async () => {
    const first = Array.from({ length: 6 }, (_, index) => toyEngine(`first-${index}`, { weight: 2 }));
    const ways = Object.fromEntries(first.map(({ name }) => [name, () => pages(name, 3)]));
    toys = startToys({ ...ways, next: () => pages("next", 5) }, { engines: [...first, toyEngine("next")] });
    await run();
    expect(toys.asked("next")).toHaveLength(0);
  });

  timed("another engine is called for each that fails, while the rest are still running", async () => {
    const slow = Array.from({ length: 5 }, (_, index) => toyEngine(`slow-${index}`, { weight: 2 }));
    const ways = Object.fromEntries(slow.map(({ name }) => [name, silent]));
    toys = startToys(
      { ...ways, broken: fails("blocked"), next: () => pages("next", 5) },
      { engines: [...slow, toyEngine("broken", { weight: 2 }), toyEngine("next")] },
    );
    const answer = run({ timeoutMs: 1000 });
    await toys.wasAsked("next");
    expect((await answer).results).toHaveLength(5);
  });

  timed("an engine that exceeds its own time is reported, and still used while there is nothing else", async () => {
    const { promise: late, resolve } = Promise.withResolvers<Response>();
    toys = startToys({ a: () => late }, { engines: [toyEngine("a", { timeoutMs: 20 })] });
    const answer = run();
    while (toys.search.engines()[0]?.failed !== 1) await Bun.sleep(5);
    resolve(pages("a", 5));
    expect(await answer).toMatchObject({ unresponsive: [] });
    expect(toys.outcomes).toEqual(["a timeout"]);
  });

  timed("the deadline ends it", async () => {
    toys = startToys({ a: silent, b: silent });
    const error = await failure({ timeoutMs: 100 });
    expect(error.fault).toBe("timeout");
    expect(error.unresponsive).toEqual([
      { name: "a", reason: "timeout" },
      { name: "b", reason: "timeout" },
    ]);
  });

  timed("at the deadline the existing results are returned", async () => {
    toys = startToys({ a: () => pages("a", 2), b: silent });
    const { results, unresponsive } = await run({ timeoutMs: 100 });
    expect(results).toHaveLength(2);
    expect(unresponsive).toEqual([{ name: "b", reason: "timeout" }]);
  });

  timed(
    "a caller's short deadline does not suspend an engine for others, but exceeding the engine's own time does",
    async () => {
      toys = startToys({ a: silent, b: silent }, { engines: [toyEngine("a"), toyEngine("b", { timeoutMs: 20 })] });
      await failure({ timeoutMs: 100 });
      const [a, b] = toys.search.engines();
      expect(a).toMatchObject({ failed: 0, suspended: undefined });
      expect(b).toMatchObject({ failed: 1, suspended: { kind: "timeout" } });
      expect(toys.outcomes.toSorted()).toEqual(["a timeout", "b timeout"]);
    },
  );
});

describe("failures", () => {
  test("of all engines fail the search", async () => {
    toys = startToys({ a: fails("changed_markup"), b: () => new Response("", { status: 500 }) });
    const error = await failure();
    expect(error.fault).toBe("failed");
    expect(names(error.unresponsive).sort()).toEqual(["a", "b"]);
  });

  test("a category without an engine, and one whose engines are all suspended, are unavailable", async () => {
    toys = startToys({ a: fails("captcha") });
    expect(await failure({ category: "map" })).toMatchObject({ fault: "unavailable", unresponsive: [] });
    expect((await failure()).fault).toBe("failed");
    const error = await failure();
    expect(error).toMatchObject({ fault: "unavailable", unresponsive: [{ name: "a", reason: "suspended: captcha" }] });
    expect(toys.asked("a")).toHaveLength(1);
  });

  test.each([
    ["captcha", undefined, 3600_000],
    ["blocked", undefined, 180_000],
    ["bad_key", undefined, 180_000],
    ["rate_limited", undefined, 180_000],
    ["rate_limited", 7_000, 7_000],
    ["rate_limited", 7 * 86_400_000, 86_400_000],
    ["server_error", undefined, 5_000],
  ])("%s (asked to wait %p ms) suspends the engine for %i ms", async (kind, retryAfterMs, ms) => {
    toys = startToys({ a: fails(kind, retryAfterMs) });
    await failure();
    toys.clock.advance(ms - 1);
    expect((await failure()).fault).toBe("unavailable");
    toys.clock.advance(1);
    toys.set("a", () => pages("a", 5));
    expect((await run()).results).toHaveLength(5);
  });

  const harmless = Object.entries(SUSPENDS).filter(([, way]) => way === "none");
  test.each(harmless.map(([kind]) => kind))("%s does not suspend the engine", async (kind) => {
    toys = startToys({ a: fails(kind) });
    await failure();
    toys.set("a", () => pages("a", 5));
    expect((await run()).results).toHaveLength(5);
  });

  test("are the same for all kinds that concern one query or this program", () => {
    expect(harmless.map(([kind]) => kind).sort()).toEqual([
      "busy",
      "changed_markup",
      "refused",
      "unanswered",
      "unrelated",
    ]);
  });

  test("that may be temporary suspend for longer each time, and a success resets this", async () => {
    toys = startToys({ a: fails("server_error") });
    for (const seconds of [5, 10, 20, 40, 80, 120, 120]) {
      expect((await failure()).fault).toBe("failed");
      toys.clock.advance(seconds * 1000 - 1);
      expect((await failure()).fault).toBe("unavailable");
      toys.clock.advance(1);
    }
    toys.set("a", () => pages("a", 5));
    await run();
    toys.set("a", fails("server_error"));
    await failure({ text: "white bread" });
    toys.clock.advance(5000);
    expect((await failure({ text: "white bread" })).fault).toBe("failed");
  });

  test("suspend the engines of one network together, but not one at an address of the operator's", async () => {
    const engines = [toyEngine("a", { network: "n" }), toyEngine("b", { network: "n" })];
    // Without an address from the operator it uses port 9 of loopback, which the guard refuses.
    toys = startToys(
      { a: fails("captcha"), b: () => pages("b", 5) },
      { engines, search: { engines: { a: { baseUrl: undefined } } } },
    );
    const { unresponsive } = await run();
    expect(unresponsive).toEqual([{ name: "a", reason: "network" }]);
    toys.reconfigure({ engines: { a: { baseUrl: undefined }, b: { baseUrl: undefined } } });
    await failure();
    expect(toys.search.engines().map(({ suspended }) => suspended?.kind)).toEqual(["network", "network"]);
  });

  test("of a network prevent later calls of its engines in the same search", async () => {
    const engines = [
      toyEngine("a", { network: "n", weight: 2 }),
      ...["b", "c", "d", "e", "f"].map((name) => toyEngine(name, { weight: 2 })),
      toyEngine("late", { network: "n" }),
      toyEngine("last"),
    ];
    const none = () => Response.json([]);
    toys = startToys(
      { a: fails("captcha"), b: none, c: none, d: none, e: none, f: none, late: none, last: () => pages("last", 5) },
      { engines, isOpen: true, search: { engines: { a: { baseUrl: undefined }, late: { baseUrl: undefined } } } },
    );
    const { results, unresponsive } = await run();
    expect(results).toHaveLength(5);
    expect(toys.asked("late")).toHaveLength(0);
    expect(unresponsive).toEqual([
      { name: "a", reason: "captcha" },
      { name: "late", reason: "suspended: captcha" },
    ]);
  });

  test("are stored with their time, and survive a restart", async () => {
    toys = startToys({ a: () => pages("a", 5) });
    await run();
    const okAtMs = toys.clock.now();
    toys.clock.advance(200_000);
    toys.set("a", fails("changed_markup"));
    await failure();
    toys.clock.advance(1000);
    await failure();
    const [state] = toys.search.engines();
    const since = { lastOkAtMs: okAtMs, failingSinceMs: okAtMs + 200_000 };
    expect(state).toMatchObject({
      ...since,
      lastError: { kind: "changed_markup", atMs: okAtMs + 201_000 },
      asked: 3,
      failed: 2,
    });
    const saved = JSON.parse(JSON.stringify(toys.search.health.snapshot()));
    await toys.stop();
    toys = startToys({ a: () => pages("a", 5) });
    toys.search.health.restore(saved);
    expect(toys.search.engines()[0]).toMatchObject({ ...since, asked: 0 });
  });
});

describe("engines with bad results are called last", () => {
  test("those that fail", async () => {
    const engines = ["bad", "b", "c", "d", "e", "f", "g"].map((name) => toyEngine(name));
    const good = Object.fromEntries(engines.map(({ name }) => [name, () => pages(name, 4)]));
    toys = startToys({ ...good, bad: fails("changed_markup") }, { engines });
    for (let at = 0; at < 6; at++) await run({ text: `bread ${at}` });
    const before = toys.asked("bad").length;
    await run({ text: "white bread" });
    expect(toys.asked("bad").length).toBe(before);
    expect(toys.asked("g").length).toBeGreaterThan(0);
  });

  test("and one with a key from the operator is called first", async () => {
    const engines = ["a", "b", "c", "d", "e", "f"].map((name) => toyEngine(name, { weight: 3 }));
    const keyed = toyEngine("keyed", { key: { looksLike: "abc" }, enabledByDefault: false });
    const ways = Object.fromEntries([...engines, keyed].map(({ name }) => [name, () => pages(name, 4)]));
    toys = startToys(ways, { engines: [...engines, keyed] });
    await run();
    expect(toys.asked("keyed")).toHaveLength(0);
    toys.reconfigure({ engines: { keyed: { apiKey: "abc" } } });
    await run();
    expect(toys.asked("keyed")).toHaveLength(1);
    expect(toys.asked("f")).toHaveLength(1);
  });
});
