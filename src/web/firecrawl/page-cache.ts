// A cache of recently read pages, separate for each account. It is in memory and limited in bytes; the operator sets how long a
// page is served from it. Errors are not cached, nor are pages that were requested with the caller's own headers or actions.

import type { Clock } from "../../base/clock.ts";
import { sha256Hex } from "../../base/ids.ts";
import type { LoadedPage } from "../../pages/load.ts";
import type { PageOptions } from "./options.ts";

/** The setting `web.cache`. */
export interface CacheSettings {
  readonly maxAgeMs: number;
  readonly sizeBytes: number;
}

/** The account, the address and the page's options. */
export interface CacheAsk {
  readonly accountId: string;
  readonly url: string;
  readonly options: PageOptions;
  readonly headers: Readonly<Record<string, string>>;
}

/** A cached page. */
export interface CachedPage {
  readonly page: LoadedPage;
  readonly keptAtMs: number;
}

/** The cache. */
export interface PageCache {
  /** Whether a request with these options can be served from the cache. */
  serves(ask: CacheAsk): boolean;
  find(ask: CacheAsk): CachedPage | undefined;
  keep(ask: CacheAsk, page: LoadedPage): void;
}

interface Entry extends CachedPage {
  readonly bytes: number;
}

/** The maximum age that is used if a request states none. */
const AGE_MS = 2 * 24 * 3_600_000;

/** Creates an empty cache. */
export function createPageCache(settings: () => CacheSettings, clock: Clock): PageCache {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const drop = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    bytes -= entry.bytes;
  };
  const serves = ({ options, headers }: CacheAsk) =>
    settings().maxAgeMs > 0 && Object.keys(headers).length === 0 && options.actions.length === 0;
  return {
    serves,
    find(ask) {
      if (!serves(ask)) return undefined;
      const key = keyOf(ask);
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const age = clock.now() - entry.keptAtMs;
      if (age > settings().maxAgeMs) drop(key);
      const most = Math.min(settings().maxAgeMs, ask.options.maxAgeMs ?? AGE_MS);
      return age >= 0 && age < most ? entry : undefined;
    },
    keep(ask, page) {
      if (!serves(ask) || !ask.options.isStored || page.status !== 200) return;
      const key = keyOf(ask);
      drop(key);
      const size = key.length + weightOf(page);
      const most = settings().sizeBytes;
      if (size > most) return;
      entries.set(key, { page, keptAtMs: clock.now(), bytes: size });
      bytes += size;
      // The oldest entries are evicted first.
      for (const old of entries.keys()) {
        if (bytes <= most) break;
        drop(old);
      }
    },
  };
}

/** The key of a page, with everything on which the page depends. */
function keyOf({ accountId, url, options }: CacheAsk): string {
  const { maxAgeMs: _, isStored: __, timeoutMs: ___, unmet: ____, ...shape } = options;
  const { json, summary, question, ...formats } = shape.formats;
  const wants = [json !== null, summary || question !== null];
  return sha256Hex(JSON.stringify([accountId, url, { ...shape, formats }, wants]));
}

/** The size of a page in characters plus bytes, which is exact enough. */
function weightOf(page: LoadedPage): number {
  const { screenshot, ...text } = page;
  return (screenshot?.byteLength ?? 0) + 2 * JSON.stringify(text).length;
}
