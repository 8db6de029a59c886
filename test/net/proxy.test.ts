import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type AddressPolicy, createAddressGuard } from "../../src/net/address-guard.ts";
import { type OwnProxy, type SharedProxy, startProxy, startSharedProxy } from "../../src/net/proxy.ts";
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

async function withProxy<T>(policy: Partial<AddressPolicy>, use: (proxy: OwnProxy) => Promise<T>): Promise<T> {
  const guard = createAddressGuard(
    { allowPrivateNetworks: false, allowHosts: [], ports: [], ...policy },
    createResolve(),
  );
  const proxy = await startProxy(guard);
  try {
    return await use(proxy);
  } finally {
    await proxy.close();
  }
}

/**
 * Sends raw bytes, then `second` once an answer has arrived. Returns everything received until the other side closes the
 * connection.
 */
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
        withProxy({}, async (proxy) => {
          const before = hits;
          const target = `${host}:${site.port}`;
          const ask = () => send(proxy.port, verb === "GET" ? get(target) : `CONNECT ${target} HTTP/1.1\r\n\r\n`);
          expect([status(await ask()), hits, proxy.isRefused]).toEqual([403, before, false]);
          // If the main document has the same address, the whole page counts as refused, both for earlier and for later requests.
          proxy.navigating(`${verb === "GET" ? "http" : "https"}://${target}/`);
          expect(proxy.isRefused).toBe(true);
          expect([status(await ask()), hits]).toEqual([403, before]);
        }));
  for (const [name, bytes] of Object.entries({
    "an origin-form request": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "another scheme": "GET ftp://example.com/ HTTP/1.1\r\n\r\n",
    nonsense: "\x16\x03\x01\r\n\r\n",
  }))
    test(name, () =>
      withProxy({ allowPrivateNetworks: true }, async ({ port }) => expect(status(await send(port, bytes))).toBe(400)),
    );

  test("a name whose address became private", async () => {
    const dns = await startFakeDns((_name, nth) => (nth === 0 ? ["93.184.216.34"] : ["127.0.0.1"]));
    const guard = createAddressGuard(
      { allowPrivateNetworks: false, allowHosts: [], ports: [] },
      createResolve([dns.server]),
    );
    await guard.check(`http://turn.example:${site.port}/`);
    const proxy = await startProxy(guard);
    const before = hits;
    expect(status(await send(proxy.port, get(`turn.example:${site.port}`)))).toBe(403);
    expect(hits).toBe(before);
    await proxy.close();
    dns.close();
  });

  test("the refusal of a main document is remembered, however many others were refused", () =>
    withProxy({}, async (proxy) => {
      for (let number = 0; number < 1100; number++) proxy.navigating(`http://10.0.${number >> 8}.${number & 255}/`);
      await send(proxy.port, get("10.9.9.9"));
      expect(proxy.isRefused).toBe(false);
      proxy.navigating("http://10.8.8.8/");
      await send(proxy.port, get("10.8.8.8"));
      expect(proxy.isRefused).toBe(true);
    }));
});

describe("the operator's own hosts", () => {
  const listed = { allowHosts: ["127.0.0.1"] };
  const ask = async (proxy: OwnProxy) => status(await send(proxy.port, get(`127.0.0.1:${site.port}`)));

  test("are only open to a page that is sent there or is already there", () =>
    withProxy(listed, async (proxy) => {
      const own = `http://127.0.0.1:${site.port}/start`;
      expect(await ask(proxy)).toBe(403);
      proxy.navigating(own);
      expect([await ask(proxy), proxy.isRefused]).toEqual([200, false]);
      proxy.arrived(own);
      expect(await ask(proxy)).toBe(200);
      proxy.navigating("http://93.184.216.34/");
      proxy.arrived("http://93.184.216.34/");
      expect(await ask(proxy)).toBe(403);
    }));
  test("are closed again if the navigation failed", () =>
    withProxy(listed, async (proxy) => {
      proxy.arrived("http://93.184.216.34/");
      const ended = proxy.navigating(`http://127.0.0.1:${site.port}/no-content`);
      expect(await ask(proxy)).toBe(200);
      ended();
      expect(await ask(proxy)).toBe(403);
    }));
  test("wait for the event of a redirect in progress", () =>
    withProxy(listed, async (proxy) => {
      const asked = ask(proxy);
      proxy.navigating(`http://127.0.0.1:${site.port}/`);
      expect(await asked).toBe(200);
    }));
});

