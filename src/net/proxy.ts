// The browser's only access to the network: a forward proxy that checks every connection (of pages, subresources, scripts,
// WebSockets, workers) when it is made, and connects to the checked address. For a local browser, each page has its own listener
// on loopback. A remote browser uses one listener, which requires the secret of an open page.

import type { Server, Socket } from "node:net";
import { nodeNet } from "../base/node-modules.ts";
import { type AddressGuard, BlockedAddress } from "./address-guard.ts";
import { type PageWay, Way } from "./page-egress-policy.ts";

/** A page's own proxy. */
export interface OwnProxy extends PageWay {
  readonly port: number;
}

/** A page's part of a shared proxy. It can be used with these credentials while the page is open. */
export interface SharedWay extends PageWay {
  readonly username: string;
  readonly password: string;
}

/** One listener for all pages of a remote browser. */
export interface SharedProxy {
  readonly port: number;
  open(guard: AddressGuard): SharedWay;
  close(): void;
}

const HEAD_BYTES_MAX = 64 * 1024;
/**
 * How long a connection may wait for its request, as browsers open connections in advance. Unauthenticated ones are closed
 * earlier.
 */
const HEAD_TIMEOUT_MS = 30_000;
const STRANGER_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum number of unauthenticated connections. */
const UNIDENTIFIED_MAX = 64;
const SECRET_BYTES = 24;

/** Starts a proxy for one page on a free loopback port. Closing the page's access closes the proxy. */
export async function startProxy(guard: AddressGuard): Promise<OwnProxy> {
  const way = new Way(guard);
  const server = nodeNet().createServer({ allowHalfOpen: true }, (client) => {
    if (way.hold(client)) serve(client, () => way, HEAD_TIMEOUT_MS).catch(() => client.destroy());
  });
  const port = await listen(server, { hostname: "127.0.0.1", port: 0 });
  return Object.assign(
    asPageWay(way, () => server.close()),
    { port },
  );
}

/** Starts the listener for a remote browser. Throws if the port is taken. */
export async function startSharedProxy(address: { hostname: string; port: number }): Promise<SharedProxy> {
  const ways = new Map<string, { secret: Buffer; way: Way }>();
  const unidentified = new Set<Socket>();
  const find = (head: string): Way | undefined => {
    const basic = /^proxy-authorization:\s*basic\s+([\w+/=-]+)\s*$/im.exec(head)?.[1] ?? "";
    const [username = "", password = ""] = Buffer.from(basic, "base64").toString("latin1").split(":");
    const known = ways.get(username);
    return known !== undefined && crypto.timingSafeEqual(known.secret, digest(password)) ? known.way : undefined;
  };
  const server = nodeNet().createServer({ allowHalfOpen: true }, (client) => {
    if (unidentified.size >= UNIDENTIFIED_MAX) return void client.destroy();
    unidentified.add(client);
    client.on("error", () => client.destroy());
    client.once("close", () => unidentified.delete(client));
    const introduce = (head: string) => {
      const way = find(head);
      unidentified.delete(client);
      return way?.hold(client) === true ? way : undefined;
    };
    serve(client, introduce, STRANGER_TIMEOUT_MS).catch(() => client.destroy());
  });
  const port = await listen(server, address);
  return {
    port,
    open: (guard) => {
      const way = new Way(guard);
      const [username, password] = [
        Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("hex"),
        Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("hex"),
      ];
      ways.set(username, { secret: digest(password), way });
      return Object.assign(
        asPageWay(way, () => ways.delete(username)),
        { username, password },
      );
    },
    close: () => {
      server.close();
      for (const { way } of ways.values()) way.close();
      for (const socket of unidentified) socket.destroy();
      ways.clear();
    },
  };
}

/** The page's access without the functions of the proxy. */
function asPageWay(way: Way, onClose: () => void): PageWay {
  return {
    navigating: (url) => way.navigating(url),
    arrived: (url) => way.arrived(url),
    get isRefused() {
      return way.isRefused;
    },
    close: () => {
      // This is not awaited, since a connection that never reports its end would delay the closing of the page.
      onClose();
      way.close();
    },
  };
}

