// What belongs to a crawl: which addresses are on its site and wanted, and which of them are one page.

import { createTurns } from "../base/turns.ts";
import { isTrap, mayBePage, pageKey, siteKey } from "../pages/addresses.ts";
import { compileGlob } from "../pages/globs.ts";
import type { LoadedPage } from "../pages/load.ts";
import type { PageShape } from "./params.ts";

/** What a crawl was asked for, as stored. */
export interface CrawlInput extends PageShape {
  readonly url: string;
  readonly limit: number;
  readonly maxDepth: number | null;
  readonly includePaths: readonly string[];
  readonly excludePaths: readonly string[];
}

/** A page still to visit. */
export interface FrontierEntry {
  readonly urlKey: string;
  readonly url: string;
  readonly depth: number;
}

/** The root's other home, when it redirects to one; kept with the job. */
export interface Home {
  readonly site: string;
  readonly title: string;
}

/** Judges addresses and pages. */
export class CrawlScope {
  readonly #input: CrawlInput;
  readonly #sites: Set<string>;
  readonly #includes: readonly ((address: string) => boolean)[];
  readonly #excludes: readonly ((address: string) => boolean)[];
  #home: Home | undefined;

  constructor(input: CrawlInput, home: Home | undefined) {
    this.#input = input;
    this.#sites = new Set([siteKey(input.url)]);
    this.#includes = input.includePaths.flatMap((pattern) => compileGlob(pattern) ?? []);
    this.#excludes = input.excludePaths.flatMap((pattern) => compileGlob(pattern) ?? []);
    if (home !== undefined) this.#settle(home);
  }

  get home(): Home | undefined {
    return this.#home;
  }

  get root(): FrontierEntry {
    return { urlKey: pageKey(this.#input.url), url: withoutHash(this.#input.url), depth: 0 };
  }

  /** Takes the root as it was found: where it redirects to is its site too (example.com → www.example.org). */
  foundRoot(page: LoadedPage): void {
    this.#settle({ site: siteKey(page.url), title: page.metadata.title });
  }

  #settle(home: Home): void {
    this.#home = home;
    this.#sites.add(home.site);
  }

  isOnSite(address: string): boolean {
    return this.#sites.has(siteKey(address));
  }

  /** Whether the patterns want it. */
  wants(address: string): boolean {
    if (this.#excludes.some((inside) => inside(address))) return false;
    return this.#includes.length === 0 || this.#includes.some((inside) => inside(address));
  }

  /** The pages a page leads to, each once, stripped parts included. Lets others work meanwhile: pages may have thousands. */
  async links(page: LoadedPage, depth: number): Promise<FrontierEntry[]> {
    if (depth > (this.#input.maxDepth ?? Number.POSITIVE_INFINITY)) return [];
    const found = new Map<string, FrontierEntry>();
    const turn = createTurns();
    for (const address of page.allLinks) {
      await turn();
      if (!this.isOnSite(address) || isTrap(address) || !mayBePage(address, this.#input)) continue;
      const urlKey = pageKey(address);
      if (!found.has(urlKey) && this.wants(address)) found.set(urlKey, { urlKey, url: withoutHash(address), depth });
    }
    return [...found.values()];
  }

  /** Every key that this page goes by: as asked for, after redirects, and by its own `rel=canonical` on the site. */
  keysOf(entry: FrontierEntry, page: LoadedPage): string[] {
    const final = pageKey(page.url);
    return [...new Set([entry.urlKey, final, this.#canonicalKey(page) ?? final])];
  }

  #canonicalKey(page: LoadedPage): string | undefined {
    const { canonical, title } = page.metadata;
    if (canonical === undefined || !URL.canParse(canonical) || !this.isOnSite(canonical)) return undefined;
    const { pathname, search } = new URL(canonical);
    // Templates that name the root on every page are a common mistake: the crawl would end after one.
    const isMistaken =
      pathname === "/" && search === "" && new URL(page.url).pathname !== "/" && title !== this.#home?.title;
    return isMistaken ? undefined : pageKey(canonical);
  }
}

function withoutHash(address: string): string {
  return address.replace(/#.*$/, "");
}
