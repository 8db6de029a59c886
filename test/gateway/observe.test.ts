import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import parsePrometheus from "parse-prometheus-text-format";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { startTraceCollector } from "../support/trace-collector.ts";
import { chatAnswer, chatChunk, type FakeUpstream, sse, startUpstream } from "../support/upstream.ts";

let up: FakeUpstream;
const apps: TestApp[] = [];

beforeAll(() => {
  up = startUpstream(() => chatAnswer({ content: "hello" }));
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
  up.answer(() => chatAnswer({ content: "hello" }));
});
afterAll(() => up.stop());

const config = (part: Record<string, unknown> = {}) => ({
  providers: {
    up: {
      kind: "openai",
      base_url: up.baseUrl,
      discover: false,
      retry: { attempts: 2, base: "1ms", max: "1ms" },
      breaker: { failures: 3, window: "1h", cooldown: "1h" },
    },
  },
  models: [
    { id: "shown", routes: [{ provider: "up", model: "m" }] },
    { id: "secret", visibility: "hidden", routes: [{ provider: "up", model: "m" }] },
  ],
  ...part,
});

async function start(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await startTestApp({ config: config(), ...options });
  apps.push(app);
  return app;
}

const ask = (app: TestApp, model = "shown", more: Record<string, unknown> = {}) =>
  app.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "the prompt" }], ...more });

