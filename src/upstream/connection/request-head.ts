// Writes the head of a request. No name and no value can add a line to it.

import { InvalidHeader } from "./failures.ts";

/** Headers that belong to the connection and the framing of the body, which the gateway decides. */
const OWN = new Set([
  ...["connection", "content-length", "expect", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade"],
]);
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header may hold: no control characters, and nothing beyond Latin-1. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What a path may hold as it is. Anything else goes through the URL parser, which encodes it. */
const PLAIN_PATH = /^\/[\w\-./:?=&%~!$'()*+,;@]*$/;
const TARGETS_MAX = 1000;
const NAMES_MAX = 500;

/** The server that a URL names. */
export interface ServerOrigin {
  /** Identifies the origin among others. */
  readonly key: string;
  readonly isSecure: boolean;
  /** The name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The value of the `Host` header. */
  readonly authority: string;
}

/** A URL as a request needs it. */
export interface CallTarget {
  readonly origin: ServerOrigin;
  /** The path and the query. */
  readonly path: string;
}

const origins = new Map<string, ServerOrigin>();

/** Reads an absolute URL. Throws if it is none of HTTP. */
export function targetOf(url: string): CallTarget {
  const slash = url.indexOf("/", url.indexOf("://") + 3);
  const start = slash < 0 ? url : url.slice(0, slash);
  const rest = slash < 0 ? "/" : url.slice(slash);
  const origin = origins.get(start);
  // Segments of dots are resolved by the URL parser.
  if (origin !== undefined && PLAIN_PATH.test(rest) && !rest.includes("/.") && !rest.includes("%2")) {
    return { origin, path: rest };
  }
  const parsed = new URL(url);
  const found = originOf(parsed);
  if (slash >= 0 && origins.size < TARGETS_MAX) origins.set(start, found);
  return { origin: found, path: parsed.pathname + parsed.search };
}

function originOf({ protocol, hostname, host, port }: URL): ServerOrigin {
  if (protocol !== "http:" && protocol !== "https:") throw new TypeError("Only http and https URLs can be called.");
  const isSecure = protocol === "https:";
  return {
    key: `${protocol}//${host}`,
    isSecure,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isSecure ? 443 : 80) : Number(port),
    authority: host,
  };
}

/** A request without its body. */
export interface RequestHead {
  readonly method: string;
  readonly target: CallTarget;
  readonly headers: Readonly<Record<string, string>>;
}

const known = new Map<string, string>();

/** The text of the head up to the framing of its body. Throws `InvalidHeader`. */
export function headStart({ method, target, headers }: RequestHead): string {
  let text = "";
  let host = target.origin.authority;
  let agent = "user-agent: Sallyport\r\n";
  let accept = "accept: */*\r\n";
  let isFolded = false;
  for (const raw in headers) {
    const value = headers[raw];
    if (value === undefined) continue;
    const name = nameOf(raw);
    isFolded ||= name !== raw;
    if (!VALUE.test(value)) throw new InvalidHeader(`The header ${name} has a character that headers cannot have.`);
    if (name === "host") host = value;
    else if (name === "user-agent") agent = `user-agent: ${value}\r\n`;
    else if (name === "accept") accept = `accept: ${value}\r\n`;
    else if (!OWN.has(name)) text += `${name}: ${value}\r\n`;
  }
  // The same name in two spellings: the later one counts.
  if (isFolded) return headStart({ method, target, headers: foldedNames(headers) });
  return `${method} ${target.path} HTTP/1.1\r\nhost: ${host}\r\n${agent}${accept}${text}`;
}

/** The rest of the head, for a body of this length; "chunked" if it is unknown, undefined if there is none. */
export function headEnd(body: number | "chunked" | undefined): string {
  if (body === undefined) return "\r\n";
  return body === "chunked" ? "transfer-encoding: chunked\r\n\r\n" : `content-length: ${body}\r\n\r\n`;
}

function foldedNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [nameOf(name), value]));
}

function nameOf(raw: string): string {
  const name = known.get(raw);
  if (name !== undefined) return name;
  if (!NAME.test(raw)) throw new InvalidHeader("A header has a name that headers cannot have.");
  const lower = raw.toLowerCase();
  if (known.size < NAMES_MAX) known.set(raw, lower);
  return lower;
}
