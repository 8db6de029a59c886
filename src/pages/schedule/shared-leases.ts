// The leases at hosts that this node gets, if several nodes share them. When a request to a host could start, one lease is
// requested for that host. The next request to the host uses it.

import type { Clock } from "../../base/clock.ts";
import type { HostLeases, HostLimits } from "../../shared-state/host-leases.ts";

/** The state of the request for a host's next lease. */
type Next =
  | { readonly kind: "asked" }
  | { readonly kind: "granted"; readonly leave: (unused?: boolean) => void }
  | { readonly kind: "later"; readonly atMs: number };

/** Maximum number of hosts for which the time of a later lease is stored. */
const HOSTS_MAX = 5000;

/** Requests leases and stores those in use. */
export class SharedLeases {
  readonly #leases: HostLeases;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #next = new Map<string, Next>();
  readonly #used = new Map<string, ((unused?: boolean) => void)[]>();

  /** `changed` is called when an answer has arrived, because a request may now be able to start. */
  constructor(leases: HostLeases, clock: Clock, changed: () => void) {
    this.#leases = leases;
    this.#clock = clock;
    this.#changed = changed;
  }

  /** How long a request that could start now must wait; infinite while the answer is not known. */
  waitMs(host: string, limits: HostLimits): number {
    const next = this.#next.get(host);
    if (next?.kind === "granted") return 0;
    if (next?.kind === "asked") return Number.POSITIVE_INFINITY;
    const leftMs = next === undefined ? 0 : next.atMs - this.#clock.now();
    return leftMs > 0 ? leftMs : this.#ask(host, limits);
  }

  /** A request starts and uses the lease. */
  enter(host: string): void {
    const next = this.#next.get(host);
    if (next?.kind !== "granted") return;
    this.#next.delete(host);
    this.#used.set(host, [...(this.#used.get(host) ?? []), next.leave]);
  }

  /** A request has ended. */
  leave(host: string): void {
    const used = this.#used.get(host);
    // The oldest, since Redis forgets a lease that is not given back, though its request may still run.
    used?.shift()?.();
    if (used?.length === 0) this.#used.delete(host);
  }

  #ask(host: string, limits: HostLimits): number {
    const answer = this.#leases.ask(host, limits);
    if (answer === undefined) {
      this.#next.delete(host);
      return 0;
    }
    this.#next.set(host, { kind: "asked" });
    void answer.then((lease) => {
      const next: Next =
        lease?.granted === false
          ? { kind: "later", atMs: this.#clock.now() + lease.waitMs }
          : { kind: "granted", leave: lease?.leave ?? (() => undefined) };
      this.#next.delete(host);
      this.#next.set(host, next);
      this.#changed();
      // The request that needed the lease is gone.
      if (next.kind === "granted" && this.#next.get(host) === next) {
        this.#next.delete(host);
        next.leave(true);
      }
      if (this.#next.size > HOSTS_MAX) this.#forgetOne();
    });
    return Number.POSITIVE_INFINITY;
  }

  #forgetOne(): void {
    for (const [host, { kind }] of this.#next) {
      if (kind !== "later") continue;
      this.#next.delete(host);
      return;
    }
  }
}
