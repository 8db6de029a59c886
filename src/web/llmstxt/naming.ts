// Names the site and its pages. Titles often repeat the site's name; the rest of a title distinguishes the page. Pure.

import type { PageNote } from "./page-note.ts";
import { plainLine } from "./plain.ts";
import { segmentsOf } from "./rank.ts";

/** A page with its name and description. */
export interface NamedPage {
  readonly note: PageNote;
  readonly title: string;
  /** Empty if the page has no description. */
  readonly description: string;
  /** Whether the description is the page's own, which a model cannot improve. */
  readonly isOwnDescription: boolean;
}

/** Separators between the parts of a title. */
const SEPARATOR = /\s+(?:[|–—·•»«:/-]|::|\\)\s+|\s*[|»]\s*/;
/** A part that is common to more than this share of the titles is the site's name. */
const SHARE_MIN = 0.5;
const TITLE_CHARS_MAX = 120;

/**
 * The site's name: the one that it states, the common part of its titles, or the words of the root page's title that make up its
 * host name.
 */
export function siteNameOf(notes: readonly PageNote[], home: string): string {
  const root = notes.find(({ rank }) => rank === 0);
  const own = root?.siteName || mostCommon(notes.map(({ siteName }) => siteName).filter((name) => name !== ""));
  if (own !== undefined && own !== "") return own;
  const shared = sharedPart(notes);
  if (shared !== undefined) return shared;
  const { hostname, port } = new URL(home);
  const host = hostname.replace(/^www\./, "") + (port === "" ? "" : `:${port}`);
  const title = root?.title ?? "";
  const named = title.split(SEPARATOR).find((part) => part !== "" && host.replace(/\W/g, "").includes(letters(part)));
  return named ?? (title === "" ? root?.heading || host : title);
}

/** The first or last part that most titles share, the root page's among them. */
function sharedPart(notes: readonly PageNote[]): string | undefined {
  if (notes.length < 3) return undefined;
  const root = notes.find(({ rank }) => rank === 0)?.title ?? "";
  const parts = notes.flatMap(({ title }) => {
    const split = title.split(SEPARATOR).filter((part) => part !== "");
    return split.length < 2 ? [] : [...new Set([split[0] as string, split[split.length - 1] as string])];
  });
  const found = mostCommon(root === "" ? parts : parts.filter((part) => root.includes(part)));
  return found !== undefined && parts.filter((part) => part === found).length >= notes.length * SHARE_MIN
    ? found
    : undefined;
}

/** The most frequent text; if several are equally frequent, the first. */
function mostCommon(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  let found: string | undefined;
  for (const [text, count] of counts) if (found === undefined || count > (counts.get(found) ?? 0)) found = text;
  return found;
}

function letters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Names the pages. `labelOf` returns the root page's name for an address; `described` holds the model's descriptions by rank. */
export function namePages(
  notes: readonly PageNote[],
  {
    siteName,
    labelOf,
    described,
  }: { siteName: string; labelOf: (note: PageNote) => string; described: ReadonlyMap<number, string> },
): NamedPage[] {
  const titles = notes.map((note) => withoutSite(note.title, siteName));
  const uses = countOf(titles);
  const descriptions = countOf(notes.map(({ description }) => description));
  const sentences = countOf(notes.flatMap((note) => note.sentences));
  /** A text that several pages repeat is a notice of the site. If only two pages have it, the more important one keeps it. */
  const isOwnSentence = (text: string, note: PageNote) => {
    const uses = sentences.get(text) ?? 0;
    return uses === 1 || (uses === 2 && notes.find((one) => one.sentences.includes(text)) === note);
  };
  return notes.map((note, index) => {
    const cleaned = titles[index] as string;
    // A title that several pages share does not distinguish them.
    const isShared = note.rank > 0 && ((uses.get(cleaned) ?? 0) > 1 || letters(cleaned) === letters(siteName));
    const choices = isShared ? [note.heading, labelOf(note), cleaned] : [cleaned, note.heading, labelOf(note)];
    const title = plainLine(choices.find((text) => letters(text) !== "") ?? pathTitle(note.url), TITLE_CHARS_MAX);
    const isOwnDescription =
      note.description !== "" &&
      letters(note.description) !== letters(title) &&
      (note.rank === 0 || descriptions.get(note.description) === 1);
    const sentence = note.sentences.find((text) => isOwnSentence(text, note)) ?? "";
    const said = isOwnDescription ? note.description : (described.get(note.rank) ?? sentence);
    return { note, title, description: letters(said) === letters(title) ? "" : said, isOwnDescription };
  });
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** A title without the site's name at its beginning or end. */
function withoutSite(title: string, siteName: string): string {
  const parts = title.split(SEPARATOR).filter((part) => part !== "");
  if (parts.length < 2) return title;
  if (parts.every((part) => letters(part) === letters(parts[0] as string))) return parts[0] as string;
  const name = letters(siteName);
  const own = parts.filter((part, index) => !((index === 0 || index === parts.length - 1) && letters(part) === name));
  if (own.length === 0) return parts[0] as string;
  if (own.length === parts.length) return title;
  // The remaining parts keep the separators between them.
  const start = title.indexOf(own[0] as string);
  const last = own[own.length - 1] as string;
  return title.slice(start, title.lastIndexOf(last) + last.length);
}

/** A name derived from the address of a page. */
export function pathTitle(address: string): string {
  const { pathname, host } = new URL(address);
  const last = segmentsOf(pathname).at(-1);
  return last === undefined ? host : segmentTitle(last);
}

const SHORT_FORMS = new Set("api sdk cli faq ui ux sql css html http json url ai ml llm seo pdf sso".split(" "));

/** A part of a path as words, such as "Getting started" for `getting-started.html`. */
export function segmentTitle(segment: string): string {
  let plain = segment;
  try {
    plain = decodeURIComponent(segment);
  } catch {
    // A percent sign without a code is literal.
  }
  const words = plainLine(plain.replace(/\.(?:html?|php|aspx?|jsp|md)$/i, "").replace(/[-_+.]+/g, " "), 60).split(" ");
  const spelled = words.map((word) => (SHORT_FORMS.has(word.toLowerCase()) ? word.toUpperCase() : word)).join(" ");
  return spelled === "" ? segment : spelled.charAt(0).toUpperCase() + spelled.slice(1);
}
