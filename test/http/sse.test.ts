import { afterEach, expect, test } from "bun:test";
import { LATER, type Polled } from "../../src/base/later.ts";
import { type SseOptions, type SseSource, sseResponse } from "../../src/http/sse-response.ts";
import { whileSteady } from "../support/real-time.ts";

let server: ReturnType<typeof Bun.serve> | undefined;
afterEach(() => server?.stop(true));

/** Serves one source. `cancelled` resolves when the source is cancelled. */
function serve(next: () => Promise<string | undefined>, options: Partial<SseOptions> = {}) {
  const cancelled = Promise.withResolvers<void>();
  let cancels = 0;
  const source: SseSource = {
    next,
    cancel() {
      cancels++;
      cancelled.resolve();
    },
  };
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => sseResponse(source, { keepalive: ": ping\n\n", signal: request.signal, ...options }),
  });
  return { url: server.url, port: server.port ?? 0, cancelled: cancelled.promise, cancels: () => cancels };
}

const never = () => new Promise<never>(() => {});

test("a keepalive is sent after each interval of silence", async () => {
  const { url } = serve(never, { keepaliveMs: 60 });
  const startedMs = performance.now();
  const answer = await fetch(url);
  const reader = answer.body?.getReader();
  // A slow reader receives several pings at once.
  let text = "";
  while (text.length < ": ping\n\n".length * 3) text += new TextDecoder().decode((await reader?.read())?.value);
  expect(text.replaceAll(": ping\n\n", "")).toBe("");
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(170);
  await reader?.cancel();
});

test("each sent event postpones the keepalive", async () => {
  await whileSteady(async () => {
    // The pieces together take longer than the keepalive interval, but each one arrives long before it. A busy machine may be
    // late by a second.
    let left = 12;
    const { url } = serve(
      async () => {
        // The speed of the source.
        await Bun.sleep(110);
        return left-- > 0 ? "x" : undefined;
      },
      { keepaliveMs: 1200 },
    );
    expect(await (await fetch(url)).text()).toBe("x".repeat(12));
  });
});

test("empty texts are not sent, and the end closes the stream without a cancel", async () => {
  const texts = ["a", "", "", "b", undefined];
  const { url, cancels } = serve(async () => texts.shift());
  expect(await (await fetch(url)).text()).toBe("ab");
  expect(cancels()).toBe(0);
});

test("a source that can be polled is polled, and woken when there is more", async () => {
  const texts: Polled<string | undefined>[] = ["a", LATER, "b", "c", LATER, LATER, undefined];
  const source: SseSource = {
    next: never,
    poll(wake) {
      const text = texts.shift();
      if (text === LATER) setTimeout(wake);
      return text;
    },
    cancel() {},
  };
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => sseResponse(source, { keepalive: "", signal: request.signal }),
  });
  expect(await (await fetch(server.url)).text()).toBe("abc");
  expect(texts).toEqual([]);
});

test("the source is cancelled once if the client disconnects", async () => {
  const { url, cancelled, cancels } = serve(never, { keepaliveMs: 20 });
  const gone = new AbortController();
  await fetch(url, { signal: gone.signal });
  gone.abort();
  await cancelled;
  // A second cancellation would happen with the next keepalive.
  await Bun.sleep(50);
  expect(cancels()).toBe(1);
});

test("a client that reads nothing blocks the source without using memory, and is dropped in the end", async () => {
  let pulled = 0;
  const text = "x".repeat(64 * 1024);
  const { port, cancelled } = serve(
    async () => {
      pulled++;
      return text;
    },
    { keepaliveMs: 50, unreadMs: 200 },
  );
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: { data: (own) => void own.pause(), error() {} },
  });
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  socket.flush();
  await cancelled;
  // The maximum that the buffers of the two sockets can contain.
  expect(pulled * text.length).toBeLessThan(64 * 1024 * 1024);
  socket.terminate();
});

test("an answer that nobody begins to read is dropped like one that is not read on", async () => {
  const cancelled = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const source = { next: never, cancel: cancelled.resolve };
  const answer = sseResponse(source, { keepalive: ": ping\n\n", keepaliveMs: 5, unreadMs: 20, signal });
  await cancelled.promise;
  expect(answer.status).toBe(200);
});

test.each(["a promise", "a poll"])("a source that fails in %s is cancelled, and its answer is cut off", async (way) => {
  const gate = Promise.withResolvers<void>();
  let cancels = 0;
  let asked = 0;
  const text = () => {
    if (++asked > 1) throw new Error("The source failed.");
    return "a";
  };
  const source: SseSource = {
    async next() {
      if (asked > 0) await gate.promise;
      return text();
    },
    cancel: () => void cancels++,
  };
  if (way === "a poll") {
    source.poll = (wake) => {
      if (asked === 0 || isOpen) return text();
      void gate.promise.then(wake);
      return LATER;
    };
  }
  let isOpen = false;
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => sseResponse(source, { keepalive: "", signal: request.signal }),
  });
  const reader = (await fetch(server.url)).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("a");
  isOpen = true;
  gate.resolve();
  // A client of events asks again, whether it hears of an end or of a failure.
  await reader?.read().catch(() => undefined);
  expect(cancels).toBe(1);
});
