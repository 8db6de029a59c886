// A circuit breaker. A number of failures within a time window opens it. After the cooldown, exactly one request is let through as
// a probe, and its outcome decides. Callers report connection errors, timeouts and 5xx as failures, but never 4xx or 429. Failures
// of one account alone may be due to what it asks, so they open the breaker for that account only, until calls of others fail too.
// Nodes may share the time until which the breaker is open, and which of them probes. Each node counts only the failures that it
// sees itself.

import type { AtOnce } from "../base/at-once.ts";
import { type Clock, type ForwardClock, forwardClock } from "../base/clock.ts";
import type { UpstreamFault } from "./fault.ts";

export type BreakerState = "closed" | "open" | "half_open";

export interface BreakerSettings {
  /** The number of failures within the window that opens the breaker. */
  readonly failures: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
}

/**
 * The outcome of a permitted call. `unreachable` means that there was no connection, `unknown` that the call shows nothing about
 * the provider, for example because the client left.
 */
export type CallOutcome = "ok" | "failed" | "unreachable" | "unknown";

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
  | { readonly state: "open"; readonly forMs: number; readonly only?: string | undefined }
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
export type JoinBreaker = (name: string, breaker: Pick<Breaker, "adopt" | "openForMs" | "only">) => BreakerPeers;

/** A probe that is not settled within this time is taken to be lost. It is longer than any request waits for its first byte. */
const PROBE_LOST_MS = 10 * 60_000;

/** If another node got the probe, this node does not ask again for at least this long. */
const ASK_AGAIN_MS = 100;

/** A failed call, or one that succeeded. */
interface Failure {
  atMs: number;
  readonly account: string;
}

/** No call so far. */
const NEVER: Failure = { atMs: 0, account: "" };

const isFailure = (outcome: CallOutcome) => outcome === "failed" || outcome === "unreachable";

