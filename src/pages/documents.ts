// What is not HTML but can be read: PDF, plain text, JSON, XML and feeds, as Markdown.

import { decodeHtml } from "./charset.ts";
import { PageText, walk } from "./dom/node.ts";
import { parsePage } from "./dom/parse.ts";
import type { Extracted } from "./extract.ts";

/** Kinds that become Markdown on request. */
export type DocumentKind = "pdf" | "text" | "json" | "xml";

const ITEMS_MAX = 200;
const PDF_PAGES_MAX = 500;
const PDF_CHARS_MAX = 4 * 1024 * 1024;

/** What the type and the first bytes say the body is. */
export function kindOf(contentType: string | null, bytes: Uint8Array): "html" | DocumentKind | undefined {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const head = new TextDecoder("latin1")
    .decode(bytes.subarray(0, 1024))
    .replace(/^\xef\xbb\xbf/, "")
    .trimStart();
  if (head.startsWith("%PDF-")) return "pdf";
  if (type === "text/html" || type === "application/xhtml+xml") return isBinary(bytes) ? undefined : "html";
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype html|html)\b/i.test(head)) return "html";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (type === "text/xml" || type === "application/xml" || type.endsWith("+xml")) return "xml";
  if (type === "" || type === "application/octet-stream" || type === "unknown/unknown") {
    if (isBinary(bytes)) return undefined;
    return head.startsWith("<") ? (head.startsWith("<?xml") ? "xml" : "html") : "text";
  }
  return type.startsWith("text/") && !isBinary(bytes) ? "text" : undefined;
}

/** Bytes that no text has, early on (UTF-16 has zeros, and says so by its mark). */
function isBinary(bytes: Uint8Array): boolean {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return false;
  const head = bytes.subarray(0, 512);
  let zeros = 0;
  for (const byte of head) {
    if (byte === 0) zeros++;
    else if (byte < 9 || (byte > 13 && byte < 27)) return true;
  }
  // UTF-16 without a mark: every second byte of ASCII markup.
  return zeros > 0 && zeros < head.length * 0.4;
}

/** Where the document is from. */
export interface DocumentSource {
  readonly url: string;
  readonly contentType: string | null;
}

/** Reads a document. */
export async function documentMarkdown(
  kind: DocumentKind,
  bytes: Uint8Array,
  source: DocumentSource,
): Promise<Extracted> {
  if (kind === "pdf") return readPdf(bytes);
  const text = decodeHtml(bytes, source.contentType);
  if (kind === "json") return plain(fence("json", prettyJson(text)));
  if (kind === "xml") return readXml(text);
  return plain(text.trim());
}

async function readPdf(bytes: Uint8Array): Promise<Extracted> {
  const { extractText, getDocumentProxy, getMeta } = await import("unpdf");
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { text } = await extractText(document, { mergePages: false });
  const { info } = await getMeta(document).catch(() => ({ info: {} as Record<string, unknown> }));
  const body = text
    .slice(0, PDF_PAGES_MAX)
    .map((page) => page.trim())
    .filter((page) => page !== "")
    .join("\n\n")
    .slice(0, PDF_CHARS_MAX);
  const title = typeof info["Title"] === "string" ? info["Title"] : "";
  return plain(body, title);
}

/** Feeds as a list of their entries, other XML as it is. */
function readXml(text: string): Extracted {
  // The HTML parser knows no CDATA: its content becomes escaped text first.
  const escaped = text.replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, (_, inner: string) =>
    inner.replace(/&/g, "&amp;").replace(/</g, "&lt;"),
  );
  const document = parsePage(escaped);
  const body = document.body;
  const items = [...body.getElementsByTagName("item"), ...body.getElementsByTagName("entry")].slice(0, ITEMS_MAX);
  if (items.length === 0) return plain(fence("xml", text.trim()));
  const lines: string[] = [];
  for (const item of items) {
    const field = (...names: string[]) => {
      for (const name of names) {
        const found = item.getElementsByTagName(name)[0];
        if (found !== undefined && found.textContent.trim() !== "") return clean(found.textContent);
      }
      return "";
    };
    const title = field("title");
    const date = field("pubdate", "published", "updated", "dc:date");
    const summary = field("description", "summary", "content", "content:encoded");
    if (title === "" && summary === "") continue;
    lines.push(
      `## ${title === "" ? "Untitled" : title}`,
      ...(date === "" ? [] : [date]),
      ...(summary === "" ? [] : [summary]),
    );
  }
  return plain(lines.join("\n\n"), document.title);
}

function clean(text: string): string {
  const body = parsePage(text).body;
  let out = "";
  for (const node of walk(body)) if (node instanceof PageText) out += `${node.data} `;
  return out.replace(/\s+/g, " ").trim();
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text.trim();
  }
}

function fence(language: string, text: string): string {
  const ticks = text.includes("```") ? "````" : "```";
  return `${ticks}${language}\n${text}\n${ticks}`;
}

function plain(markdown: string, title = ""): Extracted {
  return {
    markdown,
    links: [],
    allLinks: [],
    metadata: { title, description: "", language: "" },
    needsScript: undefined,
  };
}
