// Makes one HTTP/1.1 request over a connection to a checked address. This program has its own client because the platform's
// `fetch` resolves names again, obeys proxy variables of the environment, and queues requests beyond 256. Each connection is used
// for one request; heads, chunks and bodies are limited.

import type { Socket } from "node:net";
import { parseAddress } from "../base/ip-address.ts";
import { nodeNet, nodeTls } from "../base/node-modules.ts";
import { ByteReader, tooLarge, WireError } from "./byte-reader.ts";

/** One request to one checked address. */
export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  /** The host without brackets and trailing dot, which is also the name that the certificate must have. */
  readonly host: string;
  readonly addresses: readonly string[];
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Maximum size of the body. A larger one is an error. */
  readonly bodyBytesMax: number;
  /** An additional certificate authority (PEM), for tests and intranets. */
  readonly ca?: string | undefined;
}

/** The response with its body as it was sent (still compressed). */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** If there is no connection after this time, the next address is tried. */
const CONNECT_TIMEOUT_MS = 10_000;
/** A server that is silent for this long is taken to be dead. */
const IDLE_TIMEOUT_MS = 60_000;
/** The statuses of redirects, if there is a location. */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const HEAD_BYTES_MAX = 128 * 1024;
/** Maximum number of interim responses (100, 103) before the final one. */
const INTERIM_MAX = 16;

/** Sends the request and reads the whole response. Throws `WireError`, or the signal's reason. */
export async function exchange(request: WireRequest): Promise<WireResponse> {
  const socket = await openAny(request);
  const stop = () => socket.destroy();
  request.signal.addEventListener("abort", stop, { once: true });
  try {
    request.signal.throwIfAborted();
    socket.setTimeout(IDLE_TIMEOUT_MS, stop);
    socket.write(requestHead(request));
    if (request.body !== undefined) socket.write(request.body);
    return await readResponse(new ByteReader(socket), request);
  } catch (error) {
    request.signal.throwIfAborted();
    throw error instanceof WireError ? error : new WireError("reset", "The connection broke off.", error);
  } finally {
    request.signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

async function openAny(request: WireRequest): Promise<Socket> {
  let last: unknown;
  for (const address of request.addresses) {
    try {
      return await open(request, address);
    } catch (error) {
      request.signal.throwIfAborted();
      last = error;
    }
  }
  throw last ?? new WireError("connect", "There is no address to connect to.");
}

function open(request: WireRequest, address: string): Promise<Socket> {
  const secure = request.url.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const isName = parseAddress(request.host) === undefined;
  const socket = secure
    ? nodeTls().connect({
        host: address,
        port: request.port,
        ALPNProtocols: ["http/1.1"],
        // The certificate must be for the name, not for the address.
        ...(isName ? { servername: request.host } : {}),
        ...(request.ca === undefined ? {} : { ca: request.ca }),
      })
    : nodeNet().connect({ host: address, port: request.port });
  let connected = false;
  const stop = () => socket.destroy(new Error("aborted"));
  const timer = setTimeout(() => socket.destroy(new Error("connect timeout")), CONNECT_TIMEOUT_MS);
  request.signal.addEventListener("abort", stop, { once: true });
  if (request.signal.aborted) stop();
  socket.once("connect", () => {
    connected = true;
  });
  socket.once(secure ? "secureConnect" : "connect", () => resolve(socket));
  socket.on("error", (error) => {
    const isTls = secure && (connected || /CERT|SSL|TLS|SIGNED/i.test(String((error as { code?: string }).code)));
    reject(
      isTls
        ? new WireError("tls", "The server's certificate or TLS handshake was refused.", error)
        : new WireError("connect", "The server could not be reached.", error),
    );
  });
  socket.once("close", () => reject(new WireError("connect", "The server closed the connection.")));
  return promise.finally(() => {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", stop);
  });
}

function requestHead(request: WireRequest): string {
  const { url } = request;
  const headers: Record<string, string> = { host: url.host, connection: "close", ...request.headers };
  if (request.body !== undefined) headers["content-length"] = String(request.body.byteLength);
  const lines = Object.entries(headers).map(([name, value]) => {
    if (/[\r\n\0]/.test(name + value)) throw new WireError("protocol", "A request header holds a line break.");
    return `${name}: ${value}`;
  });
  return `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

async function readResponse(reader: ByteReader, request: WireRequest): Promise<WireResponse> {
  for (let interim = 0; interim <= INTERIM_MAX; interim++) {
    const { status, headers } = parseHead(await reader.head(HEAD_BYTES_MAX));
    if (status >= 100 && status < 200) continue;
    // Only the location of a redirect is needed, and its body may be endless.
    const isLeading = REDIRECTS.has(status) && headers.has("location");
    if (request.method === "HEAD" || status === 204 || status === 304 || isLeading)
      return { status, headers, body: new Uint8Array(0) };
    return { status, headers, body: await readBody(reader, headers, request.bodyBytesMax) };
  }
  throw new WireError("protocol", "The server sent too many interim answers.");
}

function parseHead(text: string): { status: number; headers: Headers } {
  const [statusLine = "", ...lines] = text.split(/\r?\n/);
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(statusLine)?.[1] ?? Number.NaN);
  if (!(status >= 100)) throw new WireError("protocol", "The server's answer is not HTTP/1.1.");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim();
    // Two locations joined by a comma would be a third address.
    if (/^location$/i.test(name) && headers.has(name)) continue;
    try {
      headers.append(name, line.slice(colon + 1).trim());
    } catch {
      // An invalid header (with a space in its name) is ignored.
    }
  }
  return { status, headers };
}

async function readBody(reader: ByteReader, headers: Headers, bytesMax: number): Promise<Uint8Array> {
  if (/\bchunked\b/i.test(headers.get("transfer-encoding") ?? "")) return reader.chunked(bytesMax);
  const length = /^\d+/.exec(headers.get("content-length") ?? "")?.[0];
  if (length !== undefined && Number(length) > bytesMax) throw tooLarge();
  return length === undefined ? reader.rest(bytesMax) : reader.exactly(Number(length));
}
