// Converts RSS and Atom to Markdown: each entry becomes a heading that links to it, with its date and its summary.

import { type PageElement, PageText, walk } from "../dom/node.ts";
import { parsePage } from "../dom/parse.ts";
import { escapeMarkdown } from "../markdown/escape.ts";
import type { Extracted } from "./extract.ts";

const ITEMS_MAX = 200;

/** Converts a feed; undefined if the XML is not a feed. */
export function readFeed(xml: string, url: string): Extracted | undefined {
  const document = parsePage(asHtml(xml));
  const items = ["item", "entry"].flatMap((tag) => document.body.getElementsByTagName(tag)).slice(0, ITEMS_MAX);
  if (items.length === 0) return undefined;
  const links = new Set<string>();
  const lines: string[] = [];
  for (const item of items) {
    const title = field(item, "title");
    const summary = field(item, "description", "summary", "content", "content:encoded");
    const link = linkOf(item, url);
    if (link !== undefined) links.add(link);
    if (title === "" && summary === "" && link === undefined) continue;
    const heading = escapeMarkdown(title === "" ? (link ?? "Untitled") : title);
    lines.push(link === undefined ? `## ${heading}` : `## [${withBrackets(heading)}](${link})`);
    for (const text of [field(item, "pubdate", "published", "updated", "dc:date"), escapeMarkdown(summary)])
      if (text !== "") lines.push(text);
  }
  const channel = document.body.getElementsByTagName("channel")[0] ?? document.body;
  return {
    markdown: lines.join("\n\n"),
    links: [...links],
    allLinks: [...links].join("\n"),
    metadata: { title: document.title, description: aboutOf(channel), language: field(channel, "language") },
    needsScript: undefined,
  };
}

/** Escapes brackets, which would end a link's text. */
function withBrackets(escaped: string): string {
  return escaped.replace(/\\.|[[\]]/g, (found) => (found.length === 1 ? `\\${found}` : found));
}

/**
 * Rewrites a feed for the HTML parser, which knows neither CDATA nor empty elements of XML: content is escaped, and conflicting
 * names are replaced.
 */
function asHtml(xml: string): string {
  return withoutCdata(xml)
    .replace(/<(\/?)(link|source|image)\b/gi, "<$1feed-$2")
    .replace(/<(feed-link|feed-source)\b([^<>]*)\/>/gi, "<$1$2></$1>");
}

const CDATA = "<![CDATA[";
const CDATA_END = "]]>";

/** Replaces CDATA sections by escaped text. An unterminated section is left as it is. */
function withoutCdata(xml: string): string {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const start = xml.indexOf(CDATA, at);
    const end = start < 0 ? -1 : xml.indexOf(CDATA_END, start + CDATA.length);
    if (end < 0) break;
    const inner = xml.slice(start + CDATA.length, end);
    parts.push(xml.slice(at, start), inner.replace(/&/g, "&amp;").replace(/</g, "&lt;"));
    at = end + CDATA_END.length;
  }
  return parts.join("") + xml.slice(at);
}

/** The text of the first of these elements that has text. */
function field(of: PageElement, ...names: string[]): string {
  for (const name of names) {
    const text = clean(of.getElementsByTagName(name)[0]?.textContent ?? "");
    if (text !== "") return text;
  }
  return "";
}

/** The part before the first entry, since entries have descriptions of their own. */
function aboutOf(channel: PageElement): string {
  for (const name of ["description", "subtitle"]) {
    const first = channel.getElementsByTagName(name)[0];
    if (first !== undefined && first.parentNode?.tag !== "item" && first.parentNode?.tag !== "entry")
      return clean(first.textContent);
  }
  return "";
}

function linkOf(item: PageElement, url: string): string | undefined {
  const named = item.getElementsByTagName("feed-link");
  const own = named.find(({ attributes }) => /^(?:alternate)?$/i.test(attributes["rel"] ?? "")) ?? named[0];
  const guid = item.getElementsByTagName("guid")[0];
  const isPermanent = guid !== undefined && guid.attributes["ispermalink"] !== "false";
  for (const spelled of [own?.attributes["href"], own?.textContent, isPermanent ? guid.textContent : undefined]) {
    const text = spelled?.trim() ?? "";
    if (text === "" || !URL.canParse(text, url)) continue;
    const target = new URL(text, url);
    if (/^https?:$/.test(target.protocol)) return target.href.replace(/\(/g, "%28").replace(/\)/g, "%29");
  }
  return undefined;
}

/** Puts text that may contain HTML on one line. */
function clean(text: string): string {
  let out = "";
  for (const node of walk(parsePage(text).body)) if (node instanceof PageText) out += `${node.data} `;
  return out.replace(/\s+/g, " ").trim();
}
