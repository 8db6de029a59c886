// The scope of a crawl: which addresses are on its site and wanted, and which of them are the same page.

import { pageKey, siteKey } from "../base/page-key.ts";
import type { Converter } from "../pages/convert/convert.ts";
import type { LoadedPage } from "../pages/load.ts";
import type { FrontierEntry } from "../store/work/frontier.ts";
import type { PageShape } from "./params.ts";

/** The parameters of a crawl, as stored. */
export interface CrawlInput extends PageShape {
  readonly url: string;
  readonly limit: number;
  readonly maxDepth: number | null;
  readonly includePaths: readonly string[];
  readonly excludePaths: readonly string[];
}

/** The root's other host, if it redirects to one; stored with the job. */
export interface RootRedirect {
  readonly site: string;
  readonly title: string;
}

/** Time limit for the links of one page; their cost is bounded, so this is for a busy machine. */
const PICK_TIMEOUT_MS = 20_000;

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

  /** The links of a page, including removed parts, and whether the patterns want the page itself. */
  async judge(page: LoadedPage, entry: FrontierEntry, { pickLinks, signal }: Picking): Promise<Judgement> {
    const depth = entry.depth + 1;
    const goesDeeper = depth <= (this.#input.maxDepth ?? Number.POSITIVE_INFINITY);
    const { includePaths, excludePaths, documents } = this.#input;
    const { keys, urls, isOwnWanted } = await pickLinks(
      {
        links: goesDeeper ? page.allLinks : "",
        // The root is always read for its links; a page that redirects to an unwanted one is unwanted.
        own: entry.depth === 0 ? [page.url, entry.url] : [page.url],
        sites: [...this.#sites],
        includes: includePaths,
        excludes: excludePaths,
        documents,
      },
      { timeoutMs: PICK_TIMEOUT_MS, signal, later: true },
    );
    const addresses = lines(urls);
    const links = lines(keys).map((urlKey, index) => ({ urlKey, url: addresses[index] as string, depth }));
    return { links, isWanted: isOwnWanted };
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

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function withoutHash(address: string): string {
  return address.replace(/#.*$/, "");
}