/** One breaker. Calls name the account that they are made for; without one, all calls count as those of a single account. */
export class Breaker {
  settings: BreakerSettings;
  readonly #clock: ForwardClock;
  readonly #changed: (state: BreakerState) => void;
  /** The failures within the window, oldest first; at most `settings.failures` of them. */
  #failed: Failure[] = [];
  /** The failures of other accounts while the breaker is open for one. */
  #failedBeside: Failure[] = [];
  /** The account for which the breaker is open; undefined if it is closed, or open for all. */
  only: string | undefined;
  /** Whether the calls of other accounts succeed while the breaker is open for one. */
  #isFine = false;
  /** The latest success, and the latest one of another account than that. */
  #succeeded: Failure = NEVER;
  #succeededBeside: Failure = NEVER;
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
    this.#clock = forwardClock(clock);
    this.#changed = changed;
  }

  /** The state for all. A breaker that is open for one account is closed if the calls of others succeed. */
  get state(): BreakerState {
    return this.#isFine ? "closed" : this.#stateForOnly();
  }

  #stateForOnly(): BreakerState {
    if (this.#openedAtMs === undefined) return "closed";
    return this.#clock.now() - this.#openedAtMs < this.settings.cooldownMs ? "open" : "half_open";
  }

  /** Whether a call would be refused now. Asking changes nothing. */
  refuses(account = ""): boolean {
    if (!this.#concerns(account)) return false;
    const state = this.#stateForOnly();
    return state === "open" || (state === "half_open" && this.#probeRuns());
  }

  /** Whether the breaker is open or half open for this account. */
  #concerns(account: string): boolean {
    return this.#openedAtMs !== undefined && (this.only === undefined || this.only === account);
  }

  /**
   * Returns permission for a call; undefined if the breaker is open, or half open with a probe in progress. Other nodes are not
   * asked.
   */
  acquire(account = ""): Permit | undefined {
    if (this.refuses(account)) return undefined;
    return this.#concerns(account) ? this.#probePermit(account) : this.#callPermit(account);
  }

  /** Returns permission for a call. Of all nodes that share the breaker, only one may probe at a time. */
  acquireOfAll(account = ""): AtOnce<Permit | undefined> {
    // As in nearly all calls.
    if (this.#openedAtMs === undefined) return this.#callPermit(account);
    const { peers } = this;
    if (!this.#concerns(account) || peers === undefined || this.refuses(account)) return this.acquire(account);
    return this.#acquireAmong(peers, account);
  }

  /** The same while the breaker is open and other nodes share it. */
  #acquireAmong(peers: BreakerPeers, account: string): Promise<Permit | undefined> {
    // While other nodes are asked, no second call asks them.
    const asking = { untilMs: this.#clock.now() + PROBE_LOST_MS };
    this.#probe = asking;
    return peers.takeProbe().then((answer) => {
      if (answer.may) return this.#probe === asking ? this.#probePermit(account) : this.acquire(account);
      if (this.#probe === asking) this.#probe = { untilMs: this.#clock.now() + Math.max(ASK_AGAIN_MS, answer.forMs) };
      // Another node may have closed the breaker meanwhile.
      return this.#concerns(account) ? undefined : this.#callPermit(account);
    });
  }

  /** Adopts a state that another node reports. */
  adopt(news: BreakerNews): void {
    // If this node probes, only this node settles the probe.
    if (news.state === "released") {
      if (this.#probe !== this.#ownProbe) this.#probe = undefined;
    } else if (news.state === "closed") {
      if (this.#openedAtMs === undefined) this.#failed = [];
      else this.#close();
      this.#probe = undefined;
    } else {
      const isNew = this.#openedAtMs === undefined || this.only !== news.only;
      this.#openedAtMs = this.#clock.now() + news.forMs - this.settings.cooldownMs;
      this.only = news.only;
      this.#isFine = this.#isFine && news.only !== undefined;
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
  waitMs(account = ""): number {
    if (this.#openedAtMs === undefined || !this.#concerns(account)) return 0;
    const cooled = this.#openedAtMs + this.settings.cooldownMs - this.#clock.now();
    // While a probe runs, the time is unknown; the cooldown that follows a failed probe is the best estimate.
    return cooled > 0 ? cooled : this.#probeRuns() ? this.settings.cooldownMs : 0;
  }

  /** Closes the breaker and forgets all failures, when the operator knows that the provider is healthy. */
  reset(): void {
    if (this.#openedAtMs === undefined) this.#failed = [];
    else this.#close();
    this.#probe = undefined;
    this.peers?.closed();
  }

  snapshot(): BreakerSnapshot {
    if (this.#openedAtMs === undefined) this.#failed = this.#recent(this.#failed);
    const openedAtMs = this.#isFine || this.#openedAtMs === undefined ? null : this.#clock.timeOfDay(this.#openedAtMs);
    return { state: this.state, failures: this.#failed.length, openedAtMs };
  }

  #callPermit(account: string): Permit {
    return new CallPermit(this, this.#epoch, account);
  }

  #probePermit(account: string): Permit {
    const probe = { untilMs: this.#clock.now() + PROBE_LOST_MS };
    this.#probe = probe;
    this.#ownProbe = probe;
    this.#changed("half_open");
    return new OnePermit((outcome) => this.#settleProbe(probe, account, outcome));
  }

  /** A call that was permitted in an epoch has ended. Permits call it. */
  settleCall(epoch: number, account: string, outcome: CallOutcome): void {
    if (outcome === "ok") this.#noteSuccess(account);
    if (isFailure(outcome)) this.#noteFailure(epoch, account);
  }

  #noteFailure(epoch: number, account: string): void {
    const failure = { atMs: this.#clock.now(), account };
    if (this.#openedAtMs !== undefined) {
      if (this.only !== undefined && this.only !== account) this.#failBeside(failure);
      return;
    }
    if (epoch !== this.#epoch) return;
    this.#failed = this.#recent(this.#failed);
    this.#failed.push(failure);
    if (this.#failed.length < this.settings.failures) return;
    const isOne = this.#failed.every((one) => one.account === account);
    const first = this.#failed[0] ?? failure;
    this.#open(isOne ? account : undefined, isOne && this.#othersSucceededSince(first.atMs, account));
    this.peers?.opened();
  }

  /**
   * A failure of another account than the one for which the breaker is open. If nobody else's calls have succeeded since, or
   * enough of them fail, the breaker opens for all.
   */
  #failBeside(failure: Failure): void {
    this.#failedBeside = this.#recent(this.#failedBeside);
    this.#failedBeside.push(failure);
    const sinceMs = this.#openedAtMs ?? failure.atMs;
    // One failure after many successes of others is no sign that the model fails for all.
    const works = this.only !== undefined && (this.#isFine || this.#othersSucceededSince(sinceMs, this.only));
    if (works && this.#failedBeside.length < this.settings.failures) return;
    this.#open(undefined, false);
    this.peers?.opened();
  }

  #noteSuccess(account: string): void {
    const atMs = this.#clock.now();
    const last = this.#succeeded;
    if (last.account === account && last !== NEVER) last.atMs = atMs;
    else {
      if (last.account !== account) this.#succeededBeside = last;
      this.#succeeded = { atMs, account };
    }
    if (this.only === undefined || this.only === account || this.#isFine) return;
    this.#isFine = true;
    this.#changed("closed");
  }

  #othersSucceededSince(sinceMs: number, account: string): boolean {
    const other = this.#succeeded.account === account ? this.#succeededBeside : this.#succeeded;
    return other !== NEVER && other.atMs >= sinceMs;
  }

  #settleProbe(probe: { readonly untilMs: number }, account: string, outcome: CallOutcome): void {
    if (outcome === "ok") this.#noteSuccess(account);
    // A lost probe has been replaced.
    if (this.#probe !== probe) return;
    this.#probe = undefined;
    if (isFailure(outcome)) {
      this.#open(this.only, this.#isFine);
      this.peers?.opened();
    } else if (outcome === "ok") {
      this.#close();
      this.peers?.closed();
    } else this.peers?.releaseProbe();
  }

  #open(only: string | undefined, isFine: boolean): void {
    this.#epoch++;
    this.#openedAtMs = this.#clock.now();
    this.only = only;
    this.#isFine = isFine;
    this.#failedBeside = [];
    if (!isFine) this.#changed("open");
  }

  #close(): void {
    this.#epoch++;
    this.#openedAtMs = undefined;
    this.only = undefined;
    this.#isFine = false;
    this.#failed = [];
    this.#failedBeside = [];
    this.#changed("closed");
  }

  #recent(failures: Failure[]): Failure[] {
    const fromMs = this.#clock.now() - this.settings.windowMs;
    const stale = failures.findIndex(({ atMs }) => atMs > fromMs);
    return stale === 0 ? failures : stale < 0 ? [] : failures.slice(stale);
  }

  #probeRuns(): boolean {
    return this.#probe !== undefined && this.#clock.now() < this.#probe.untilMs;
  }
}

/** The permit of a call while the breaker is closed. */
class CallPermit implements Permit {
  readonly #breaker: Breaker;
  readonly #epoch: number;
  readonly #account: string;
  #isSettled = false;

  constructor(breaker: Breaker, epoch: number, account: string) {
    this.#breaker = breaker;
    this.#epoch = epoch;
    this.#account = account;
  }

  settle(outcome: CallOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#breaker.settleCall(this.#epoch, this.#account, outcome);
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
export function outcomeOfFault({
  kind,
  connecting,
}: Pick<UpstreamFault, "kind"> & { connecting?: boolean }): CallOutcome {
  if (kind !== "unavailable" && kind !== "timeout") return "ok";
  return connecting === true ? "unreachable" : "failed";
}
