import { afterEach, describe, expect, test } from "bun:test";
import { callProvider } from "../../src/upstream/call.ts";
import { configureProvider } from "../../src/upstream/configure.ts";
import { UpstreamFault } from "../../src/upstream/fault.ts";
import { listModels } from "../../src/upstream/list-models.ts";
import type { Provider } from "../../src/upstream/provider.ts";
import { readAnswer } from "../../src/upstream/read-answer.ts";
import { startBlackhole } from "../support/raw-upstream.ts";
import { whileSteady } from "../support/real-time.ts";

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/**
 * A provider that sends `text` on every connection and nothing more. `closed` resolves when the caller has closed the connection.
 */
function provider(text: string | ((write: (piece: string) => number) => void), idleMs = 100) {
  const closed = Promise.withResolvers<void>();
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        if (typeof text === "string") socket.write(text);
        else text((piece) => socket.write(piece));
      },
      close: () => closed.resolve(),
      error() {},
    },
  });
  stop = () => server.stop(true);
  return { provider: providerAt(server.port, { idle: idleMs }), closed: closed.promise };
}

function providerAt(port: number, timeoutMs: { idle?: number; connect?: number }): Provider {
  return configureProvider({
    name: "up",
    kind: "openai",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKeys: ["k"],
    headers: {},
    quirks: {},
    timeoutMs: { connect: 5000, firstByte: 5000, idle: 100, ...timeoutMs },
    retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  } as unknown as Parameters<typeof configureProvider>[0]) as Provider;
}

const REQUEST = { path: "/chat/completions", headers: {}, body: "{}", dropped: [] };

async function faultOf(work: Promise<unknown>): Promise<UpstreamFault> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UpstreamFault)) throw new Error(`no fault: ${String(error)}`);
  return error;
}

async function ask(up: Provider, signal = new AbortController().signal): Promise<string> {
  return readAnswer(up, await callProvider(up, REQUEST, { signal, secret: "k" }), signal);
}

describe("an answer that stalls is given up, and its connection is closed", () => {
  test.each([
    ["small", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"],
    ["large", "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n{"],
    ["chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
  ])("%s", async (_name, text) => {
    const up = provider(text);
    expect((await faultOf(ask(up.provider))).kind).toBe("timeout");
    await up.closed;
  });
});

test.each([
  ["small", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"],
  ["chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
])("the caller may abort in the middle: %s", async (_name, text) => {
  const up = provider(text, 10_000);
  const left = new AbortController();
  const reason = new Error("left");
  setTimeout(() => left.abort(reason), 30);
  expect(ask(up.provider, left.signal)).rejects.toBe(reason);
  await up.closed;
});

test("a large answer may take longer than the idle limit as long as it comes", async () => {
  const pieces = 12;
  const size = 200_000;
  await whileSteady(async () => {
    // The pieces together take longer than the limit, but each one arrives long before it. A busy machine may be late by a
    // second.
    const up = provider((write) => {
      write(`HTTP/1.1 200 OK\r\nContent-Length: ${pieces * size}\r\n\r\n`);
      for (let i = 1; i <= pieces; i++) setTimeout(() => write("x".repeat(size)), i * 140);
    }, 1500);
    expect((await ask(up.provider)).length).toBe(pieces * size);
  });
});

test("a model list is bounded while it is read", async () => {
  const piece = "x".repeat(256 * 1024);
  let sent = 0;
  const up = provider((write) => {
    write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"data":["');
    const more = () => {
      const written = write(piece);
      // A closed connection accepts no more data.
      if (written < 0 || sent > 1024 * 1024 * 1024) return;
      sent += written;
      setTimeout(more, written === piece.length ? 0 : 5);
    };
    more();
  }, 3000);
  const asked = listModels(up.provider, { signal: AbortSignal.timeout(20_000), nowMs: 0 });
  expect((await faultOf(asked)).message).toContain("too large");
  await up.closed;
  expect(sent).toBeLessThan(64 * 1024 * 1024);
}, 60_000);

/** The connection attempts on this machine that a port has not answered. */
async function attemptsAt(port: number): Promise<number> {
  const SYN_SENT = "02";
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = (await Bun.file("/proc/net/tcp").text()).split("\n").map((line) => line.trim().split(/\s+/));
  return lines.filter(([, , to, state]) => state === SYN_SENT && to?.endsWith(remote)).length;
}

test("nothing of a call stays open that a port did not answer", async () => {
  const hole = await startBlackhole();
  stop = () => hole.stop();
  const before = await attemptsAt(hole.port);
  const up = providerAt(hole.port, { connect: 20 });
  const faults = await Promise.all(Array.from({ length: 5 }, () => faultOf(ask(up))));
  expect(faults.map(({ kind, connecting }) => ({ kind, connecting }))).toEqual(
    faults.map(() => ({ kind: "timeout", connecting: true })),
  );
  // The runtime closes the sockets in a thread of its own; the system would end an attempt after two minutes.
  while ((await attemptsAt(hole.port)) > before);
});
