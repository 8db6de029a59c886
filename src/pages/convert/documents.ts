// Converts readable documents that are not HTML to Markdown (plain text, JSON, XML and feeds). PDFs are read in pdf-reader.ts.

import { JSON_LEVELS_MAX, jsonExcess } from "../../base/json-depth.ts";
import { stringEnd } from "../../base/json-splice.ts";
import { decodeHtml } from "./charset.ts";
import type { DocumentKind } from "./document-kind.ts";
import type { Extracted } from "./extract.ts";
import { readFeed } from "./feed.ts";

/** The limit of characters after indenting a JSON document, several times the largest document as it is sent. */
const INDENT_CHARS_MAX = 64 * 1024 * 1024;

/** A document with more values is left as it was sent, as indenting it would take hundreds of megabytes. */
const JSON_VALUES_MAX = 500_000;

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
  if (kind === "json") return plain(fence("json", prettyJson(text)));
  if (kind === "xml") return readFeed(text, source.url) ?? plain(fence("xml", text.trim()));
  return plain(text.trim());
}

/**
 * Indents JSON, with one member or item per line. Text that is not JSON is returned unchanged, and so is JSON nested so deeply
 * that it would be almost all indentation.
 */
function prettyJson(text: string): string {
  const excess = jsonExcess(text, { levels: JSON_LEVELS_MAX, values: JSON_VALUES_MAX });
  if (excess !== undefined || isMostlyIndent(text)) return text.trim();
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text.trim();
  }
}

/** Whether indenting would add more than the limit. Each comma and each bracket counts as one line. */
function isMostlyIndent(text: string): boolean {
  let depth = 0;
  let chars = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text[at];
    if (code === '"') at = stringEnd(text, at) - 1;
    else if (code === "[" || code === "{") chars += 2 * ++depth;
    else if (code === "]" || code === "}") chars += 2 * --depth;
    else if (code === ",") chars += 2 * depth;
    if (chars > INDENT_CHARS_MAX) return true;
  }
  return false;
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
