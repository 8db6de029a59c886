// A loaded page as clients see it.

import type { LoadedPage, LoadRequest } from "../pages/load.ts";
import type { Format, PageShape } from "./params.ts";

/** Why each part of a page was kept or left out. */
export type Explanation = Required<Pick<LoadedPage, "parts" | "removals">>;

/** `data` of a scrape, and one entry of a crawl's. */
export function pageView(page: LoadedPage, formats: readonly Format[]): Record<string, unknown> {
  const has = (format: Format) => formats.includes(format);
  return {
    ...(has("markdown") ? { markdown: page.markdown ?? "" } : {}),
    ...(has("html") ? { html: page.html ?? "" } : {}),
    ...(has("links") ? { links: page.links ?? [] } : {}),
    ...(has("screenshot") && page.screenshot !== undefined
      ? { screenshot: Buffer.from(page.screenshot).toString("base64") }
      : {}),
    ...(isUndrawn(page) ? { warning: UNDRAWN } : {}),
    ...(page.parts === undefined ? {} : { explanation: { parts: page.parts, removals: page.removals ?? [] } }),
    metadata: { ...page.metadata, sourceURL: page.url, statusCode: page.status },
  };
}

/** Less text than this beside scripts is no page yet. */
const TEXT_CHARS_MIN = 200;

/** What its reader is told. */
export const UNDRAWN = "This page draws its text by script, and what it draws could not be had without a browser.";

/** The shell of an application that no browser has filled. */
export function isUndrawn({ rendered, needsScript, markdown, html, textChars }: LoadedPage): boolean {
  return !rendered && needsScript !== undefined && ((markdown ?? html)?.length ?? textChars ?? 0) < TEXT_CHARS_MIN;
}

/** What `pages` is asked for. */
export function loadRequest(
  url: string,
  shape: PageShape,
  { timeoutMs, signal, accountId }: { timeoutMs: number; signal: AbortSignal; accountId: string },
): LoadRequest {
  const has = (format: Format) => shape.formats.includes(format);
  return {
    url,
    accountId,
    markdown: has("markdown"),
    html: has("html"),
    links: has("links"),
    screenshot: !has("screenshot") ? "none" : shape.fullPage ? "full" : "viewport",
    onlyMainContent: shape.onlyMainContent,
    documents: shape.documents,
    timeoutMs,
    signal,
  };
}

/** Credits: one per page fetched, one more when a browser showed it. */
export function creditsOf(page: LoadedPage): number {
  return page.rendered ? 2 : 1;
}
