// Collects addresses from sitemaps and from the sitemaps that they list. The number of files, their depth, bytes and addresses
// are limited; large files are read in a thread.

import { createPause } from "../base/time-slices.ts";
import { decompress, type GuardedFetch, isGzip } from "../net/fetch.ts";
import { TaskFailed, TaskTimeout } from "../workers/pool.ts";
import type { Converter } from "./convert/convert.ts";
import { parseSitemap, type SitemapLinks } from "./convert/sitemap-text.ts";

/** What reading needs. */
export interface SitemapDeps {
  readonly fetch: GuardedFetch;
  readonly converter: Pick<Converter, "readSitemap">;
  /** Throws if the address may not be requested. */
  obey(url: string, from: { readonly home: string; readonly signal: AbortSignal }): Promise<void>;
}

/** Limits of reading. */
export interface SitemapOptions {
  readonly urlsMax: number;
  readonly timeoutMs: number;
  /** The time limit for one file; ten seconds by default. */
  readonly fileTimeoutMs?: number;
  readonly userAgent: string;
  /** The account for which they are read. */
  readonly account: string;
  /** A page of the site. Addresses from robots.txt or an index are fetched as addresses of this site, not as the caller's. */
  readonly home: string;
  readonly signal?: AbortSignal | undefined;
  /** Called for each page for which a sitemap states a priority, from 0 to 1. */
  readonly onPriority?: (url: string, priority: number) => void;
}

const FILES_MAX = 50;
/** Maximum depth of indexes. The protocol does not allow an index within an index, but they occur. */
const DEPTH_MAX = 3;
/** The protocol's own limit of bytes in one file. */
const BYTES_MAX = 50 * 1024 * 1024;
/** The limit of bytes in all files of one call. */
const BYTES_TOTAL_MAX = 4 * BYTES_MAX;
/** Files up to this size are read immediately, as sending them to a thread would take longer. */
const BYTES_HERE_MAX = 64 * 1024;
/** The time limit for one file. Otherwise, a site that hangs would delay the answer until its deadline. */
const FILE_TIMEOUT_MS = 10_000;
/** After this many timeouts, no more files are fetched. */
const HANGS_MAX = 2;
const PARSE_TIMEOUT_MS = 20_000;

/** Reads sitemaps and those that they list, in order, until there are enough addresses. Files that cannot be read are skipped. */
export async function readSitemaps(
  deps: SitemapDeps,
  starts: readonly string[],
  options: SitemapOptions,
): Promise<string[]> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const pause = createPause();
  let bytesLeft = BYTES_TOTAL_MAX;
  let hangs = 0;
  let wave = [...starts];
  const endsMs = performance.now() + options.timeoutMs;
  for (let depth = 0; depth < DEPTH_MAX && wave.length > 0; depth++) {
    const next: string[] = [];
    for (const url of wave) {
      const leftMs = endsMs - performance.now();
      if (seen.has(url) || seen.size >= FILES_MAX || found.size >= options.urlsMax) continue;
      if (leftMs <= 0 || bytesLeft <= 0) break;
      seen.add(url);
      if (hangs >= HANGS_MAX) break;
      const timeoutMs = Math.min(leftMs, options.fileTimeoutMs ?? FILE_TIMEOUT_MS);
      const bytes = await readBytes(deps, url, { ...options, timeoutMs });
      if (bytes === "hung") hangs++;
      if (bytes === undefined || bytes === "hung") continue;
      bytesLeft -= bytes.byteLength;
      const { urls, sitemaps, priorities } = await readLinks(
        deps,
        { bytes, url, leftMs: endsMs - performance.now() },
        options,
      );
      for (const address of urls) {
        await pause();
        if (found.size < options.urlsMax) found.add(address);
      }
      if (options.onPriority !== undefined && priorities !== undefined)
        for (const [address, priority] of priorities) {
          await pause();
          if (found.has(address)) options.onPriority(address, priority);
        }
      next.push(...sitemaps.slice(0, FILES_MAX));
    }
    wave = next;
  }
  return [...found];
}

async function readBytes(
  deps: SitemapDeps,
  url: string,
  options: SitemapOptions,
): Promise<Uint8Array | "hung" | undefined> {
  const { home, timeoutMs, userAgent } = options;
  const timer = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? timer : AbortSignal.any([options.signal, timer]);
  try {
    await deps.obey(url, { home, signal });
    const { status, body } = await deps.fetch(url, {
      bytesMax: BYTES_MAX,
      timeoutMs,
      headers: { "user-agent": userAgent },
      signal,
      home,
      onRedirect: (next, both) => deps.obey(next, { home, signal: both }),
    });
    if (status !== 200) return undefined;
    return isGzip(body) ? await decompress("gzip", body, BYTES_MAX) : body;
  } catch {
    options.signal?.throwIfAborted();
    // A missing, broken or forbidden sitemap does not prevent others from being read.
    return timer.aborted ? "hung" : undefined;
  }
}

async function readLinks(
  { converter }: SitemapDeps,
  { bytes, url, leftMs }: { bytes: Uint8Array; url: string; leftMs: number },
  { signal, account }: SitemapOptions,
): Promise<SitemapLinks> {
  if (bytes.byteLength <= BYTES_HERE_MAX) return parseSitemap(new TextDecoder().decode(bytes), url);
  try {
    const timeoutMs = Math.max(1, Math.min(PARSE_TIMEOUT_MS, leftMs));
    return await converter.readSitemap({ bytes, url }, { timeoutMs, signal, account });
  } catch (error) {
    signal?.throwIfAborted();
    // A file that takes too long to read, or crashes its thread, counts as missing.
    if (error instanceof TaskTimeout || error instanceof TaskFailed) return { urls: [], sitemaps: [] };
    throw error;
  }
}