async function listen(server: Server, { hostname, port }: { hostname: string; port: number }): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, hostname, resolve);
  await promise;
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serve(client: Socket, find: (head: string) => Way | undefined, headTimeoutMs: number): Promise<void> {
  const { head, rest } = await readHead(client, headTimeoutMs);
  const way = find(head);
  if (way === undefined) return refuse(client, 407);
  const [method = "", target = "", version = ""] = (head.split("\r\n", 1)[0] ?? "").split(" ");
  const isTunnel = method === "CONNECT";
  const url = isTunnel ? `https://${target}/` : target;
  if (!version.startsWith("HTTP/1.") || !URL.canParse(url) || (!isTunnel && !url.startsWith("http://")))
    return refuse(client, 400);
  const upstream = await reach(new URL(url), way).catch((error: unknown) =>
    error instanceof BlockedAddress ? 403 : 502,
  );
  if (typeof upstream === "number") return refuse(client, upstream);
  if (client.destroyed) return void upstream.destroy();
  if (isTunnel) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  else upstream.write(forwardHead(head, new URL(url)), "latin1");
  if (rest.length > 0) upstream.write(rest);
  client.pipe(upstream);
  upstream.on("data", (chunk) => way.received(chunk.length));
  upstream.pipe(client);
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
  client.resume();
}

async function reach(url: URL, way: Way): Promise<Socket> {
  const { addresses, port } = await way.check(url);
  let last: unknown;
  for (const address of addresses) {
    try {
      const socket = await dial(address, port);
      if (way.hold(socket)) return socket;
      throw new Error("the page has too many connections");
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function dial(host: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = nodeNet().connect({ host, port, allowHalfOpen: true });
  const timer = setTimeout(() => socket.destroy(new Error("connect timeout")), CONNECT_TIMEOUT_MS);
  socket.once("connect", () => resolve(socket));
  socket.on("error", reject);
  return promise.finally(() => clearTimeout(timer));
}

function readHead(client: Socket, timeoutMs: number): Promise<{ head: string; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Buffer }>();
  let held: Buffer = Buffer.alloc(0);
  const gone = () => reject(new Error("closed"));
  const take = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    const end = held.indexOf("\r\n\r\n");
    if (end >= 0) {
      // The socket is paused before the listener is removed, so that no bytes are lost before the pipe.
      client.pause();
      client.off("data", take);
      client.off("end", gone);
      resolve({ head: held.toString("latin1", 0, end), rest: held.subarray(end + 4) });
    } else if (held.length > HEAD_BYTES_MAX) reject(new Error("request head too large"));
  };
  const timer = setTimeout(() => reject(new Error("request head too slow")), timeoutMs);
  client.on("data", take);
  client.once("end", gone);
  client.once("close", gone);
  return promise.finally(() => clearTimeout(timer));
}

/**
 * The head of a request as it is sent to the server. Each connection is used for one request, since the next one may be for
 * another host.
 */
function forwardHead(head: string, url: URL): string {
  const [requestLine = "", ...lines] = head.split("\r\n");
  const isUpgrade = lines.some((line) => /^upgrade\s*:/i.test(line));
  const kept = lines.filter((line) => !/^(proxy-[\w-]+|host|keep-alive|connection)\s*:/i.test(line));
  const [method = "GET"] = requestLine.split(" ");
  return `${[
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    `Connection: ${isUpgrade ? "Upgrade" : "close"}`,
    ...kept,
  ].join("\r\n")}\r\n\r\n`;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  407: "Proxy Authentication Required",
  502: "Bad Gateway",
};

function refuse(client: Socket, status: number): void {
  const challenge = status === 407 ? 'Proxy-Authenticate: Basic realm="sallyport"\r\n' : "";
  client.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\n${challenge}Content-Length: 0\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n`,
  );
}

function digest(text: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