describe("a proxy for a browser elsewhere", () => {
  const open = () => createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve());
  const basic = (username: string, password: string) =>
    `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}\r\n`;
  const ask = (port: number, header: string, verb = "GET") => {
    const target = `127.0.0.1:${site.port}`;
    return send(
      port,
      verb === "GET"
        ? `GET http://${target}/a HTTP/1.1\r\n${header}\r\n`
        : `CONNECT ${target} HTTP/1.1\r\n${header}\r\n`,
      "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
  };
  async function withShared(use: (proxy: SharedProxy) => Promise<void>): Promise<void> {
    const proxy = await startSharedProxy({ hostname: "127.0.0.1", port: 0 });
    try {
      await use(proxy);
    } finally {
      proxy.close();
    }
  }

  test("refuses everyone without the secret of an open page", () =>
    withShared(async (proxy) => {
      const before = hits;
      const way = proxy.open(open());
      const other = proxy.open(open());
      for (const header of [
        "",
        "Proxy-Authorization: Basic\r\n",
        "Proxy-Authorization: Basic !!!\r\n",
        "Proxy-Authorization: Bearer x\r\n",
        basic("", ""),
        basic(way.username, ""),
        basic(way.username, `${way.password}x`),
        basic(way.username, other.password),
        basic("nobody", way.password),
      ])
        for (const verb of ["GET", "CONNECT"]) {
          const answer = await ask(proxy.port, header, verb);
          expect(status(answer)).toBe(407);
          expect(answer).toContain("Proxy-Authenticate: Basic");
        }
      expect(hits).toBe(before);
      for (const verb of ["GET", "CONNECT"])
        expect(status(await ask(proxy.port, basic(way.username, way.password), verb))).toBe(200);
      way.close();
      expect(status(await ask(proxy.port, basic(way.username, way.password)))).toBe(407);
      expect(status(await ask(proxy.port, basic(other.username, other.password)))).toBe(200);
    }));
  test("does not pass on the secret", () =>
    withShared(async (proxy) => {
      const { username, password } = proxy.open(open());
      expect((await ask(proxy.port, basic(username, password))).toLowerCase()).not.toContain("proxy-auth");
    }));
  test("gives each page only its own permissions", () =>
    withShared(async (proxy) => {
      const listed = createAddressGuard(
        { allowPrivateNetworks: false, allowHosts: ["127.0.0.1"], ports: [] },
        createResolve(),
      );
      const [one, two] = [proxy.open(listed), proxy.open(listed)];
      one.navigating(`http://127.0.0.1:${site.port}/`);
      expect(status(await ask(proxy.port, basic(one.username, one.password)))).toBe(200);
      expect(status(await ask(proxy.port, basic(two.username, two.password)))).toBe(403);
      expect([one.isRefused, two.isRefused]).toEqual([false, false]);
      one.close();
      const three = proxy.open(listed);
      expect(status(await ask(proxy.port, basic(three.username, three.password)))).toBe(403);
    }));
  test("ends a page's connections with the page", () =>
    withShared(async (proxy) => {
      const way = proxy.open(open());
      const socket = connect({ host: "127.0.0.1", port: proxy.port }, () =>
        socket.write(`CONNECT 127.0.0.1:${site.port} HTTP/1.1\r\n${basic(way.username, way.password)}\r\n`),
      );
      const closed = Promise.withResolvers<void>();
      socket.on("close", () => closed.resolve()).on("error", () => undefined);
      socket.once("data", () => way.close());
      await closed.promise;
    }));
  test("the number of connections without a secret is limited", () =>
    withShared(async (proxy) => {
      const way = proxy.open(open());
      const strangers = Array.from({ length: 80 }, () => connect({ host: "127.0.0.1", port: proxy.port }));
      const turnedAway = Promise.withResolvers<void>();
      for (const socket of strangers)
        socket.on("close", () => turnedAway.resolve()).on("error", () => turnedAway.resolve());
      await turnedAway.promise;
      for (const socket of strangers) socket.destroy();
      // Their places are free as soon as the proxy notices that they are closed.
      while (status(await ask(proxy.port, basic(way.username, way.password))) !== 200);
    }));
});
