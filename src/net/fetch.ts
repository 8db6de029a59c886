// The only function that fetches a URL which came from a user, a page, a sitemap or a robots.txt file. Every redirect is checked
// again and reached by its checked address. Size (before and after decompression) and time are limited.

import { entryOf } from "../base/json-object.ts";
import { nodeZlib } from "../base/node-modules.ts";
import { type AddressGuard, BlockedAddress, type Purpose } from "./address-guard.ts";
import { WireError, type WireFault } from "./byte-reader.ts";
import { exchange, REDIRECTS, type WireResponse } from "./http1.ts";
import { UnknownHost } from "./resolve.ts";

/** Why a fetch failed after the guard had allowed it. */
export type FetchFault = WireFault | "dns" | "redirects" | "timeout" | "encoding";

/** The target failed, or took too long. */
export class FetchError extends Error {
  override name = "FetchError";
  readonly fault: FetchFault;
  constructor(fault: FetchFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/** The options of a fetch. */
export interface FetchOptions {
  readonly method?: "GET" | "HEAD" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Headers that the caller of the API has chosen. Hosts that only the operator's list admits do not get them, since they may trust
   * headers of their own network.
   */
  readonly callerHeaders?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array | string;
  /** Maximum size of the body, before and after decompression. */
  readonly bytesMax: number;
  /** The time limit for all redirects together. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly redirectsMax?: number;
  /**
   * The page to which the request belongs. A host of the operator's own is only allowed if it is this page's host and port, at
   * every redirect.
   */
  readonly home?: string | undefined;
  /** Set for webhooks, which are not sent to hosts that are only allowed for pages. */
  readonly purpose?: "webhook" | undefined;
  /** Awaited before an allowed redirect is followed, within the time limit. If it throws, the fetch fails. */
  readonly onRedirect?: ((url: string, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The final response after redirects. */
export interface Fetched {
  /** The address of the final response. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** The decompressed body. */
  readonly body: Uint8Array;
  /** Whether the body ended before its compression did, so that only a part of it is known. */
  readonly isCut?: boolean;
  /** Every URL that was requested, in order. */
  readonly chain: readonly string[];
  /** Whether headers of the caller were not sent because the host is only allowed for pages. */
  readonly heldBack?: boolean | undefined;
}

/** Fetches through the guard. Throws `BlockedAddress`, `FetchError`, or the caller's abort reason. */
export type GuardedFetch = (url: string, options: FetchOptions) => Promise<Fetched>;

/** Maximum number of redirects; browsers stop at 20. */
const REDIRECTS_MAX = 10;
/** Maximum number of stacked encodings; no honest server uses more. */
const ENCODINGS_MAX = 2;
/** Maximum number of cookies in one chain of redirects, for sites that redirect until their cookie is sent back. */
const COOKIES_MAX = 20;
const COOKIE_CHARS_MAX = 4096;

/** Creates the fetch over a guard. `ca` adds a certificate authority. */
export function createFetch(guard: AddressGuard, { ca }: { ca?: string } = {}): GuardedFetch {
  return async (input, options) => {
    const timer = AbortSignal.timeout(options.timeoutMs);
    const signal = options.signal === undefined ? timer : AbortSignal.any([options.signal, timer]);
    try {
      return await followChain(guard, input, { options, signal, ca });
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timer.aborted) throw new FetchError("timeout", "The server did not answer in time.", error);
      if (error instanceof WireError) throw new FetchError(error.fault, error.message, error);
      if (error instanceof UnknownHost) throw new FetchError("dns", error.message, error);
      throw error;
    }
  };
}

interface Chain {
  readonly options: FetchOptions;
  readonly signal: AbortSignal;
  readonly ca: string | undefined;
}

async function followChain(guard: AddressGuard, input: string, { options, signal, ca }: Chain): Promise<Fetched> {
  const chain: string[] = [];
  const jar = new ChainCookies();
  let target: string | URL = input;
  let heldBack = false;
  let method: string = options.method ?? "GET";
  let body = typeof options.body === "string" ? new TextEncoder().encode(options.body) : options.body;
  for (let hop = 0; hop <= (options.redirectsMax ?? REDIRECTS_MAX); hop++) {
    const checked = await guard.check(target, { purpose: options.purpose ?? purposeOf(target, options.home), signal });
    const isWeb = checked.url.protocol === "http:" || checked.url.protocol === "https:";
    if (!isWeb) throw new BlockedAddress("scheme", "Only http and https URLs can be fetched.");
    if (hop > 0) await options.onRedirect?.(checked.url.href, signal);
    chain.push(checked.url.href);
    heldBack ||= !checked.takesCallerData && Object.keys(options.callerHeaders ?? {}).some(isTelling);
    const response = await exchange({
      ...checked,
      method,
      headers: requestHeaders(options, jar.header(checked.host), {
        sameOrigin: isSameOrigin(chain),
        takesCallerData: checked.takesCallerData,
      }),
      body,
      signal,
      bodyBytesMax: options.bytesMax,
      ca,
    });
    jar.keep(checked.host, response.headers);
    const next = redirectTarget(response, checked.url);
    if (next === undefined) {
      const decoded = await decode(response, options.bytesMax);
      const { href } = checked.url;
      return {
        url: href,
        status: response.status,
        headers: response.headers,
        ...decoded,
        chain,
        ...(heldBack && { heldBack }),
      };
    }
    if (method === "POST" && response.status !== 307 && response.status !== 308) {
      method = "GET";
      body = undefined;
    }
    target = next;
  }
  throw new FetchError("redirects", "The server redirects too often.");
}

/** The purpose of a request that belongs to a page at `home`. A file that one site names on another one is not a navigation. */
export function purposeOf(target: string | URL, home: string | undefined): Purpose {
  if (home === undefined || !URL.canParse(String(target))) return "navigation";
  const [{ hostname, port }, own] = [new URL(target), new URL(home)];
  return hostname === own.hostname && port === own.port ? "navigation" : "subresource";
}

function isSameOrigin(chain: readonly string[]): boolean {
  const origins = new Set(chain.map((url) => new URL(url).origin));
  return origins.size === 1;
}

/** Headers about the wanted response and the client, which are no secrets. */
const HARMLESS = /^(?:accept(?:-(?:charset|encoding|language))?|cache-control|content-type|dnt|pragma|user-agent)$/;

function isTelling(name: string): boolean {
  return !HARMLESS.test(name.toLowerCase());
}

function requestHeaders(
  options: FetchOptions,
  cookie: string,
  { sameOrigin, takesCallerData }: { sameOrigin: boolean; takesCallerData: boolean },
): Record<string, string> {
  const headers: Record<string, string> = { accept: "*/*", "accept-encoding": "gzip, deflate, br, zstd" };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const key = name.toLowerCase();
    // All other headers are only sent to the origin for which they were given, since they may be credentials.
    if (sameOrigin || HARMLESS.test(key)) headers[key] = value;
  }
  for (const [name, value] of Object.entries(options.callerHeaders ?? {})) {
    if ((sameOrigin && takesCallerData) || !isTelling(name)) headers[name.toLowerCase()] = value;
  }
  if (cookie !== "") headers["cookie"] = headers["cookie"] === undefined ? cookie : `${headers["cookie"]}; ${cookie}`;
  return headers;
}

function redirectTarget(response: WireResponse, from: URL): URL | undefined {
  if (!REDIRECTS.has(response.status)) return undefined;
  const location = response.headers.get("location");
  if (location === null) return undefined;
  // The bytes of headers were read as Latin-1, but some servers send paths in raw UTF-8.
  const text = Buffer.from(location, "latin1").toString("utf8");
  const spelled = text.includes("\ufffd") ? location : text;
  if (!URL.canParse(spelled, from))
    throw new FetchError("protocol", "The server redirects to something that is no URL.");
  const next = new URL(spelled, from);
  if (next.hash === "") next.hash = from.hash;
  return next;
}

async function decode(response: WireResponse, bytesMax: number): Promise<{ body: Uint8Array; isCut?: boolean }> {
  const encodings = (response.headers.get("content-encoding") ?? "")
    .toLowerCase()
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && part !== "identity");
  // Values that are not compressions ("none", "utf-8") are mistakes, which browsers ignore too.
  if (!encodings.every((encoding) => Object.hasOwn(DECOMPRESSORS, encoding))) return { body: response.body };
  if (encodings.length > ENCODINGS_MAX) throw new FetchError("encoding", "The answer is compressed too many times.");
  let body = response.body;
  let isCut = false;
  const onCut = () => {
    isCut = true;
  };
  for (const encoding of encodings.reverse()) {
    if (body.byteLength === 0) break;
    // The server declares a compression that it does not apply.
    if (/gzip/.test(encoding) && !isGzip(body)) continue;
    body = await decompress(encoding, body, bytesMax, onCut);
  }
  return isCut ? { body, isCut } : { body };
}

type Decompressor = (input: Uint8Array, bytesMax: number, onCut: () => void) => Promise<Uint8Array>;
type Done = (error: Error | null, output: Buffer) => void;

/** Decompresses a body. A truncated one gives the part that arrived, as in browsers, and is reported. */
async function untilCut(
  start: (options: { maxOutputLength: number; finishFlush?: number }, done: Done) => void,
  { maxOutputLength, flush, onCut }: { maxOutputLength: number; flush: number; onCut: () => void },
): Promise<Uint8Array> {
  try {
    return await run((done) => start({ maxOutputLength }, done));
  } catch (error) {
    if ((error as { code?: string }).code !== "Z_BUF_ERROR") throw error;
    onCut();
    return run((done) => start({ maxOutputLength, finishFlush: flush }, done));
  }
}

function withZlib(method: "gunzip" | "inflate" | "inflateRaw" | "brotliDecompress"): Decompressor {
  return (input, maxOutputLength, onCut) => {
    const zlib = nodeZlib();
    const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
    const flush = method === "brotliDecompress" ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH;
    const start = zlib[method] as (bytes: Uint8Array, options: object, done: Done) => void;
    return untilCut((options, done) => start(input, options, done), { maxOutputLength, flush, onCut });
  };
}

const DECOMPRESSORS: Readonly<Record<string, Decompressor>> = {
  gzip: withZlib("gunzip"),
  "x-gzip": withZlib("gunzip"),
  // In the standard, "deflate" means zlib, but some servers send raw deflate.
  deflate: (input, max, onCut) =>
    withZlib(((input[0] ?? 0) & 0x0f) === 8 ? "inflate" : "inflateRaw")(input, max, onCut),
  br: withZlib("brotliDecompress"),
  zstd: async (input, max) => {
    const output = await run((done) => nodeZlib().zstdDecompress(input, { maxOutputLength: max }, done));
    // For a truncated frame, the decompressor returns nothing and no error.
    if (output.byteLength === 0 && input.byteLength > ZSTD_EMPTY_BYTES_MAX) throw new Error("the frame is cut off");
    return output;
  },
};

/** The largest compressed form of an empty body. */
const ZSTD_EMPTY_BYTES_MAX = 16;

/** Whether bytes begin with the header of gzip. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Removes one layer of compression, up to a limit. Throws `FetchError` `too_large` or `encoding`. */
export async function decompress(
  encoding: string,
  input: Uint8Array,
  bytesMax: number,
  onCut: () => void = () => undefined,
): Promise<Uint8Array> {
  const decompressor = entryOf(DECOMPRESSORS, encoding);
  if (decompressor === undefined) throw new FetchError("encoding", "The answer's compression is unknown.");
  try {
    return await decompressor(input, bytesMax, onCut);
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE")
      throw new FetchError("too_large", "The answer is larger than allowed.", error);
    throw new FetchError("encoding", "The answer's compression is broken.", error);
  }
}

function run(start: (done: Done) => void): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  start((error, output) => (error === null || error === undefined ? resolve(output) : reject(error)));
  return promise;
}

/** The cookies of one chain of redirects, by exact host. They are dropped at its end. */
class ChainCookies {
  readonly #byHost = new Map<string, Map<string, string>>();

  keep(host: string, headers: Headers): void {
    for (const line of headers.getSetCookie().slice(0, COOKIES_MAX)) {
      const pair = line.split(";", 1)[0] ?? "";
      const equals = pair.indexOf("=");
      if (equals <= 0 || pair.length > COOKIE_CHARS_MAX) continue;
      const kept = this.#byHost.get(host) ?? new Map<string, string>();
      this.#byHost.set(host, kept);
      if (kept.size < COOKIES_MAX) kept.set(pair.slice(0, equals).trim(), pair.slice(equals + 1).trim());
    }
  }

  header(host: string): string {
    return [...(this.#byHost.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}
