// Kept answers: found under their key, written once complete, and shared by the equal requests that arrive meanwhile.

import type { ChatEvent } from "../../../chat/event.ts";
import type { Source } from "../../../wire/seal-envelopes.ts";
import type { CacheDeps } from "./deps.ts";
import { CACHED_CHARS_MAX } from "./recording.ts";

/** What is kept of the answer to a chat. */
export interface CachedChat {
  readonly events: readonly ChatEvent[];
  /** Who issued the sealed values in it. */
  readonly source: Source;
}

/** An answer that was found, and when it was kept. */
export type FoundAnswer<T = CachedChat> = T & { readonly createdAtMs: number };

/** The request to which an answer belongs. */
export interface KeptFor {
  readonly key: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
}

/** A request that is asked of a provider, for which equal ones wait. */
export interface SharedWait<T = CachedChat> {
  /**
   * Gives the answer to those that wait; undefined if there is none, so that each of them continues alone. Requests join until the
   * answer is `kept`, when they find it. Later calls do nothing.
   */
  end(answer: FoundAnswer<T> | undefined, kept?: Promise<void>): void;
}

/** Beyond the limit of size, this share of it is kept. */
const KEPT_SHARE = 0.9;
/** How long a sum is added to before it is read anew: answers end, and other nodes keep and delete some. */
const COUNTED_FOR_MS = 60_000;

/** Keeps answers. */
export class AnswerCache<T extends object = CachedChat> {
  readonly #deps: Omit<CacheDeps, "looked">;
  readonly #flights = new Map<string, Promise<FoundAnswer<T> | undefined>>();
  /** The size of all kept answers, as far as it is known. */
  #bytes: number | undefined;
  #countedAtMs = 0;
  #trimming = false;

  constructor(deps: Omit<CacheDeps, "looked">) {
    this.#deps = deps;
  }

  /** The answer of an equal request under way; undefined if there is none. */
  underWay(key: string): Promise<FoundAnswer<T> | undefined> | undefined {
    return this.#flights.get(key);
  }

  /** Lets equal requests wait for this one. Call it only if none is under way. */
  begin(key: string): SharedWait<T> {
    const { promise, resolve } = Promise.withResolvers<FoundAnswer<T> | undefined>();
    this.#flights.set(key, promise);
    let isOver = false;
    return {
      end: (answer, kept) => {
        if (isOver) return;
        isOver = true;
        resolve(answer);
        const forget = () => void this.#flights.delete(key);
        if (kept === undefined) forget();
        else void kept.finally(forget);
      },
    };
  }

  /** The kept answer under this key. */
  async find({ key, accountId, keyId }: Omit<KeptFor, "model">): Promise<FoundAnswer<T> | undefined> {
    try {
      const row = await this.#deps.store.findCachedAnswer(key, keyId);
      if (row === undefined) return undefined;
      // An answer that was sealed with another secret is none.
      const text = this.#deps.sealer.open(row.content, { accountId, purpose: "answer" });
      if (text === undefined) return undefined;
      return { ...(JSON.parse(text) as T), createdAtMs: row.createdAtMs };
    } catch (error) {
      this.#deps.failed(error);
      return undefined;
    }
  }

  /** Keeps an answer, unless it is too long. */
  async keep({ key, accountId, keyId, model }: KeptFor, answer: T): Promise<void> {
    try {
      const text = JSON.stringify(answer);
      if (text.length > 2 * CACHED_CHARS_MAX) return;
      const { ttlMs, maxSizeBytes } = this.#deps.settings();
      const content = await this.#deps.sealer.sealLong(text, { accountId, purpose: "answer" });
      if (content.byteLength > maxSizeBytes) return;
      const expiresAtMs = this.#deps.clock.now() + ttlMs;
      const isKept = await this.#deps.store.keepCachedAnswer({ key, accountId, keyId, model, content, expiresAtMs });
      if (isKept) await this.#grown(content.byteLength, maxSizeBytes);
    } catch (error) {
      this.#deps.failed(error);
    }
  }

  /** Counts what was added, and makes room beyond the limit. Other nodes add too, so the sum is read before anything is deleted. */
  async #grown(bytes: number, maxBytes: number): Promise<void> {
    if (this.#bytes !== undefined) {
      this.#bytes += bytes;
      this.#deps.sized(this.#bytes);
    }
    const isCounted = this.#deps.clock.now() - this.#countedAtMs < COUNTED_FOR_MS;
    if (this.#trimming || (isCounted && (this.#bytes ?? Number.POSITIVE_INFINITY) <= maxBytes)) return;
    this.#trimming = true;
    try {
      this.#bytes = await this.#deps.store.cachedBytes();
      this.#countedAtMs = this.#deps.clock.now();
      if (this.#bytes <= maxBytes) return;
      while (this.#bytes > maxBytes * KEPT_SHARE) {
        const gone = await this.#deps.store.deleteOldestCached();
        if (gone === 0) return;
        this.#bytes -= gone;
      }
    } finally {
      if (this.#bytes !== undefined) this.#deps.sized(this.#bytes);
      this.#trimming = false;
    }
  }
}
