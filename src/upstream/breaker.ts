// A circuit breaker for each provider. A number of failures within a time window opens it. After the cooldown, exactly one
// request is let through as a probe, and its outcome decides. Callers report connection errors, timeouts and 5xx as failures, but
// never 4xx or 429. Nodes may share the time until which the breaker is open, and which of them probes. Each node counts only the
// failures that it sees itself.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import type { FaultKind } from "./fault.ts";

export type BreakerState = "closed" | "open" | "half_open";

export interface BreakerSettings {
  /** The number of failures within the window that opens the breaker. */
  readonly failures: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
}

/**
 * The outcome of a permitted call. `unknown` means that it shows nothing about the provider, for example because the client left.
 */
export type CallOutcome = "ok" | "failed" | "unknown";

/** Permission for one call. Settle it once the outcome is known; settling it again has no effect. */
export interface Permit {
  settle(outcome: CallOutcome): void;
}

/** The state for `/health`. */
export interface BreakerSnapshot {
  readonly state: BreakerState;
  readonly failures: number;
  /** When the breaker opened; null while it is closed. */
  readonly openedAtMs: number | null;
}

/**
 * A state that another node reports. `open` with 0 ms or less means that the next call probes. `released` means that a probe
 * ended without a result.
 */
export type BreakerNews =
  | { readonly state: "open"; readonly forMs: number }
  | { readonly state: "closed" }
  | { readonly state: "released" };

/** The same breaker on other nodes. Its methods never fail. */
export interface BreakerPeers {
  opened(): void;
  closed(): void;
  /** Whether this node may probe. If not, `forMs` is the time for which another node may still be probing. */
  takeProbe(): Promise<{ readonly may: true } | { readonly may: false; readonly forMs: number }>;
  /** Reports that the probe ended without a result. */
  releaseProbe(): void;
  leave(): void;
}

/** Connects a breaker with those of other nodes. */
export type JoinBreaker = (name: string, breaker: Pick<Breaker, "adopt" | "openForMs">) => BreakerPeers;

/** A probe that is not settled within this time is taken to be lost. It is longer than any request waits for its first byte. */
const PROBE_LOST_MS = 10 * 60_000;

/** If another node got the probe, this node does not ask again for at least this long. */
const ASK_AGAIN_MS = 100;

/** The breaker of one provider. */
export class Breaker {
  settings: BreakerSettings;
  readonly #clock: Clock;
  readonly #changed: (state: BreakerState) => void;
  /** Times of the failures within the window, oldest first; at most `settings.failures` of them. */
  #failedAtMs: number[] = [];
  #openedAtMs: number | undefined;
  /** The probe in progress, on this node or another one, and the time until which it may run. */
  #probe: { readonly untilMs: number } | undefined;
  /** Set if nodes share the breaker. */
  peers: BreakerPeers | undefined;
  #ownProbe: { readonly untilMs: number } | undefined;
  /** Increases when the breaker opens or closes, so that calls from before no longer count. */
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

