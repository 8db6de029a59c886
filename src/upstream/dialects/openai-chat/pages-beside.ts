// Pages that stand beside the choices of an answer, whose text names them by number: `[1]`. Perplexity lists `search_results`, and
// addresses alone in `citations`, as some other servers do (docs.perplexity.ai/api-reference/chat-completions-post, 2026-11).

import { isRecord } from "../../../base/json-object.ts";

type Json = Readonly<Record<string, unknown>>;

/** A page, with what is known of it. */
interface Page {
  readonly url: string;
  readonly title: string;
  readonly content: string;
}

/** How many pages of an answer are read, and how many of its markers. */
const PAGES_MAX = 200;
const MARKERS_MAX = 1000;

/** The pages in a chunk; undefined in nearly all. */
export function pagesBeside(chunk: Json): readonly Page[] | undefined {
  const results = chunk["search_results"];
  const list = Array.isArray(results) && results.length > 0 ? results : chunk["citations"];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  // A number names a place in the list, so an entry without an address keeps its place.
  return list.slice(0, PAGES_MAX).map((entry: unknown) => {
    const { url, title, snippet } = isRecord(entry) ? entry : { url: entry };
    return { url: textOf(url), title: textOf(title), content: textOf(snippet) };
  });
}

/** The annotations of a text that cites these pages: one for each marker, or for each page if it has none or is not known. */
export function pageAnnotations(pages: readonly Page[], text: string | undefined): Json[] {
  const marked: Json[] = [];
  for (const { 0: marker, 1: number, index } of (text ?? "").matchAll(/\[(\d{1,3})\]/g)) {
    const page = pages[Number(number) - 1];
    if (page === undefined || page.url === "") continue;
    if (marked.length === MARKERS_MAX) break;
    marked.push(annotation(page, index, index + marker.length));
  }
  if (marked.length > 0) return marked;
  return pages.filter(({ url }) => url !== "").map((page) => annotation(page, 0, 0));
}

function annotation({ url, title, content }: Page, start: number, end: number): Json {
  const said = { url, title, ...(content === "" ? {} : { content }), start_index: start, end_index: end };
  return { type: "url_citation", url_citation: said };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
