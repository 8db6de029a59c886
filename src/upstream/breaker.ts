// A circuit breaker per provider: a number of failures within a window opens it; after the cooldown exactly one request
// probes, and its outcome alone decides. Callers report connection errors, timeouts and 5xx as failures, never 4xx or 429.

import type { Clock } from "../base/clock.ts";
import type { FaultKind } from "./fault.ts";

export type BreakerState = "closed" | "open" | "half_open";

export interface BreakerSettings {
  /** Failures within the window that open it. */
  readonly failures: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
}

/** The outcome of a permitted call. `unknown`: it says nothing about the provider, for example because the client left. */
export type CallOutcome = "ok" | "failed" | "unknown";

/** Permission for one call. Settle it once its outcome is known; later settlements do nothing. */
export interface Permit {
  settle(outcome: CallOutcome): void;
}

/** The state for `/health`. */
export interface BreakerSnapshot {
  readonly state: BreakerState;
  readonly failures: number;
  /** Null while closed. */
  readonly openedAtMs: number | null;
}

/**
 * A probe that is not settled within this time is considered lost; longer than any request takes to its first byte.
 */
const PROBE_LOST_MS = 10 * 60_000;

/** One provider's breaker. */
export class Breaker {
  settings: BreakerSettings;
  readonly #clock: Clock;
  readonly #changed: (state: BreakerState) => void;
  /** Times of the failures within the window, oldest first; at most `settings.failures` of them. */
  #failedAtMs: number[] = [];
  #openedAtMs: number | undefined;
  #probe: { sinceMs: number } | undefined;
  /** Incremented when it opens or closes: a call from before says nothing about the current state. */
  #epoch = 0;

  constructor(settings: BreakerSettings, clock: Clock, changed: (state: BreakerState) => void = () => {}) {
    this.settings = settings;
    this.#clock = clock;
    this.#changed = changed;
  }

  get state(): BreakerState {
    if (this.#openedAtMs === undefined) return "closed";
    return this.#clock.now() - this.#openedAtMs < this.settings.cooldownMs ? "open" : "half_open";
  }

  /** Whether a call would be refused now; changes nothing. */
  get refuses(): boolean {
    const state = this.state;
    return state === "open" || (state === "half_open" && this.#probeRuns());
  }

  /** Permission for one call; undefined if it is open, or half open with a probe in progress. */
  acquire(): Permit | undefined {
    if (this.refuses) return undefined;
    const epoch = this.#epoch;
    if (this.#openedAtMs === undefined) return new OnePermit((outcome) => this.#settleCall(epoch, outcome));
    const probe = { sinceMs: this.#clock.now() };
    this.#probe = probe;
    this.#changed("half_open");
    return new OnePermit((outcome) => this.#settleProbe(probe, outcome));
  }

  /** Milliseconds until a call may be permitted; 0 if one may be now. */
  waitMs(): number {
    if (this.#openedAtMs === undefined) return 0;
    const cooled = this.#openedAtMs + this.settings.cooldownMs - this.#clock.now();
    // While a probe runs this is unknown; the cooldown after a failed probe is the best guess.
    return cooled > 0 ? cooled : this.#probeRuns() ? this.settings.cooldownMs : 0;
  }

  /** Closes it and forgets all failures: an operator knows that the provider is healthy. */
  reset(): void {
    if (this.#openedAtMs === undefined) this.#failedAtMs = [];
    else this.#close();
    this.#probe = undefined;
  }

  snapshot(): BreakerSnapshot {
    if (this.#openedAtMs === undefined) this.#forgetOld();
    return { state: this.state, failures: this.#failedAtMs.length, openedAtMs: this.#openedAtMs ?? null };
  }

  #settleCall(epoch: number, outcome: CallOutcome): void {
    if (outcome !== "failed" || epoch !== this.#epoch) return;
    this.#failedAtMs.push(this.#clock.now());
    this.#forgetOld();
    if (this.#failedAtMs.length >= this.settings.failures) this.#open();
  }

  #settleProbe(probe: { sinceMs: number }, outcome: CallOutcome): void {
    // A lost probe has been replaced.
    if (this.#probe !== probe) return;
    this.#probe = undefined;
    if (outcome === "failed") this.#open();
    else if (outcome === "ok") this.#close();
  }

  #open(): void {
    this.#epoch++;
    this.#openedAtMs = this.#clock.now();
    this.#changed("open");
  }

  #close(): void {
    this.#epoch++;
    this.#openedAtMs = undefined;
    this.#failedAtMs = [];
    this.#changed("closed");
  }

  #forgetOld(): void {
    const from = this.#clock.now() - this.settings.windowMs;
    let stale = 0;
    while (stale < this.#failedAtMs.length && (this.#failedAtMs[stale] ?? 0) <= from) stale++;
    if (stale > 0) this.#failedAtMs.splice(0, stale);
  }

  #probeRuns(): boolean {
    return this.#probe !== undefined && this.#clock.now() - this.#probe.sinceMs < PROBE_LOST_MS;
  }
}

class OnePermit implements Permit {
  #report: ((outcome: CallOutcome) => void) | undefined;
  constructor(report: (outcome: CallOutcome) => void) {
    this.#report = report;
  }
  settle(outcome: CallOutcome): void {
    const report = this.#report;
    this.#report = undefined;
    report?.(outcome);
  }
}

/** What a failed call says about its provider: any answer below 500 shows that it is up, even a useless one. */
export function outcomeOfFault(kind: FaultKind): CallOutcome {
  return kind === "unavailable" || kind === "timeout" ? "failed" : "ok";
}

/** The breakers of all providers, by name. */
export class Breakers {
  readonly #byName = new Map<string, Breaker>();
  readonly #clock: Clock;
  readonly #changed: (provider: string, state: BreakerState) => void;

  constructor(clock: Clock, changed: (provider: string, state: BreakerState) => void = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Applies a new configuration: known providers keep their state, new ones start closed, removed ones are dropped. */
  configure(settings: ReadonlyMap<string, BreakerSettings>): void {
    for (const name of this.#byName.keys()) if (!settings.has(name)) this.#byName.delete(name);
    for (const [name, own] of settings) {
      const known = this.#byName.get(name);
      if (known !== undefined) known.settings = own;
      else this.#byName.set(name, new Breaker(own, this.#clock, (state) => this.#changed(name, state)));
    }
  }

  /** The breaker of a provider; undefined if it is not configured. */
  get(name: string): Breaker | undefined {
    return this.#byName.get(name);
  }

  snapshot(): Map<string, BreakerSnapshot> {
    return new Map([...this.#byName].map(([name, breaker]) => [name, breaker.snapshot()]));
  }
}
