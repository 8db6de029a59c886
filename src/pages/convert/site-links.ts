// Selects the links of a page that a crawl follows. Addresses and patterns come from untrusted parties: it runs in a thread,
// and the cost of one page is bounded.

import { pageKey, siteKey } from "../../base/page-key.ts";
import { ADDRESS_CHARS_MAX, isTrap, mayBePage } from "../addresses.ts";
import { compileGlob, type Glob, globCost, pathsOf } from "../globs.ts";

/** What is matched. */
export interface SiteLinksTask {
  /** Addresses that the page links to, one per line. */
  readonly links: string;
  /** The page's own addresses, which the patterns are also tested against. */
  readonly own: readonly string[];
  readonly sites: readonly string[];
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
  readonly documents: boolean;
}

/** The result: `keys` and `urls` are corresponding lines, each page once. */
export interface SiteLinks {
  readonly keys: string;
  readonly urls: string;
  readonly isOwnWanted: boolean;
}

/**
 * Limit of address letters times patterns for one page; links after that are skipped. A thread takes one or two seconds for
 * it.
 */
const COMPARED_LETTERS_MAX = 100_000_000;

/** Selects links that are on the sites, may be pages, and match. */
export function siteLinks({ links, own, sites, includes, excludes, documents }: SiteLinksTask): SiteLinks {
  const wanted = compile(includes);
  const unwanted = compile(excludes);
  const cost = [...includes, ...excludes].reduce((sum, pattern) => sum + globCost(pattern), 0);
  const wants = (address: string) => {
    if (address.length > ADDRESS_CHARS_MAX) return false;
    const paths = pathsOf(address);
    if (unwanted.some((takes) => takes(address, paths))) return false;
    return wanted.length === 0 || wanted.some((takes) => takes(address, paths));
  };
  const isOnSite = new Set(sites);
  const found = new Map<string, string>();
  let lettersLeft = COMPARED_LETTERS_MAX;
  for (const address of links === "" ? [] : links.split("\n")) {
    if (!isOnSite.has(siteKey(address)) || isTrap(address) || !mayBePage(address, { documents })) continue;
    const key = pageKey(address);
    if (found.has(key)) continue;
    lettersLeft -= address.length * cost;
    if (lettersLeft < 0) break;
    if (wants(address)) found.set(key, address.replace(/#.*$/, ""));
  }
  return { keys: [...found.keys()].join("\n"), urls: [...found.values()].join("\n"), isOwnWanted: own.some(wants) };
}

function compile(patterns: readonly string[]): Glob[] {
  return patterns.flatMap((pattern) => compileGlob(pattern) ?? []);
}
