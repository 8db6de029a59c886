import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { well } from "../support/failures.ts";
import { chatAnswer, chatChunk, type FakeUpstream, HANG, sse, startUpstream } from "../support/upstream.ts";

let a: FakeUpstream;
let b: FakeUpstream;
/** The names of the providers in the order in which they were called. */
let order: string[] = [];
const apps: TestApp[] = [];

beforeAll(() => {
  a = startUpstream();
  b = startUpstream();
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
  order = [];
  a.received.length = 0;
  b.received.length = 0;
});
afterAll(() => Promise.all([a.stop(), b.stop()]));

type Script = Parameters<FakeUpstream["answer"]>[0];
function script(first: Script, second: Script = first): void {
  a.answer((received) => {
    order.push("a");
    return first(received);
  });
  b.answer((received) => {
    order.push("b");
    return second(received);
  });
}

const down: Script = () => new Response("down", { status: 503 });
const limited =
  (headers: Record<string, string>): Script =>
  () =>
    new Response("slow down", { status: 429, headers });

const provider = (up: FakeUpstream, part: Record<string, unknown> = {}) => ({
  kind: "openai",
  base_url: up.baseUrl,
  discover: false,
  retry: { attempts: 2, base: "1ms", max: "2ms" },
  breaker: { failures: 1000, window: "1h", cooldown: "1h" },
  ...part,
});

async function start(parts: { a?: object; b?: object; server?: object } = {}, options: TestAppOptions = {}) {
  const app = await startTestApp({
    config: {
      usage: { flush: "1ms" },
      server: parts.server ?? {},
      providers: { a: provider(a, parts.a as never), b: provider(b, parts.b as never) },
      models: [
        { id: "solo", routes: [{ provider: "a", model: "m" }] },
        {
          id: "duo",
          routes: [
            { provider: "b", model: "m", priority: 2 },
            { provider: "a", model: "m", priority: 1 },
          ],
        },
      ],
    },
    ...options,
  });
  apps.push(app);
  return app;
}

const ask = (app: TestApp, model: string, more: Record<string, unknown> = {}) =>
  app.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }], ...more });
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

describe("the order of tries", () => {
  test("every route once in order of priority, then again after the backoff", async () => {
    script(down);
    const app = await start();
    expect((await ask(app, "duo")).status).toBe(502);
    expect(order).toEqual(["a", "b", "a", "b"]);
  });

  test("a route that has had its tries is left out", async () => {
    script(down);
    const app = await start({
      a: { retry: { attempts: 1, base: "1ms", max: "1ms" } },
      b: { retry: { attempts: 3, base: "1ms", max: "1ms" } },
    });
    expect((await ask(app, "duo")).status).toBe(502);
    expect(order).toEqual(["a", "b", "b", "b"]);
  });

  test("a route that failed for good is not asked again while the other is", async () => {
    script(() => new Response("no", { status: 401 }), down);
    const app = await start();
    expect((await ask(app, "duo")).status).toBe(502);
    expect(order).toEqual(["a", "b", "b"]);
  });

  test("an error of the request ends it, even on the second route", async () => {
    script(down, () => Response.json({ error: { message: "bad" } }, { status: 422 }));
    const app = await start();
    const refused = await ask(app, "duo");
    expect(refused.status).toBe(400);
    expect(order).toEqual(["a", "b"]);
  });

  test("a request that succeeds on a later attempt is answered", async () => {
    let tries = 0;
    script((received) => (++tries < 3 ? down(received) : well(received)), down);
    const app = await start({ a: { retry: { attempts: 3, base: "1ms", max: "1ms" } } });
    const answer = await ask(app, "duo");
    expect(answer.status).toBe(200);
    expect(order).toEqual(["a", "b", "a", "b", "a"]);
  });

  test("equal priorities share by weight", async () => {
    script(well);
    const app = await startTestApp({
      config: {
        providers: { a: provider(a), b: provider(b) },
        models: [
          {
            id: "shared",
            routes: [
              { provider: "a", model: "m", weight: 9 },
              { provider: "b", model: "m", weight: 1 },
            ],
          },
        ],
      },
    });
    apps.push(app);
    for (let i = 0; i < 100; i++) await (await ask(app, "shared")).arrayBuffer();
    const share = order.filter((name) => name === "a").length;
    // The expected number is 90. 70 is more than six standard deviations away.
    expect(share).toBeGreaterThan(70);
    expect(share).toBeLessThan(100);
  });
});

describe("a provider that asks the caller to wait", () => {
  test("is waited for, up to the maximum in its settings", async () => {
    const times: number[] = [];
    script((received) => {
      times.push(performance.now());
      return times.length === 1 ? limited({ "retry-after-ms": "80" })(received) : well(received);
    });
    const app = await start({ a: { retry: { attempts: 2, base: "1ms", max: "10s" } } });
    expect((await ask(app, "solo")).status).toBe(200);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(75);
  });

  test.each([
    ["beyond the longest wait", { retry: { attempts: 2, base: "1ms", max: "2s" } }, {}, 1],
    ["beyond the request's deadline", { retry: { attempts: 2, base: "1ms", max: "1h" } }, { request_timeout: "2s" }, 1],
  ])("%s: the client is told when to try again", async (_name, part, server, calls) => {
    script(limited({ "retry-after": "7" }));
    const app = await start({ a: part, server });
    const refused = await ask(app, "solo", { stream: true });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("7");
    expect(await codeOf(refused)).toBe("provider_rate_limited");
    expect(order).toHaveLength(calls);
  });

  test("does not keep the other route waiting", async () => {
    script(limited({ "retry-after": "3600" }), down);
    const app = await start();
    expect((await ask(app, "duo")).status).toBe(502);
    expect(order).toEqual(["a", "b", "b"]);
  });

  test("a rate-limited key is replaced by the next one within the request", async () => {
    const seen: (string | null)[] = [];
    script((received) => {
      const key = received.headers.get("authorization");
      seen.push(key);
      return key === "Bearer k2" ? well(received) : limited({ "retry-after": "60" })(received);
    });
    const app = await start({ a: { api_keys: ["k1", "k2"] } });
    expect((await ask(app, "solo")).status).toBe(200);
    expect((await ask(app, "solo")).status).toBe(200);
    expect(seen).toEqual(["Bearer k1", "Bearer k2", "Bearer k2"]);
  });
});

