// Admits clients without a key to search, if their address is in the operator's list. Each such address has the free plan's rate
// limit.

import { type AtOnce, whenThere } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import { parseCidr } from "../net/address.ts";
import { memoryRateLimiter, type RateLimiter, type Verdict } from "../shared-state/rate-windows.ts";
import type { WebCaller } from "./caller.ts";

/** What admitting clients without a key depends on. */
export interface AnonymousDeps {
  readonly clock: Clock;
  /** The listed addresses and ranges. */
  allowed(): readonly string[];
  /** Requests per minute that each address may send. */
  rpm(): number;
  rejected(): void;
  /** Shares the windows of addresses with other nodes, if there may be some. */
  readonly limiter?: RateLimiter | undefined;
}

/** Admits a client without a key: returns its name, or undefined if its address is not listed. Throws 429. */
export type AdmitAnonymous = (exchange: Exchange) => AtOnce<Pick<WebCaller, "accountId">> | undefined;

/** Creates the admission of clients without a key. */
export function createAnonymous({ clock, allowed, rpm, rejected, ...deps }: AnonymousDeps): AdmitAnonymous {
  const limiter = deps.limiter ?? memoryRateLimiter(clock);
  let read: { readonly list: readonly string[]; readonly tests: readonly ((address: string) => boolean)[] } | undefined;
  return (exchange) => {
    const list = allowed();
    if (list.length === 0) return undefined;
    if (read?.list !== list) read = { list, tests: list.flatMap((range) => parseCidr(range) ?? []) };
    const { address, isUnnamedProxy } = exchange;
    // The listed address may be that of a proxy behind which the whole internet is.
    if (isUnnamedProxy || !read.tests.some((holds) => holds(address))) return undefined;
    return whenThere(limiter.admit(`address:${address}`, rpm()), (verdict) => judged(verdict, exchange));
  };

  function judged(verdict: Verdict, { address, headers }: Exchange): Pick<WebCaller, "accountId"> {
    headers["x-ratelimit-limit"] = String(verdict.limit);
    headers["x-ratelimit-remaining"] = String(verdict.remaining);
    headers["x-ratelimit-reset"] = String(verdict.resetSeconds);
    if (verdict.admitted) return { accountId: `address ${address}` };
    rejected();
    const retryAfterSeconds = Math.max(1, verdict.resetSeconds);
    throw new ApiError(
      "rate_limit_exceeded",
      `Without a key, an address may send ${verdict.limit} requests a minute. Wait ${retryAfterSeconds} s.`,
      { retryAfterSeconds },
    );
  }
}