/** The value of one series, or undefined if it is absent. A real parser must be able to read the page. */
async function read(app: TestApp, name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const page = await (await fetch(`${app.url}/metrics`)).text();
  expect((parsePrometheus(page) as unknown[]).length).toBeGreaterThan(10);
  // The parser merges the series of a histogram, so this function looks them up itself.
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = page
    .split("\n")
    .find((one) => /^[a-z_]+/.exec(one)?.[0] === name && wanted.every((pair) => one.includes(pair)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
}

describe("metrics", () => {
  test("count requests by pattern, tokens, errors, calls and retries", async () => {
    const app = await start();
    expect((await ask(app)).status).toBe(200);
    expect((await ask(app, "no-such-model")).status).toBe(404);
    await app.call("/v1/models/some/long/id");
    await app.call("/nowhere/at-all");
    up.answer(() => new Response("no", { status: 500 }));
    expect((await ask(app)).status).toBe(502);

    const chat = { route: "/v1/chat/completions" };
    expect(await read(app, "sallyport_requests_total", { ...chat, status: "200" })).toBe(1);
    expect(await read(app, "sallyport_requests_total", { ...chat, status: "404" })).toBe(1);
    expect(await read(app, "sallyport_requests_total", { ...chat, status: "502" })).toBe(1);
    expect(await read(app, "sallyport_requests_total", { route: "unmatched", status: "404" })).toBe(1);
    expect(await read(app, "sallyport_request_duration_seconds_count", chat)).toBe(3);
    expect(await read(app, "sallyport_tokens_total", { model: "shown", kind: "input" })).toBe(7);
    expect(await read(app, "sallyport_tokens_total", { model: "shown", kind: "output" })).toBe(5);
    expect(await read(app, "sallyport_errors_total", { code: "model_not_found" })).toBe(2);
    expect(await read(app, "sallyport_errors_total", { code: "provider_unavailable" })).toBe(1);
    expect(await read(app, "sallyport_upstream_requests_total", { provider: "up", outcome: "ok" })).toBe(1);
    expect(await read(app, "sallyport_upstream_requests_total", { provider: "up", outcome: "unavailable" })).toBe(2);
    expect(await read(app, "sallyport_upstream_retries_total", { provider: "up" })).toBe(1);
    expect(await read(app, "sallyport_breaker_state", { provider: "up", state: "closed" })).toBe(1);
    expect(await read(app, "sallyport_database_seconds_count", { operation: "find_live_key" })).toBeGreaterThan(0);
    const page = await (await fetch(`${app.url}/metrics`)).text();
    expect(page).not.toContain("some/long/id");
    expect(page).not.toContain("at-all");
  });

  test("follow streams and rate-limit rejections", async () => {
    const app = await start({ key: { rpm: 2 } });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    up.answer(() =>
      sse([
        chatChunk({ role: "assistant" }),
        chatChunk({ content: "a" }),
        held,
        chatChunk({}, { finish: "stop" }),
        "data: [DONE]\n\n",
      ]),
    );
    const response = await ask(app, "shown", { stream: true });
    expect(await read(app, "sallyport_open_streams")).toBe(1);
    release();
    await response.text();
    expect(await read(app, "sallyport_open_streams")).toBe(0);
    expect(await read(app, "sallyport_first_byte_seconds_count", { route: "/v1/chat/completions" })).toBe(1);
    await (await ask(app, "no-such-model")).text();
    expect((await ask(app)).status).toBe(429);
    expect(await read(app, "sallyport_rate_limited_total")).toBe(1);
  });

  test("show hidden models only with the token", async () => {
    const open = await start();
    await ask(open, "secret");
    expect(await read(open, "sallyport_tokens_total", { model: "hidden", kind: "input" })).toBe(7);
    expect(await (await fetch(`${open.url}/metrics`)).text()).not.toContain("secret");

    const guarded = await start({ config: config({ server: { metrics: { token: "let-me-see" } } }) });
    await ask(guarded, "secret");
    expect((await fetch(`${guarded.url}/metrics`)).status).toBe(401);
    const page = await fetch(`${guarded.url}/metrics`, { headers: { authorization: "Bearer let-me-see" } });
    expect(await page.text()).toContain('sallyport_tokens_total{model="secret",kind="input"} 7');
  });

  test("can be turned off", async () => {
    const app = await start({ config: config({ server: { metrics: { enabled: false } } }) });
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404);
  });
});

describe("health", () => {
  test("an open breaker is seen in /health and in the model's status at once", async () => {
    const app = await start();
    const health = async () => {
      const response = await fetch(`${app.url}/health`);
      return { status: response.status, body: (await response.json()) as Record<string, never> };
    };
    const fine = await health();
    expect(fine.status).toBe(200);
    expect(Object.keys(fine.body["subsystems"]!["database"]!).every((key) => /^[a-z_]+$/.test(key))).toBe(true);
    up.answer(() => new Response("no", { status: 503 }));
    await ask(app);
    await ask(app);
    const ill = await health();
    expect(ill.status).toBe(503);
    expect(ill.body["breakers"]!["up"]).toMatchObject({ state: "open", failures: 3 });
    let status: unknown;
    while (status !== "unavailable") {
      const view = (await (await fetch(`${app.url}/v1/status/models`)).json()) as {
        models: { id: string; status: string }[];
      };
      expect(view.models.some(({ id }) => id === "secret")).toBe(false);
      status = view.models.find(({ id }) => id === "shown")?.status;
      await Bun.sleep(10);
    }
    const refused = await ask(app);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3000);
    expect(await refused.json()).toMatchObject({ error: { code: "provider_circuit_open", type: "overloaded_error" } });
  });

  test("probe calls of one token are only made if the operator enabled them", async () => {
    up.received.length = 0;
    const app = await start({ config: config({ health: { probe: "chat" } }) });
    while (up.received.length === 0) await Bun.sleep(10);
    expect(up.received).toHaveLength(1);
    expect(up.received[0]!.json).toMatchObject({ model: "m", max_tokens: 1 });
    await app.stop();
    apps.length = 0;
    up.received.length = 0;
    const quiet = await start({ config: config({ health: { probe: "models" } }) });
    while (
      ((await (await fetch(`${quiet.url}/v1/status/models`)).json()) as { refreshed_at: null }).refreshed_at === null
    )
      await Bun.sleep(5);
    expect(up.received).toHaveLength(0);
  });

  test("a probe whose answer cannot be read is a failed call, and another is made", async () => {
    const repeated = Promise.withResolvers<void>();
    let calls = 0;
    up.answer(() => {
      if (++calls === 1) return new Response("{", { headers: { "content-type": "application/json" } });
      repeated.resolve();
      return chatAnswer({ content: "hello" });
    });
    const app = await start({ config: config({ health: { probe: "chat" } }) });
    await repeated.promise;
    expect(await read(app, "sallyport_upstream_requests_total", { outcome: "unavailable" })).toBe(1);
  });
});

