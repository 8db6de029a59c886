import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { countTokens } from "../../src/tokens/count.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import {
  chatAnswer,
  chatChunk,
  type FakeUpstream,
  HANG,
  type Script,
  sse,
  startUpstream,
} from "../support/upstream.ts";

let up: FakeUpstream;
const apps: TestApp[] = [];

beforeAll(() => {
  up = startUpstream();
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
  up.received.length = 0;
});
afterAll(() => up.stop());

async function start(script: Script, part: { base_url?: string; retry?: object } = {}): Promise<TestApp> {
  up.answer(script);
  const provider = { kind: "openai", base_url: up.baseUrl, discover: false, ...part };
  const app = await startTestApp({
    config: {
      usage: { flush: "1ms" },
      providers: { up: provider },
      models: [{ id: "solo", routes: [{ provider: "up", model: "m" }] }],
    },
  });
  apps.push(app);
  return app;
}

const request = (stream: boolean) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "solo", messages: [{ role: "user", content: "hello there" }], stream }),
});

describe("clients that disconnect", () => {
  const totals = async (app: TestApp) =>
    (await (await fetch(`${app.url}/v1/stats/tokens`)).json()) as Record<string, number>;

  test("during streams: their leaving is no failure of the provider", async () => {
    let isStreamed = true;
    const app = await start(() =>
      isStreamed
        ? sse([chatChunk({ role: "assistant" }), chatChunk({ content: "one" }), HANG])
        : chatAnswer({ role: "assistant", content: "ok" }),
    );
    for (let left = 30; left > 0; left--) {
      const leaving = new AbortController();
      const next = up.next();
      const response = await app.call("/v1/chat/completions", { ...request(true), signal: leaving.signal });
      await response.body!.getReader().read();
      leaving.abort();
      await (await next).aborted;
    }
    isStreamed = false;
    expect((await app.call("/v1/chat/completions", request(false))).status).toBe(200);
  });

  test("during a stream: the call is aborted, and the tokens that were sent are counted once", async () => {
    const app = await start(() =>
      sse([chatChunk({ role: "assistant" }), chatChunk({ content: "one two three" }), HANG]),
    );
    const leaving = new AbortController();
    const next = up.next();
    const response = await app.call("/v1/chat/completions", { ...request(true), signal: leaving.signal });
    const reader = response.body!.getReader();
    for (let text = ""; !text.includes("three"); ) text += Buffer.from((await reader.read()).value ?? []).toString();
    leaving.abort();
    await (await next).aborted;
    await app.restart();
    expect(await totals(app)).toMatchObject({
      requests: 1,
      input_tokens: countTokens("hello there"),
      output_tokens: countTokens("one two three"),
    });
  });

  test.each([[true], [false]])("before any answer, stream %p: the call is aborted", async (stream) => {
    const app = await start(() => new Promise<Response>(() => {}));
    const leaving = new AbortController();
    const next = up.next();
    const response = app.call("/v1/chat/completions", { ...request(stream), signal: leaving.signal });
    const received = await next;
    leaving.abort();
    await expect(response).rejects.toThrow();
    await received.aborted;
    expect(up.received).toHaveLength(1);
  });

  test("between attempts: no other provider is called", async () => {
    const first = Promise.withResolvers<void>();
    const app = await start(
      () => {
        first.resolve();
        return new Response("down", { status: 503 });
      },
      { retry: { attempts: 5, base: "1h", max: "1h" } },
    );
    const leaving = new AbortController();
    const response = app.call("/v1/chat/completions", { ...request(false), signal: leaving.signal });
    await first.promise;
    leaving.abort();
    await expect(response).rejects.toThrow();
    await app.stop();
    apps.length = 0;
    // Nothing was still running that had to be cut.
    expect(app.logs.filter(({ message, msg }) => String(message ?? msg).includes("cut at the drain"))).toEqual([]);
    expect(up.received).toHaveLength(1);
  });
});

describe("connections", () => {
  test("the connection of a finished stream is reused", async () => {
    const ports = new Set<number>();
    let read = Promise.withResolvers<void>();
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request, own) {
        await request.arrayBuffer();
        ports.add(own.requestIP(request)!.port);
        return sse([
          chatChunk({ role: "assistant" }),
          chatChunk({ content: "x" }),
          chatChunk({}, { finish: "stop" }),
          "data: [DONE]\n\n",
          // The end of the body arrives separately, as it does in a network.
          read.promise,
        ]);
      },
    });
    const app = await start(() => new Response(), { base_url: `http://127.0.0.1:${server.port}/v1` });
    for (let i = 0; i < 10; i++) {
      read = Promise.withResolvers<void>();
      await (await app.call("/v1/chat/completions", request(true))).text();
      read.resolve();
      await Bun.sleep(10);
    }
    await server.stop(true);
    expect(ports.size).toBeLessThan(8);
  });
});
