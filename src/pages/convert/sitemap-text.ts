// Reads one sitemap: XML, an index, a plain list or a feed, whether or not it is well-formed. Takes linear time. Files may have
// tens of megabytes, so large ones are read in a thread.

/** Matches a tag. It must not contain another bracket, so that the work is linear in the size of the file. */
const TAG = /<(\/?)(?:(\w{1,40}):)?(\w{1,40})\b([^<>]*)>/g;
/** The protocol's own limit of entries in one file. */
const ENTRIES_MAX = 50_000;
/** Longer addresses are skipped as crawler traps. */
const ADDRESS_CHARS_MAX = 4096;

/** What a sitemap lists. */
export interface SitemapLinks {
  /** Pages. */
  readonly urls: string[];
  /** Further sitemaps. */
  readonly sitemaps: string[];
  /** The priorities from 0 to 1 that the file gives to pages; absent if it gives none. */
  readonly priorities?: ReadonlyMap<string, number>;
}

/** Reads one file tag by tag: many files on the web are not well-formed. */
export function parseSitemap(xml: string, url: string): SitemapLinks {
  const text = withoutComments(xml);
  const head = text.slice(0, 2000);
  if (/<!doctype html|<html\b/i.test(head)) return { urls: [], sitemaps: [] };
  if (!/<\w/.test(head)) {
    const lines = text.split(/[\r\n]/).filter((line) => /^\s{0,100}https?:\/\//i.test(line.slice(0, 200)));
    return { urls: addresses(lines.slice(0, ENTRIES_MAX), url), sitemaps: [] };
  }
  const isFeed = /<(?:rss|feed|rdf:RDF)\b/i.test(head);
  const [pages, indexed, links, hrefs]: [string[], string[], string[], string[]] = [[], [], [], []];
  const stated: [index: number, priority: number][] = [];
  let inIndex = false;
  let entries = 0;
  for (const { 1: slash, 2: prefix = "", 3: name = "", 4: attributes = "", 0: tag, index } of text.matchAll(TAG)) {
    if (slash !== "" || entries >= ENTRIES_MAX) continue;
    const kind = name.toLowerCase();
    if (kind === "sitemap") inIndex = true;
    else if (kind === "url") inIndex = false;
    // <image:loc> and <video:…loc> are not addresses of pages.
    else if (kind === "loc" && !/^(?:image|video)/i.test(prefix)) {
      (inIndex ? indexed : pages).push(contentAt(text, index + tag.length));
      inIndex = false;
      entries++;
    } else if (kind === "priority" && pages.length > 0) {
      const priority = Number.parseFloat(contentAt(text, index + tag.length));
      if (priority >= 0 && priority <= 1) stated.push([pages.length - 1, priority]);
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
  const urls = addresses([...pages, ...links, ...hrefs], url).filter((address) => !known.has(address));
  if (stated.length === 0) return { urls, sitemaps };
  const priorities = stated.flatMap(([at, priority]) =>
    addresses([pages[at] as string], url).map((address): [string, number] => [address, priority]),
  );
  return { urls, sitemaps, priorities: new Map(priorities) };
}

/** Removes comments. An unterminated comment extends to the end of the file. */
function withoutComments(xml: string): string {
  let out = "";
  let at = 0;
  for (let start = xml.indexOf("<!--"); start >= 0; start = xml.indexOf("<!--", at)) {
    out += xml.slice(at, start);
    const end = xml.indexOf("-->", start + 4);
    if (end < 0) return out;
    at = end + 3;
  }
  return at === 0 ? xml : out + xml.slice(at);
}

/** The text up to the next tag. */
function contentAt(text: string, from: number): string {
  const near = text.slice(from, from + ADDRESS_CHARS_MAX);
  const isMarked = /^\s{0,100}<!\[CDATA\[/.test(near);
  const end = isMarked ? near.indexOf("]]>") : near.indexOf("<");
  if (end >= 0) return near.slice(0, end);
  // In a truncated file, the last text may be an address. A longer text without an end is not one.
  return near.length < ADDRESS_CHARS_MAX ? near : "";
}

function addresses(texts: readonly string[], base: string): string[] {
  const found: string[] = [];
  for (const text of texts) {
    const plain = text
      .replace(/<!\[CDATA\[|\]\]>/g, "")
      .trim()
      .replace(/&amp;/g, "&")
      .replace(/&#(?:0*38|x0*26);/gi, "&")
      .replace(/&apos;/g, "'")
      .replace(/&quot;/g, '"');
    if (plain === "" || !URL.canParse(plain, base)) continue;
    const parsed = new URL(plain, base);
    if (parsed.protocol === "http:" || parsed.protocol === "https:") found.push(parsed.href);
  }
  return found;
}
