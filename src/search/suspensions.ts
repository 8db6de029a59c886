// Which networks are suspended, and for how long. This depends on the kind of failure, and transient failures suspend a network
// for longer each time.

import { type Clock, type ForwardClock, forwardClock } from "../base/clock.ts";
import type { FailureKind } from "./failure.ts";

/** A suspended network. */
export interface Suspension {
  readonly kind: FailureKind;
  /** In the time of day. */
  readonly untilMs: number;
}

/** A captcha is tied to the address, and further requests prolong it. */
const CAPTCHA_MS = 3_600_000;
const REFUSED_MS = 180_000;
/** The first suspension for a transient failure. It doubles each time, up to the maximum. */
const GROWING_FIRST_MS = 5_000;
const GROWING_MOST_MS = 120_000;
/** The maximum, even if an engine asks for more. */
const ASKED_MOST_MS = 24 * 3_600_000;

/**
 * For how long each kind of failure suspends an engine, for all searches. Only what is the host's does so. What one query causes,
 * and errors of this program's request or parser, are failures of that search alone.
 */
export const SUSPENDS: Readonly<Record<FailureKind, "captcha" | "asked" | "growing" | "none">> = {
  captcha: "captcha",
  rate_limited: "asked",
  blocked: "asked",
  bad_key: "asked",
  server_error: "growing",
  network: "growing",
  timeout: "growing",
  unanswered: "none",
  unrelated: "none",
  refused: "none",
  changed_markup: "none",
  busy: "none",
};

/** The suspensions, with one entry for each network, of which the list of engines has a limited number. */
export class Suspensions {
  readonly #clock: ForwardClock;
  readonly #byNetwork = new Map<string, { kind: FailureKind; untilMs: number; times: number }>();

  constructor(clock: Clock) {
    this.#clock = forwardClock(clock);
  }

  /** The suspension of a network; undefined if it may be queried. */
  of(network: string): Suspension | undefined {
    const known = this.#byNetwork.get(network);
    if (known === undefined || known.untilMs <= this.#clock.now()) return undefined;
    return { kind: known.kind, untilMs: this.#clock.timeOfDay(known.untilMs) };
  }

  failed(network: string, kind: FailureKind, retryAfterMs: number | undefined): void {
    const way = SUSPENDS[kind];
    if (way === "none") return;
    const known = this.#byNetwork.get(network);
    const nowMs = this.#clock.now();
    // Several failures at the same moment count as one.
    const isSame = known !== undefined && known.untilMs > nowMs;
    const times = way !== "growing" ? 0 : isSame ? known.times : (known?.times ?? 0) + 1;
    const ms = way === "captcha" ? CAPTCHA_MS : way === "asked" ? askedMs(retryAfterMs) : growingMs(times);
    const untilMs = nowMs + ms;
    if (!isSame || untilMs > known.untilMs) this.#byNetwork.set(network, { kind, untilMs, times });
  }

  /** Forgets the failures of an engine that answers. A request that started before a suspension does not end it. */
  succeeded(network: string): void {
    if (this.of(network) === undefined) this.#byNetwork.delete(network);
  }

  /** Ends a suspension, after the operator has changed something or runs a test. */
  forget(network?: string): void {
    if (network === undefined) this.#byNetwork.clear();
    else this.#byNetwork.delete(network);
  }
}

function askedMs(retryAfterMs: number | undefined): number {
  return Math.min(ASKED_MOST_MS, retryAfterMs === undefined || retryAfterMs <= 0 ? REFUSED_MS : retryAfterMs);
}

function growingMs(times: number): number {
  return Math.min(GROWING_MOST_MS, GROWING_FIRST_MS * 2 ** Math.min(times - 1, 10));
}
