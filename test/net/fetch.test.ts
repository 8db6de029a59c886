import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { BlockedAddress, createAddressGuard } from "../../src/net/address-guard.ts";
import { createFetch, FetchError, type FetchOptions } from "../../src/net/fetch.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { startFakeDns } from "../support/fake-dns.ts";
import { TEST_CERT, TEST_KEY } from "../support/tls.ts";

const TEXT = "Grüße ".repeat(500);
const LIMITS: FetchOptions = { bytesMax: 100_000, timeoutMs: 5000 };
const encoded: Record<string, (text: string) => Uint8Array> = {
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  "deflate-raw": (text) => deflateRawSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
  "gzip, br": (text) => brotliCompressSync(gzipSync(text)),
};
/** Servers whose declared encoding is wrong. */
const mistaken: [name: string, encoding: string, body: Uint8Array][] = [
  ["no compression that there is", "none", Buffer.from(TEXT)],
  ["gzip that is not compressed", "gzip", Buffer.from(TEXT)],
];
/** A body that was cut off on its way through a proxy gives the part that can be decoded, if the format allows it. */
const cut: [name: string, encoding: string, body: Uint8Array, gives: RegExp][] = [
  ["gzip", "gzip", gzipSync(TEXT).subarray(0, -9), /^(?:Grüße )+/],
  ["br", "br", brotliCompressSync(TEXT).subarray(0, -2), /^G/],
  ["zstd", "zstd", zstdCompressSync(TEXT).subarray(0, -3), /^encoding$/],
];

let site: ReturnType<typeof Bun.serve>;
let canary: ReturnType<typeof Bun.serve>;
let canaryHits = 0;
let base = "";

beforeAll(() => {
  canary = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(String(++canaryHits)) });
  site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answer(request) });
  base = `http://127.0.0.1:${site.port}`;
});
afterAll(() => {
  site.stop(true);
  canary.stop(true);
});

function answer(request: Request): Response | Promise<Response> {
  const url = new URL(request.url);
  const [, kind = "", rest = ""] = url.pathname.split("/");
  if (kind === "encoded") {
    const name = decodeURIComponent(rest);
    const headers = { "content-encoding": name.replace("-raw", "") };
    return new Response(encoded[name]?.(TEXT) as BodyInit, { headers });
  }
  const [, encoding, body] =
    [...mistaken, ...cut].find(([name]) => kind === "odd" && name === decodeURIComponent(rest)) ?? [];
  if (encoding !== undefined) return new Response(body as BodyInit, { headers: { "content-encoding": encoding } });
  if (kind === "bomb")
    return new Response(gzipSync(new Uint8Array(5_000_000)) as BodyInit, { headers: { "content-encoding": "gzip" } });
  if (kind === "hops") {
    const left = Number(rest);
    return left === 0 ? new Response("arrived") : Response.redirect(`${base}/hops/${left - 1}`, 302);
  }
  if (kind === "loop") return Response.redirect(`${base}/loop`, 302);
  if (kind === "to")
    return new Response(null, { status: 302, headers: { location: url.searchParams.get("url") ?? "" } });
  if (kind === "big") return new Response("x".repeat(200_000));
  if (kind === "echo")
    return request
      .text()
      .then((body) => Response.json({ body, method: request.method, ...Object.fromEntries(request.headers) }));
  if (kind === "cookie")
    return request.headers.get("cookie") === "seen=1"
      ? new Response("welcome")
      : new Response(null, { status: 302, headers: { location: "/cookie", "set-cookie": "seen=1; Path=/" } });
  if (kind === "never") return new Promise<Response>(() => undefined);
  return new Response(TEXT);
}

const open = createFetch(
  createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve()),
);
/** Only the site itself may be visited. The canary is private. */
const strict = () =>
  createFetch(
    createAddressGuard(
      { allowPrivateNetworks: false, allowHosts: [`127.0.0.1:${site.port}`], ports: [] },
      createResolve(),
    ),
  );
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const fault = (url: string, options: Partial<FetchOptions> = {}) =>
  open(url, { ...LIMITS, ...options }).then(
    () => "none",
    (error: unknown) => (error instanceof FetchError ? error.fault : String(error)),
  );

