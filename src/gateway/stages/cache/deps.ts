// What the cache of answers needs from the rest of the program.

import type { Config } from "../../../config/schema.ts";
import type { CachedAnswerStore } from "../../../store/work/cached-answers.ts";
import type { Sealer } from "../compaction/seal.ts";

/** What the cache of answers needs. */
export interface CacheDeps {
  readonly store: Pick<
    CachedAnswerStore,
    "findCachedAnswer" | "keepCachedAnswer" | "cachedBytes" | "deleteOldestCached"
  >;
  readonly sealer: Pick<Sealer, "sealLong" | "open">;
  readonly clock: { now(): number };
  settings(): Config["cache"];
  /** Called with each request that was looked up. `savedMicros`: what its answer would have cost, if that is known. */
  looked(model: string, result: "hit" | "miss", savedMicros: number | undefined): void;
  /** Called when an answer could not be read or kept; the request continues without. */
  failed(error: unknown): void;
}
