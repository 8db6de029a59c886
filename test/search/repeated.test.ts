// State between searches: cached results, rate limits and tokens. It also tests where the addresses of engines may lead.

import { afterEach, describe, expect, test } from "bun:test";
import type { Parsed } from "../../src/search/engine.ts";
import { SearchError } from "../../src/search/failure.ts";
import { bread, fails, nobody, pages, silent, startToys, type Toys, toyEngine } from "./toy-engines.ts";

let toys: Toys;
afterEach(() => toys.stop());

const run = (more: Parameters<typeof bread>[0] = {}, signal = nobody()) => toys.search.search(bread(more), signal);

describe("the same question", () => {
  test("is sent to the engines once, whether simultaneously or within two minutes", async () => {
    toys = startToys({ a: () => pages("a", 8) });
    const answers = await Promise.all(Array.from({ length: 20 }, () => run()));
    await run({ text: "  bread " });
    toys.clock.advance(119_999);
    await run({ limit: 3 });
    expect(toys.asked("a")).toHaveLength(1);
    for (const answer of answers) expect(answer).toEqual(answers[0] as never);
    toys.clock.advance(1);
    await run();
    expect(toys.asked("a")).toHaveLength(2);
  });

  test("with more results wanted than were found, or in another language or category, counts as another query", async () => {
    toys = startToys({ a: () => pages("a", 8) }, { engines: [toyEngine("a", { categories: ["general", "news"] })] });
    await run();
    await run({ limit: 8 });
    expect(toys.asked("a")).toHaveLength(1);
    await run({ limit: 9 });
    await run({ language: "de" });
    await run({ category: "news" });
    expect(toys.asked("a")).toHaveLength(4);
    // No engine failed, so there are no more results to get.
    await run({ limit: 9 });
    expect(toys.asked("a")).toHaveLength(4);
  });

  test("without results, or with too few because engines failed, is sent again", async () => {
    toys = startToys({ a: () => Response.json([]), b: fails("changed_markup") });
    await run();
    toys.set("a", () => pages("a", 2));
    expect((await run()).results).toHaveLength(2);
    toys.set("b", () => pages("b", 3));
    expect((await run()).results).toHaveLength(5);
  });

  test("continues while a caller waits, and ends with the last one", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    toys = startToys({ a: () => promise });
    const [first, second] = [new AbortController(), new AbortController()];
    const one = run({}, first.signal);
    const other = run({}, second.signal);
    await toys.wasAsked("a");
    first.abort(new Error("gone"));
    expect(one).rejects.toThrow("gone");
    resolve(pages("a", 5));
    expect((await other).results).toHaveLength(5);
    toys.set("a", silent);
    const last = new AbortController();
    const third = run({ text: "white bread" }, last.signal);
    await toys.wasAsked("a", 2);
    last.abort(new Error("gone too"));
    expect(third).rejects.toThrow("gone too");
    while (toys.left("a") === 0) await Bun.sleep(5);
    expect(toys.search.running()).toBe(0);
  });

  test("is not answered by a search that began before the configuration changed", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    toys = startToys({ a: () => promise, b: () => pages("b", 8) }, { search: { only: ["a"] } });
    const before = run();
    await toys.wasAsked("a");
    toys.reconfigure({ only: ["b"] });
    const meanwhile = await run();
    resolve(pages("a", 8));
    expect((await before).results[0]?.engines).toEqual(["a"]);
    for (const answer of [meanwhile, await run()]) expect(answer.results[0]?.engines).toEqual(["b"]);
  });

  test("is not answered from a cache of a previous configuration", async () => {
    toys = startToys({ a: () => pages("a", 8), b: () => pages("b", 8) });
    await run();
    toys.reconfigure({ only: ["b"] });
    expect((await run()).results.map(({ engines }) => engines)).toEqual(Array.from({ length: 5 }, () => ["b"]));
  });
});

test("searches beyond the maximum number are refused", async () => {
  toys = startToys({ a: silent });
  const stop = new AbortController();
  const all = Array.from({ length: 500 }, (_, index) =>
    run({ text: `bread ${index}` }, stop.signal).catch(() => undefined),
  );
  const error = await run({ text: "one more" }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SearchError);
  expect(error).toMatchObject({ fault: "full" });
  stop.abort();
  await Promise.all(all);
});