describe("traces", () => {
  test("there is one span per request and one per call, without any text of the prompt", async () => {
    const collector = startTraceCollector();
    try {
      const app = await collector.sending(() => start());
      const trace = "0af7651916cd43dd8448eb211c80319c";
      let calls = 0;
      up.answer(() => (calls++ === 0 ? new Response("no", { status: 500 }) : chatAnswer({ content: "the answer" })));
      up.received.length = 0;
      const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01` };
      const body = { model: "shown", messages: [{ role: "user", content: "the prompt" }] };
      expect((await app.post("/v1/chat/completions", body, headers)).status).toBe(200);
      const sent = up.received.map((one) => one.headers.get("traceparent"));
      await app.stop();
      apps.length = 0;

      const spans = collector.spans();
      const request = spans.find((span) => span.name === "POST /v1/chat/completions")!;
      const chats = spans.filter((span) => span.name === "chat m");
      expect(request.parentSpanId).toBe("b7ad6b7169203331");
      expect(chats).toHaveLength(2);
      expect(chats.every((span) => span.parentSpanId === request.spanId && span.traceId === trace)).toBe(true);
      expect(sent).toEqual(chats.map(({ spanId }) => `00-${trace}-${spanId}-01`));
      const keys = chats.map((span) => span.attributes.map(({ key }) => key));
      expect(keys[0]).toContain("error.type");
      expect(keys[1]).toContain("gen_ai.usage.input_tokens");
      expect(collector.bodies.join()).not.toContain("the prompt");
      expect(collector.bodies.join()).not.toContain("the answer");
    } finally {
      await collector.stop();
    }
  });

  test("off: the client's own context is passed on unchanged if it is valid", async () => {
    const app = await start();
    const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (const [traceparent, expected] of [
      [good, good],
      ["nonsense", null],
    ] as const) {
      up.received.length = 0;
      await app.post(
        "/v1/chat/completions",
        { model: "shown", messages: [{ role: "user", content: "hi" }] },
        { traceparent },
      );
      expect(up.received[0]!.headers.get("traceparent")).toBe(expected);
    }
  });

  test("a decision's calls carry the context too", async () => {
    const routes = [{ provider: "up", model: "m" }];
    const judge = { id: "judge-1", backend: { kind: "verbalized", routes } };
    const app = await start({ config: config({ decisions: { models: [judge] } }) });
    up.received.length = 0;
    const question = { type: "choice", instructions: "Is it?", criteria: { yes: "It is.", no: "It is not." } };
    const body = { model: "judge-1", state: "s", questions: { q: question } };
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await app.post("/v1/systemone", body, { traceparent });
    expect(up.received.length).toBeGreaterThan(0);
    expect(up.received[0]!.headers.get("traceparent")).toBe(traceparent);
  });
});

describe("budgets and maintenance", () => {
  const priced = () =>
    config({
      models: [
        { id: "shown", routes: [{ provider: "up", model: "m" }], prices: { input: 1_000_000, output: 1_000_000 } },
      ],
    });

  test("a key stops at its budget, before anything is written", async () => {
    const app = await start({ config: priced(), key: { budgetMicros: 1 } });
    expect((await ask(app)).status).toBe(200);
    const refused = await ask(app);
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({ error: { code: "budget_exceeded", type: "billing_error" } });
    expect(refused.headers.get("x-ratelimit-limit")).not.toBeNull();
    expect((await app.call("/v1/models")).status).toBe(200);
    await app.restart();
    expect((await ask(app)).status).toBe(402);
  });

  test("maintenance closes and opens with a reload", async () => {
    const app = await start();
    const closed = { server: { maintenance: { enabled: true, retry_after: "90s", message: "Back at noon." } } };
    await app.reconfigure(config(closed));
    const refused = await ask(app);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("90");
    expect(await refused.json()).toMatchObject({ error: { code: "service_maintenance", message: "Back at noon." } });
    for (const path of ["/v1/stats/tokens", "/v1/status/models", "/v1/capabilities", "/livez"]) {
      expect((await app.call(path)).status).toBe(200);
    }
    expect((await app.post("/v1/moderations", {})).status).toBe(501);
    await app.reconfigure(config());
    expect((await ask(app)).status).toBe(200);
  });
});
