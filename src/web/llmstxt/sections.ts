// Groups pages into sections: by the site's own menus, then by the folders of their addresses. Legal pages, logins and the like
// go to "Optional", which readers may skip. Pure.

import type { Place } from "../../pages/convert/navigation.ts";
import { type NamedPage, segmentTitle } from "./naming.ts";
import { plainLine } from "./plain.ts";
import { languageOf, segmentsOf, typeOf } from "./rank.ts";

/** A section: a heading and its pages. */
export interface Section {
  readonly title: string;
  readonly pages: readonly NamedPage[];
}

/** A link of the root page. */
export interface Signpost {
  readonly label: string;
  readonly group: string;
  readonly place: Place | undefined;
}

/** By the convention of llms.txt, readers with little context skip this section. */
const OPTIONAL = "Optional";
const MAIN = "Main pages";
const TITLE_CHARS_MAX = 60;
/** Fewer pages do not make a section. */
const PAGES_MIN = 2;
/** A folder with more pages than this, and more than half of all, is split by its subfolders. */
const PAGES_MANY = 12;

/** Groups the pages. Sections and their pages keep the order of the list, which is by rank. */
export function sectionsOf(
  pages: readonly NamedPage[],
  { signpostOf, home }: { signpostOf: (page: NamedPage) => Signpost; home: string },
): Section[] {
  const isUnlisted = (page: NamedPage) => page.note.isUnlisted && !pages[0]?.note.isUnlisted;
  const isOptional = (page: NamedPage) =>
    page.note.rank > 0 && (typeOf(page.note.url) === "secondary" || isUnlisted(page));
  const listed = pages.filter((page) => !isOptional(page));
  const groups = new Map<string, NamedPage[]>();
  const add = (title: string, page: NamedPage) => {
    const known = groups.get(title);
    if (known === undefined) groups.set(title, [page]);
    else known.push(page);
  };
  const byFolder = folderTitles(listed, { signpostOf, home });
  for (const page of listed) add(page.note.rank === 0 ? MAIN : (byFolder.get(page) ?? MAIN), page);
  const sections = [...groups].map(([title, members]) => ({ title, pages: members }));
  // Pages without a section come first, as they are the most important to a reader.
  const main = sections.filter(({ title }) => title === MAIN);
  const optional = pages.filter(isOptional);
  return [
    ...main,
    ...sections.filter(({ title }) => title !== MAIN),
    ...(optional.length === 0 ? [] : [{ title: OPTIONAL, pages: optional }]),
  ];
}

interface Naming {
  readonly signpostOf: (page: NamedPage) => Signpost;
  readonly home: string;
}

/** The title of the section of each page that has one. */
function folderTitles(pages: readonly NamedPage[], naming: Naming): Map<NamedPage, string> {
  const titles = new Map<NamedPage, string>();
  const menus = Map.groupBy(
    pages.filter((page) => page.note.rank > 0 && isMenu(naming.signpostOf(page))),
    (page) => naming.signpostOf(page).group,
  );
  for (const [group, members] of menus)
    if (members.length >= PAGES_MIN) for (const page of members) titles.set(page, sectionTitle(group));
  const rest = pages.filter((page) => page.note.rank > 0 && !titles.has(page));
  const base = baseDepth(naming.home);
  const folders = Map.groupBy(rest, (page) => folderAt(page, base));
  for (const [folder, members] of folders) {
    if (folder === "" || members.length < PAGES_MIN) continue;
    const title = folderTitle(folder, members, naming, base);
    const isLarge = members.length > PAGES_MANY && members.length * 2 > pages.length;
    const inner = isLarge ? Map.groupBy(members, (page) => folderAt(page, base + 1)) : new Map<string, NamedPage[]>();
    for (const page of members) {
      const below = folderAt(page, base + 1);
      const isOwn = below !== "" && (inner.get(below)?.length ?? 0) >= PAGES_MIN;
      const own = isOwn ? folderTitle(below, inner.get(below) as NamedPage[], naming, base + 1) : "";
      titles.set(page, sectionTitle(own === "" ? title : `${title}: ${own}`));
    }
  }
  return titles;
}

/** Whether a link is in a menu. Headings within the text of the root page are not menus. */
function isMenu({ group, place }: Signpost): boolean {
  return group !== "" && (place === "header" || place === "sidebar");
}

/** How many folders all pages have in common: those of the root page, and that of a language. */
function baseDepth(home: string): number {
  const folders = segmentsOf(new URL(home).pathname.replace(/[^/]*$/, ""));
  return folders.length > 0 ? folders.length : languageOf(home) === undefined ? 0 : 1;
}

function folderAt({ note }: NamedPage, depth: number): string {
  return segmentsOf(new URL(note.url).pathname)[depth] ?? "";
}

/** The root page's name for a folder, otherwise a name derived from its address. */
function folderTitle(folder: string, members: readonly NamedPage[], { signpostOf }: Naming, depth: number): string {
  const index = members.find(({ note }) => segmentsOf(new URL(note.url).pathname).length === depth + 1);
  return (index === undefined ? "" : signpostOf(index).label) || segmentTitle(folder);
}

/** The title of a section, changed if it equals one of the two fixed titles. */
function sectionTitle(text: string): string {
  const title = plainLine(text, TITLE_CHARS_MAX);
  return title === "" || title.toLowerCase() === OPTIONAL.toLowerCase() ? MAIN : title;
}
