// What is stored of a page for llms.txt: its metadata, and its text if the full text is wanted.

import { sha256Hex } from "../../base/ids.ts";
import { pageKey, siteKey } from "../../base/page-key.ts";
import type { LoadedPage } from "../../pages/load.ts";
import { firstSentence, paragraphsOf, plainLine, plainWords } from "./plain.ts";

/** A page as it is stored. Texts are plain, on one line, and limited in length. */
export interface PageNote {
  /** The index among the selected pages; the root page has 0. */
  readonly rank: number;
  /** All keys of the page. */
  readonly keys: readonly string[];
  readonly url: string;
  readonly title: string;
  /** The page's first heading. */
  readonly heading: string;
  /** The page's own description. */
  readonly description: string;
  /** The beginnings of its first paragraphs. */
  readonly sentences: readonly string[];
  /** The beginning of its text, for a model or as the site's introduction. */
  readonly opening: string;
  readonly siteName: string;
  readonly language: string;
  /** Whether the page asks not to be listed. */
  readonly isUnlisted: boolean;
  /** Its links to the site's pages, present only if the root page has too few. */
  readonly links?: readonly string[];
  /** Its text, present only if the full text is wanted. */
  readonly markdown?: string;
  readonly isCut?: boolean;
}

const TITLE_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 300;
const OPENING_CHARS_MAX = 2000;
/** Shorter paragraphs are captions or dates. */
const TELLING_CHARS_MIN = 40;
const SENTENCES_MAX = 3;
const TEXT_CHARS_MIN = 200;
/** Maximum length of one page's text, so that a book on a single page does not displace all others. */
const MARKDOWN_CHARS_MAX = 256 * 1024;

/** Builds what is stored of a page. */
export function pageNote(
  page: LoadedPage,
  { rank, key, withText }: { rank: number; key: string; withText: boolean },
): PageNote {
  const { metadata, markdown = "" } = page;
  const paragraphs = paragraphsOf(markdown);
  const telling = paragraphs.filter((text) => text.length >= TELLING_CHARS_MIN);
  const begins = [...telling, ...paragraphs.filter((text) => text.length < TELLING_CHARS_MIN)].slice(0, SENTENCES_MAX);
  const { canonical } = metadata;
  const isOwn = canonical !== undefined && URL.canParse(canonical) && siteKey(canonical) === siteKey(page.url);
  // A template that names the root on every page says nothing about the page.
  const isMistaken = isOwn && new URL(canonical).pathname === "/" && new URL(page.url).pathname !== "/";
  const words = {
    title: plainLine(metadata.title, TITLE_CHARS_MAX),
    heading: plainLine(headingOf(markdown), TITLE_CHARS_MAX),
    opening: plainLine(paragraphs.join(" "), OPENING_CHARS_MAX),
  };
  const canonicalKeys = isOwn && !isMistaken ? [pageKey(canonical)] : [];
  return {
    rank,
    keys: [...new Set([key, pageKey(page.url), ...canonicalKeys, ...textKey(words)])],
    url: page.url.replace(/#.*$/, ""),
    ...words,
    description: plainLine(metadata.description, DESCRIPTION_CHARS_MAX),
    sentences: [
      ...new Set(begins.map((text) => plainLine(firstSentence(text, metadata.language), DESCRIPTION_CHARS_MAX))),
    ],
    siteName: plainLine(metadata.siteName ?? "", TITLE_CHARS_MAX),
    language: plainLine(metadata.language, 40),
    isUnlisted: /\b(?:noindex|none)\b/i.test(metadata.robots ?? ""),
    ...(withText
      ? { markdown: markdown.slice(0, MARKDOWN_CHARS_MAX).toWellFormed(), isCut: markdown.length > MARKDOWN_CHARS_MAX }
      : {}),
  };
}

/**
 * A key by title and text: two addresses with the same title and text, such as /docs/ and /docs/index.html, are one page. Pages
 * with little text are not compared.
 */
function textKey({ title, heading, opening }: Pick<PageNote, "title" | "heading" | "opening">): string[] {
  return opening.length < TEXT_CHARS_MIN ? [] : [`text ${sha256Hex([title, heading, opening].join("\n"))}`];
}

function headingOf(markdown: string): string {
  const heading = /^#{1,2}\s+(.+)$/m.exec(markdown.slice(0, 20_000))?.[1] ?? "";
  return plainWords(heading);
}
