// Which links of a page a crawl follows. Untrusted parties choose what is compared and with how many patterns: it runs
// in a thread, and the cost of one page is bounded.

import { pageKey, siteKey } from "../../base/page-key.ts";
import { ADDRESS_CHARS_MAX, isTrap, mayBePage } from "../addresses.ts";
import { compileGlob, type Glob, globCost, pathsOf } from "../globs.ts";

/** What is held against what. */
export interface SiteLinksTask {
  /** Addresses that the page leads to, line by line. */
  readonly links: string;
  /** The page's own addresses; whether the patterns want one of them is asked too. */
  readonly own: readonly string[];
  readonly sites: readonly string[];
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
  readonly documents: boolean;
}

/** What came of it: `keys` and `urls` are lines that belong together, each page once. */
export interface SiteLinks {
  readonly keys: string;
  readonly urls: string;
  readonly isOwnWanted: boolean;
}

/**
 * Letters of addresses times patterns, for one page; links behind it are skipped. A thread takes a second or two for
 * it.
 */
const COMPARED_LETTERS_MAX = 100_000_000;

/** Picks the links that are on the sites, may be pages, and are wanted. */
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
