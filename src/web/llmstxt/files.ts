// Builds the finished files from the pages that were read. Pure.

import { type NamedPage, namePages, siteNameOf } from "./naming.ts";
import type { PageNote } from "./page-note.ts";
import { plainLine } from "./plain.ts";
import { type Signpost, sectionsOf } from "./sections.ts";
import { type SiteNote, writeFullText, writeLlmstxt } from "./write.ts";

/** The finished files, as they are stored and returned. */
export interface LlmstxtFiles {
  readonly llmstxt: string;
  readonly llmsfulltxt?: string;
}

/** What is known of the site beside its pages. */
export interface SiteFacts {
  /** The address of the root page after redirects. */
  readonly home: string;
  /** The names by which the root page links to pages, by the pages' keys. */
  readonly signposts: Readonly<Record<string, Signpost>>;
  readonly isFull: boolean;
  /** The model's descriptions of pages, by rank. */
  readonly described?: ReadonlyMap<number, string>;
}

const NAME_CHARS_MAX = 100;
const INTRODUCTION_CHARS_MAX = 500;
const NO_SIGNPOST: Signpost = { label: "", group: "", place: undefined };

/** Writes the files. `notes` are in the order of their ranks. */
export function writeFiles(notes: readonly PageNote[], facts: SiteFacts): LlmstxtFiles {
  const { home, signposts, isFull } = facts;
  const pages = namedPages(notes, facts);
  const sections = sectionsOf(pages, { signpostOf: ({ note }) => signpostOf(note, signposts), home });
  const root = pages.find(({ note }) => note.rank === 0);
  const site: SiteNote = {
    name: plainLine(siteNameOf(notes, home), NAME_CHARS_MAX),
    summary: root?.description ?? "",
    introduction: root === undefined ? "" : introductionOf(root, notes),
  };
  return {
    llmstxt: writeLlmstxt(site, sections),
    ...(isFull ? { llmsfulltxt: writeFullText(site, sections) } : {}),
  };
}

/** The pages that have no description, but enough text to describe. */
export function undescribed(notes: readonly PageNote[], facts: SiteFacts): PageNote[] {
  return namedPages(notes, facts)
    .filter(({ note, isOwnDescription }) => !isOwnDescription && note.opening !== "")
    .map(({ note }) => note);
}

function namedPages(notes: readonly PageNote[], { home, signposts, described = new Map() }: SiteFacts): NamedPage[] {
  const siteName = siteNameOf(notes, home);
  return namePages(notes, { siteName, labelOf: (note) => signpostOf(note, signposts).label, described });
}

function signpostOf(note: PageNote, signposts: SiteFacts["signposts"]): Signpost {
  return note.keys.map((key) => signposts[key]).find((signpost) => signpost !== undefined) ?? NO_SIGNPOST;
}

/** The beginning of the root page's text, unless it repeats the description, or is a notice on all pages. */
function introductionOf({ note, description }: NamedPage, notes: readonly PageNote[]): string {
  const opening = plainLine(note.opening, INTRODUCTION_CHARS_MAX);
  const isSaid = description !== "" && opening.startsWith(description.replace(/…$/, ""));
  const first = note.sentences[0] ?? "";
  const isNotice = notes.filter(({ sentences }) => sentences.includes(first)).length > 2;
  return isSaid || isNotice ? "" : opening;
}