test("values that an engine stores are passed to it again, until it fails or the time is over", async () => {
  const next: Parsed = {
    kind: "next",
    request: { method: "GET", url: "", headers: {} },
    remember: { value: "token", forMs: 1000 },
  };
  const engine = toyEngine("a");
  toys = startToys(
    {
      a: (request) =>
        new URL(request.url).searchParams.get("token") === "token" ? pages("a", 5) : Response.json(next),
    },
    {
      engines: [
        {
          ...engine,
          parse(response, context) {
            const parsed = engine.parse(response, context);
            return parsed.kind === "next"
              ? { ...parsed, request: engine.request({ ...context, remembered: "token" }) }
              : parsed;
          },
        },
      ],
    },
  );
  const tokens = () => toys.asked("a").map((query) => query.get("token"));
  await run();
  await run({ text: "white bread" });
  expect(tokens()).toEqual(["", "token", "token"]);
  toys.clock.advance(1000);
  await run({ text: "brown bread" });
  expect(tokens().slice(3)).toEqual(["", "token"]);
  toys.set("a", fails("changed_markup"));
  await run({ text: "black bread" }).catch(() => undefined);
  await run({ text: "grey bread" }).catch(() => undefined);
  expect(tokens().slice(5)).toEqual(["token", ""]);
});

describe("an engine gets", () => {
  test("the language of the query if it supports it", async () => {
    const engines = [
      toyEngine("any", { languages: "any" }),
      toyEngine("german", { languages: ["de"] }),
      toyEngine("french", { languages: ["fr"] }),
    ];
    toys = startToys(Object.fromEntries(engines.map(({ name }) => [name, () => pages(name, 5)])), { engines });
    await run({ text: "wie backe ich bread" });
    await run({ text: "bread", language: "fr-CA" });
    const told = (name: string) => toys.asked(name).map((query) => query.get("language"));
    expect([told("any"), told("german"), told("french")]).toEqual([
      ["de", "fr-CA"],
      ["de", ""],
      ["", "fr-CA"],
    ]);
  });

  test("the operator's safe search setting, or a stricter one", async () => {
    toys = startToys({ a: () => pages("a", 5) });
    await run({ safe: "off" });
    await run({ safe: "strict" });
    toys.reconfigure({ safe: false });
    await run({});
    await run({ safe: "moderate" });
    expect(toys.asked("a").map((query) => query.get("safe"))).toEqual(["moderate", "strict", "off", "moderate"]);
  });

  test("no time range that it does not support", async () => {
    const engines = [toyEngine("a"), toyEngine("b", { timeRanges: ["day"] })];
    toys = startToys({ a: () => pages("a", 5), b: () => pages("b", 5) }, { engines });
    await run({ timeRange: "day" });
    expect([toys.asked("a"), toys.asked("b")].map(({ length }) => length)).toEqual([0, 1]);
    const error = await run({ timeRange: "year" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: "No search engine is enabled for general that can be told a time range." });
  });
});

describe("addresses", () => {
  test("an engine's own address may not lead into private networks, nor may the operator's redirect to others there", async () => {
    toys = startToys(
      { a: () => pages("a", 5), moved: () => Response.redirect("http://127.0.0.2:80/a") },
      { search: { engines: { a: { baseUrl: undefined } } } },
    );
    const error = await run().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ fault: "failed" });
    expect(toys.search.engines().map(({ lastError }) => lastError?.message)).toEqual([
      expect.stringContaining("may not be fetched"),
      expect.stringContaining("may not be fetched"),
    ]);
    expect(toys.asked("a")).toHaveLength(0);
  });
});

test("requests to a rate-limited engine wait for their turn, and waiting does not count as its failure", async () => {
  const polite = toyEngine("polite", { requestRate: { requests: 2, perMs: 3_600_000 } });
  toys = startToys(
    { polite: () => pages("polite", 5), other: () => pages("other", 5) },
    {
      engines: [polite, toyEngine("other")],
      search: { engines: { polite: { baseUrl: undefined } } },
      isOpen: true,
    },
  );
  const reasons = [];
  for (let at = 0; at < 4; at++) reasons.push((await run({ text: `bread ${at}` })).unresponsive);
  const busy = [{ name: "polite", reason: "busy" }];
  expect(reasons).toEqual([[], [], busy, busy]);
  expect(toys.asked("polite")).toHaveLength(2);
  expect(toys.search.engines()[0]).toMatchObject({ failed: 0, suspended: undefined });
});
