// Converts readable documents that are not HTML to Markdown (plain text, JSON, XML and feeds). PDFs are read in pdf-reader.ts.

import { decodeHtml } from "./charset.ts";
import type { DocumentKind } from "./document-kind.ts";
import type { Extracted } from "./extract.ts";
import { readFeed } from "./feed.ts";
import { indentedJson } from "./json-text.ts";

/** The origin of a document. */
export interface DocumentSource {
  readonly url: string;
  readonly contentType: string | null;
}

/** Converts a document to Markdown. */
export function documentMarkdown(
  kind: Exclude<DocumentKind, "pdf">,
  bytes: Uint8Array,
  source: DocumentSource,
): Extracted {
  const text = decodeHtml(bytes, source.contentType);
  if (kind === "json") return plain(fence("json", indentedJson(text)));
  if (kind === "xml") return readFeed(text, source.url) ?? plain(fence("xml", text.trim()));
  return plain(text.trim());
}

function fence(language: string, text: string): string {
  const ticks = text.includes("```") ? "````" : "```";
  return `${ticks}${language}\n${text}\n${ticks}`;
}

function plain(markdown: string): Extracted {
  return {
    markdown,
    links: [],
    allLinks: "",
    metadata: { title: "", description: "", language: "" },
    needsScript: undefined,
  };
}
