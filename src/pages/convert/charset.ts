// Bytes of an HTML page → text, by the order browsers use: byte order mark, Content-Type, <meta> in the first bytes,
// then what the bytes look like. A declaration that the bytes plainly contradict is skipped. Never throws; what cannot
// be read becomes U+FFFD.

import { lookUp } from "../../base/look-up.ts";
import { sniffCharset } from "./charset-sniff.ts";

/** Where <meta charset> is looked for. Browsers read 1024 bytes; pages with long head comments need more. */
const PRESCAN_BYTES = 4096;
/** Enough to measure the width of characters in markup. */
const WIDE_BYTES = 2048;
/** Enough to tell UTF-8 and the East Asian encodings apart. */
const SNIFF_BYTES = 64 * 1024;

/** Decodes a page. `contentType` is the header's value, if any. */
export function decodeHtml(bytes: Uint8Array, contentType: string | null): string {
  const text = new TextDecoder(detectCharset(bytes, contentType) as Bun.Encoding).decode(bytes);
  // As in browsers, an isolated zero byte is not text.
  const clean = text.includes("\0") ? text.replaceAll("\0", "") : text;
  return /^\s*application\/xhtml\+xml\b/i.test(contentType ?? "") ? closeEmpty(clean) : clean;
}

/** In XML `<script/>` is whole; to an HTML parser it would begin a script that takes in all the rest. */
function closeEmpty(text: string): string {
  return text.replace(/<([a-z][\w:-]{0,40})\b([^<>]*)\/>/gi, (tag, name: string, rest: string) =>
    VOID.test(name) ? tag : `<${name}${rest}></${name}>`,
  );
}

/** Elements that are empty in HTML too. */
const VOID = /^(?:area|base|br|col|embed|frame|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** The label of the encoding to decode with. */
export function detectCharset(bytes: Uint8Array, contentType: string | null): string {
  const wide = wideCharset(bytes, contentType);
  if (wide !== undefined) return wide;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  const sample = bytes.subarray(0, SNIFF_BYTES);
  for (const declared of [inHeader(contentType), known(byMeta(bytes))]) {
    if (declared === undefined) continue;
    // A page that can be read as ASCII far enough to find a <meta> is not UTF-16, whatever it says (HTML standard).
    const label = /^utf-16/.test(declared) ? "utf-8" : declared;
    if (label === "utf-8" ? !isBrokenUtf8(sample) : !isHiddenUtf8(sample, label)) return label;
  }
  return sniffCharset(sample);
}

/** UTF-16 by its mark, by a header that is right, or by every second byte of markup being zero. Looks at few bytes. */
export function wideCharset(bytes: Uint8Array, contentType: string | null): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  const zeros = zeroShare(bytes.subarray(0, WIDE_BYTES));
  const declared = inHeader(contentType);
  // Other scripts have few zero bytes, but the brackets of markup have them; a single zero byte is an error.
  const shareMin = declared !== undefined && /^utf-16/.test(declared) ? 0.02 : 0.2;
  if (zeros.count < 2) return undefined;
  if (zeros.even > shareMin && zeros.odd < zeros.even / 4) return "utf-16be";
  if (zeros.odd > shareMin && zeros.even < zeros.odd / 4) return "utf-16le";
  return undefined;
}

function inHeader(contentType: string | null): string | undefined {
  return known(/charset\s*=\s*["']?\s*([^\s"';,]+)/i.exec(contentType ?? "")?.[1]);
}

/** Declared as UTF-8, but only ASCII can be read as such. */
function isBrokenUtf8(bytes: Uint8Array): boolean {
  let broken = 0;
  let other = 0;
  for (const [character] of new TextDecoder().decode(bytes, { stream: true }).matchAll(/[^\0-\x7f]/g))
    character === "\ufffd" ? broken++ : other++;
  return broken > other;
}

/** Declared as another encoding, although every byte fits UTF-8: in other encodings that happens for a few characters at most. */
function isHiddenUtf8(bytes: Uint8Array, label: string): boolean {
  let text: string;
  try {
    // Streaming: a character cut off at the end of the sample is no fault.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return false;
  }
  const least = /^(?:gb|big5|euc|shift|iso-2022)/.test(label) ? 16 : 2;
  let characters = 0;
  for (const _ of text.matchAll(/[^\0-\x7f]/g)) if (++characters >= least) return true;
  return false;
}

function zeroShare(bytes: Uint8Array): { even: number; odd: number; count: number } {
  let even = 0;
  let odd = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) i % 2 === 0 ? even++ : odd++;
  const half = Math.max(1, bytes.length / 2);
  return { even: even / half, odd: odd / half, count: even + odd };
}

function byMeta(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, PRESCAN_BYTES)).replace(/<!--[\s\S]*?-->/g, "");
  const xml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([^"']+)/i.exec(head)?.[1];
  return /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(head)?.[1] ?? xml;
}

function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  const name = lookUp(ALIASES, label.toLowerCase()) ?? label;
  try {
    return new TextDecoder(name as Bun.Encoding).encoding;
  } catch {
    return undefined;
  }
}

/** Labels that are common on pages and missing from the standard's list. */
const ALIASES: Readonly<Record<string, string>> = {
  utf8mb4: "utf-8",
  "utf-8lias": "utf-8",
  "cp-1251": "windows-1251",
  "win-1251": "windows-1251",
  "windows-31j": "shift_jis",
  "x-gbk": "gbk",
};
