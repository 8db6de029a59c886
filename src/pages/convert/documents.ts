// Converts readable documents that are not HTML to Markdown: plain text, JSON, XML and feeds; and tells what kind some bytes
// are. For PDFs see pdf-reader.ts.

import { JSON_LEVELS_MAX, jsonExcess } from "../../base/json-depth.ts";
import { stringEnd } from "../../base/json-splice.ts";
import { decodeHtml, wideCharset } from "./charset.ts";
import type { Extracted } from "./extract.ts";
import { readFeed } from "./feed.ts";

/** Kinds that become Markdown on request. */
export type DocumentKind = "pdf" | "text" | "json" | "xml";

/** Characters of a JSON document before it is indented: several times the largest document as sent. */
const INDENT_CHARS_MAX = 64 * 1024 * 1024;

/** Indenting more takes hundreds of megabytes; such a document stays as it was sent. */
const JSON_VALUES_MAX = 500_000;

/** Bytes examined. */
const HEAD_BYTES = 1024;
/** For a page declared as HTML: many real ones contain single invalid bytes, and browsers skip them. */
const STRAY_SHARE_MAX = 0.02;

/** Skips leading comments. The pattern matches each in one way only: alternatives would double the work with each comment. */
const BEGINS_AS_HTML = /^(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype html|html)\b/i;

/** The kind of body that the type and the first bytes indicate. */
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
    // An empty body, as with a 204, is an empty page.
    if (head === "" || head.startsWith("<")) return head.startsWith("<?xml") ? "xml" : "html";
    return "text";
  }
  return type.startsWith("text/") && strays <= STRAY_SHARE_MAX ? "text" : undefined;
}

/** Share of bytes that no text contains. */
function strayShare(head: Uint8Array): number {
  let strays = 0;
  for (const byte of head) if (byte < 9 || (byte > 13 && byte < 27)) strays++;
  return strays / Math.max(1, head.length);
}

/** Where the document is from. */
export interface DocumentSource {
  readonly url: string;
  readonly contentType: string | null;
}

/** Reads a document. */
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

/** One member or item per line; unchanged if it is not JSON, or nested so deeply that it would be almost all indentation. */
function prettyJson(text: string): string {
  const excess = jsonExcess(text, { levels: JSON_LEVELS_MAX, values: JSON_VALUES_MAX });
  if (excess !== undefined || isMostlyIndent(text)) return text.trim();
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text.trim();
  }
}

/** Whether indentation adds more than the limit. Counts a line for each comma and bracket. */
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
