import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { BackendAnswer, BackendSpec } from "../../src/decisions/backends/backend.ts";
import {
  decisionCost,
  decisionWorstCaseMicros,
  inputPriceOf,
  type PriceDeps,
} from "../../src/decisions/models/prices.ts";
import { versionOfConfig, WITHOUT_CALIBRATION } from "../../src/decisions/models/versions.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type SentSpan, startTraceCollector } from "../support/trace-collector.ts";
import { startSimulated } from "./simulated.ts";
import { type Fake, nativeAnswers, startFake } from "./support.ts";

let native: Fake;
let chat: Fake;
const apps: TestApp[] = [];

beforeAll(() => {
  native = startFake(nativeAnswers);
  chat = startSimulated({ beliefs: (_, options) => options.map(() => 0) });
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
});
afterAll(() => {
  native.stop();
  chat.stop();
});

const NOUL = { type: "noul", instructions: "Is it?" };
const ask = (app: TestApp, model = "pinned-1.0.0") =>
  app.post("/v1/systemone", { model, state: "s", questions: { q: NOUL } });

async function start(key: { budgetMicros?: number } = {}): Promise<TestApp> {
  const app = await startTestApp({
    key,
    config: {
      usage: { flush: "1ms" },
      providers: {
        native: { kind: "systemone", base_url: native.url, api_key: "k" },
        ...Object.fromEntries(
          ["chat", "first", "later", "free"].map((name) => [
            name,
            { kind: "openai", base_url: chat.url, discover: false },
          ]),
        ),
      },
      models: [
        { id: "a", prices: { input: 5, output: 7 }, routes: [{ provider: "first", model: "sim-1" }] },
        {
          id: "b",
          prices: { input: 6, output: 7 },
          routes: ["chat", "later"].map((provider, at) => ({ provider, model: "sim-1", priority: at + 1 })),
        },
      ],
      decisions: {
        models: [
          {
            id: "pinned-1.0.0",
            prices: { input: 2 },
            backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] },
          },
          {
            id: "judge-1.0.0",
            prices: { input: 3 },
            backend: { kind: "logprobs", prior: "none", routes: [{ provider: "chat", model: "sim-1" }] },
          },
          ...["first", "later", "free"].map((provider) => ({
            id: `${provider}-1.0.0`,
            backend: { kind: "logprobs", prior: "none", routes: [{ provider, model: "sim-1" }] },
          })),
        ],
      },
    },
  });
  apps.push(app);
  return app;
}

test("input tokens are charged in the usage row, on /metrics and to the key's budget; output is free", async () => {
  const app = await start({ budgetMicros: 1000 });
  // 321 tokens at two dollars per million tokens.
  expect((await ask(app)).status).toBe(200);
  const page = await (await fetch(`${app.url}/metrics`)).text();
  expect(page).toContain('sallyport_cost_usd_total{model="pinned-1.0.0"} 0.000642');
  expect(page).toContain('sallyport_tokens_total{model="pinned-1.0.0",kind="input"} 321');
  expect((await ask(app)).status).toBe(200);
  const refused = await ask(app);
  expect(refused.status).toBe(402);
  expect(await refused.json()).toMatchObject({ error: { code: "budget_exceeded" } });
  // A question that needs no model costs nothing, but it is still refused if the budget is used up.
  await app.restart();
  expect((await ask(app)).status).toBe(402);
});

test.each([
  ["judge-1.0.0", 4 * 3, "the tokens of the request at its own price"],
  ["first-1.0.0", 200 * 5, "what was sent at the price of the configured model"],
  ["later-1.0.0", 200 * 6, "the same by a later route of the model"],
  ["free-1.0.0", 0, "no price is known"],
])("%s costs %p micro-dollars: %s", async (model, micros) => {
  const app = await start();
  expect((await ask(app, model)).status).toBe(200);
  const page = await (await fetch(`${app.url}/metrics`)).text();
  const [, usd = "0"] = new RegExp(`sallyport_cost_usd_total\\{model="${model}"\\} (\\S+)`).exec(page) ?? [];
  expect(Math.round(Number(usd) * 1e6)).toBe(micros);
});

test("the possible cost of a decision is reserved while it runs, and released if its provider fails", async () => {
  const app = await start({ budgetMicros: 1000 });
  const gate = Promise.withResolvers<void>();
  const before = native.answer;
  const asked = Promise.withResolvers<void>();
  native.answer = async (body, path) => {
    asked.resolve();
    await gate.promise;
    return before(body, path);
  };
  const first = ask(app);
  await asked.promise;
  const beside = await ask(app);
  expect([beside.status, beside.headers.get("retry-after")]).toEqual([429, "2"]);
  gate.resolve();
  expect((await first).status).toBe(200);
  native.answer = () => new Response("no", { status: 400 });
  expect((await ask(app)).status).toBe(503);
  native.answer = before;
  expect((await ask(app)).status).toBe(200);
  expect((await ask(app)).status).toBe(402);
});

