// Which networks are left alone, and for how long: by the kind of failure, and longer each time where it may be over soon.

import type { Clock } from "../base/clock.ts";
import type { FailureKind } from "./failure.ts";

/** A network that is left alone. */
export interface Suspension {
  readonly kind: FailureKind;
  readonly untilMs: number;
}

/** A captcha is about the address, and asking on makes it last. */
const CAPTCHA_MS = 3_600_000;
const REFUSED_MS = 180_000;
/** Transient failures: this long the first time, twice as long each time after, up to the maximum. */
const GROWING_FIRST_MS = 5_000;
const GROWING_MOST_MS = 120_000;
/** An engine that asks for more is asked again all the same. */
const ASKED_MOST_MS = 24 * 3_600_000;

/** How each kind of failure is treated. Failures of our request or our parsing suspend no engine. */
const KINDS: Readonly<Record<FailureKind, "captcha" | "asked" | "growing" | "none">> = {
  captcha: "captcha",
  rate_limited: "asked",
  blocked: "asked",
  bad_key: "asked",
  server_error: "growing",
  network: "growing",
  timeout: "growing",
  unrelated: "growing",
  refused: "none",
  changed_markup: "none",
  busy: "none",
};

/** Keeps them; one entry per network of an engine, so bounded by the list of engines. */
export class Suspensions {
  readonly #clock: Clock;
  readonly #byNetwork = new Map<string, { kind: FailureKind; untilMs: number; times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The suspension of a network; undefined while it may be asked. */
  of(network: string): Suspension | undefined {
    const known = this.#byNetwork.get(network);
    return known !== undefined && known.untilMs > this.#clock.now() ? known : undefined;
  }

  failed(network: string, kind: FailureKind, retryAfterMs: number | undefined): void {
    const way = KINDS[kind];
    if (way === "none") return;
    const known = this.#byNetwork.get(network);
    const nowMs = this.#clock.now();
    // Several answers of one moment are one failure.
    const isSame = known !== undefined && known.untilMs > nowMs;
    const times = way !== "growing" ? 0 : isSame ? known.times : (known?.times ?? 0) + 1;
    const ms = way === "captcha" ? CAPTCHA_MS : way === "asked" ? askedMs(retryAfterMs) : growingMs(times);
    const untilMs = nowMs + ms;
    if (!isSame || untilMs > known.untilMs) this.#byNetwork.set(network, { kind, untilMs, times });
  }

  /**
   * It answers: nothing is held against it. What was asked for meanwhile does not end a suspension that is in progress.
   */
  succeeded(network: string): void {
    if (this.of(network) === undefined) this.#byNetwork.delete(network);
  }

  /** Asks it again at once: the operator changed something, or wants to know. */
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
