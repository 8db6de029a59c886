import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiError } from "../../src/base/errors.ts";
import { longStep } from "../../src/base/long-steps.ts";
import { readBody, readJsonBody } from "../../src/http/body.ts";
import { whileSteady } from "../support/real-time.ts";

const STALL_MS = 400;
const TOTAL_MS = 1500;
const MAX_BYTES = 100_000;

let server: ReturnType<typeof Bun.serve>;
/** The outcome of reading the last body. */
let seen = Promise.withResolvers<{ bytes: number } | { code: string }>();

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const limits = { maxBytes: MAX_BYTES, stallMs: STALL_MS, totalMs: TOTAL_MS };
      try {
        const bytes =
          new URL(request.url).pathname === "/json"
            ? (await readJsonBody(request, limits)).text.length
            : (await readBody(request, limits)).byteLength;
        seen.resolve({ bytes });
        return new Response(String(bytes));
      } catch (error) {
        const code = error instanceof ApiError ? error.apiCode : String(error);
        seen.resolve({ code });
        return new Response(code, { status: error instanceof ApiError ? error.status : 500 });
      }
    },
  });
});
afterAll(() => server.stop(true));

/** Sends a body piece by piece, `everyMs` apart, and returns how the server saw it end. */
async function send(
  pieces: string[],
  options: { everyMs: number; declared?: number; path?: string; leave?: boolean },
): Promise<{ bytes: number } | { code: string }> {
  seen = Promise.withResolvers();
  const { declared, path = "/bytes" } = options;
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port ?? 0,
    socket: { data() {}, error() {} },
  });
  const length = declared === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${declared}`;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  let over = false;
  void seen.promise.then(() => {
    over = true;
  });
  for (const piece of pieces) {
    if (over) break;
    await Bun.sleep(options.everyMs);
    socket.write(declared === undefined ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
    socket.flush();
  }
  if (options.leave) socket.terminate();
  const outcome = await seen.promise;
  socket.terminate();
  return outcome;
}

// A body must arrive within its time limits, however slow the client is.
describe("slow bodies", () => {
  const letters = (count: number, size = 1) => Array.from({ length: count }, () => "x".repeat(size));
  test.each<[string, string[], Parameters<typeof send>[1], { bytes: number } | { code: string }]>([
    ["a small one in pieces", letters(9), { everyMs: 10, declared: 9 }, { bytes: 9 }],
    ["a small one, too slowly", letters(9), { everyMs: 100, declared: 9 }, { code: "request_timeout" }],
    ["a small one that stalls", letters(3), { everyMs: 5, declared: 9 }, { code: "request_timeout" }],
    ["a small one that never begins", [], { everyMs: 0, declared: 9 }, { code: "request_timeout" }],
    ["a small one that comes too late", letters(1), { everyMs: 600, declared: 1 }, { code: "request_timeout" }],
    ["a large one, steadily", letters(9, 4000), { everyMs: 100, declared: 36_000 }, { bytes: 36_000 }],
    ["a large one that stalls", letters(3, 4000), { everyMs: 5, declared: 36_000 }, { code: "request_timeout" }],
    ["a chunked one that stalls", letters(3), { everyMs: 5 }, { code: "request_timeout" }],
    ["one that takes too long in all", letters(30), { everyMs: 80, declared: 30 }, { code: "request_timeout" }],
    ["JSON that stalls", ['{"a"'], { everyMs: 0, declared: 9, path: "/json" }, { code: "request_timeout" }],
    ["a client that leaves", ["x"], { everyMs: 0, declared: 9, leave: true }, { code: "invalid_request" }],
    ["a client that leaves a chunked one", ["x"], { everyMs: 0, leave: true }, { code: "invalid_request" }],
  ])(
    "%s",
    (_name, pieces, options, outcome) => whileSteady(async () => expect(await send(pieces, options)).toEqual(outcome)),
    60_000,
  );
});

describe("sizes", () => {
  test.each([
    ["at the limit", MAX_BYTES, 200],
    ["beyond it", MAX_BYTES + 1, 413],
    ["nothing", 0, 200],
  ])("%s", async (_name, size, status) => {
    const answer = await fetch(server.url, { method: "POST", body: "x".repeat(size) });
    expect(answer.status).toBe(status);
    if (status === 200) expect(await answer.text()).toBe(String(size));
  });

  test.each([
    ["deep", 900, 200],
    ["too deep", 60_000 / 2, 400],
  ])("nested %s", async (_name, levels, status) => {
    const text = `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect((await fetch(`${server.url}json`, { method: "POST", body: text })).status).toBe(status);
  });

  test("characters split between reads are kept", async () => {
    const text = JSON.stringify({ a: "ü€😀".repeat(10_000) });
    const bytes = new TextEncoder().encode(text);
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at + 777));
        at += 777;
      },
    });
    const request = new Request("http://x/", { method: "POST", body, headers: { "content-type": "application/json" } });
    expect((await readJsonBody(request, { maxBytes: 1_000_000 })).text).toBe(text);
  });

  const LARGE = 700_000;
  /** A request whose body arrives in pieces of an odd size. */
  const inPieces = (bytes: Uint8Array, headers: Record<string, string>) => {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 66_667) pieces.push(bytes.slice(at, at + 66_667));
    const waiting = [...pieces];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        const next = waiting.shift();
        if (next === undefined) controller.close();
        else controller.enqueue(next);
      },
    });
    const request = new Request("http://x/", {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    return { request, pieces };
  };
  const limits = { maxBytes: 2 * LARGE };

  test.each([
    ["of declared length", { "content-length": String(LARGE) }],
    ["of unknown length", {}],
  ])("a large body %s keeps every byte", async (_name, headers) => {
    const bytes = Uint8Array.from({ length: LARGE }, (_, index) => (index * 31) % 251);
    const { request } = inPieces(bytes, headers);
    expect(Buffer.compare(await readBody(request, limits), bytes)).toBe(0);
  });

  test("a large body of declared length is in memory once, and released after its text was read", async () => {
    const text = JSON.stringify({ a: "ü".repeat(LARGE / 2 - 4) });
    const { request, pieces } = inPieces(new TextEncoder().encode(text), { "content-length": String(LARGE) });
    expect((await readJsonBody(request, limits)).text).toBe(text);
    expect(pieces.map(({ byteLength }) => byteLength)).toEqual(pieces.map(() => 0));
  });

  test("other work runs while megabytes that arrived at once are joined", async () => {
    const bytes = new Uint8Array(16 * 1024 * 1024).fill(120);
    const turnsOf = async (pieces: readonly Uint8Array[]) => {
      const waiting = [...pieces];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const next = waiting.shift();
          if (next === undefined) controller.close();
          else controller.enqueue(next);
        },
      });
      const headers = { "content-length": String(bytes.length) };
      let turns = 0;
      let isOver = false;
      const count = () => {
        turns++;
        if (!isOver) setImmediate(count);
      };
      setImmediate(count);
      const read = await readBody(new Request("http://x/", { method: "POST", body, headers }), {
        maxBytes: bytes.length,
      });
      isOver = true;
      expect(Buffer.compare(read, bytes)).toBe(0);
      return turns;
    };
    // These are copies, because the buffers are emptied when they are joined.
    expect(await turnsOf([bytes.slice(0, 1), bytes.slice(1)])).toBeGreaterThan(7);
  });

  test("a body that is larger than its declared length is refused", async () => {
    const { request } = inPieces(new Uint8Array(LARGE + 1), { "content-length": String(LARGE) });
    const error = await readBody(request, limits).catch((error: unknown) => error);
    expect(error).toMatchObject({ apiCode: "invalid_request" });
  });
});

test("the time in which older requests go first is no pause of the client's", async () => {
  await whileSteady(async () => {
    const stallMs = 200;
    const bytes = new Uint8Array(4 * 1024 * 1024);
    const headers = { "content-length": String(bytes.byteLength) };
    const request = new Request("http://localhost/", { method: "POST", body: bytes, headers });
    let isOver = false;
    setTimeout(() => {
      isOver = true;
    }, 2 * stallMs);
    const older = async () => {
      while (!isOver) await longStep(0);
    };
    const [read] = await Promise.all([readBody(request, { maxBytes: bytes.byteLength, stallMs }), older()]);
    expect(read.byteLength).toBe(bytes.byteLength);
  });
});
