// Selects the links of a page that a crawl follows. Addresses and patterns come from untrusted parties, so this runs in a thread,
// and the cost of one page is bounded.

import { pageKey, siteKey } from "../../base/page-key.ts";
import { ADDRESS_CHARS_MAX, isTrap, mayBePage } from "../addresses.ts";
import { compileGlob, type Glob, globCost, pathsOf } from "../globs.ts";

/** The links and the selection criteria. */
export interface SiteLinksTask {
  /** The addresses to which the page links, one per line. */
  readonly links: string;
  /** The page's own addresses, which the patterns are also tested against. */
  readonly own: readonly string[];
  readonly sites: readonly string[];
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
  readonly documents: boolean;
  /** The kind of the patterns: globs, or regular expressions for the path or for the whole address. */
  readonly patterns?: "glob" | "path" | "address";
  /** If present, only pages below this path are selected on the sites themselves. */
  readonly below?: string;
  /** Whether pages of any other site are included. */
  readonly anySite?: boolean;
  /** Whether pages on subdomains of the sites' hosts are included. */
  readonly subdomains?: boolean;
  /** Whether addresses that differ only in their query count as one page. */
  readonly ignoresQuery?: boolean;
  /** How many links are selected at most; the first ones on the page. */
  readonly most?: number;
}

/** The selection of a page's links in the thread that converts it, which knows them itself. */
export type LinkPick = Omit<SiteLinksTask, "links">;

/** The result. Line by line, `urls` holds the addresses and `keys` their keys; each page occurs once. */
export interface SiteLinks {
  readonly keys: string;
  readonly urls: string;
  readonly isOwnWanted: boolean;
}

/**
 * The limit for one page of address letters multiplied by patterns; links beyond it are skipped. A thread needs one or two
 * seconds for this many.
 */
const COMPARED_LETTERS_MAX = 100_000_000;

/** Selects the links that are on the sites, may be pages, and match the patterns. */
export function siteLinks(task: SiteLinksTask): SiteLinks {
  const { links, own, includes, excludes, documents, patterns = "glob", most = Number.POSITIVE_INFINITY } = task;
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
    if (found.size >= most) break;
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

/** Tells whether an address is on one of the sites, or on another site that may be visited. */
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
