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
  /** What the patterns are: globs, or regular expressions for the path or for the whole address. */
  readonly patterns?: "glob" | "path" | "address";
  /** On the sites themselves, only what lies below this path. */
  readonly below?: string;
  /** Pages of any other site, too. */
  readonly anySite?: boolean;
  /** Those of hosts below the sites' own, too. */
  readonly subdomains?: boolean;
  /** Addresses that differ in their query alone are one page. */
  readonly ignoresQuery?: boolean;
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
export function siteLinks(task: SiteLinksTask): SiteLinks {
  const { links, own, includes, excludes, documents, patterns = "glob" } = task;
  const wanted = compile(includes, patterns);
  const unwanted = compile(excludes, patterns);
  const cost = [...includes, ...excludes].reduce((sum, pattern) => sum + globCost(pattern), 0);
  const wants = (address: string) => {
    if (address.length > ADDRESS_CHARS_MAX) return false;
    const paths = pathsOf(address);
    if (unwanted.some((takes) => takes(address, paths))) return false;
    return wanted.length === 0 || wanted.some((takes) => takes(address, paths));
  };
  const belongs = belonging(task);
  const found = new Map<string, string>();
  let lettersLeft = COMPARED_LETTERS_MAX;
  for (const link of links === "" ? [] : links.split("\n")) {
    const address = task.ignoresQuery === true ? link.replace(/\?[^#]*/, "") : link;
    if (!belongs(address) || isTrap(address) || !mayBePage(address, { documents })) continue;
    const key = pageKey(address);
    if (found.has(key)) continue;
    lettersLeft -= address.length * cost;
    if (lettersLeft < 0) break;
    if (wants(address)) found.set(key, address.replace(/#.*$/, ""));
  }
  return { keys: [...found.keys()].join("\n"), urls: [...found.values()].join("\n"), isOwnWanted: own.some(wants) };
}

/** Whether an address is on one of the sites, or on another that may be visited. */
function belonging({ sites, below = "", anySite, subdomains }: SiteLinksTask): (address: string) => boolean {
  const own = new Set(sites);
  const isBelow = (address: string) => {
    if (below === "") return true;
    const { pathname } = new URL(address);
    return pathname.startsWith(below) && (pathname.length === below.length || pathname[below.length] === "/");
  };
  return (address) => {
    const site = siteKey(address);
    if (own.has(site)) return isBelow(address);
    return anySite === true || (subdomains === true && sites.some((one) => site.endsWith(`.${one}`)));
  };
}

function compile(patterns: readonly string[], kind: NonNullable<SiteLinksTask["patterns"]>): Glob[] {
  if (kind === "glob") return patterns.flatMap((pattern) => compileGlob(pattern) ?? []);
  return patterns.map((pattern) => {
    const expression = new RegExp(pattern);
    if (kind === "address") return (address) => expression.test(address);
    return (address, paths = pathsOf(address)) => paths.some((path) => expression.test(path));
  });
}
