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
/** The protocol's own limit for one file. */
const ENTRIES_MAX = 50_000;

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

/** A tag; what stands in it ends at the next bracket, so that the work grows with the file and not with its square. */
const TAG = /<(\/?)(?:(\w{1,40}):)?(\w{1,40})\b([^<>]*)>/g;
/** Addresses that are longer are traps. */
const ADDRESS_CHARS_MAX = 4096;

/** Reads one file by its tags: much of what is out there is not well-formed. */
export function parseSitemap(text: string, url: string): { urls: string[]; sitemaps: string[] } {
  const head = text.slice(0, 2000);
  if (/<!doctype html|<html\b/i.test(head)) return { urls: [], sitemaps: [] };
  if (!/<\w/.test(head)) {
    const lines = text.split(/\r?\n/).filter((line) => /^\s{0,100}https?:\/\//i.test(line.slice(0, 200)));
    return { urls: addresses(lines.slice(0, ENTRIES_MAX), url), sitemaps: [] };
  }
  const isFeed = /<(?:rss|feed|rdf:RDF)\b/i.test(head);
  const [pages, indexed, links, hrefs]: [string[], string[], string[], string[]] = [[], [], [], []];
  let inIndex = false;
  let entries = 0;
  for (const { 1: slash, 2: prefix = "", 3: name = "", 4: attributes = "", 0: tag, index } of text.matchAll(TAG)) {
    if (slash !== "" || entries >= ENTRIES_MAX) continue;
    const kind = name.toLowerCase();
    if (kind === "sitemap") inIndex = true;
    else if (kind === "url") inIndex = false;
    // <image:loc> and <video:…loc> are no pages.
    else if (kind === "loc" && !/^(?:image|video)/i.test(prefix)) {
      (inIndex ? indexed : pages).push(contentAt(text, index + tag.length));
      inIndex = false;
      entries++;
    } else if (kind === "link" && isFeed) {
      links.push(contentAt(text, index + tag.length));
      const found = attributes.slice(0, ADDRESS_CHARS_MAX);
      const href = /href=["']([^"']+)["']/i.exec(found)?.[1];
      if (href !== undefined && !/rel=["'](?:self|hub|edit)/i.test(found)) hrefs.push(href);
      entries++;
    }
  }
  const sitemaps = addresses(indexed, url);
  const known = new Set(sitemaps);
  return { urls: addresses([...pages, ...links, ...hrefs], url).filter((address) => !known.has(address)), sitemaps };
}

/** The text from there to the next tag. */
function contentAt(text: string, from: number): string {
  const near = text.slice(from, from + ADDRESS_CHARS_MAX);
  const isMarked = /^\s{0,100}<!\[CDATA\[/.test(near);
  const end = isMarked ? near.indexOf("]]>") : near.indexOf("<");
  if (end >= 0) return near.slice(0, end);
  // A file that was cut off ends in an address; elsewhere what goes on for so long is none.
  return near.length < ADDRESS_CHARS_MAX ? near : "";
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
