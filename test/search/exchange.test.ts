// Every engine with real connections: its requests as a server receives them, and its stored responses as a server sends them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createFetch } from "../../src/net/fetch.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createAnswerReader } from "../../src/search/answers/read.ts";
import { askEngine, type EngineCallDeps, EngineMemory } from "../../src/search/ask.ts";
import { asUsed, type ChosenEngine } from "../../src/search/chosen.ts";
import type { SearchEngine } from "../../src/search/engine.ts";
import { ENGINES } from "../../src/search/engines/index.ts";
import { Pace } from "../../src/search/pace.ts";
import { type Answer, bodyOf, contextFor, readSample, type SampleCase } from "./samples.ts";

/** The requests that the server received, and the answers that it gives next, by engine. */
const heard = new Map<string, { method: string; path: string; body: string }[]>();
const answers = new Map<string, Answer[]>();
let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const name = url.pathname.split("/")[1] ?? "";
      heard.get(name)?.push({ method: request.method, path: url.pathname + url.search, body: await request.text() });
      const answer = answers.get(name)?.shift();
      if (answer === undefined) return new Response("Asked too often.", { status: 500 });
      return new Response(bodyOf(name, answer), { status: answer.status ?? 200, headers: answer.headers ?? {} });
    },
  });
});
const reader = createAnswerReader();
afterAll(async () => {
  reader.close();
  await server.stop(true);
});

const loaded = loadConfig({ env: {}, cwd: import.meta.dir });
if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
const { web, search } = loaded.config;
const deps = (): EngineCallDeps => {
  const clock = new FakeClock();
  const fetch = createFetch(createAddressGuard({ ...web, allowPrivateNetworks: true }, createResolve([])));
  return { clock, pace: new Pace(clock), memory: new EngineMemory(clock), reader, fetchFor: () => fetch };
};

function chosenAtServer(engine: SearchEngine): ChosenEngine {
  const chosen = asUsed(engine, search, "Sallyport/1.0 (test)");
  const { settings } = contextFor(engine, { settings: { baseUrl: `http://127.0.0.1:${server.port}/${engine.name}` } });
  return { ...chosen, settings };
}

async function ask(engine: SearchEngine, one: SampleCase, known = deps()) {
  heard.set(engine.name, []);
  answers.set(engine.name, [...one.answers]);
  const { query } = contextFor(engine, { query: { text: 'C# & "naïve" 日本', language: "de-AT", timeRange: "week" } });
  const asked = await askEngine(chosenAtServer(engine), query, known, {
    leftMs: 5000,
    signal: new AbortController().signal,
  });
  return { asked, requests: heard.get(engine.name)! };
}

describe.each(ENGINES.map((engine) => [engine.name, engine] as const))("%s", (name, engine) => {
  const named = new Map(readSample(name).cases.map((one) => [one.name, one]));

  test("sends requests that a server can read, and returns its results", async () => {
    const full = named.get("full")!;
    const { asked, requests } = await ask(engine, full);
    expect("hits" in asked ? asked.hits.map(({ title }) => title) : asked).toEqual(
      full.hits!.map(({ title }) => title),
    );
    expect(requests.length).toBe(full.answers.length);
    const sent = requests.map(({ path, body }) => readable(path) + readable(body)).join("\n");
    expect(sent).toContain("naïve");
    expect(sent).toContain("日本");
  });

  test("returns no results if there are none", async () => {
    expect((await ask(engine, named.get("empty")!)).asked).toMatchObject({ hits: [] });
  });

  test("reports a rate limit", async () => {
    expect((await ask(engine, named.get("rate-limited")!)).asked).toMatchObject({ failure: { kind: "rate_limited" } });
  });
});

test("a token is fetched once, and again after a failure", async () => {
  const engine = ENGINES.find(({ name }) => name === "startpage")!;
  const full = readSample("startpage").cases.find(({ name }) => name === "full")!;
  const results: SampleCase = { name: "only results", answers: full.answers.slice(-1) };
  const known = deps();
  expect((await ask(engine, full, known)).requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  expect((await ask(engine, results, known)).requests.map(({ method }) => method)).toEqual(["POST"]);
  await ask(engine, { name: "out of order", answers: [{ status: 500 }] }, known);
  expect((await ask(engine, full, known)).requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
});

test("an engine may not redirect to a host that the operator allowed for pages", async () => {
  const engine = ENGINES.find(({ name }) => name === "hackernews")!;
  let visits = 0;
  const inner = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ hits: [], visits: ++visits }),
  });
  try {
    const policy = { ...web, allowHosts: [`127.0.0.1:${server.port}`, `127.0.0.1:${inner.port}`] };
    const fetch = createFetch(createAddressGuard(policy, createResolve([])));
    const away = { status: 302, headers: { location: `http://127.0.0.1:${inner.port}/` }, body: "" };
    const known = { ...deps(), fetchFor: () => fetch };
    const { asked } = await ask(engine, { name: "leads away", answers: [away] }, known);
    expect([asked, visits]).toMatchObject([{ failure: { kind: "network" } }, 0]);
  } finally {
    await inner.stop(true);
  }
});

function readable(text: string): string {
  return decodeURIComponent(text.replaceAll("+", "%20").replace(/%(?![0-9A-Fa-f]{2})/g, "%25"));
}