describe("bodies", () => {
  for (const name of Object.keys(encoded))
    test(name, async () => expect(text((await open(`${base}/encoded/${name}`, LIMITS)).body)).toBe(TEXT));
  for (const [name] of mistaken)
    test(name, async () => expect(text((await open(`${base}/odd/${name}`, LIMITS)).body)).toBe(TEXT));
  for (const [name, , , gives] of cut)
    test(`${name}, cut off`, async () => {
      const got = await open(`${base}/odd/${name}`, LIMITS).then(
        ({ body, isCut }) => {
          expect(isCut).toBe(true);
          return text(body);
        },
        (error: FetchError) => error.fault,
      );
      expect(got).toMatch(gives);
    });
  test("plain", async () => expect(text((await open(`${base}/`, LIMITS)).body)).toBe(TEXT));
  test("a body over the cap", async () => expect(await fault(`${base}/big`)).toBe("too_large"));
  test("a decompression bomb", async () => expect(await fault(`${base}/bomb`)).toBe("too_large"));
});

describe("redirects", () => {
  test("ten hops arrive", async () => {
    const { url, body, chain } = await open(`${base}/hops/10`, LIMITS);
    expect([url, text(body), chain.length]).toEqual([`${base}/hops/0`, "arrived", 11]);
  });
  test("eleven hops do not", async () => expect(await fault(`${base}/hops/11`)).toBe("redirects"));
  test("a loop", async () => expect(await fault(`${base}/loop`)).toBe("redirects"));
  test("a site that waits for its cookie", async () =>
    expect(text((await open(`${base}/cookie`, LIMITS)).body)).toBe("welcome"));
  test("credentials are only sent to their origin", async () => {
    const away = encodeURIComponent(`http://localhost:${site.port}/echo`);
    const { body } = await open(`${base}/to?url=${away}`, { ...LIMITS, headers: { Authorization: "secret" } });
    expect(JSON.parse(text(body))).not.toHaveProperty("authorization");
  });
  test.each(["X-Api-Key", "X-Subscription-Token", "Private-Token", "Api-Key"])("a key in %s does too", async (name) => {
    const away = encodeURIComponent(`http://localhost:${site.port}/echo`);
    const headers = { [name]: "secret", "Accept-Language": "de" };
    const { body } = await open(`${base}/to?url=${away}`, { ...LIMITS, headers });
    expect(text(body)).not.toContain("secret");
    expect(JSON.parse(text(body))).toHaveProperty("accept-language", "de");
    const near = encodeURIComponent(`${base}/echo`);
    expect(text((await open(`${base}/to?url=${near}`, { ...LIMITS, headers })).body)).toContain("secret");
  });
  const spellings: [spelling: string, target: (port: number) => string][] = [
    ["an address", (port) => `http://127.0.0.1:${port}/`],
    ["a name", (port) => `http://localhost:${port}/`],
    ["one number", (port) => `http://2130706433:${port}/`],
    ["IPv4 in IPv6", (port) => `http://[::ffff:127.0.0.1]:${port}/`],
    ["two parts and no scheme", (port) => `//127.1:${port}/`],
  ];
  test.each(spellings)("to a private canary, spelt as %s", async (_spelling, target) => {
    const before = canaryHits;
    const url = `${base}/to?url=${encodeURIComponent(target(canary.port!))}`;
    await expect(strict()(url, LIMITS)).rejects.toThrow(BlockedAddress);
    expect(canaryHits).toBe(before);
  });
  test("to another scheme", async () =>
    await expect(strict()(`${base}/to?url=file:///etc/passwd`, LIMITS)).rejects.toThrow(BlockedAddress));
});

