// Checks whether quotes occur in their page. No value of a model's answer is taken without a supporting quote.

import { entryOf, isRecord } from "../../base/json-object.ts";
import { comparableRaised } from "../../base/raised-text.ts";

/** A source of a field's value: a page and a quote from it. */
export interface QuoteSource {
  readonly url: string;
  /** The quoted text. */
  readonly quote: string;
}

/** The sources of each top-level field of an answer. */
export type Sources = Readonly<Record<string, readonly QuoteSource[]>>;

/** A page as the model saw it, with its structured data. */
export interface QuotedPage {
  readonly url: string;
  readonly text: string;
}

/** The supported part of an answer. */
export interface Supported {
  readonly value: unknown;
  readonly sources: Sources;
  /** The fields that are null because no quote supports them. */
  readonly unsupported: readonly string[];
}

/**
 * Whether the page contains the quote: literally, or after both were reduced to plain text without markup and typographic
 * characters.
 */
export function quoteStands(pageText: string, quote: string): boolean {
  return quotesIn(pageText)(quote);
}

/** The same check for many quotes of one page, which is prepared once. */
export function quotesIn(pageText: string): (quote: string) => boolean {
  const page = readingOf(pageText);
  return (quote) => standsIn(page, quote);
}

/** The two forms of a text in which a quote may occur. */
interface Reading {
  readonly written: string;
  readonly read: string;
}

function standsIn(page: Reading, quote: string): boolean {
  const { written, read } = readingOf(quote);
  const isSaid = /[\p{L}\p{N}]/u;
  return (isSaid.test(written) && page.written.includes(written)) || (isSaid.test(read) && page.read.includes(read));
}

function readingOf(text: string): Reading {
  const written = plainSigns(comparableRaised(text)).replace(/\s+/g, " ").trim();
  return { written, read: withoutMarkup(written) };
}

/** Replaces characters that are written differently in typography and on keyboards. */
function plainSigns(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, "")
    .replace(/[‘’‚‛′´`]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[‐‑‒–—―−]/g, "-")
    .replace(/…/g, "...");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Removes Markdown and HTML markup: link targets, table cells, emphasis, headings. */
function withoutMarkup(text: string): string {
  return plainSigns(
    text
      .replace(/<\/?[a-z][^<>]{0,1000}>/gi, "")
      .replace(/\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200}){0,3}(?: "[^"]{0,500}")?\)/g, "]")
      .replace(/&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,6});/gi, (entity, name: string) => characterOf(name) ?? entity),
  )
    .replace(/\|(?:\s*:?-{2,}:?\s*\|)+/g, " ")
    .replace(/[|]/g, " ")
    .replace(/(^|\s)[#>+-]+(?=\s)/g, "$1")
    .replace(/[*_~'\\[\]!]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function characterOf(name: string): string | undefined {
  if (!name.startsWith("#")) return entryOf(ENTITIES, name.toLowerCase());
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/**
 * Keeps the sources whose quote occurs in the page that they name. A top-level field without a source becomes null, whatever the
 * schema says about null. A value that is not an object is returned unchanged, without sources.
 */
export function dropUnsupported(value: unknown, sources: Sources, pages: readonly QuotedPage[]): Supported {
  if (!isRecord(value)) return { value, sources: {}, unsupported: [] };
  const readings = new Map<string, Reading[]>();
  for (const { url, text } of pages) readings.set(pageOf(url), [...(readings.get(pageOf(url)) ?? []), readingOf(text)]);
  const stands = ({ url, quote }: QuoteSource) =>
    (readings.get(pageOf(url)) ?? []).some((reading) => standsIn(reading, quote));
  const kept: Record<string, readonly QuoteSource[]> = {};
  const supported: Record<string, unknown> = {};
  const unsupported: string[] = [];
  for (const [field, found] of Object.entries(value)) {
    const standing = (Object.hasOwn(sources, field) ? (sources[field] ?? []) : []).filter(stands);
    put(supported, field, standing.length > 0 ? found : null);
    if (standing.length > 0) put(kept, field, standing);
    else unsupported.push(field);
  }
  return { value: supported, sources: kept, unsupported };
}

/** Sets a member; this also works for names such as `__proto__`. */
export function put<T>(object: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The address of a page. Addresses that differ only in their fragment are the same page. */
function pageOf(url: string): string {
  return url.replace(/#.*$/, "");
}
