// What a request says of kept answers in `Cache-Control` (RFC 9111, section 5.2.1).

/** What a client wishes. */
export interface CacheWish {
  /** Neither read nor kept. */
  readonly noStore: boolean;
  /** Kept, but not read. */
  readonly noCache: boolean;
  /** The age in milliseconds up to which it takes an answer; undefined if it does not say. */
  readonly maxAgeMs: number | undefined;
}

const NO_WISH: CacheWish = { noStore: false, noCache: false, maxAgeMs: undefined };

/** Reads the header. Directives that are unknown, or whose value cannot be read, say nothing. */
export function cacheWish(header: string | null): CacheWish {
  if (header === null) return NO_WISH;
  const wish = { noStore: false, noCache: false, maxAgeMs: undefined as number | undefined };
  for (const directive of header.slice(0, 1000).toLowerCase().split(",")) {
    const [name, value] = directive.split("=", 2).map((part) => part.trim());
    if (name === "no-store") wish.noStore = true;
    else if (name === "no-cache") wish.noCache = true;
    else if (name === "max-age") {
      const seconds = /^"?(\d{1,10})"?$/.exec(value ?? "")?.[1];
      if (seconds !== undefined) wish.maxAgeMs = Number(seconds) * 1000;
    }
  }
  return wish;
}