describe("rebinding", () => {
  test("the checked address is the one connected to, and the name is resolved once", async () => {
    // The first look-up gives a public address, every later one the canary. A second look-up would reach the canary.
    const dns = await startFakeDns((_name, nth) => (nth === 0 ? ["192.0.2.200"] : ["127.0.0.1"]));
    const guard = createAddressGuard(
      { allowPrivateNetworks: false, allowHosts: ["192.0.2.0/24"], ports: [] },
      createResolve([dns.server]),
    );
    const before = canaryHits;
    const outcome = await createFetch(guard)(`http://rebind.example:${canary.port}/`, { ...LIMITS, timeoutMs: 300 })
      .then(() => "fetched")
      .catch((error: Error) => error.name);
    expect(outcome).toBe("FetchError");
    expect(dns.asked).toEqual(["rebind.example"]);
    expect(canaryHits).toBe(before);
    dns.close();
  });
  test("a name that becomes private is refused the next time", async () => {
    const dns = await startFakeDns((_name, nth) => (nth === 0 ? ["93.184.216.34"] : ["127.0.0.1"]));
    const guard = createAddressGuard(
      { allowPrivateNetworks: false, allowHosts: [], ports: [] },
      createResolve([dns.server]),
    );
    expect((await guard.check("http://turn.example/")).addresses).toEqual(["93.184.216.34"]);
    await expect(guard.check("http://turn.example/")).rejects.toThrow(BlockedAddress);
    dns.close();
  });
  test("an unknown name is a DNS fault", async () => {
    const dns = await startFakeDns(() => []);
    const guard = createAddressGuard(
      { allowPrivateNetworks: true, allowHosts: [], ports: [] },
      createResolve([dns.server]),
    );
    const error = await createFetch(guard)("http://nowhere.example/", LIMITS).catch((caught: unknown) => caught);
    expect((error as FetchError).fault).toBe("dns");
    dns.close();
  });
});

describe("requests", () => {
  test("method, headers and body are sent; the Host is the URL's", async () => {
    const options = { ...LIMITS, method: "POST" as const, body: "q=1", headers: { "User-Agent": "test/1" } };
    const echo = JSON.parse(text((await open(`http://localhost:${site.port}/echo`, options)).body));
    expect(echo).toMatchObject({ method: "POST", body: "q=1", "user-agent": "test/1", host: `localhost:${site.port}` });
  });
  test("a silent server", async () => expect(await fault(`${base}/never`, { timeoutMs: 100 })).toBe("timeout"));
  test("a closed port", async () => expect(await fault("http://127.0.0.1:1023/")).toBe("connect"));
  test("an abort by the caller is reported as such", async () => {
    const stop = new AbortController();
    const pending = open(`${base}/never`, { ...LIMITS, signal: stop.signal });
    stop.abort(new Error("gone"));
    await expect(pending).rejects.toThrow("gone");
  });
});

describe("TLS", () => {
  const secure = (ca?: string) =>
    createFetch(
      createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, async () => ["127.0.0.1"]),
      ca === undefined ? {} : { ca },
    );
  const attempt = async (host: string, ca?: string) => {
    const tls = { cert: TEST_CERT, key: TEST_KEY };
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: () => new Response("hi") });
    return await secure(ca)(`https://${host}:${server.port}/`, LIMITS).then(
      ({ body }) => text(body),
      (error: FetchError) => error.fault,
    );
  };
  test("the certificate is checked against the name, not the pinned address", async () =>
    expect(await attempt("secure.example", TEST_CERT)).toBe("hi"));
  test("a certificate of another name", async () => expect(await attempt("other.example", TEST_CERT)).toBe("tls"));
  test("an unknown authority", async () => expect(await attempt("secure.example")).toBe("tls"));
});

describe("unusual servers", () => {
  const raw: Record<string, [string, string]> = {
    "early hints": ["HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"],
    "chunks with extensions and a trailer": [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n",
      "hi!",
    ],
    "until close": ["HTTP/1.0 200 OK\r\n\r\nhi", "hi"],
    "a header without a colon": ["HTTP/1.1 200 OK\r\nbroken\r\nbad name: x\r\nContent-Length: 2\r\n\r\nhi", "hi"],
    "not HTTP": ["SSH-2.0-x\r\n\r\n", "protocol"],
    "a broken chunk": ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "protocol"],
    "a short body": ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi", "reset"],
    "an endless head": [`HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(40_000)}`, "protocol"],
  };
  for (const [name, [bytes, expected]] of Object.entries(raw))
    test(name, async () => {
      const server: Server = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end(bytes));
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      const { port } = server.address() as { port: number };
      const got = await open(`http://127.0.0.1:${port}/`, LIMITS).then(
        ({ body }) => text(body),
        (error: FetchError) => error.fault,
      );
      server.close();
      expect(got).toBe(expected);
    });
});
