// Converts between pages and Firecrawl's request and response formats.

import { isoTime } from "../../base/iso-time.ts";
import type { Acted } from "../../pages/browser/browsing.ts";
import type { LoadedPage, LoadRequest } from "../../pages/load.ts";
import { creditsOf, findings, pageWarnings } from "../page-view.ts";
import { type PageOptions, warningOf } from "./options.ts";
import { needsReading, type Reading } from "./reading.ts";

/** A page as it is sent to Firecrawl's clients. */
export type FirecrawlDocument = Readonly<Record<string, unknown>> & { readonly metadata: Record<string, unknown> };

/** How a page must be loaded for these options. */
export function loadingOf(
  url: string,
  { options, headers }: { options: PageOptions; headers: Readonly<Record<string, string>> },
  { signal, accountId }: { signal: AbortSignal; accountId: string },
): LoadRequest {
  const { formats, actions, waitMs, isMobile, languages } = options;
  const isRead = needsReading(formats);
  return {
    url,
    accountId,
    markdown: formats.markdown || isRead,
    html: formats.html,
    links: formats.links,
    structured: formats.json !== null,
    screenshot: formats.screenshot === null ? "none" : formats.screenshot.fullPage ? "full" : "viewport",
    onlyMainContent: options.onlyMainContent,
    documents: true,
    pdf: options.readsPdf,
    headers: { ...(languages.length === 0 ? {} : { "accept-language": acceptLanguage(languages) }), ...headers },
    picks: {
      include: options.includeTags,
      exclude: options.excludeTags,
      attributes: formats.attributes,
      images: formats.images,
      rawHtml: formats.rawHtml,
      keepsDataImages: options.keepsDataImages,
    },
    browsing: {
      mustShow: actions.length > 0 || waitMs > 0,
      waitMs,
      isMobile,
      locale: languages[0],
      blocksAds: options.blocksAds,
      actions,
      picture: formats.screenshot ?? {},
      headers,
    },
    timeoutMs: options.timeoutMs,
    signal,
  };
}

/** The value of Accept-Language, with the languages in descending order of preference. */
function acceptLanguage(languages: readonly string[]): string {
  return languages
    .map((language, index) => (index === 0 ? language : `${language};q=${Math.max(0.1, 1 - index / 10).toFixed(1)}`))
    .join(",");
}

/** What is known of a page beside its content. */
export interface DocumentFacts {
  /** The requested address. */
  readonly url: string;
  readonly options: PageOptions;
  readonly scrapeId: string;
  /** The time at which the page was cached, if it is from the cache. */
  readonly cachedAtMs?: number | undefined;
  /** Whether the page is from the cache; undefined if there is no cache. */
  readonly cacheState?: "hit" | "miss" | undefined;
  readonly reading?: Reading | undefined;
}

/** Builds the document. */
export function documentOf(page: LoadedPage, facts: DocumentFacts): FirecrawlDocument {
  const { url, options, reading } = facts;
  const { formats } = options;
  const warnings = [
    ...pageWarnings(page),
    ...(reading?.warnings ?? []),
    ...[warningOf(options.unmet)].filter((text) => text !== undefined),
  ];
  return {
    ...(formats.markdown ? { markdown: page.markdown ?? "" } : {}),
    ...(formats.html ? { html: page.html ?? "" } : {}),
    ...(formats.rawHtml ? { rawHtml: page.rawHtml ?? "" } : {}),
    ...(formats.links ? { links: page.links ?? [] } : {}),
    ...(formats.images ? { images: page.images ?? [] } : {}),
    ...(formats.attributes.length > 0 ? { attributes: page.attributes ?? [] } : {}),
    ...(page.screenshot === undefined ? {} : { screenshot: pictureOf(page.screenshot) }),
    ...(reading === undefined ? {} : { ...reading, warnings: undefined }),
    ...(page.acted === undefined ? {} : { actions: actedView(page.acted) }),
    ...(warnings.length === 0 ? {} : { warning: warnings.join(" ") }),
    metadata: {
      ...page.metadata,
      ...findings(page),
      sourceURL: url,
      url: page.url,
      statusCode: page.status,
      ...(page.contentType === undefined ? {} : { contentType: page.contentType }),
      scrapeId: facts.scrapeId,
      proxyUsed: "basic",
      ...(facts.cacheState === undefined ? {} : { cacheState: facts.cacheState }),
      ...(facts.cachedAtMs === undefined ? {} : { cachedAt: isoTime(facts.cachedAtMs) }),
      creditsUsed: facts.cacheState === "hit" ? 0 : creditsOf(page),
      ...(page.status >= 400 ? { error: `The server answered ${page.status}.` } : {}),
    },
  };
}

function actedView({ screenshots, scrapes, scriptReturns, pdfs }: Acted): Record<string, unknown> {
  return {
    screenshots: screenshots.map(pictureOf),
    scrapes,
    javascriptReturns: scriptReturns,
    pdfs: pdfs.map((bytes) => Buffer.from(bytes).toString("base64")),
  };
}

/** A screenshot as a data URL, as Firecrawl's clients expect it. */
function pictureOf(bytes: Uint8Array): string {
  const type = bytes[0] === 0xff ? "image/jpeg" : "image/png";
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}
