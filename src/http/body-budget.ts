// Limits the bytes of all request bodies in memory. A body that does not fit is not read yet: it waits in the client's socket and
// costs nothing. Accounts share evenly: none may use more than twice what stays free, so that an account that is alone gets at
// most two thirds.

import { ApiError } from "../base/errors.ts";
import { lazily } from "../base/lazily.ts";
import { longStep } from "../base/long-steps.ts";

/** The bytes reserved for one request, from before its body is read until it is answered. */
export interface BodyHold {
  /** Releases the bytes that the body did not need. */
  shrinkTo(bytes: number): void;
  /** Releases all bytes. Calling it again has no effect. */
  release(): void;
}

/** How much longer than the last collection nothing is collected. */
const REST_FACTOR = 3;

/** Frees those texts too that were in use during an earlier collection. */
const fullCollection = lazily(() => {
  const { fullGC }: typeof import("bun:jsc") = require("bun:jsc");
  // `Bun.gc` would also discard the code of functions, which are then compiled anew.
  return fullGC;
});

/**
 * The garbage collector lets the heap grow to several times what is in use, and frees texts late. `held`: what others hold, beside
 * which there is less room for garbage.
 */
function collectAfter(bytesMax: () => number, collect: () => void): (bytes: number, held: number) => void {
  let garbageBytes = 0;
  let restsUntilMs = 0;
  // The larger the heap, the longer it takes, and the less often it is done.
  const collectUnlessResting = () => {
    const startMs = performance.now();
    if (startMs < restsUntilMs) return;
    collect();
    const endMs = performance.now();
    restsUntilMs = endMs + REST_FACTOR * (endMs - startMs);
  };
  return (bytes, held) => {
    garbageBytes += bytes;
    if (garbageBytes < bytesMax() * GARBAGE_SHARE_MIN || garbageBytes + held < bytesMax() * GARBAGE_SHARE) return;
    garbageBytes = 0;
    void longStep().then(collectUnlessResting);
  };
}

/** The budget for all bodies. */
export interface BodyBudget {
  /**
   * Reserves `bytes` for `holder`, immediately or when there is space. Throws `ApiError` 503 if there is none in time, or the
   * signal's reason.
   */
  hold(holder: string, bytes: number, signal: AbortSignal): BodyHold | Promise<BodyHold>;
  held(): number;
}

/** The longest time for which a request waits for space. */
const WAIT_MS = 30_000;
/** Maximum number of waiting requests. Each is a connection with its headers. */
const WAITING_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** Bodies of at least this size count towards a garbage collection, as they take many pages of memory. */
const LARGE_BYTES_MIN = 1024 * 1024;
/** Garbage is collected once it takes, together with what is held, this share of the budget. */
const GARBAGE_SHARE = 0.25;
/** With less garbage than this share of the budget, collecting costs more than it frees. */
const GARBAGE_SHARE_MIN = 0.05;

interface Waiting {
  readonly holder: string;
  readonly bytes: number;
  readonly admit: (hold: BodyHold) => void;
}

/** Creates a budget of `bytesMax()` bytes, which may change. */
export function createBodyBudget(
  bytesMax: () => number,
  waitMs = WAIT_MS,
  collectAll: () => void = () => void fullCollection()(),
): BodyBudget {
  const byHolder = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let total = 0;
  const collect = collectAfter(bytesMax, collectAll);

  const add = (holder: string, bytes: number) => {
    total += bytes;
    const sum = (byHolder.get(holder) ?? 0) + bytes;
    if (sum === 0) byHolder.delete(holder);
    else byHolder.set(holder, sum);
  };
  const fits = (holder: string, bytes: number): "yes" | "no" | "not for this one" => {
    // A body that is larger than the whole budget is admitted alone, since the limit of a single body is a setting of its own.
    if (total === 0) return "yes";
    const free = bytesMax() - total - bytes;
    if (free < 0) return "no";
    const own = byHolder.get(holder) ?? 0;
    return own === 0 || own + bytes <= 2 * free ? "yes" : "not for this one";
  };
  const admitWaiting = () => {
    for (const one of waiting) {
      const answer = fits(one.holder, one.bytes);
      // Later requests may not overtake this one, or it would never find space.
      if (answer === "no") return;
      if (answer !== "yes") continue;
      waiting.delete(one);
      one.admit(held(one.holder, one.bytes));
    }
  };
  const held = (holder: string, bytes: number): BodyHold => {
    let heldBytes = bytes;
    add(holder, bytes);
    const shrinkTo = (size: number) => {
      if (size >= heldBytes) return;
      add(holder, size - heldBytes);
      heldBytes = size;
      if (waiting.size > 0) admitWaiting();
    };
    const release = () => {
      // What the body did not need was never in memory.
      if (heldBytes >= LARGE_BYTES_MIN) collect(heldBytes, total - heldBytes);
      shrinkTo(0);
    };
    return { shrinkTo, release };
  };
  const wait = (holder: string, bytes: number, signal: AbortSignal): Promise<BodyHold> => {
    signal.throwIfAborted();
    if (waiting.size >= WAITING_MAX) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<BodyHold>();
    const entry: Waiting = { holder, bytes, admit: resolve };
    const leave = (reason: unknown) => {
      if (!waiting.delete(entry)) return;
      reject(reason);
      // The request may have prevented others from being admitted.
      admitWaiting();
    };
    const timer = setTimeout(() => leave(busy()), waitMs);
    const stop = () => leave(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    waiting.add(entry);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    });
  };

  return {
    hold(holder, bytes, signal) {
      const isNext = waiting.size === 0 || byHolder.get(holder) === undefined;
      if (isNext && fits(holder, bytes) === "yes") return held(holder, bytes);
      return wait(holder, bytes, signal);
    },
    held: () => total,
  };
}

function busy(): ApiError {
  return new ApiError("server_busy", "Too many large requests are in progress. Send this one again in a few seconds.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
