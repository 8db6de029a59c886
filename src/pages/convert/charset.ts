// Decodes the bytes of an HTML page to text. The encoding is found in the same order as in browsers: byte order mark,
// Content-Type, <meta> in the first bytes, then a guess from the bytes. A declaration that the bytes clearly contradict is
// ignored. Never throws; bytes that cannot be decoded become U+FFFD.

import { lazily } from "../../base/lazily.ts";
import { lookUp } from "../../base/look-up.ts";

/** How many bytes are searched for <meta charset>. Browsers search 1024, but pages with long comments in their head need more. */
const PRESCAN_BYTES = 4096;
/** This many bytes are enough to measure the width of characters in markup. */
const WIDE_BYTES = 2048;
/** This many bytes are enough to tell UTF-8 and the East Asian encodings apart. */
const SNIFF_BYTES = 64 * 1024;

/** Decodes a page. `contentType` is the header's value, if any. */
export function decodeHtml(bytes: Uint8Array, contentType: string | null): string {
  const text = new TextDecoder(detectCharset(bytes, contentType) as Bun.Encoding).decode(bytes);
  // As in browsers, isolated zero bytes are not part of the text.
  const clean = text.includes("\0") ? text.replaceAll("\0", "") : text;
  return /^\s*application\/xhtml\+xml\b/i.test(contentType ?? "") ? closeEmpty(clean) : clean;
}

/**
 * Closes empty elements of XML. `<script/>` is complete in XML, but an HTML parser would take everything after it for the script.
 */
function closeEmpty(text: string): string {
  return text.replace(/<([a-z][\w:-]{0,40})\b([^<>]*)\/>/gi, (tag, name: string, rest: string) =>
    VOID.test(name) ? tag : `<${name}${rest}></${name}>`,
  );
}

/** Elements that are empty in HTML as well. */
const VOID = /^(?:area|base|br|col|embed|frame|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** The label of the encoding in which a page is decoded. */
export function detectCharset(bytes: Uint8Array, contentType: string | null): string {
  const wide = wideCharset(bytes, contentType);
  if (wide !== undefined) return wide;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  const sample = bytes.subarray(0, SNIFF_BYTES);
  for (const declared of [inHeader(contentType), known(byMeta(bytes))]) {
    if (declared === undefined) continue;
    // A page whose <meta> can be found as ASCII is not UTF-16, whatever it declares (HTML standard).
    const label = /^utf-16/.test(declared) ? "utf-8" : declared;
    if (label === "utf-8" ? !isBrokenUtf8(sample) : !isHiddenUtf8(sample, label)) return label;
  }
  return sniffer()(sample);
}

/** Most pages state their encoding. */
const sniffer = lazily(() => {
  const { sniffCharset }: typeof import("./charset-sniff.ts") = require("./charset-sniff.ts");
  return sniffCharset;
});

/**
 * Whether a page is in UTF-16: by its byte order mark, by a header that the bytes support, or because every second byte of the
 * markup is zero. Only the first bytes are examined.
 */
export function wideCharset(bytes: Uint8Array, contentType: string | null): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  const zeros = zeroShare(bytes.subarray(0, WIDE_BYTES));
  const declared = inHeader(contentType);
  // Other scripts than Latin have few zero bytes, but the brackets of the markup still have them. A single zero byte is an error.
  const shareMin = declared !== undefined && /^utf-16/.test(declared) ? 0.02 : 0.2;
  if (zeros.count < 2) return undefined;
  if (zeros.even > shareMin && zeros.odd < zeros.even / 4) return "utf-16be";
  if (zeros.odd > shareMin && zeros.even < zeros.odd / 4) return "utf-16le";
  return undefined;
}

function inHeader(contentType: string | null): string | undefined {
  return known(/charset\s*=\s*(?:["']\s*)?([^\s"';,]+)/i.exec(contentType ?? "")?.[1]);
}

/** Whether a page that is declared as UTF-8 contains no valid UTF-8 other than ASCII. */
function isBrokenUtf8(bytes: Uint8Array): boolean {
  let broken = 0;
  let other = 0;
  for (const [character] of new TextDecoder().decode(bytes, { stream: true }).matchAll(/[^\0-\x7f]/g))
    character === "\ufffd" ? broken++ : other++;
  return broken > other;
}

/**
 * Whether a page that is declared in another encoding is in fact UTF-8: every byte fits it. In other encodings that can only
 * happen for a few characters.
 */
function isHiddenUtf8(bytes: Uint8Array, label: string): boolean {
  let text: string;
  try {
    // Decoded as a stream, so that a character cut off at the end of the sample is not an error.
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
  return /<meta\b[^>]*?\bcharset\s*=\s*(?:["']\s*)?([^\s"'/>;]+)/i.exec(head)?.[1] ?? xml;
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
