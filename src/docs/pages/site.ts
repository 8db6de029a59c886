// The documentation as a site: finds the page at an address.

import { posix } from "node:path";
import { type ApiGroup, anchorOf, groupsOf, slugOf } from "../http-api.ts";
import type { Json } from "../schemas.ts";
import { type MenuGroup, pageHtml } from "./layout.ts";
import { addressOf, MANUAL, type ManualPage, OVERVIEW, titleOf } from "./manual.ts";
import { markdownHtml, type ResolveLink } from "./markdown.ts";
import { groupAddress, groupHtml } from "./reference.ts";

/** The page at an address; undefined if there is none. `origin`: this gateway's address for the reader. */
export function sitePage(path: string, document: Json, origin: string): string | undefined {
  const groups = groupsOf(document);
  const menu = menuOf(groups);
  const page = (title: string, html: string) => pageHtml({ title, html, path }, menu);
  if (path === "/docs") return page("Documentation", indexHtml(document, groups, origin));
  if (path === "/docs/guides") return page("Guides", listHtml("Guides", menu.slice(0, 1)));
  for (const one of Object.values(MANUAL).flat()) {
    if (path !== addressOf(one.file)) continue;
    return page(titleOf(one), markdownHtml(one.text, { resolve: resolver(one.file, groups), origin }));
  }
  for (const group of groups) {
    if (path !== groupAddress(group)) continue;
    const resolve = resolver("reference/http-api.md", groups);
    return page(group.name, groupHtml(group, { document, resolve, origin }));
  }
  return undefined;
}

/** The page for an unknown address. */
export function missingPage(path: string, document: Json): string {
  const html = `<h1>Page not found</h1><p>The menu lists what there is; <a href="/docs">the overview</a> is a good start.</p>`;
  return pageHtml({ title: "Page not found", html, path }, menuOf(groupsOf(document)));
}

function menuOf(groups: readonly ApiGroup[]): MenuGroup[] {
  const entries = groups.map((group) => ({ href: groupAddress(group), title: group.name }));
  const manual = Object.entries(MANUAL).map(([title, pages]) => ({
    title,
    entries: pages.map((one) => ({ href: addressOf(one.file), title: titleOf(one) })),
  }));
  return manual.toSpliced(1, 0, { title: "HTTP API", entries });
}

function indexHtml(document: Json, groups: readonly ApiGroup[], origin: string): string {
  const { version, description } = document["info"] as { version: string; description: string };
  const intro = markdownHtml(description, { resolve: () => undefined, origin: "" });
  const pages = OVERVIEW.text.replace(/^# .+\n/, "");
  const overview = markdownHtml(pages, { resolve: resolver(OVERVIEW.file, groups), origin });
  const entries = groups.map((group) => ({ href: groupAddress(group), title: group.name }));
  return `<h1>Sallyport ${Bun.escapeHTML(version)}</h1>${intro}${overview}<h2 id="http-api">HTTP API</h2>${entriesHtml(entries)}`;
}

function listHtml(title: string, groups: readonly MenuGroup[]): string {
  return `<h1>${title}</h1>${groups.map(({ entries }) => entriesHtml(entries)).join("")}`;
}

function entriesHtml(entries: MenuGroup["entries"]): string {
  return `<ul>${entries.map(({ href, title }) => `<li><a href="${href}">${Bun.escapeHTML(title)}</a></li>`).join("")}</ul>`;
}

/**
 * A file's links as links between pages. Files outside of the manual are named without a link; other sites are linked
 * unchanged.
 */
function resolver(file: string, groups: readonly ApiGroup[]): ResolveLink {
  const all: readonly ManualPage[] = [OVERVIEW, ...Object.values(MANUAL).flat()];
  const pages = new Set(all.map((one) => one.file));
  return (target) => {
    if (/^(?:https?:|mailto:|#|\/)/.test(target)) return target;
    const [path = "", anchor = ""] = target.split("#");
    const at = posix.normalize(posix.join(posix.dirname(file), path));
    if (pages.has(at)) return addressOf(at) + (anchor === "" ? "" : `#${anchor}`);
    if (at !== "reference/http-api.md") return undefined;
    const group = groups.find(({ operations }) => operations.some((one) => anchorOf(one) === anchor));
    if (group !== undefined) return `${groupAddress(group)}#${anchor}`;
    const named = groups.find(({ name }) => slugOf(name) === anchor);
    return named === undefined ? "/docs" : groupAddress(named);
  };
}
