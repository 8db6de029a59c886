// Addresses from sitemaps: XML, indexes, plain lists and feeds, gzip or not, well-formed or not. Bounded in files,
// depth, bytes and addresses.

import { decompress, type GuardedFetch } from "../net/fetch.ts";

/** What reading may cost. */
export interface SitemapOptions {
  readonly urlsMax: number;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly signal?: AbortSignal | undefined;
}

const FILES_MAX = 50;
/** An index within an index is not allowed, and met all the same. */
const DEPTH_MAX = 3;
/** The protocol's own limit. */
const BYTES_MAX = 50 * 1024 * 1024;

/** Reads sitemaps and those they name, in order, until there are enough addresses. Files that fail are passed over. */
export async function readSitemaps(
  get: GuardedFetch,
  starts: readonly string[],
  options: SitemapOptions,
): Promise<string[]> {
  const found = new Set<string>();
  const seen = new Set<string>();
  let wave = [...starts];
  const endsMs = performance.now() + options.timeoutMs;
  for (let depth = 0; depth < DEPTH_MAX && wave.length > 0; depth++) {
    const next: string[] = [];
    for (const url of wave) {
      const leftMs = endsMs - performance.now();
      if (seen.has(url) || seen.size >= FILES_MAX || found.size >= options.urlsMax || leftMs <= 0) continue;
      seen.add(url);
      const text = await readText(get, url, { ...options, timeoutMs: leftMs });
      if (text === undefined) continue;
      const { urls, sitemaps } = parseSitemap(text, url);
      for (const address of urls) if (found.size < options.urlsMax) found.add(address);
      next.push(...sitemaps);
    }
    wave = next;
  }
  return [...found];
}

async function readText(get: GuardedFetch, url: string, options: SitemapOptions): Promise<string | undefined> {
  try {
    const { status, body } = await get(url, {
      bytesMax: BYTES_MAX,
      timeoutMs: options.timeoutMs,
      headers: { "user-agent": options.userAgent },
      signal: options.signal,
    });
    if (status !== 200) return undefined;
    const isGzip = body[0] === 0x1f && body[1] === 0x8b;
    return new TextDecoder().decode(isGzip ? await decompress("gzip", body, BYTES_MAX) : body);
  } catch {
    options.signal?.throwIfAborted();
    // A missing or broken sitemap says nothing about the site.
    return undefined;
  }
}

/** Reads one file by pattern: much of what is out there is not well-formed. */
export function parseSitemap(text: string, url: string): { urls: string[]; sitemaps: string[] } {
  if (/<!doctype html|<html\b/i.test(text.slice(0, 2000))) return { urls: [], sitemaps: [] };
  if (!/<\w/.test(text.slice(0, 2000)))
    return {
      urls: addresses(
        text.split(/\r?\n/).filter((line) => /^\s*https?:\/\//i.test(line)),
        url,
      ),
      sitemaps: [],
    };
  const sitemaps = addresses(
    contents(text, /<(?:\w+:)?sitemap\b[^>]*>[\s\S]*?<(?:\w+:)?loc\b[^>]*>([\s\S]*?)<\/(?:\w+:)?loc/gi),
    url,
  );
  const known = new Set(sitemaps);
  // <image:loc> and <video:…loc> are no pages.
  const locs = contents(text, /<(?:(?!image|video)\w+:)?loc\b[^>]*>([\s\S]*?)(?:<\/(?:\w+:)?loc|<(?:url|loc)\b|$)/gi);
  const feed = /<(?:rss|feed|rdf:RDF)\b/i.test(text.slice(0, 2000))
    ? [
        ...contents(text, /<link\b[^>]*>([^<]+)<\/link/gi),
        ...contents(text, /<link\b(?![^>]*rel=["'](?:self|hub|edit))[^>]*href=["']([^"']+)["']/gi),
      ]
    : [];
  return { urls: addresses([...locs, ...feed], url).filter((address) => !known.has(address)), sitemaps };
}

function contents(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "");
}

function addresses(texts: readonly string[], base: string): string[] {
  const found: string[] = [];
  for (const text of texts) {
    const plain = text
      .replace(/<!\[CDATA\[|\]\]>/g, "")
      .trim()
      .replace(/&amp;/g, "&")
      .replace(/&#0*38;/g, "&")
      .replace(/&apos;/g, "'")
      .replace(/&quot;/g, '"');
    if (plain === "" || !URL.canParse(plain, base)) continue;
    const parsed = new URL(plain, base);
    if (parsed.protocol === "http:" || parsed.protocol === "https:") found.push(parsed.href);
  }
  return found;
}
