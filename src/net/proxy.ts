// The browser's only way out: a forward proxy on loopback that checks every connection (pages, subresources, scripts,
// WebSockets, workers) at connect time and connects to the checked address. One listener per page, so that what the
// operator's list allows holds for the hosts that page was sent to and for nothing it loads from elsewhere.

import { connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { BlockedAddress, type Guard } from "./guard.ts";

/** A running proxy for one page. */
export interface FilterProxy {
  readonly port: number;
  /** `host:port` targets that count as navigation: the page's own. Grows as the page is sent on by redirects. */
  grant(url: string): void;
  /** Targets refused so far, in order; bounded. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

/** Where to listen; the default is a free port on loopback. */
export interface ProxyOptions {
  readonly hostname?: string;
  readonly port?: number;
}

const HEAD_BYTES_MAX = 64 * 1024;
const HEAD_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Browsers open six per host; a page that wants more than this is not reading. */
const CONNECTIONS_MAX = 256;
const REFUSED_KEPT_MAX = 50;

/** Starts a proxy; the caller closes it. */
export async function startProxy(guard: Guard, options: ProxyOptions = {}): Promise<FilterProxy> {
  const granted = new Set<string>();
  const refused: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    if (sockets.size >= CONNECTIONS_MAX) return void client.destroy();
    track(sockets, client);
    serve(client, { guard, granted, refused, sockets }).catch(() => client.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options.port ?? 0, options.hostname ?? "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    refused,
    grant: (url) => {
      const parsed = new URL(url);
      granted.add(`${bareHost(parsed)}:${portOf(parsed)}`);
    },
    close: async () => {
      // Not waited for: a connection that never reports its end would hold up the page's.
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Shared {
  readonly guard: Guard;
  readonly granted: ReadonlySet<string>;
  readonly refused: string[];
  readonly sockets: Set<Socket>;
}

async function serve(client: Socket, shared: Shared): Promise<void> {
  const { head, rest } = await readHead(client);
  const [method = "", target = "", version = ""] = (head.split("\r\n", 1)[0] ?? "").split(" ");
  const isTunnel = method === "CONNECT";
  const url = isTunnel ? `https://${target}/` : target;
  if (!version.startsWith("HTTP/1.") || !URL.canParse(url) || (!isTunnel && !url.startsWith("http://")))
    return refuse(client, 400);
  const upstream = await reach(new URL(url), shared).catch((error: unknown) => {
    if (error instanceof BlockedAddress && shared.refused.length < REFUSED_KEPT_MAX)
      shared.refused.push(new URL(url).host);
    return error instanceof BlockedAddress ? 403 : 502;
  });
  if (typeof upstream === "number") return refuse(client, upstream);
  if (client.destroyed) return void upstream.destroy();
  if (isTunnel) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  else upstream.write(forwardHead(head, new URL(url)), "latin1");
  if (rest.length > 0) upstream.write(rest);
  client.pipe(upstream);
  upstream.pipe(client);
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
  client.resume();
}

async function reach(url: URL, { guard, granted, sockets }: Shared): Promise<Socket> {
  const isGranted = granted.has(`${bareHost(url)}:${portOf(url)}`);
  const { addresses, port } = await guard.check(url, {
    purpose: isGranted ? "navigation" : "subresource",
    signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS),
  });
  let last: unknown;
  for (const address of addresses) {
    try {
      const socket = await dial(address, port);
      track(sockets, socket);
      return socket;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function dial(host: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connectTcp({ host, port, allowHalfOpen: true });
  const timer = setTimeout(() => socket.destroy(new Error("connect timeout")), CONNECT_TIMEOUT_MS);
  socket.once("connect", () => resolve(socket));
  socket.on("error", reject);
  return promise.finally(() => clearTimeout(timer));
}

function readHead(client: Socket): Promise<{ head: string; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Buffer }>();
  let held: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    const end = held.indexOf("\r\n\r\n");
    if (end >= 0) {
      // Paused before the listener goes, so that no byte falls between here and the pipe.
      client.pause();
      client.off("data", take);
      resolve({ head: held.toString("latin1", 0, end), rest: held.subarray(end + 4) });
    } else if (held.length > HEAD_BYTES_MAX) reject(new Error("request head too large"));
  };
  const timer = setTimeout(() => reject(new Error("request head too slow")), HEAD_TIMEOUT_MS);
  client.on("data", take);
  client.once("close", () => reject(new Error("closed")));
  return promise.finally(() => clearTimeout(timer));
}

/** The head as an origin server wants it. One request per connection: the next may name another host. */
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

function refuse(client: Socket, status: number): void {
  const reason = status === 403 ? "Forbidden" : status === 400 ? "Bad Request" : "Bad Gateway";
  client.end(`HTTP/1.1 ${status} ${reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on("error", () => socket.destroy());
  socket.once("close", () => sockets.delete(socket));
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}
