// What the cache of answers and the guardrails did since the program started, for pages that show it. It has names and numbers, and
// never a text.

/** What was done since the start. */
export interface PolicyReading {
  readonly cache: {
    readonly hits: number;
    readonly misses: number;
    /** Answers that could not be looked up or kept. */
    readonly failures: number;
    readonly savedMicros: number;
    /** The size of all kept answers, if it is known. */
    readonly bytes: number | undefined;
  };
  /** By guardrail, in the order of their first act. */
  readonly guardrails: readonly { readonly name: string; readonly actions: Readonly<Record<string, number>> }[];
}

/** Counts it. */
export class PolicyCounts {
  #hits = 0;
  #misses = 0;
  #failures = 0;
  #savedMicros = 0;
  #bytes: number | undefined;
  /** As many as were configured since the start. */
  readonly #guardrails = new Map<string, Map<string, number>>();

  looked(result: "hit" | "miss", savedMicros: number | undefined): void {
    if (result === "hit") this.#hits++;
    else this.#misses++;
    if (result === "hit") this.#savedMicros += savedMicros ?? 0;
  }

  failed(): void {
    this.#failures++;
  }

  sized(bytes: number): void {
    this.#bytes = bytes;
  }

  guarded(name: string, action: string, count: number): void {
    const actions = this.#guardrails.get(name) ?? new Map<string, number>();
    this.#guardrails.set(name, actions);
    actions.set(action, (actions.get(action) ?? 0) + count);
  }

  get bytes(): number | undefined {
    return this.#bytes;
  }

  reading(): PolicyReading {
    const guardrails = [...this.#guardrails].map(([name, actions]) => ({ name, actions: Object.fromEntries(actions) }));
    const cache = { hits: this.#hits, misses: this.#misses, failures: this.#failures, bytes: this.#bytes };
    return { cache: { ...cache, savedMicros: this.#savedMicros }, guardrails };
  }
}
