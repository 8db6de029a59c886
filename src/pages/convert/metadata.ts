// A page's metadata: title, description, language and more, from its head, Open Graph and structured data.

import { absolute, baseOf } from "../content/tidy.ts";
import type { PageDocument } from "../dom/parse.ts";
import { plainTextOf } from "../words/plain-text.ts";

/** A member is absent if the page does not state it. */
export interface Metadata {
  title: string;
  description: string;
  language: string;
  canonical?: string;
  author?: string;
  publishedTime?: string;
  modifiedTime?: string;
  siteName?: string;
  favicon?: string;
  ogTitle?: string;
  ogDescription?: string;
  ogImage?: string;
  ogUrl?: string;
  ogType?: string;
  keywords?: string;
  robots?: string;
}

const VALUE_CHARS_MAX = 5000;

/** Reads the metadata of a page. */
export function readMetadata(document: PageDocument, url: string): Metadata {
  const named = new Map<string, string>();
  const linked = new Map<string, string>();
  const base = baseOf(document, url);
  for (const { tag, attributes } of document.head) {
    if (tag === "meta") {
      const content = clean(attributes["content"] ?? "");
      for (const name of [attributes["property"], attributes["name"], attributes["itemprop"], attributes["http-equiv"]])
        if (name !== undefined && content !== "" && !named.has(name.toLowerCase()))
          named.set(name.toLowerCase(), content);
    } else if (tag === "link") {
      for (const rel of (attributes["rel"] ?? "").toLowerCase().split(/\s+/))
        if (rel !== "" && !linked.has(rel)) linked.set(rel, attributes["href"] ?? "");
    }
  }
  const first = (...names: string[]) => names.map((name) => named.get(name)).find((value) => value !== undefined);
  const address = (value: string | undefined) => (value === undefined ? undefined : absolute(value, base));
  const structured = readStructured(document);
  const [headline] = document.title === "" ? document.body.getElementsByTagName("h1") : [];
  const heading = headline === undefined ? undefined : plainTextOf(headline);
  const optional: { [K in keyof Metadata]?: string | undefined } = {
    canonical: address(linked.get("canonical")),
    author: first("author", "article:author", "dc.creator", "parsely-author", "sailthru.author") ?? structured.author,
    publishedTime:
      first("article:published_time", "datepublished", "date", "dc.date", "parsely-pub-date", "og:published_time") ??
      structured.published,
    modifiedTime:
      first("article:modified_time", "datemodified", "og:updated_time", "last-modified") ?? structured.modified,
    siteName: first("og:site_name", "application-name"),
    favicon: address(linked.get("icon") ?? linked.get("shortcut") ?? linked.get("apple-touch-icon")),
    ogTitle: first("og:title"),
    ogDescription: first("og:description"),
    ogImage: address(first("og:image", "og:image:url", "twitter:image")),
    ogUrl: address(first("og:url")),
    ogType: first("og:type"),
    keywords: first("keywords"),
    robots: first("robots"),
  };
  const metadata: Metadata = {
    title: document.title !== "" ? document.title : (first("og:title", "twitter:title") ?? clean(heading ?? "")),
    description: first("description", "og:description", "twitter:description", "dc.description") ?? "",
    language: languageTag(
      document.language !== "" ? document.language : (first("content-language", "og:locale", "language") ?? ""),
    ),
  };
  for (const [name, value] of Object.entries(optional))
    if (value !== undefined && value !== "") metadata[name as keyof Metadata] = value;
  return metadata;
}

/** The first language of a list, written as a language tag. Open Graph writes `de_DE`. */
function languageTag(text: string): string {
  return (text.split(/[,;]/, 1)[0] ?? "").trim().replace(/_/g, "-");
}

interface Structured {
  author: string | undefined;
  published: string | undefined;
  modified: string | undefined;
}

/** Reads the needed values of JSON-LD by pattern, since much JSON-LD on the web is not valid JSON. */
function readStructured(document: PageDocument): Structured {
  const text = document.structured.join("\n");
  const value = (pattern: RegExp) => {
    const found = pattern.exec(text)?.[1];
    return found === undefined ? undefined : clean(found.replace(/\\(["/])/g, "$1"));
  };
  return {
    author:
      value(/"author"\s*:\s*[[{][^}]{0,400}?"name"\s*:\s*"((?:[^"\\]|\\.){1,200})"/) ??
      value(/"author"\s*:\s*"((?:[^"\\]|\\.){1,200})"/),
    published: value(/"datePublished"\s*:\s*"([^"]{4,40})"/),
    modified: value(/"dateModified"\s*:\s*"([^"]{4,40})"/),
  };
}

function clean(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, VALUE_CHARS_MAX);
}
