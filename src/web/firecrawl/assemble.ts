// Creates the Firecrawl endpoints and jobs of a running gateway.

import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/schema.ts";
import type { FindWebModel } from "../../gateway/inner/web-model.ts";
import type { JobKind } from "../../jobs/kind.ts";
import type { SitemapOptions } from "../../pages/sitemap.ts";
import type { CrawlDeps, FirecrawlCrawling } from "../crawl.ts";
import type { ExtractWork } from "../extract/threads.ts";
import type { SinglePageDeps } from "../single-page.ts";
import { batchKind } from "./batch.ts";
import { createJobNotices } from "./job-notices.ts";
import { createJobHeaders, createJobPages, type JobHeaders } from "./job-pages.ts";
import { createPageCache } from "./page-cache.ts";
import type { FirecrawlPageDeps } from "./scrape.ts";
import { createWatchers, type Watchers } from "./watcher.ts";
import { createWebhooks } from "./webhooks.ts";

/** What the endpoints and jobs are built from. */
export interface FirecrawlDeps {
  config(): Config;
  readonly clock: Clock;
  readonly findModel: FindWebModel;
  readonly threads: ExtractWork;
  readonly tools: SinglePageDeps & {
    readSitemaps(starts: readonly string[], options: SitemapOptions): Promise<string[]>;
  };
  readonly work: Omit<CrawlDeps, "firecrawl">;
  /** The secret that signs an account's webhooks. */
  webhookSecret(accountId: string): Promise<string>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The created endpoints and jobs. */
export interface FirecrawlService {
  readonly pages: FirecrawlPageDeps;
  readonly crawling: FirecrawlCrawling;
  readonly batch: JobKind;
  readonly headers: JobHeaders;
  readonly watchers: Watchers;
  stop(): void;
}

/** Time limit for reading a site's own lists of addresses before a crawl begins. */
const SITEMAP_TIMEOUT_MS = 20_000;
const SITEMAP_URLS_MAX = 10_000;

/** Creates the endpoints and jobs. */
export function createFirecrawl(deps: FirecrawlDeps): FirecrawlService {
  const { config, clock, tools, work } = deps;
  const rules = () => ({ allowsScript: config().web.actionsScript });
  const headers = createJobHeaders();
  const webhooks = createWebhooks({ fetch: tools.fetch, secretOf: deps.webhookSecret, warn: deps.warn });
  const notices = createJobNotices(webhooks, headers);
  const pagesOf = (endpoint: string) => createJobPages({ ...deps, headers, endpoint });
  const { fetch, scheduler, claimOf, problem } = work;
  const sitemapOf: FirecrawlCrawling["sitemapOf"] = async (url, { account, signal }) => {
    const listed = await work.robots.rulesFor(url, signal, account);
    const starts = [...new Set([...listed.sitemaps, new URL("/sitemap.xml", url).href])];
    const options = {
      urlsMax: SITEMAP_URLS_MAX,
      timeoutMs: SITEMAP_TIMEOUT_MS,
      userAgent: config().web.userAgent,
      home: url,
      account,
      signal,
    };
    return (await tools.readSitemaps(starts, options)).join("\n");
  };
  return {
    headers,
    watchers: createWatchers(),
    pages: {
      pages: tools,
      cache: createPageCache(() => config().web.cache, clock),
      reading: deps,
      rules,
      fileBytesMax: () => config().web.maxPageBytes,
    },
    crawling: { pages: pagesOf("/v2/crawl"), notices, sitemapOf },
    batch: batchKind({
      ...work,
      pages: pagesOf("/v2/batch/scrape"),
      notices,
      visits: { fetch, scheduler, claimOf, problem },
    }),
    stop: () => webhooks.close(),
  };
}
