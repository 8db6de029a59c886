// The leases at hosts that this node gets, if several nodes share them. When a request to a host could start, one lease is
// requested for that host and the request's account. The account's next request to the host uses it.

import type { Clock } from "../../base/clock.ts";
import type { HostLease, HostLeaseRequest, HostLeases } from "../../shared-state/host-leases.ts";

type Leave = (unused?: boolean) => void;

/** What is known of a host's next lease. */
interface Next {
  /** The lease is asked for, or granted to this account. */
  state: "asked" | { readonly accountId: string; readonly leave: Leave } | undefined;
  /** When the next one may be asked for. */
  atMs: number;
  /** The same for the accounts that have to wait longer than others. */
  readonly accountsAtMs: Map<string, number>;
}

/** Maximum number of hosts for which the time of a later lease is stored. */
const HOSTS_MAX = 5000;

/** Requests leases and stores those in use. */
export class SharedLeases {
  readonly #leases: HostLeases;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #next = new Map<string, Next>();
  readonly #used = new Map<string, Leave[]>();

  /** `changed` is called when an answer has arrived, because a request may now be able to start. */
  constructor(leases: HostLeases, clock: Clock, changed: () => void) {
    this.#leases = leases;
    this.#clock = clock;
    this.#changed = changed;
  }

  /** How long a request must wait before it has a lease or may ask for one; infinite while the answer is not known. */
  waitMs(host: string, accountId: string): number {
    const next = this.#next.get(host);
    if (next === undefined) return 0;
    const { state } = next;
    if (state !== undefined)
      return typeof state === "object" && state.accountId === accountId ? 0 : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.max(next.atMs, next.accountsAtMs.get(accountId) ?? 0) - this.#clock.now());
  }

  /** Whether a request that need not wait may start. If not, its lease is now asked for. */
  isGranted(host: string, request: HostLeaseRequest): boolean {
    if (typeof this.#next.get(host)?.state === "object") return true;
    const answer = this.#leases.ask(host, request);
    if (answer === undefined) {
      this.#next.delete(host);
      return true;
    }
    const next = this.#next.get(host) ?? { state: undefined, atMs: 0, accountsAtMs: new Map<string, number>() };
    next.state = "asked";
    this.#next.delete(host);
    this.#next.set(host, next);
    void answer.then((lease) => this.#heard(host, next, { accountId: request.accountId, lease }));
    return false;
  }

  /** A request starts and uses the lease. */
  enter(host: string, accountId: string): void {
    const state = this.#next.get(host)?.state;
    if (typeof state !== "object") return;
    this.#next.delete(host);
    const key = keyOf(host, accountId);
    this.#used.set(key, [...(this.#used.get(key) ?? []), state.leave]);
  }

  /** A request has ended. */
  leave(host: string, accountId: string): void {
    const key = keyOf(host, accountId);
    const used = this.#used.get(key);
    // The oldest, since Redis forgets a lease that is not given back, though its request may still run.
    used?.shift()?.();
    if (used?.length === 0) this.#used.delete(key);
  }

  #heard(host: string, next: Next, { accountId, lease }: { accountId: string; lease: HostLease | undefined }): void {
    const nowMs = this.#clock.now();
    if (lease?.granted === false) {
      next.state = undefined;
      for (const [account, atMs] of next.accountsAtMs) if (atMs <= nowMs) next.accountsAtMs.delete(account);
      if (lease.isForAll) next.atMs = nowMs + lease.waitMs;
      else next.accountsAtMs.set(accountId, nowMs + lease.waitMs);
      this.#changed();
      if (this.#next.size > HOSTS_MAX) this.#forgetOne();
      return;
    }
    const granted = { accountId, leave: lease?.leave ?? (() => undefined) };
    next.state = granted;
    this.#changed();
    if (next.state !== granted || this.#next.get(host) !== next) return;
    // The request that needed the lease is gone.
    this.#next.delete(host);
    granted.leave(true);
  }

  #forgetOne(): void {
    for (const [host, { state }] of this.#next) {
      if (state !== undefined) continue;
      this.#next.delete(host);
      return;
    }
  }
}

function keyOf(host: string, accountId: string): string {
  return `${accountId}\n${host}`;
}
