// A loaded page as clients see it.

import type { LoadedPage, LoadRequest } from "../pages/load.ts";
import type { Format, PageShape } from "./params.ts";

/** Why each part of a page was kept or removed. */
export type Explanation = Required<Pick<LoadedPage, "parts" | "removals">>;

/** `data` of a scrape, and one entry of a crawl. */
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

/** With less text than this beside scripts a page has not been rendered. */
const TEXT_CHARS_MIN = 200;

/** The warning for its reader. */
export const UNDRAWN = "This page draws its text by script, and what it draws could not be had without a browser.";

/** The shell of an application that was not rendered. */
export function isUndrawn({ rendered, needsScript, markdown, html, textChars }: LoadedPage): boolean {
  return !rendered && needsScript !== undefined && ((markdown ?? html)?.length ?? textChars ?? 0) < TEXT_CHARS_MIN;
}

/** The options for `pages`. */
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

/** Credits: one per page fetched, plus one if a browser rendered it. */
export function creditsOf(page: LoadedPage): number {
  return page.rendered ? 2 : 1;
}
