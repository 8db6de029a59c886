// The scope of a crawl: which addresses are on its site and wanted, and which of them are the same page.

import { pageKey, siteKey } from "../base/page-key.ts";
import type { Converter } from "../pages/convert/convert.ts";
import type { LoadedPage } from "../pages/load.ts";
import type { FrontierEntry } from "../store/work/frontier.ts";
import type { CrawlPlan } from "./firecrawl/crawl-input.ts";
import type { PageShape } from "./params.ts";

/** The parameters of a crawl, as stored. */
export interface CrawlInput extends PageShape {
  readonly url: string;
  readonly limit: number;
  readonly maxDepth: number | null;
  readonly includePaths: readonly string[];
  readonly excludePaths: readonly string[];
  /** As Firecrawl's clients have it; absent: a crawl by our own parameters. */
  readonly firecrawl?: CrawlPlan;
}

/** The root's other host, if it redirects to one; stored with the job. */
export interface RootRedirect {
  readonly site: string;
  readonly title: string;
}

/** Time limit for the links of one page; their cost is bounded, so this is for a busy machine. */
const PICK_TIMEOUT_MS = 20_000;
/** With regular expressions, which may take as long as they like. */
const EXPRESSIONS_TIMEOUT_MS = 2000;

/** What judging needs: a thread to compare in, and the signal that ends it. */
interface Picking extends Pick<Converter, "pickLinks"> {
  readonly signal: AbortSignal;
}

/** A page's place in the scope. */
export interface Judgement {
  readonly links: readonly FrontierEntry[];
  readonly isWanted: boolean;
}

/** Judges addresses and pages. */
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

  get root(): FrontierEntry {
    return { urlKey: pageKey(this.#input.url), url: withoutHash(this.#input.url), depth: 0 };
  }

  /** Records where the root redirects to: that is its site too (example.com → www.example.org). */
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

  /** Whether what a page redirects to may be a page of the crawl. */
  mayVisit(address: string): boolean {
    const { anySite = false, subdomains = false } = this.#input.firecrawl ?? {};
    const site = siteKey(address);
    return (
      this.isOnSite(address) || anySite || (subdomains && [...this.#sites].some((own) => site.endsWith(`.${own}`)))
    );
  }

  /** The links of a page, including removed parts, and whether the patterns want the page itself. */
  async judge(page: LoadedPage, entry: FrontierEntry, { pickLinks, signal }: Picking): Promise<Judgement> {
    const depth = entry.depth + 1;
    const goesDeeper =
      depth <= (this.#input.maxDepth ?? Number.POSITIVE_INFINITY) && this.#input.firecrawl?.sitemap !== "only";
    // The root is always read for its links; a page that redirects to an unwanted one is unwanted.
    const own = entry.depth === 0 ? [page.url, entry.url] : [page.url];
    return this.pick(goesDeeper ? page.allLinks : "", { own, depth }, { pickLinks, signal });
  }

  /** The wanted pages among addresses, line by line. Throws `TaskTimeout`, with patterns that take too long. */
  async pick(
    links: string,
    { own, depth }: { own: readonly string[]; depth: number },
    { pickLinks, signal }: Picking,
  ): Promise<Judgement> {
    const { includePaths, excludePaths, documents, firecrawl } = this.#input;
    const { keys, urls, isOwnWanted } = await pickLinks(
      {
        links,
        own,
        sites: [...this.#sites],
        includes: includePaths,
        excludes: excludePaths,
        documents,
        ...(firecrawl === undefined ? {} : ruledBy(firecrawl)),
      },
      { timeoutMs: firecrawl === undefined ? PICK_TIMEOUT_MS : EXPRESSIONS_TIMEOUT_MS, signal, later: true },
    );
    const addresses = lines(urls);
    const found = lines(keys).map((urlKey, index) => ({ urlKey, url: addresses[index] as string, depth }));
    return { links: found, isWanted: isOwnWanted };
  }

  /** Every key of this page: as requested, after redirects, and by its own `rel=canonical` on the site. */
  keysOf(entry: FrontierEntry, page: LoadedPage): string[] {
    const final = pageKey(page.url);
    return [...new Set([entry.urlKey, final, this.#canonicalKey(page) ?? final])];
  }

  #canonicalKey(page: LoadedPage): string | undefined {
    const { canonical, title } = page.metadata;
    if (canonical === undefined || !URL.canParse(canonical) || !this.isOnSite(canonical)) return undefined;
    const { pathname, search } = new URL(canonical);
    // Templates that name the root on every page are a common mistake: the crawl would end after one page.
    const isMistaken =
      pathname === "/" && search === "" && new URL(page.url).pathname !== "/" && title !== this.#home?.title;
    return isMistaken ? undefined : pageKey(canonical);
  }
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
