// A loaded page as clients get it.

import type { LoadedPage, LoadRequest } from "../pages/load.ts";
import type { Format, PageShape } from "./params.ts";

/** Why each part of a page was kept or removed. */
export type Explanation = Required<Pick<LoadedPage, "parts" | "removals">>;

/** The page as `data` of a scrape and as an entry of a crawl. */
export function pageView(page: LoadedPage, formats: readonly Format[]): Record<string, unknown> {
  const has = (format: Format) => formats.includes(format);
  const warnings = pageWarnings(page);
  return {
    ...(has("markdown") ? { markdown: page.markdown ?? "" } : {}),
    ...(has("html") ? { html: page.html ?? "" } : {}),
    ...(has("links") ? { links: page.links ?? [] } : {}),
    ...(has("screenshot") && page.screenshot !== undefined
      ? { screenshot: Buffer.from(page.screenshot).toString("base64") }
      : {}),
    ...(warnings.length === 0 ? {} : { warning: warnings.join(" ") }),
    ...(page.parts === undefined ? {} : { explanation: { parts: page.parts, removals: page.removals ?? [] } }),
    metadata: {
      ...page.metadata,
      ...findings(page),
      sourceURL: page.url,
      statusCode: page.status,
    },
  };
}

/** What the conversion says of its own result, as members of the metadata. */
export function findings({ quality, isLabelled, omissions }: LoadedPage) {
  return {
    ...(isLabelled === true ? { extractor: "model" } : {}),
    ...(quality === undefined ? {} : { extraction_quality: Number(quality.toFixed(2)) }),
    ...(omissions === undefined ? {} : { omissions }),
  };
}

/** A page with scripts and less text than this has not been rendered. */
const TEXT_CHARS_MIN = 200;

/** What a client should know of a page that is not whole. */
export function pageWarnings(page: LoadedPage): readonly string[] {
  return [...(isUndrawn(page) ? [UNDRAWN] : []), ...(page.omissions ?? [])];
}

/** The warning about a page that was not rendered. */
const UNDRAWN = "This page creates its text by script, and it was read without a browser: text may be missing.";

/** Whether a page is the shell of an application that was not rendered. */
function isUndrawn({ rendered, needsScript, markdown, html, textChars }: LoadedPage): boolean {
  return !rendered && needsScript !== undefined && ((markdown ?? html)?.length ?? textChars ?? 0) < TEXT_CHARS_MIN;
}

/** The options with which `pages` loads a page. */
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

/** The credits for a page: one if it was fetched, and one more if a browser rendered it. */
export function creditsOf(page: LoadedPage): number {
  return page.rendered ? 2 : 1;
}
