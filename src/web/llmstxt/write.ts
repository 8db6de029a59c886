// Writes llms.txt (llmstxt.org) with a heading, a quoted summary, a paragraph, and sections of links with notes; and
// llms-full.txt with the full text of the same pages. The text of a page cannot leave its line or its page's heading. Pure.

import type { NamedPage } from "./naming.ts";
import { escapeLine, escapeTitle, linkTarget } from "./plain.ts";
import type { Section } from "./sections.ts";

/** What the file says about the site as a whole. */
export interface SiteNote {
  readonly name: string;
  readonly summary: string;
  /** A paragraph about the site; may be empty. */
  readonly introduction: string;
}

/** Maximum length of the full text of all pages: longer than most context windows, but short enough for a response. */
const FULL_TEXT_CHARS_MAX = 4 * 1024 * 1024;

/** Writes llms.txt. */
export function writeLlmstxt(site: SiteNote, sections: readonly Section[]): string {
  return `${[...headOf(site), ...sections.map(writeSection)].join("\n\n")}\n`;
}

function headOf({ name, summary, introduction }: SiteNote): string[] {
  return [
    `# ${escapeTitle(name)}`,
    ...(summary === "" ? [] : [`> ${escapeLine(summary, { isAmidLine: false })}`]),
    ...(introduction === "" ? [] : [escapeLine(introduction, { isAmidLine: false })]),
  ];
}

function writeSection({ title, pages }: Section): string {
  return `## ${escapeTitle(title)}\n\n${pages.map(writeLink).join("\n")}`;
}

function writeLink({ note, title, description }: NamedPage): string {
  const text = description === "" ? "" : `: ${escapeLine(description, { isAmidLine: true })}`;
  return `- [${escapeTitle(title)}](${linkTarget(note.url)})${text}`;
}

/**
 * Writes llms-full.txt: all pages with their text. Each page has a second-level heading, and the page's own headings are below
 * it.
 */
export function writeFullText(site: SiteNote, sections: readonly Section[]): string {
  const parts = headOf(site);
  let left = FULL_TEXT_CHARS_MAX;
  for (const { note, title } of sections.flatMap(({ pages }) => pages)) {
    const text = withLowerHeadings(withoutTitle(note.markdown ?? "", [title, note.heading]));
    const kept = text.length <= left ? text : "";
    left -= kept.length;
    const cut =
      kept === "" && text !== "" ? "*The text of this page is left out: the file would become too long.*" : "";
    const end = note.isCut === true && kept !== "" ? "*The text of this page is cut here.*" : "";
    parts.push(
      ...[`## ${escapeTitle(title)}`, `Source: <${linkTarget(note.url)}>`, kept, cut, end].filter(
        (part) => part !== "",
      ),
    );
  }
  return `${parts.join("\n\n")}\n`;
}

/** Removes the page's own first heading if it repeats the title. */
function withoutTitle(markdown: string, titles: readonly string[]): string {
  const [first = "", ...rest] = markdown.trim().split("\n");
  const heading = /^#{1,2}\s+(\S.*)$/.exec(first.trimEnd())?.[1]?.replace(/\\/g, "");
  return heading !== undefined && titles.includes(heading) ? rest.join("\n").trim() : markdown.trim();
}

const HEADING_LEVEL_MIN = 3;
const HEADING_LEVEL_MAX = 6;

/** Lowers headings so that the highest has level three. Code is not changed, and open fences are closed. */
function withLowerHeadings(markdown: string): string {
  const lines = markdown.split("\n");
  let fence: string | undefined;
  const headings = new Map<number, number>();
  lines.forEach((line, index) => {
    const mark = /^[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)*(`{3,}|~{3,})([\s\S]*)$/.exec(line);
    if (mark !== null) {
      const [, sign = "", after = ""] = mark;
      if (fence === undefined) fence = sign[0] === "`" && after.includes("`") ? undefined : sign;
      else if (sign.startsWith(fence) && after.trim() === "") fence = undefined;
      return;
    }
    const level = fence === undefined ? /^ {0,3}(#{1,6})(?=\s|$)/.exec(line)?.[1]?.length : undefined;
    if (level !== undefined) headings.set(index, level);
  });
  const highest = Math.min(...headings.values());
  const lower = Math.max(0, HEADING_LEVEL_MIN - highest);
  for (const [index, level] of headings)
    lines[index] = (lines[index] as string).replace(
      /^ {0,3}#{1,6}/,
      "#".repeat(Math.min(HEADING_LEVEL_MAX, level + lower)),
    );
  return fence === undefined ? lines.join("\n") : [...lines, fence].join("\n");
}
