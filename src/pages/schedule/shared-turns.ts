// The turns at hosts that this node gets from all nodes together. One turn at a time is asked for each host, when a request
// to it could start; the request that then goes first uses it.

import type { Clock } from "../../base/clock.ts";
import type { HostLimits, HostTurns } from "../../shared-state/host-turns.ts";

/** What is known of a host's next turn. */
type Next =
  | { readonly kind: "asked" }
  | { readonly kind: "granted"; readonly leave: (unused?: boolean) => void }
  | { readonly kind: "later"; readonly atMs: number };

/** Hosts that are remembered because their turn comes later. */
const HOSTS_MAX = 5000;

/** Asks for turns and keeps those in use. */
export class SharedTurns {
  readonly #turns: HostTurns;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #next = new Map<string, Next>();
  readonly #used = new Map<string, ((unused?: boolean) => void)[]>();

  /** `changed`: an answer came, so a request may be able to start. */
  constructor(turns: HostTurns, clock: Clock, changed: () => void) {
    this.#turns = turns;
    this.#clock = clock;
    this.#changed = changed;
  }

  /** How long a request that could start now has to wait; infinite while the answer is not known. */
  waitMs(host: string, limits: HostLimits): number {
    const next = this.#next.get(host);
    if (next?.kind === "granted") return 0;
    if (next?.kind === "asked") return Number.POSITIVE_INFINITY;
    const leftMs = next === undefined ? 0 : next.atMs - this.#clock.now();
    return leftMs > 0 ? leftMs : this.#ask(host, limits);
  }

  /** A request starts: it uses the turn. */
  enter(host: string): void {
    const next = this.#next.get(host);
    if (next?.kind !== "granted") return;
    this.#next.delete(host);
    this.#used.set(host, [...(this.#used.get(host) ?? []), next.leave]);
  }

  /** A request is over. */
  leave(host: string): void {
    const used = this.#used.get(host);
    used?.pop()?.();
    if (used?.length === 0) this.#used.delete(host);
  }

  #ask(host: string, limits: HostLimits): number {
    const answer = this.#turns.ask(host, limits);
    if (answer === undefined) {
      this.#next.delete(host);
      return 0;
    }
    this.#next.set(host, { kind: "asked" });
    void answer.then((turn) => {
      const next: Next =
        turn?.granted === false
          ? { kind: "later", atMs: this.#clock.now() + turn.waitMs }
          : { kind: "granted", leave: turn?.leave ?? (() => undefined) };
      this.#next.delete(host);
      this.#next.set(host, next);
      this.#changed();
      // The request for which it was asked is gone.
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
