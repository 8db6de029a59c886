// Counts the tokens of requests against `tpm`: a meter for each request of a key that has the limit. What the request may use is
// reserved before it is sent, and all that is recorded for it meanwhile replaces that at its end. Loaded with the first such request.

import { type AtOnce, whenThere } from "../../base/at-once.ts";
import { ApiError } from "../../base/errors.ts";
import type { Exchange, TokenMeter } from "../../http/exchange.ts";
import type { ScopedLimit } from "../../shared-state/request-slots.ts";
import type { TokenHold, TokenVerdict, TokenWindows, TokenWish } from "../../shared-state/token-windows.ts";
import type { UsageRecord } from "../../store/usage/record.ts";

/** What meters need. */
export interface TokenMetersDeps {
  readonly windows: TokenWindows;
  /** Called for a request that is refused. */
  rejected?(): void;
}

type UsedTokens = Pick<UsageRecord, "keyId" | "requestId" | "inputTokens" | "outputTokens">;

/** Seconds in Retry-After if requests in progress may give tokens back, as most answers take a few seconds. */
const RETRY_AFTER_SECONDS = 2;

class Meter implements TokenMeter {
  readonly keyId: string;
  /** Another one of the same request id. */
  next: Meter | undefined = undefined;
  readonly #deps: TokenMetersDeps;
  readonly #limits: readonly ScopedLimit[];
  readonly #headers: Record<string, string>;
  #used = 0;
  #hold: TokenHold | undefined;
  #isEnded = false;

  constructor(
    deps: TokenMetersDeps,
    of: { keyId: string; limits: readonly ScopedLimit[]; headers: Record<string, string> },
  ) {
    this.#deps = deps;
    this.keyId = of.keyId;
    this.#limits = of.limits;
    this.#headers = of.headers;
  }

  /** Takes one out of those behind it. */
  unlink(gone: Meter): void {
    let meter: Meter = this;
    while (meter.next !== undefined && meter.next !== gone) meter = meter.next;
    meter.next = meter.next?.next;
  }

  get isReserved(): boolean {
    return this.#hold !== undefined;
  }

  use(tokens: number): void {
    this.#used += tokens;
  }

  reserve(wish: TokenWish): AtOnce<void> {
    // The round before has ended.
    this.#settle();
    for (const scoped of this.#limits) {
      if (wish.least <= scoped.limit) continue;
      this.#deps.rejected?.();
      throw tooLarge(wish, scoped);
    }
    return whenThere(this.#deps.windows.take(this.#limits, wish), (verdict) => this.#taken(verdict, wish));
  }

  end(): void {
    this.#isEnded = true;
    this.#settle();
  }

  #taken(verdict: TokenVerdict, wish: TokenWish): void {
    const headers = this.#headers;
    headers["x-ratelimit-limit-tokens"] = String(verdict.of.limit);
    headers["x-ratelimit-remaining-tokens"] = String(verdict.remaining);
    headers["x-ratelimit-reset-tokens"] = String(Math.ceil(verdict.resetMs / 1000));
    if (verdict.hold === undefined) {
      this.#deps.rejected?.();
      throw notLeft(verdict, wish);
    }
    this.#hold = verdict.hold;
    // The client left meanwhile.
    if (this.#isEnded) this.#settle();
  }

  #settle(): void {
    const used = this.#used;
    this.#used = 0;
    if (this.#hold !== undefined) this.#hold.settle(used);
    else if (used > 0) this.#deps.windows.count(this.#limits, used);
    this.#hold = undefined;
  }
}

function tooLarge({ least }: TokenWish, { of, limit }: ScopedLimit): ApiError {
  return new ApiError(
    "rate_limit_exceeded",
    `This request may use ${least} tokens, but this ${of} may use ${limit} a minute. Shorten it, or lower its output limit.`,
    { details: { limit: "tpm" }, headers: { "x-should-retry": "false" } },
  );
}

function notLeft({ of: { of, limit }, remaining, waitMs }: TokenVerdict, { least }: TokenWish): ApiError {
  const seconds = waitMs === 0 ? RETRY_AFTER_SECONDS : Math.ceil(waitMs / 1000);
  return new ApiError(
    "rate_limit_exceeded",
    `This ${of} may use ${limit} tokens a minute, of which ${remaining} are left; this request may use ${least}. Try again in ${seconds} s.`,
    { retryAfterSeconds: seconds, details: { limit: "tpm" } },
  );
}

/** Creates the meters. */
export function createTokenMeters(deps: TokenMetersDeps) {
  /** By the id of their request. Clients choose the ids, so that several may have the same one. */
  const running = new Map<string, Meter>();
  const close = (meter: Meter, requestId: string) => {
    const first = running.get(requestId);
    if (first !== meter) first?.unlink(meter);
    else if (meter.next === undefined) running.delete(requestId);
    else running.set(requestId, meter.next);
    meter.end();
  };
  return {
    /** Opens the meter of a request until its exchange ends. */
    open(keyId: string, limits: readonly ScopedLimit[], exchange: Exchange): void {
      const { requestId } = exchange;
      const meter = new Meter(deps, { keyId, limits, headers: exchange.headers });
      meter.next = running.get(requestId);
      running.set(requestId, meter);
      exchange.tokens = meter;
      exchange.atEnd(() => close(meter, requestId));
    },
    /** Counts what was recorded. Of a key's requests with the same id, any of them may count it. */
    used({ keyId, requestId, inputTokens, outputTokens }: UsedTokens): void {
      let meter = running.get(requestId);
      while (meter !== undefined && meter.keyId !== keyId) meter = meter.next;
      meter?.use(inputTokens + outputTokens);
    },
  };
}
