// How much an account may have counted. Counting tokens is free and is not counted by the rate limit, but a large body takes half
// a second of processor time, so the bytes are limited: each account has an allowance that fills up again steadily.

import type { Clock } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";

/** The allowance of all accounts on this node. */
export interface CountingAllowance {
  /** Takes the stated size of a body from the account's allowance before the body is read. Throws 429 if nothing is left. */
  enter(accountId: string, request: Request): CountingTicket;
}

/** A request that is counted. */
export interface CountingTicket {
  /** Corrects the stated size, which may be missing or compressed, to the size of the body. */
  read(chars: number): void;
}

/** Some sixty counts of a whole context window of a million tokens in a minute, or four thousand short ones. */
export const COUNTED_BYTES_PER_MINUTE = 64 * 1024 * 1024;
/** Every request takes at least this much. */
const REQUEST_BYTES_MIN = 16 * 1024;
const MINUTE_MS = 60_000;
/** Accounts that are remembered. A full allowance need not be; the least recently used goes first. */
const ACCOUNTS_MAX = 10_000;

/** Creates the allowance. */
export function createCountingAllowance(clock: Pick<Clock, "now">): CountingAllowance {
  const accounts = new Map<string, { left: number; atMs: number }>();
  const stateOf = (accountId: string) => {
    const nowMs = clock.now();
    const known = accounts.get(accountId) ?? { left: COUNTED_BYTES_PER_MINUTE, atMs: nowMs };
    const gained = (Math.max(0, nowMs - known.atMs) / MINUTE_MS) * COUNTED_BYTES_PER_MINUTE;
    known.left = Math.min(COUNTED_BYTES_PER_MINUTE, known.left + gained);
    known.atMs = nowMs;
    accounts.delete(accountId);
    accounts.set(accountId, known);
    if (accounts.size > ACCOUNTS_MAX) accounts.delete(accounts.keys().next().value as string);
    return known;
  };
  return {
    enter(accountId, request) {
      const state = stateOf(accountId);
      if (state.left <= 0) throw used(state.left);
      const stated = Number(request.headers.get("content-length") ?? 0);
      const taken = Math.max(REQUEST_BYTES_MIN, Number.isFinite(stated) ? stated : 0);
      state.left -= taken;
      return {
        read: (chars) => {
          if (chars > taken) state.left -= chars - taken;
        },
      };
    },
  };
}

function used(share: number): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(((1 - share) / COUNTED_BYTES_PER_MINUTE) * 60));
  const mebibytes = COUNTED_BYTES_PER_MINUTE / 1024 / 1024;
  return new ApiError(
    "rate_limit_exceeded",
    `An account may have the tokens of ${mebibytes} MiB a minute counted. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
