import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createGuard, type GuardPolicy } from "../../src/net/guard.ts";
import { type FilterProxy, startProxy } from "../../src/net/proxy.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { startFakeDns } from "../support/fake-dns.ts";

let site: ReturnType<typeof Bun.serve>;
let hits = 0;
beforeAll(() => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      hits++;
      const seen = Object.fromEntries(request.headers);
      return Response.json({ path: new URL(request.url).pathname, ...seen });
    },
  });
});
afterAll(() => {
  site.stop(true);
});

async function withProxy<T>(policy: Partial<GuardPolicy>, use: (proxy: FilterProxy) => Promise<T>): Promise<T> {
  const guard = createGuard({ allowPrivateNetworks: false, allowHosts: [], ports: [], ...policy }, createResolve());
  const proxy = await startProxy(guard);
  try {
    return await use(proxy);
  } finally {
    await proxy.close();
  }
}

/** Sends raw bytes, then `second` once an answer came, and gives everything received until the other side closes. */
function send(port: number, first: string, second?: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let got = "";
  const socket = connect({ host: "127.0.0.1", port }, () => socket.write(first));
  socket.on("data", (chunk) => {
    if (got === "" && second !== undefined) socket.write(second);
    got += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  socket.on("close", () => resolve(got));
  return promise;
}

const get = (host: string) =>
  `GET http://${host}/a?b HTTP/1.1\r\nHost: elsewhere\r\nProxy-Connection: keep-alive\r\n\r\n`;
const status = (answer: string) => Number(answer.split(" ", 2)[1]);

describe("forwarding", () => {
  test("a request reaches its origin with the URL's host and no proxy headers", () =>
    withProxy({ allowPrivateNetworks: true }, async ({ port }) => {
      const answer = await send(port, get(`127.0.0.1:${site.port}`));
      expect(status(answer)).toBe(200);
      expect(JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1))).toMatchObject({
        path: "/a",
        host: `127.0.0.1:${site.port}`,
      });
      expect(answer).not.toContain("proxy-connection");
    }));
  test("a tunnel carries bytes both ways", () =>
    withProxy({ allowPrivateNetworks: true }, async ({ port }) => {
      const target = `127.0.0.1:${site.port}`;
      const inner = `GET /inner HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      const answer = await send(port, `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`, inner);
      expect(answer).toStartWith("HTTP/1.1 200 Connection established");
      expect(answer).toContain('"/inner"');
    }));
});

describe("refusing", () => {
  const spellings = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "127.0.0.1."];
  for (const host of spellings)
    for (const verb of ["GET", "CONNECT"])
      test(`${verb} ${host}`, () =>
        withProxy({}, async ({ port, refused }) => {
          const before = hits;
          const target = `${host}:${site.port}`;
          const answer = await send(port, verb === "GET" ? get(target) : `CONNECT ${target} HTTP/1.1\r\n\r\n`);
          expect([status(answer), hits, refused.length]).toEqual([403, before, 1]);
        }));
  for (const [name, bytes] of Object.entries({
    "an origin-form request": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "another scheme": "GET ftp://example.com/ HTTP/1.1\r\n\r\n",
    nonsense: "\x16\x03\x01\r\n\r\n",
  }))
    test(name, () =>
      withProxy({ allowPrivateNetworks: true }, async ({ port }) => expect(status(await send(port, bytes))).toBe(400)),
    );

  test("a name whose answer turned private", async () => {
    const dns = await startFakeDns((_name, nth) => (nth === 0 ? ["93.184.216.34"] : ["127.0.0.1"]));
    const guard = createGuard({ allowPrivateNetworks: false, allowHosts: [], ports: [] }, createResolve([dns.server]));
    await guard.check(`http://turn.example:${site.port}/`);
    const proxy = await startProxy(guard);
    const before = hits;
    expect(status(await send(proxy.port, get(`turn.example:${site.port}`)))).toBe(403);
    expect(hits).toBe(before);
    await proxy.close();
    dns.close();
  });

  test("a listed host only for the page that was sent there", () =>
    withProxy({ allowHosts: ["127.0.0.1"] }, async (proxy) => {
      const target = `127.0.0.1:${site.port}`;
      expect(status(await send(proxy.port, get(target)))).toBe(403);
      proxy.grant(`http://${target}/start`);
      expect(status(await send(proxy.port, get(target)))).toBe(200);
    }));
});
