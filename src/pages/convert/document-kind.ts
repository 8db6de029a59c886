// Determines the kind of a document by its type and its first bytes. This is separate from the code that reads documents and runs
// in threads, because the event loop only needs to know the kind.

import { wideCharset } from "./charset.ts";

/** The kinds of documents that are converted to Markdown on request. */
export type DocumentKind = "pdf" | "text" | "json" | "xml";

/** The number of bytes that are examined. */
const HEAD_BYTES = 1024;
/**
 * Maximum share of stray bytes in a page that is declared as HTML. Many real pages contain single invalid bytes, which browsers
 * skip.
 */
const STRAY_SHARE_MAX = 0.02;

/**
 * Matches the start of an HTML document after any comments. There is only one way to match each comment, because alternatives
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
    // An empty body, as with status 204, counts as an empty page.
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
