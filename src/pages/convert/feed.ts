// Converts RSS and Atom to Markdown: the feed's title and description, then each entry as a heading that links to it, with its
// date and its text.

import { removeInvisible } from "../content/invisible.ts";
import { tidy } from "../content/tidy.ts";
import { createTrace } from "../content/trace.ts";
import { elementsOf, PageElement } from "../dom/node.ts";
import { Omissions } from "../dom/omissions.ts";
import { type PageDocument, parsePage } from "../dom/parse.ts";
import { escapeMarkdown } from "../markdown/escape.ts";
import { toMarkdown } from "../markdown/markdown.ts";
import { plainTextOf, rawTextOf } from "../words/plain-text.ts";
import type { Extracted } from "./extract.ts";

const ITEMS_MAX = 200;
/** The level of the first heading within an entry, below the entry's own. */
const INNER_LEVEL = 3;

/** Converts a feed; undefined if the XML is not a feed. */
export function readFeed(xml: string, url: string): Extracted | undefined {
  const { body } = parsePage(asHtml(xml));
  const entries = ["item", "entry"].flatMap((tag) => body.getElementsByTagName(tag));
  if (entries.length === 0) return undefined;
  const items = entries.slice(0, ITEMS_MAX);
  const channel =
    ["channel", "feed", "rss"].map((tag) => body.getElementsByTagName(tag)[0]).find((one) => one !== undefined) ?? body;
  const title = ownField(channel, "feed-title");
  const description = ownField(channel, "description", "subtitle");
  const links = new Set<string>();
  const parts: string[] = [];
  if (title !== "") parts.push(`# ${escapeMarkdown(title, { isAmidLine: true })}`);
  if (description !== "" && description !== title) parts.push(escapeMarkdown(description));
  for (const item of items) {
    const link = linkOf(item, url);
    if (link !== undefined) links.add(link);
    parts.push(...entryParts(item, link, url));
  }
  if (entries.length > items.length) parts.push(`(${entries.length - items.length} more entries were left out.)`);
  const omissions = new Omissions();
  omissions.add("entries", entries.length - items.length);
  const left = omissions.sentences();
  return {
    markdown: parts.join("\n\n"),
    ...(left.length === 0 ? {} : { omissions: left }),
    links: [...links],
    allLinks: [...links].join("\n"),
    metadata: { title, description, language: field(channel, "language") },
    needsScript: undefined,
  };
}

function entryParts(item: PageElement, link: string | undefined, url: string): string[] {
  const title = field(item, "feed-title");
  const text = textOf(item, link ?? url);
  if (title === "" && text === "" && link === undefined) return [];
  const heading = escapeMarkdown(title === "" ? (link ?? "Untitled") : title, { isAmidLine: true });
  const parts = [link === undefined ? `## ${heading}` : `## [${withBrackets(heading)}](${link})`];
  for (const part of [field(item, "pubdate", "published", "updated", "dc:date"), text])
    if (part !== "") parts.push(part);
  return parts;
}

/** The Markdown of an entry's text. */
function textOf(item: PageElement, url: string): string {
  for (const name of ["description", "summary", "content", "content:encoded"]) {
    const held = item.getElementsByTagName(name)[0];
    const document = held === undefined ? undefined : documentIn(held);
    if (document === undefined) continue;
    const trace = createTrace(false);
    removeInvisible(document, trace);
    tidy(document, url, trace);
    lowerHeadings(document.body);
    const markdown = toMarkdown(document.body);
    if (markdown !== "") return markdown;
  }
  return "";
}

/** Makes an entry's headings subordinate to the entry's own heading. */
function lowerHeadings(body: PageElement): void {
  const headings = elementsOf(body).filter(({ tag }) => /^h[1-6]$/.test(tag));
  const top = Math.min(...headings.map(({ tag }) => Number(tag[1])));
  for (const heading of headings) {
    const level = Math.min(6, Number(heading.tag[1]) - top + INNER_LEVEL);
    const lowered = new PageElement(`h${level}`, heading.attributes);
    while (heading.firstChild !== null) lowered.appendChild(heading.firstChild);
    heading.parentNode?.insertBefore(lowered, heading);
    heading.remove();
  }
}

/** What a text construct holds, as a page: escaped HTML, XHTML, or text. */
function documentIn(held: PageElement): PageDocument {
  const type = held.attributes["type"]?.toLowerCase() ?? "";
  if (held.children.length > 0) {
    const document = parsePage("");
    while (held.firstChild !== null) document.body.appendChild(held.firstChild);
    return document;
  }
  const text = rawTextOf(held);
  return parsePage(/^(?:text|text\/plain)$/.test(type) ? text.replace(/&/g, "&amp;").replace(/</g, "&lt;") : text);
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
    .replace(/<(\/?)(link|source|image|title)\b/gi, "<$1feed-$2")
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

/** The plain text of the first of these elements that has text. */
function field(of: PageElement, ...names: string[]): string {
  for (const name of names) {
    const held = of.getElementsByTagName(name)[0];
    const text = held === undefined ? "" : plainTextOf(documentIn(held).body);
    if (text !== "") return text;
  }
  return "";
}

/** The plain text of the first of these elements that belongs to the feed itself. Entries and images have some of their own. */
function ownField(channel: PageElement, ...names: string[]): string {
  for (const name of names) {
    const held = channel.children.find(({ tag }) => tag === name);
    const text = held === undefined ? "" : plainTextOf(documentIn(held).body);
    if (text !== "") return text;
  }
  return "";
}

function linkOf(item: PageElement, url: string): string | undefined {
  const named = item.getElementsByTagName("feed-link");
  const own = named.find(({ attributes }) => /^(?:alternate)?$/i.test(attributes["rel"] ?? "")) ?? named[0];
  const guid = item.getElementsByTagName("guid")[0];
  const isPermanent = guid !== undefined && guid.attributes["ispermalink"] !== "false";
  const written = [own?.attributes["href"], own && rawTextOf(own), isPermanent ? rawTextOf(guid) : undefined];
  for (const spelled of written) {
    const text = spelled?.trim() ?? "";
    if (text === "" || !URL.canParse(text, url)) continue;
    const target = new URL(text, url);
    if (/^https?:$/.test(target.protocol)) return target.href.replace(/\(/g, "%28").replace(/\)/g, "%29");
  }
  return undefined;
}
