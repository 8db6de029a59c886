import { afterAll, describe, expect, test } from "bun:test";
import { wholeBody } from "../../src/http/whole-body.ts";

const KIB = 1024;
let given: Parameters<typeof wholeBody>[0] = "";
const aborts: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    request.signal.addEventListener("abort", () => {
      aborts.push(pathname);
      resolve();
    });
    // The server holds headers and body together by itself where the answer is there at once.
    await (pathname === "/gone" ? gone : new Promise((resolve) => setImmediate(resolve)));
    return new Response(wholeBody(given), { headers: { "content-type": "application/json", "x-other": "1" } });
  },
});
afterAll(() => server.stop(true));

const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, at) => at % 251);
const headOf = ({ headers }: Response) => Object.fromEntries([...headers].filter(([name]) => name !== "date"));

describe("a body of which all bytes are known", () => {
  test.each([
    ["no text", ""],
    ["a short text", "{}"],
    ["a text that fits the server's buffer", "a".repeat(14 * KIB)],
    ["one character more", "a".repeat(14 * KIB + 1)],
    ["a long text", "a".repeat(20_000)],
    ["a text of long characters", "é€😀".repeat(4000)],
    ["half a character", `${"a".repeat(20_000)}\ud800`],
    ["short bytes", bytesOf(10)],
    ["long bytes", bytesOf(20_000)],
    ["bytes within others", bytesOf(40_001).subarray(7, 30_000)],
    ["as many as are given at once", bytesOf(KIB * KIB)],
    ["more than that", bytesOf(KIB * KIB + 1)],
  ])("%s arrives with its length, as without it", async (_name, content) => {
    given = content;
    const response = await fetch(server.url);
    const plain = new Uint8Array(await new Response(content).arrayBuffer());
    expect(headOf(response)).toEqual({
      "content-type": "application/json",
      "content-length": String(plain.byteLength),
      "x-other": "1",
    });
    expect(await response.bytes()).toEqual(plain);
  });

  test.each([
    ["short", [bytesOf(10), bytesOf(3)]],
    ["long", [bytesOf(20_000), bytesOf(3), bytesOf(9000).subarray(5)]],
    ["longer than what is given at once", [bytesOf(KIB * KIB), bytesOf(3)]],
  ])("%s parts arrive as one body", async (_name, parts) => {
    given = parts;
    const response = await fetch(server.url);
    const joined = new Uint8Array(Buffer.concat(parts));
    expect(response.headers.get("content-length")).toBe(String(joined.byteLength));
    expect(await response.bytes()).toEqual(joined);
  });

  test("a single part is not copied", () => {
    for (const part of [bytesOf(10), bytesOf(KIB * KIB + 1)]) expect(wholeBody([part])).toBe(part);
  });

  test("is given at once if it is longer than the server's buffer, and not much longer", () => {
    const isAtOnce = (content: string | Uint8Array<ArrayBuffer>) => wholeBody(content) instanceof ReadableStream;
    expect(["a".repeat(14 * KIB), "a".repeat(14 * KIB + 1), "é".repeat(7 * KIB + 1)].map(isAtOnce)).toEqual([
      false,
      true,
      true,
    ]);
    expect([bytesOf(14 * KIB), bytesOf(14 * KIB + 1), bytesOf(KIB * KIB + 1)].map(isAtOnce)).toEqual([
      false,
      true,
      false,
    ]);
  });

  test.each(["text", "bytes"] as const)("can be read within the program as %s", async (how) => {
    const text = "é".repeat(10_000);
    expect(await new Response(wholeBody(text))[how]()).toEqual(how === "text" ? text : new TextEncoder().encode(text));
  });

  test("arrives whole at a client that reads slowly", async () => {
    given = bytesOf(KIB * KIB);
    const { promise, resolve } = Promise.withResolvers<void>();
    const parts: Uint8Array[] = [];
    let received = 0;
    const client = await connected((socket, data) => {
      parts.push(data.slice());
      received += data.byteLength;
      if (received > KIB * KIB) return resolve();
      socket.pause();
      setImmediate(() => socket.resume());
    });
    client.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await promise;
    client.end();
    const all = Buffer.concat(parts);
    expect(all.subarray(all.indexOf("\r\n\r\n") + 4)).toEqual(Buffer.from(given));
    expect(aborts).toEqual([]);
  });

  test("for a client that has left disturbs no other", async () => {
    given = bytesOf(KIB * KIB);
    const clients = [];
    for (let i = 0; i < 10; i++) {
      const client = await connected(() => undefined);
      client.write("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n");
      clients.push(client);
    }
    while (server.pendingRequests < clients.length) await new Promise((resolve) => setImmediate(resolve));
    for (const client of clients) client.terminate();
    while (server.pendingRequests > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(aborts).toEqual(clients.map(() => "/gone"));
    given = "é".repeat(10_000);
    for (let i = 0; i < 3; i++) expect(await (await fetch(server.url)).text()).toBe(given);
  });
});

function connected(data: (socket: Bun.Socket, data: Buffer) => void) {
  return Bun.connect({ hostname: "127.0.0.1", port: server.port as number, socket: { data } });
}