describe("circuit breakers", () => {
  const settings = {
    breaker: { failures: 3, window: "30s", cooldown: "15s" },
    retry: { attempts: 1, base: "1ms", max: "1ms" },
  };

  test("open after enough failures, stop calls to the provider, and let exactly one request probe", async () => {
    const clock = new FakeClock(1_800_000_000_000);
    script(down, well);
    const app = await start({ a: settings }, { clock, key: { rpm: 1_000_000 } });
    for (let i = 0; i < 5; i++) expect((await ask(app, "duo")).status).toBe(200);
    expect(order.filter((name) => name === "a")).toHaveLength(3);
    const refused = await ask(app, "solo");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("15");
    expect(await codeOf(refused)).toBe("provider_circuit_open");

    clock.advance(15_000);
    order = [];
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    script(async () => {
      arrived.resolve();
      await held.promise;
      return chatAnswer({ content: "back" });
    }, well);
    const probe = ask(app, "solo");
    await arrived.promise;
    const others = await Promise.all(Array.from({ length: 20 }, () => ask(app, "solo")));
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([503]));
    expect(order).toEqual(["a"]);
    held.resolve();
    expect((await probe).status).toBe(200);
    expect((await ask(app, "solo")).status).toBe(200);
  });

  test.each([[429], [400], [404], [401]])("never for %d", async (status) => {
    script(() => new Response("no", { status }));
    const app = await start({ a: settings });
    for (let i = 0; i < 5; i++) await (await ask(app, "solo")).arrayBuffer();
    expect((await fetch(`${app.url}/health`)).status).toBe(200);
    expect(order).toHaveLength(5);
  });

  test("a client that disconnects does not count for or against the provider", async () => {
    script(() => sse([chatChunk({ role: "assistant" }), chatChunk({ content: "x" }), HANG]));
    const app = await start({ a: settings });
    for (let i = 0; i < 4; i++) {
      const leaving = new AbortController();
      const next = a.next();
      const response = await app.call("/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "solo", messages: [{ role: "user", content: "hi" }], stream: true }),
        signal: leaving.signal,
      });
      await response.body!.getReader().read();
      leaving.abort();
      await (await next).aborted;
    }
    expect((await fetch(`${app.url}/health`)).status).toBe(200);
  });
});

describe("the rate limit", () => {
  test("100 at once with room for 20: exactly 20, over a restart too", async () => {
    script(well);
    const clock = new FakeClock(1_800_000_000_000);
    const app = await start({}, { key: { rpm: 20 }, clock });
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(app, "solo")));
    const admitted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([admitted.length, refused.length, order.length]).toEqual([20, 80, 20]);
    const remaining = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining"))).sort((x, y) => x - y);
    expect(remaining).toEqual(Array.from({ length: 20 }, (_, i) => i));
    for (const { headers } of answers) {
      expect(headers.get("x-ratelimit-limit")).toBe("20");
      expect(headers.get("x-ratelimit-reset")).toBe("60");
    }
    for (const { headers } of refused) expect(headers.get("retry-after")).toBe("60");
    await app.restart();
    expect((await ask(app, "solo")).status).toBe(429);
    clock.advance(59_999);
    expect((await ask(app, "solo")).status).toBe(429);
    clock.advance(1);
    expect((await ask(app, "solo")).status).toBe(200);
  });

  test("which requests count, and which answers have the headers", async () => {
    script(() => Response.json({ error: { message: "no" } }, { status: 400 }));
    const app = await start({}, { key: { rpm: 10 } });
    const left = (response: Response) => response.headers.get("x-ratelimit-remaining");
    const post = (path: string, body: string, headers = {}) =>
      app.call(path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    expect(left(await post("/v1/chat/completions", "{not json"))).toBe("9");
    expect(left(await post("/v1/messages", "{}"))).toBe("8");
    expect(left(await ask(app, "no-such-model"))).toBe("7");
    expect(left(await ask(app, "solo"))).toBe("6");
    expect(left(await ask(app, "solo", { stream: true }))).toBe("5");
    expect(left(await app.call("/v1/models"))).toBeNull();
    expect(left(await app.call("/v1/tiers"))).toBeNull();
    expect(left(await post("/v1/chat/completions", "{}", { authorization: "Bearer sk-wrong" }))).toBeNull();
    expect(
      left(
        await post(
          "/v1/messages/count_tokens",
          JSON.stringify({ model: "solo", messages: [{ role: "user", content: "x" }] }),
        ),
      ),
    ).toBeNull();
    expect(left(await ask(app, "solo"))).toBe("4");
  });
});