  /** Whether a call would be refused now. Reading it changes nothing. */
  get refuses(): boolean {
    const state = this.state;
    return state === "open" || (state === "half_open" && this.#probeRuns());
  }

  /**
   * Returns permission for a call; undefined if the breaker is open, or half open with a probe in progress. Other nodes are not
   * asked.
   */
  acquire(): Permit | undefined {
    if (this.refuses) return undefined;
    return this.#openedAtMs === undefined ? this.#callPermit() : this.#probePermit();
  }

  /** Returns permission for a call. Of all nodes that share the breaker, only one may probe at a time. */
  acquireOfAll(): AtOnce<Permit | undefined> {
    if (this.#openedAtMs === undefined || this.peers === undefined || this.refuses) return this.acquire();
    // While other nodes are asked, no second call asks them.
    const asking = { untilMs: this.#clock.now() + PROBE_LOST_MS };
    this.#probe = asking;
    return this.peers.takeProbe().then((answer) => {
      if (answer.may) return this.#probe === asking ? this.#probePermit() : this.acquire();
      if (this.#probe === asking) this.#probe = { untilMs: this.#clock.now() + Math.max(ASK_AGAIN_MS, answer.forMs) };
      // Another node may have closed the breaker meanwhile.
      return this.#openedAtMs === undefined ? this.#callPermit() : undefined;
    });
  }

  /** Adopts a state that another node reports. */
  adopt(news: BreakerNews): void {
    // If this node probes, only this node settles the probe.
    if (news.state === "released") {
      if (this.#probe !== this.#ownProbe) this.#probe = undefined;
    } else if (news.state === "closed") {
      if (this.#openedAtMs === undefined) this.#failedAtMs = [];
      else this.#close();
      this.#probe = undefined;
    } else {
      const isNew = this.#openedAtMs === undefined;
      this.#openedAtMs = this.#clock.now() + news.forMs - this.settings.cooldownMs;
      this.#probe = undefined;
      if (!isNew) return;
      this.#epoch++;
      this.#changed("open");
    }
  }

  /** How much longer the breaker is open; undefined while it is closed, 0 or less if the next call probes. */
  openForMs(): number | undefined {
    if (this.#openedAtMs === undefined) return undefined;
    return this.#openedAtMs + this.settings.cooldownMs - this.#clock.now();
  }

  /** Milliseconds until a call may be permitted; 0 if one may be now. */
  waitMs(): number {
    if (this.#openedAtMs === undefined) return 0;
    const cooled = this.#openedAtMs + this.settings.cooldownMs - this.#clock.now();
    // While a probe runs, the time is unknown; the cooldown that follows a failed probe is the best estimate.
    return cooled > 0 ? cooled : this.#probeRuns() ? this.settings.cooldownMs : 0;
  }

  /** Closes the breaker and forgets all failures, when the operator knows that the provider is healthy. */
  reset(): void {
    if (this.#openedAtMs === undefined) this.#failedAtMs = [];
    else this.#close();
    this.#probe = undefined;
    this.peers?.closed();
  }

  snapshot(): BreakerSnapshot {
    if (this.#openedAtMs === undefined) this.#forgetOld();
    return { state: this.state, failures: this.#failedAtMs.length, openedAtMs: this.#openedAtMs ?? null };
  }

  #callPermit(): Permit {
    const epoch = this.#epoch;
    return new OnePermit((outcome) => this.#settleCall(epoch, outcome));
  }

  #probePermit(): Permit {
    const probe = { untilMs: this.#clock.now() + PROBE_LOST_MS };
    this.#probe = probe;
    this.#ownProbe = probe;
    this.#changed("half_open");
    return new OnePermit((outcome) => this.#settleProbe(probe, outcome));
  }

  #settleCall(epoch: number, outcome: CallOutcome): void {
    if (outcome !== "failed" || epoch !== this.#epoch) return;
    this.#failedAtMs.push(this.#clock.now());
    this.#forgetOld();
    if (this.#failedAtMs.length < this.settings.failures) return;
    this.#open();
    this.peers?.opened();
  }

  #settleProbe(probe: { readonly untilMs: number }, outcome: CallOutcome): void {
    // A lost probe has been replaced.
    if (this.#probe !== probe) return;
    this.#probe = undefined;
    if (outcome === "failed") {
      this.#open();
      this.peers?.opened();
    } else if (outcome === "ok") {
      this.#close();
      this.peers?.closed();
    } else this.peers?.releaseProbe();
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
    return this.#probe !== undefined && this.#clock.now() < this.#probe.untilMs;
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

/** What a failed call shows about its provider: any status below 500 shows that it is running, even if the answer is useless. */
export function outcomeOfFault(kind: FaultKind): CallOutcome {
  return kind === "unavailable" || kind === "timeout" ? "failed" : "ok";
}

/** The breakers of all providers, by name. */
export class Breakers {
  readonly #byName = new Map<string, Breaker>();
  readonly #clock: Clock;
  readonly #changed: (provider: string, state: BreakerState) => void;
  readonly #join: JoinBreaker | undefined;

  /** `join` connects the breakers with those of other nodes. */
  constructor(
    clock: Clock,
    changed: (provider: string, state: BreakerState) => void = () => {},
    join: JoinBreaker | undefined = undefined,
  ) {
    this.#clock = clock;
    this.#changed = changed;
    this.#join = join;
  }

  /** Applies a new configuration: known providers keep their state, new ones start closed, removed ones are dropped. */
  configure(settings: ReadonlyMap<string, BreakerSettings>): void {
    for (const [name, breaker] of this.#byName) {
      if (settings.has(name)) continue;
      this.#byName.delete(name);
      breaker.peers?.leave();
    }
    for (const [name, own] of settings) {
      const known = this.#byName.get(name);
      if (known !== undefined) known.settings = own;
      else this.#add(name, new Breaker(own, this.#clock, (state) => this.#changed(name, state)));
    }
  }

  #add(name: string, breaker: Breaker): void {
    this.#byName.set(name, breaker);
    breaker.peers = this.#join?.(name, breaker);
  }

  /** The breaker of a provider; undefined if it is not configured. */
  get(name: string): Breaker | undefined {
    return this.#byName.get(name);
  }

  snapshot(): Map<string, BreakerSnapshot> {
    return new Map([...this.#byName].map(([name, breaker]) => [name, breaker.snapshot()]));
  }
}
