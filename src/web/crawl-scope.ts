// The scope of a crawl: which addresses belong to it, and which of them are the same page.

import { pageKey, siteKey } from "../base/page-key.ts";
import type { Converter } from "../pages/convert/convert.ts";
import type { LinkPick, SiteLinks } from "../pages/convert/site-links.ts";
import type { LoadedPage } from "../pages/load.ts";
import type { FrontierEntry } from "../store/work/frontier.ts";
import type { CrawlPlan } from "./firecrawl/crawl-input.ts";
import type { PageShape } from "./params.ts";

/** The parameters of a crawl as they are stored. */
export interface CrawlInput extends PageShape {
  readonly url: string;
  readonly limit: number;
  readonly maxDepth: number | null;
  readonly includePaths: readonly string[];
  readonly excludePaths: readonly string[];
  /** The additional parameters of Firecrawl's clients; absent for crawls of the gateway's own endpoint. */
  readonly firecrawl?: CrawlPlan;
}

/** The other host to which the root redirects, if there is one; stored with the job. */
export interface RootRedirect {
  readonly site: string;
  readonly title: string;
}

/** Time limit for selecting the links of one page. Their cost is bounded, so only a busy machine can exceed it. */
const PICK_TIMEOUT_MS = 20_000;
/** The same with regular expressions, whose cost is unknown. */
const EXPRESSIONS_TIMEOUT_MS = 2000;

/** What selecting links needs: a thread for the comparison, and a signal that ends it. */
interface Picking extends Pick<Converter, "pickLinks"> {
  readonly account: string;
  readonly signal: AbortSignal;
}

/** Which links of a page are in the scope, and whether the page itself is. */
export interface Judgement {
  readonly links: readonly FrontierEntry[];
  readonly isWanted: boolean;
}

/** Decides which addresses and pages belong to a crawl. */
export class CrawlScope {
  readonly #input: CrawlInput;
  readonly #sites: Set<string>;
  #home: RootRedirect | undefined;

  constructor(input: CrawlInput, home: RootRedirect | undefined) {
    this.#input = input;
    this.#sites = new Set([siteKey(input.url)]);
    if (home !== undefined) this.#settle(home);
  }

  get home(): RootRedirect | undefined {
    return this.#home;
  }

  /** Whether links are compared with expressions of the caller, which may take any time. */
  get hasExpressions(): boolean {
    const { includePaths, excludePaths, firecrawl } = this.#input;
    return firecrawl !== undefined && includePaths.length + excludePaths.length > 0;
  }

  get root(): FrontierEntry {
    return { urlKey: pageKey(this.#input.url), url: withoutHash(this.#input.url), depth: 0 };
  }

  /** Records the address to which the root redirects; its site belongs to the crawl too (example.com → www.example.org). */
  foundRoot(page: LoadedPage): void {
    this.#settle({ site: siteKey(page.url), title: page.metadata.title });
  }

  #settle(home: RootRedirect): void {
    this.#home = home;
    this.#sites.add(home.site);
  }

  isOnSite(address: string): boolean {
    return this.#sites.has(siteKey(address));
  }

  /** Whether an address to which a page redirects may be a page of the crawl. */
  mayVisit(address: string): boolean {
    const { anySite = false, subdomains = false } = this.#input.firecrawl ?? {};
    const site = siteKey(address);
    return (
      this.isOnSite(address) || anySite || (subdomains && [...this.#sites].some((own) => site.endsWith(`.${own}`)))
    );
  }

  /**
   * How the thread that converts a page selects its links, at most `most`, by the page's final address. Undefined if the caller's
   * expressions, whose cost is unknown, need a time limit of their own.
   */
  pickAt(entry: FrontierEntry, most: () => number): ((url: string) => LinkPick) | undefined {
    if (this.hasExpressions) return undefined;
    return (url) => {
      const own = this.#ownOf(entry, url);
      const found = this.#goesBelow(entry) ? most() : 0;
      // The site to which the root redirects belongs to the crawl.
      return { ...this.#ruled(entry.depth === 0 ? [siteKey(url)] : []), own, most: found };
    };
  }

  /** Selects the links of a page, including those in removed parts, and tells whether the patterns match the page itself. */
  async judge(
    page: LoadedPage,
    entry: FrontierEntry,
    most: number,
    { pickLinks, signal, account }: Picking,
  ): Promise<Judgement> {
    const depth = entry.depth + 1;
    if (page.picked !== undefined) return judgementOf(page.picked, depth);
    const own = this.#ownOf(entry, page.url);
    const links = this.#goesBelow(entry) ? page.allLinks : "";
    return this.pick(links, { own, depth, most }, { pickLinks, signal, account });
  }

  #goesBelow({ depth }: FrontierEntry): boolean {
    return depth + 1 <= (this.#input.maxDepth ?? Number.POSITIVE_INFINITY) && this.#input.firecrawl?.sitemap !== "only";
  }

  /**
   * The addresses that the patterns must match. The root is returned if its requested or its final address matches, any other
   * page only if its final address does.
   */
  #ownOf({ depth, url }: FrontierEntry, final: string): string[] {
    return depth === 0 ? [final, url] : [final];
  }

  /** Selects the matching pages among addresses, one per line. Throws `TaskTimeout` if the patterns take too long. */
  async pick(
    links: string,
    { own, depth, most }: { own: readonly string[]; depth: number; most: number },
    { pickLinks, signal, account }: Picking,
  ): Promise<Judgement> {
    const timeoutMs = this.hasExpressions ? EXPRESSIONS_TIMEOUT_MS : PICK_TIMEOUT_MS;
    const picked = await pickLinks(
      { ...this.#ruled([]), links, own, most },
      { timeoutMs, signal, account, later: true },
    );
    return judgementOf(picked, depth);
  }

  #ruled(more: readonly string[]): Omit<LinkPick, "own" | "most"> {
    const { includePaths, excludePaths, documents, firecrawl } = this.#input;
    return {
      sites: [...new Set([...this.#sites, ...more])],
      includes: includePaths,
      excludes: excludePaths,
      documents,
      ...(firecrawl === undefined ? {} : ruledBy(firecrawl)),
    };
  }

  /** All keys of a page: of its requested address, of its final address, and of its `rel=canonical` if that is on the site. */
  keysOf(entry: FrontierEntry, page: LoadedPage): string[] {
    const final = pageKey(page.url);
    return [...new Set([entry.urlKey, final, this.#canonicalKey(page) ?? final])];
  }

  #canonicalKey(page: LoadedPage): string | undefined {
    const { canonical, title } = page.metadata;
    if (canonical === undefined || !URL.canParse(canonical) || !this.isOnSite(canonical)) return undefined;
    const { pathname, search } = new URL(canonical);
    // Templates that name the root on every page are a common mistake. Without this check, the crawl would end after one page.
    const isMistaken =
      pathname === "/" && search === "" && new URL(page.url).pathname !== "/" && title !== this.#home?.title;
    return isMistaken ? undefined : pageKey(canonical);
  }
}

function judgementOf({ keys, urls, isOwnWanted }: SiteLinks, depth: number): Judgement {
  const addresses = lines(urls);
  const links = lines(keys).map((urlKey, index) => ({ urlKey, url: addresses[index] as string, depth }));
  return { links, isWanted: isOwnWanted };
}

function ruledBy({ patterns, below, anySite, subdomains, ignoresQuery }: CrawlPlan) {
  return { patterns, below, anySite, subdomains, ignoresQuery };
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function withoutHash(address: string): string {
  return address.replace(/#.*$/, "");
}
