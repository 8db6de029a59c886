// Authenticates API keys: reads credentials from headers and finds the key in a small cache, which is cleared within a quarter of
// a second after another process has written.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { sha256Hex } from "../base/ids.ts";
import { maybeExchangeOf } from "./exchange.ts";

/** The members of a key that authentication itself reads. */
interface Expiring {
  readonly expiresAtMs: number | null;
}

export interface KeyAuthenticatorDeps<C extends Expiring> {
  /** Finds the valid key with this SHA-256, in lower-case hex. */
  findLiveKey(hash: string): Promise<C | undefined>;
  /** Counts the writes to the database by other processes. */
  changeCounter(): number;
  clock: Clock;
  /** Whether a request may send its key as `x-api-key`. */
  takesXApiKey(request: Request): boolean;
}

const CACHE_MAX = 10_000;
/** Longer headers, which are padded, are not kept. */
const HEADER_CHARS_MAX = 200;
/** How often the counter is read, so that `key revoke` takes effect in a running server within a second. */
const CHECK_EVERY_MS = 250;

/** Authenticates API keys. */
export interface KeyAuthenticator<C extends Expiring> {
  /** The caller, synchronously if the key is cached. Throws `ApiError` 401 `missing_api_key` or `invalid_api_key`. */
  authenticate(request: Request): AtOnce<C>;
  /** Clears the cache, after keys or accounts changed in this process. */
  invalidate(): void;
}

/** Creates an authenticator over the given look-up. */
export function createKeyAuthenticator<C extends Expiring>(deps: KeyAuthenticatorDeps<C>): KeyAuthenticator<C> {
  const cache = new Map<string, C>();
  /** The same callers by the whole header with their key, so that a busy key is hashed once. */
  const byHeader = new Map<string, C>();
  let counter = deps.changeCounter();
  let checkedMs = 0;
  /** Increases whenever the cache is cleared, so that results of earlier look-ups are not cached. */
  let age = 0;
  const forget = () => {
    age += 1;
    cache.clear();
    byHeader.clear();
  };
  const lookUp = async (hash: string): Promise<C> => {
    const startedAt = age;
    const caller = live(await deps.findLiveKey(hash), deps.clock.now());
    if (startedAt === age) {
      if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value as string);
      cache.set(hash, caller);
    }
    return caller;
  };
  const forgetChanged = (now: number) => {
    if (now - checkedMs < CHECK_EVERY_MS && now >= checkedMs) return;
    checkedMs = now;
    const current = deps.changeCounter();
    if (current !== counter) forget();
    counter = current;
  };
  return {
    authenticate(request) {
      const header = request.headers.get("authorization");
      const now = deps.clock.now();
      forgetChanged(now);
      const seen = header === null ? undefined : byHeader.get(header);
      if (seen !== undefined) return live(seen, now);
      const key = presentedKey(request, header, deps.takesXApiKey);
      if (key === undefined) {
        refuseKeyInAddress(request);
        throw new ApiError(
          "missing_api_key",
          "No API key was sent. Use the header Authorization with the value Bearer sk-….",
        );
      }
      const hash = sha256Hex(key);
      const known = cache.get(hash);
      if (known !== undefined && header !== null && header.length <= HEADER_CHARS_MAX) {
        if (byHeader.size >= CACHE_MAX) byHeader.clear();
        byHeader.set(header, known);
      }
      // A text without the prefix of keys, such as a JWT, cannot be a key and needs no look-up.
      return known === undefined && key.startsWith("sk-") ? lookUp(hash) : live(known, now);
    },
    invalidate: forget,
  };
}

/** The caller, if it exists and its key has not expired. Throws otherwise. */
function live<C extends Expiring>(caller: C | undefined, nowMs: number): C {
  if (caller === undefined || (caller.expiresAtMs !== null && caller.expiresAtMs <= nowMs))
    throw new ApiError("invalid_api_key", "The API key is not valid. It may be mistyped, revoked or expired.");
  return caller;
}

/** Refuses a key in the address of a service whose clients may send it there, where logs and proxies would keep it. */
function refuseKeyInAddress(request: Request): void {
  if (maybeExchangeOf(request)?.alias?.keyHeader === undefined) return;
  const { url } = request;
  const at = url.indexOf("?");
  if (at < 0 || !new URLSearchParams(url.slice(at)).get("key")?.startsWith("sk-")) return;
  const message =
    "A key must not be in the address, where it may be logged. Send it in the header x-goog-api-key or as Authorization: Bearer sk-….";
  throw new ApiError("invalid_request", message, { param: "key" });
}

/** The key that a request sends. */
function presentedKey(
  request: Request,
  authorization: string | null,
  takesXApiKey: KeyAuthenticatorDeps<Expiring>["takesXApiKey"],
): string | undefined {
  if (authorization !== null) {
    const match = /^bearer\s+(\S+)\s*$/i.exec(authorization);
    return match?.[1] ?? "";
  }
  const key = request.headers.get("x-api-key");
  if (key !== null && takesXApiKey(request)) return key.trim();
  const header = maybeExchangeOf(request)?.alias?.keyHeader;
  return header === undefined ? undefined : request.headers.get(header)?.trim();
}
