// Reads one page and returns it in Firecrawl's format.

import { uuid } from "../../base/ids.ts";
import type { LoadedPage } from "../../pages/load.ts";
import type { JobCaller } from "../caller.ts";
import { type Body, readUrl } from "../params.ts";
import { loadSingle, type SinglePageDeps } from "../single-page.ts";
import type { ActionRules } from "./actions.ts";
import { documentOf, type FirecrawlDocument, loadingOf } from "./document.ts";
import { readOptions, type ScrapeWish } from "./options.ts";
import type { CacheAsk, PageCache } from "./page-cache.ts";
import { needsReading, type ReadingDeps, readPage } from "./reading.ts";

/** What reading a page needs. */
export interface FirecrawlPageDeps {
  readonly pages: SinglePageDeps;
  readonly cache: PageCache;
  readonly reading: ReadingDeps;
  rules(): ActionRules;
  /** The size limits of pages and of files. */
  readonly fileBytesMax: () => number;
}

const ENDPOINT = "/v2/scrape";

/** Answers `POST /v2/scrape`. Throws `ApiError`, and the errors of loading a page. */
export async function scrapeForFirecrawl(
  body: Body,
  deps: FirecrawlPageDeps,
  from: JobCaller,
): Promise<Record<string, unknown>> {
  const url = readUrl(body);
  return { success: true, data: await documentFor(url, readOptions(body, deps.rules()), deps, from) };
}

/** The document of one page, which is loaded or taken from the cache. */
export async function documentFor(
  url: string,
  read: ScrapeWish,
  deps: FirecrawlPageDeps,
  from: JobCaller,
): Promise<FirecrawlDocument> {
  const { accountId, signal, keyId, requestId } = from;
  const { options } = read;
  const ask: CacheAsk = { accountId, url, ...read };
  const known = deps.cache.find(ask);
  const payer = { keyId, requestId, endpoint: ENDPOINT };
  const load = (): Promise<LoadedPage> => {
    const labeller = deps.pages.labellerFor?.(payer);
    return loadSingle({ ...loadingOf(url, read, { signal, accountId }), labeller }, deps.pages);
  };
  const page = known?.page ?? (await load());
  if (known === undefined) deps.cache.keep(ask, page);
  const reading = needsReading(options.formats)
    ? await readPage(page, options.formats, { payer, accountId, signal }, deps.reading)
    : undefined;
  return documentOf(page, {
    url,
    options,
    scrapeId: uuid(),
    cachedAtMs: known?.keptAtMs,
    cacheState: deps.cache.serves(ask) ? (known === undefined ? "miss" : "hit") : undefined,
    reading,
  });
}
