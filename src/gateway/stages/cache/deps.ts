// What the cache of answers needs from the rest of the program.

import type { Config } from "../../../config/schema.ts";
import type { CachedAnswerStore } from "../../../store/work/cached-answers.ts";
import type { Sealer } from "../compaction/seal.ts";

/** Where answers are kept: in the database, or for all nodes in Redis. */
export interface KeptAnswers
  extends Pick<CachedAnswerStore, "keepCachedAnswer" | "cachedBytes" | "deleteOldestCached"> {
  /** The answer under a key, unless the API key for which it was kept is no longer valid. `keyId`: the API key that asks. */
  findCachedAnswer(key: string, keyId: string): ReturnType<CachedAnswerStore["findCachedAnswer"]>;
}

/** What the cache of answers needs. */
export interface CacheDeps {
  readonly store: KeptAnswers;
  readonly sealer: Pick<Sealer, "sealLong" | "open">;
  readonly clock: { now(): number };
  settings(): Config["cache"];
  /** Called with each request that was looked up. `savedMicros`: what its answer would have cost, if that is known. */
  looked(model: string, result: "hit" | "miss", savedMicros: number | undefined): void;
  /** Called with the size of all kept answers, as it becomes known. */
  sized(bytes: number): void;
  /** Called when an answer could not be read or kept; the request continues without. */
  failed(error: unknown): void;
}

/** A request to an endpoint whose answer is one text. */
export interface LookedUpRequest {
  readonly request: Request;
  readonly caller: { readonly accountId: string; readonly keyId: string; readonly noStore: boolean };
  /** The resolved model. */
  readonly model: string;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What became of it. Neither: it is not to be looked up. */
export interface LookedUp {
  /** The kept answer. */
  readonly hit?: Response;
  /** Keeps the answer of a provider, and returns the one to send. */
  keep?(response: Response): Promise<Response>;
}

/** Looks a request up; undefined while nothing is kept. */
export type TextCache = (asked: LookedUpRequest) => Promise<LookedUp> | undefined;