test("a text model's worst case is every question in every order of its options", async () => {
  const asked = {
    state: "s",
    questions: ["a", "b"].map((key) => ({ key, type: "noul" as const, instructions: "Is it?", options: [] })),
    names: { state: "state", of: (param: string) => param },
  };
  const worst = (kind: "systemone" | "logprobs", provider: string, price?: number, more: Partial<BackendSpec> = {}) => {
    const { spec, ...rest } = version(kind, price);
    const routes = [{ provider, model: "m", path: "", priority: 1, weight: 1 }];
    return decisionWorstCaseMicros(asked, { ...rest, spec: { ...spec, routes, ...more } }, deps);
  };
  const once = await worst("systemone", "own", 2);
  expect(once).toBeGreaterThan(0);
  expect(await worst("logprobs", "oa")).toBe(once * 4);
  // And once more without the state, for a prior.
  expect(await worst("logprobs", "oa", undefined, { prior: "content_free" })).toBe(once * 8);
  expect(await worst("logprobs", "own")).toBe(0);
  expect(await worst("systemone", "own")).toBe(0);
});

const version = (kind: "systemone" | "openai-decisions" | "logprobs", input?: number) =>
  versionOfConfig(
    {
      id: "x-1.0.0",
      name: "",
      description: "",
      tier: "free",
      aliases: [],
      calibration: "",
      ...(input === undefined ? {} : { prices: { input } }),
      backend: { kind, routes: [], limits: {}, orders: 2, concurrency: 8, minLabelMass: 0.5, prior: "none" as const },
    },
    WITHOUT_CALIBRATION,
  );
const answered = (provider: string, model: string, more: Partial<BackendAnswer> = {}) => ({
  answered: [],
  inputTokens: 1_000_000,
  outputTokens: 1_000_000,
  estimated: false,
  backend: { readings: [], outputTokens: 1, route: { provider, model, path: "", priority: 1, weight: 1 }, ...more },
});
const deps: PriceDeps = {
  baseUrl: (name) =>
    ({ ts: "https://api.typesafe.ai/v1", oa: "https://api.openai.com/v1", own: "http://10.0.0.1/v1" })[name],
  chatPrices: (provider) => (provider === "oa" ? { input: 2, output: 8, cacheRead: 1 } : undefined),
};

test.each([
  ["its own price wins", answered("ts", "jev-1.13.0"), version("systemone", 7), 7_000_000],
  ["a price of nothing is one", answered("ts", "jev-1.13.0"), version("systemone", 0), 0],
  ["TypeSafe's public one", answered("ts", "jev-1.13.0"), version("systemone"), 42_000],
  ["OpenAI's public one", answered("oa", "gpt-6-luna"), version("openai-decisions"), 100_000],
  ["another server's is not known", answered("own", "jev-1.13.0"), version("systemone"), 0],
  ["what was answered here", { ...answered("ts", "jev-1"), backend: undefined }, version("systemone", 7), 0],
  [
    "a chat model's, by what was sent",
    answered("oa", "m", { spent: { inputTokens: 400, outputTokens: 9, cachedTokens: 100 } }),
    version("logprobs"),
    700,
  ],
  ["a chat model's that does not say what it took", answered("oa", "m"), version("logprobs"), 2_000_000],
  ["a chat model of no known price", answered("own", "m"), version("logprobs"), 0],
])("the cost of a decision follows from its price and tokens: %s", (_, decision, of, micros) => {
  expect(decisionCost(decision, of, deps).costMicros).toBe(micros);
});

test.each([
  ["its own", version("systemone", 7), "ts", 7],
  ["a price of nothing", version("logprobs", 0), "oa", 0],
  ["the public one", version("systemone"), "ts", 0.042],
  ["a chat model's", version("logprobs"), "oa", 2],
  ["none that is known", version("systemone"), "own", null],
])("an operator is shown %s price", (_, of, provider, price) => {
  const model = provider === "ts" ? "jev-1.13.0" : "m";
  const spec = { ...of.spec, routes: [{ provider, model, path: "", priority: 1, weight: 1 }] };
  expect(inputPriceOf({ ...of, spec }, deps)).toBe(price);
});

test("each upstream call is a span within the request's span, with its usage", async () => {
  const collector = startTraceCollector();
  try {
    const app = await collector.sending(start);
    expect((await ask(app)).status).toBe(200);
    expect((await ask(app, "judge-1.0.0")).status).toBe(200);
    native.answer = () => Response.json({}, { status: 401 });
    expect((await ask(app)).status).toBe(503);
    native.answer = nativeAnswers;
    apps.length = 0;
    await app.stop();
  } finally {
    await collector.stop();
  }
  const spans = collector.spans();
  const value = (span: SentSpan, key: string) =>
    Object.values(span.attributes.find((one) => one.key === key)?.value ?? {})[0];
  const requests = spans.filter(({ name }) => name === "POST /v1/systemone");
  expect(requests).toHaveLength(3);
  expect(requests.map((span) => value(span, "sallyport.model"))).toEqual([
    "pinned-1.0.0",
    "judge-1.0.0",
    "pinned-1.0.0",
  ]);
  const of = (request: SentSpan | undefined) => spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
  const [decided] = of(requests[0]);
  expect(decided?.name).toBe("decide jev-1.13.0");
  expect(value(decided!, "gen_ai.operation.name")).toBe("decide");
  expect(value(decided!, "gen_ai.provider.name")).toBe("systemone");
  expect(Number(value(decided!, "gen_ai.usage.input_tokens"))).toBe(321);
  // The question is asked in both orders.
  expect(of(requests[1]).map(({ name }) => name)).toEqual(["chat sim-1", "chat sim-1"]);
  expect(of(requests[1]).map((span) => Number(value(span, "gen_ai.usage.input_tokens")))).toEqual([100, 100]);
  expect(of(requests[2]).map((span) => value(span, "error.type"))).toEqual(["auth"]);
  expect(collector.bodies.join()).not.toContain("Is it?");
});
