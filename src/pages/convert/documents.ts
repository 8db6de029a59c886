// Converts readable documents that are not HTML to Markdown (plain text, JSON, XML and feeds), and tells the kind of a body. PDFs
// are read in pdf-reader.ts.

import { JSON_LEVELS_MAX, jsonExcess } from "../../base/json-depth.ts";
import { stringEnd } from "../../base/json-splice.ts";
import { decodeHtml, wideCharset } from "./charset.ts";
import type { Extracted } from "./extract.ts";
import { readFeed } from "./feed.ts";

/** Kinds of documents that are converted to Markdown on request. */
export type DocumentKind = "pdf" | "text" | "json" | "xml";

/** The limit of characters after indenting a JSON document, several times the largest document as it is sent. */
const INDENT_CHARS_MAX = 64 * 1024 * 1024;

/** A document with more values is left as it was sent, as indenting it would take hundreds of megabytes. */
const JSON_VALUES_MAX = 500_000;

/** How many bytes are examined. */
const HEAD_BYTES = 1024;
/** For a page declared as HTML: many real pages contain single invalid bytes, which browsers skip. */
const STRAY_SHARE_MAX = 0.02;

/**
 * Matches the start of an HTML document after any comments. The pattern matches each comment in one way only, as alternatives
 * would double the work with each comment.
 */
const BEGINS_AS_HTML = /^(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype html|html)\b/i;

/** The kind of a body, by its declared type and its first bytes. */
export function documentKindOf(contentType: string | null, bytes: Uint8Array): "html" | DocumentKind | undefined {
  const type = (contentType ?? "").split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? "";
  const wide = wideCharset(bytes, contentType);
  const head = new TextDecoder(wide ?? "latin1")
    .decode(bytes.subarray(0, HEAD_BYTES), { stream: true })
    .replace(/^(?:\xef\xbb\xbf|\ufeff)/, "")
    .trimStart();
  const strays = wide === undefined ? strayShare(bytes.subarray(0, HEAD_BYTES)) : 0;
  if (head.startsWith("%PDF-")) return "pdf";
  if (type === "text/html" || type === "application/xhtml+xml") return strays > STRAY_SHARE_MAX ? undefined : "html";
  if (BEGINS_AS_HTML.test(head)) return "html";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (type === "text/xml" || type === "application/xml" || type.endsWith("+xml")) return "xml";
  if (type === "" || type === "application/octet-stream" || type === "unknown/unknown") {
    if (strays > 0 || (wide !== undefined && !head.startsWith("<"))) return undefined;
    // An empty body, as with status 204, is an empty page.
    if (head === "" || head.startsWith("<")) return head.startsWith("<?xml") ? "xml" : "html";
    return "text";
  }
  return type.startsWith("text/") && strays <= STRAY_SHARE_MAX ? "text" : undefined;
}

/** The share of bytes that do not occur in text. */
function strayShare(head: Uint8Array): number {
  let strays = 0;
  for (const byte of head) if (byte < 9 || (byte > 13 && byte < 27)) strays++;
  return strays / Math.max(1, head.length);
}

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
