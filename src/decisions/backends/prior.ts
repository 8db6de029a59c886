// The answer of a text model to a question without a state, which shows its bias for positions and words. Subtracting it leaves
// the effect of the state. This needs no labelled rows, but one more call for each order of a new question. The prior of a
// question is made once and stored, so that later requests, other nodes and later runs of the program use the same one.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { StoredPrior } from "../../store/decisions/decisions.ts";

/** The text in place of a state; it means that there is no information. */
export const CONTENT_FREE = "N/A";

/** Maximum number of priors in memory, of a few kilobytes each. Programs send the same questions about many states. */
const KEPT_MAX = 2000;
/** A question whose prior could not be made is answered without one for this long, so that failing calls do not recur. */
const PAUSE_MS = 60_000;
/** How much longer than for its answers a request waits for a prior. Its prompts are shorter than those with a state. */
const PATIENCE_MS = 5000;

export interface PriorsDeps {
  clock: Clock;
  /** Where priors stay. A failure is reported to `warn`, and the prior is made. Absent: in memory only. */
  store?: {
    decisionPrior(key: string): Promise<StoredPrior | undefined>;
    keepDecisionPrior(key: string, prior: StoredPrior): Promise<StoredPrior>;
  };
  /** The base URL of a provider, at which another model may be found once it changes. */
  baseUrl?(provider: string): string | undefined;
  warn?(message: string, fields: Readonly<Record<string, unknown>>): void;
  pauseMs?: number;
  patienceMs?: number;
}

/** Priors by model and question. */
export class Priors {
  readonly #deps: PriorsDeps;
  readonly #kept = new Map<string, StoredPrior>();
  readonly #making = new Map<string, Promise<StoredPrior>>();
  /** When a question's prior could not be made. */
  readonly #failedMs = new Map<string, number>();

  constructor(deps: PriorsDeps) {
    this.#deps = deps;
  }

  /** The models of these routes, as they are part of a key. */
  modelsOf(routes: readonly { provider: string; model: string; path: string }[]): unknown {
    return routes.map(({ provider, model, path }) => [provider, this.#deps.baseUrl?.(provider), model, path]);
  }

  /** How much longer than for its answers a request waits for a prior. */
  get patienceMs(): number {
    return this.#deps.patienceMs ?? PATIENCE_MS;
  }

  /**
   * The prior of a question: from memory, from the store, from a request that is making it, or by `make`; undefined if it could
   * not be made a short while ago. Throws the error of `make`.
   */
  async of(key: string, make: () => Promise<StoredPrior>): Promise<StoredPrior | undefined> {
    for (;;) {
      const known = this.#kept.get(key);
      if (known !== undefined) return this.#keep(key, known);
      if (this.#pauses(key)) return undefined;
      const making = this.#making.get(key);
      if (making === undefined) return this.#found(key, make);
      // The other request may end before its answer arrives. One of those that wait then makes the prior, and the rest wait for it.
      await making.catch(() => undefined);
    }
  }

  /** Reports that a prior could not be made although the question was answered. */
  failed(key: string, error: unknown): void {
    // A client that left says nothing about the question, and must not take the prior from other requests.
    if (error instanceof ApiError && error.apiCode === "request_timeout") return;
    this.#deps.warn?.("a decision was answered without its prior, which could not be made", { error });
    if (this.#failedMs.size >= KEPT_MAX) this.#failedMs.delete(this.#failedMs.keys().next().value!);
    this.#failedMs.set(key, this.#deps.clock.now());
  }

  #pauses(key: string): boolean {
    const failedMs = this.#failedMs.get(key);
    if (failedMs === undefined) return false;
    if (Math.abs(this.#deps.clock.now() - failedMs) < (this.#deps.pauseMs ?? PAUSE_MS)) return true;
    this.#failedMs.delete(key);
    return false;
  }

  async #found(key: string, make: () => Promise<StoredPrior>): Promise<StoredPrior> {
    const look = async () => (await this.#stored(key)) ?? this.#store(key, await make());
    const making = look();
    this.#making.set(key, making);
    try {
      return this.#keep(key, await making);
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  /** Keeps a prior in memory, in place of the one whose last use is the longest ago. */
  #keep(key: string, prior: StoredPrior): StoredPrior {
    if (!this.#kept.delete(key) && this.#kept.size >= KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(key, prior);
    return prior;
  }

  async #stored(key: string): Promise<StoredPrior | undefined> {
    try {
      return await this.#deps.store?.decisionPrior(key);
    } catch (error) {
      this.#deps.warn?.("the prior of a decision model could not be read", { error });
      return undefined;
    }
  }

  /** Stores a prior. Returns the one that is stored, which may be another node's. */
  async #store(key: string, prior: StoredPrior): Promise<StoredPrior> {
    try {
      return (await this.#deps.store?.keepDecisionPrior(key, prior)) ?? prior;
    } catch (error) {
      this.#deps.warn?.("the prior of a decision model could not be stored", { error });
      return prior;
    }
  }
}
