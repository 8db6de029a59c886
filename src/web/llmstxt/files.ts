// From the pages that were read to the finished files. Pure.

import { namePages, siteNameOf } from "./naming.ts";
import type { PageNote } from "./page-note.ts";
import { plainLine } from "./plain.ts";
import { type Signpost, sectionsOf } from "./sections.ts";
import { type SiteNote, writeFullText, writeLlmstxt } from "./write.ts";

/** The finished files, as stored and answered. */
export interface LlmstxtFiles {
  readonly llmstxt: string;
  readonly llmsfulltxt?: string;
}

/** What else is known of the site. */
export interface SiteFacts {
  /** The root page after redirects. */
  readonly home: string;
  /** How the root page names its links, by the key of the page. */
  readonly signposts: Readonly<Record<string, Signpost>>;
  readonly isFull: boolean;
  /** What a model said of pages, by rank. */
  readonly described?: ReadonlyMap<number, string>;
}

const NAME_CHARS_MAX = 100;
const INTRODUCTION_CHARS_MAX = 500;
const NO_SIGNPOST: Signpost = { label: "", group: "", place: undefined };

/** Writes them. `notes` are by rank. */
export function writeFiles(
  notes: readonly PageNote[],
  { home, signposts, isFull, described = new Map() }: SiteFacts,
): LlmstxtFiles {
  const signpostOf = (note: PageNote) =>
    note.keys.map((key) => signposts[key]).find((signpost) => signpost !== undefined) ?? NO_SIGNPOST;
  const siteName = siteNameOf(notes, home);
  const pages = namePages(notes, { siteName, labelOf: (note) => signpostOf(note).label, described });
  const sections = sectionsOf(pages, { signpostOf: ({ note }) => signpostOf(note), home });
  const root = pages.find(({ note }) => note.rank === 0);
  const site: SiteNote = {
    name: plainLine(siteName, NAME_CHARS_MAX),
    summary: root?.description ?? "",
    introduction: introductionOf(root?.note, root?.description ?? ""),
  };
  return {
    llmstxt: writeLlmstxt(site, sections),
    ...(isFull ? { llmsfulltxt: writeFullText(site, sections) } : {}),
  };
}

/** How the root page begins, unless the summary says so already. */
function introductionOf(root: PageNote | undefined, summary: string): string {
  const opening = plainLine(root?.opening ?? "", INTRODUCTION_CHARS_MAX);
  return summary !== "" && opening.startsWith(summary.replace(/…$/, "")) ? "" : opening;
}
