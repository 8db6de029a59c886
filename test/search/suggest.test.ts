import { expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { FetchError, type GuardedFetch } from "../../src/net/fetch.ts";
import { createAnswerReader } from "../../src/search/answers/read.ts";
import { EngineMemory } from "../../src/search/ask.ts";
import type { ChosenEngine } from "../../src/search/chosen.ts";
import type { SearchQuery } from "../../src/search/engine.ts";
import { Pace } from "../../src/search/pace.ts";
import { suggest } from "../../src/search/suggest.ts";
import { toyEngine } from "./toy-engines.ts";

const QUERY: SearchQuery = { text: "bread", category: "general", limit: 5, page: 1, safe: "off", nowMs: 0 };

const chosen = (name: string, baseUrl?: string): ChosenEngine => ({
  engine: toyEngine(name, { requestRate: { requests: 1, perMs: 1000 } }),
  name,
  weight: 1,
  timeoutMs: 1000,
  settings: { userAgent: "test", ...(baseUrl === undefined ? {} : { baseUrl }) },
  network: name,
});

/** The suggestions if the endpoints answer like this, and the endpoints that were called. */
async function suggested(
  engines: readonly ChosenEngine[],
  {
    body = "[]",
    status = 200,
    query = QUERY,
    times = 1,
  }: { body?: string; status?: number; query?: SearchQuery; times?: number } = {},
) {
  const asked: string[] = [];
  const fetch: GuardedFetch = async (url) => {
    asked.push(url);
    if (status === 0) throw new FetchError("connect", "Nobody is there.");
    return { url, status, headers: new Headers(), body: new TextEncoder().encode(body), chain: [url] };
  };
  const clock = new FakeClock();
  const deps = {
    clock,
    pace: new Pace(clock),
    memory: new EngineMemory(clock),
    reader: createAnswerReader(),
    fetchFor: () => fetch,
  };
  let last: readonly string[] = [];
  for (let at = 0; at < times; at++) {
    const { signal } = new AbortController();
    last = await suggest(engines, query, deps, { leftMs: 1000, signal });
  }
  return { last, hosts: asked.map((url) => new URL(url).host) };
}

const GOOD = JSON.stringify(["bread", ["bread", "bread rolls", "", 5, "x".repeat(300), "bread pudding"]]);

test("come from the first free endpoint whose engine is enabled, without the query itself", async () => {
  const all = [chosen("wikipedia"), chosen("duckduckgo")];
  expect(await suggested(all, { body: GOOD })).toEqual({
    last: ["bread rolls", "bread pudding"],
    hosts: ["duckduckgo.com"],
  });
  const german = await suggested([chosen("wikipedia")], { body: GOOD, query: { ...QUERY, language: "de-CH" } });
  expect(german.hosts).toEqual(["de.wikipedia.org"]);
  expect((await suggested([chosen("mojeek")], { body: GOOD })).hosts).toEqual([]);
});

test("suggestions are not requested from the operator's addresses, for sentences, or beyond the engine's rate", async () => {
  expect((await suggested([chosen("duckduckgo", "http://127.0.0.1:1")], { body: GOOD })).hosts).toEqual([]);
  expect((await suggested([chosen("duckduckgo")], { query: { ...QUERY, text: "bread ".repeat(30) } })).hosts).toEqual(
    [],
  );
  expect((await suggested([chosen("duckduckgo")], { body: GOOD, times: 3 })).hosts).toHaveLength(1);
});

test.each<[string, { body?: string; status?: number }]>([
  ["refuses", { body: GOOD, status: 429 }],
  ["is not there", { status: 0 }],
  ["sends no JSON", { body: "<html>" }],
  ["sends something else", { body: '{"a":[1]}' }],
])("an endpoint that %s gives none", async (_name, answer) => {
  expect((await suggested([chosen("duckduckgo")], answer)).last).toEqual([]);
});
