// Finds the target of a passthrough request: the provider that its path names, and the address below that provider's base URL.

import { ApiError } from "../../../base/errors.ts";

const PREFIX = "/v1/upstream/";
/** How often a path is decoded. An encoded path may be encoded again, and servers differ in how often they decode it. */
const DECODINGS_MAX = 5;

/** The parts of a passthrough path. */
export interface PassthroughPath {
  readonly provider: string;
  /** The rest of the path with its query, as it was sent: empty, or a text that begins with a slash. */
  readonly rest: string;
}

/** Splits the request's URL into its parts. */
export function passthroughPath(url: string): PassthroughPath {
  const path = url.slice(url.indexOf(PREFIX) + PREFIX.length).replace(/#.*$/s, "");
  const end = /[/?]/.exec(path)?.index ?? path.length;
  return { provider: decoded(path.slice(0, end)), rest: path.slice(end) };
}

/**
 * The address below the base URL. A query parameter that contains `ownKey`, the caller's key, is left out, since it is meant for
 * this gateway. Throws `ApiError` 400 for a path that leads outside of the base URL, in whatever encoding.
 */
export function addressBelow(baseUrl: string, rest: string, ownKey: string): string {
  const at = rest.indexOf("?");
  const path = at < 0 ? rest : rest.slice(0, at);
  refuseDetours(path);
  const query = at < 0 ? "" : withoutKey(rest.slice(at + 1), ownKey);
  const base = new URL(baseUrl);
  const basePath = base.pathname.replace(/\/+$/, "");
  const address = new URL(`${base.origin}${basePath}${path}`);
  const isBelow =
    address.origin === base.origin && (address.pathname === basePath || address.pathname.startsWith(`${basePath}/`));
  if (!isBelow) throw wrongPath();
  return `${base.origin}${address.pathname}${joined([base.search.slice(1), query])}`;
}

/** The path on this gateway for an address below the base URL; undefined for every other address. */
export function pathHere(baseUrl: string, provider: string, address: string): string | undefined {
  const base = new URL(baseUrl);
  if (!URL.canParse(address, baseUrl)) return undefined;
  const { origin, pathname, search } = new URL(address, baseUrl);
  const basePath = base.pathname.replace(/\/+$/, "");
  if (origin !== base.origin || !pathname.startsWith(`${basePath}/`)) return undefined;
  return `${PREFIX}${encodeURIComponent(provider)}${pathname.slice(basePath.length)}${search}`;
}

function refuseDetours(path: string): void {
  let text = path;
  for (let times = 0; times < DECODINGS_MAX; times++) {
    if (/[\\\p{Cc}]/u.test(text) || /(?:^|\/)\.{1,2}(?:[/;?#]|$)/.test(text)) throw wrongPath();
    const next = decoded(text);
    if (next === text) return;
    text = next;
  }
  throw wrongPath();
}

function wrongPath(): ApiError {
  return new ApiError("invalid_request", "The path must not lead outside of the provider's base URL.");
}

function withoutKey(query: string, ownKey: string): string {
  const isKey = (part: string) => decoded(part.slice(part.indexOf("=") + 1).replaceAll("+", " ")) === ownKey;
  return query
    .split("&")
    .filter((part) => !isKey(part))
    .join("&");
}

function joined(queries: readonly string[]): string {
  const given = queries.filter((query) => query !== "");
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
