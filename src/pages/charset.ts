// Bytes of an HTML page → text, by the order browsers use: byte order mark, Content-Type, <meta> in the first bytes,
// then what the bytes look like. Never throws; what cannot be read becomes U+FFFD.

/** Where <meta charset> is looked for. Browsers read 1024 bytes; pages with long head comments need more. */
const PRESCAN_BYTES = 4096;
/** Enough to tell UTF-8 and the East Asian encodings apart. */
const SNIFF_BYTES = 64 * 1024;

/** Decodes a page. `contentType` is the header's value, if any. */
export function decodeHtml(bytes: Uint8Array, contentType: string | null): string {
  return decoderFor(detectCharset(bytes, contentType)).decode(bytes);
}

/** The label of the encoding to decode with. */
export function detectCharset(bytes: Uint8Array, contentType: string | null): string {
  const marked = byMark(bytes);
  if (marked !== undefined) return marked;
  const header = known(/charset\s*=\s*["']?\s*([^\s"';,]+)/i.exec(contentType ?? "")?.[1]);
  if (header !== undefined) return header;
  const declared = known(byMeta(bytes));
  // A page that can be read as ASCII far enough to find a <meta> is not UTF-16, whatever it says (HTML standard).
  if (declared !== undefined) return /^utf-16/i.test(declared) ? "utf-8" : declared;
  return sniff(bytes);
}

function byMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return undefined;
}

function byMeta(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, PRESCAN_BYTES)).replace(/<!--[\s\S]*?-->/g, "");
  const xml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([^"']+)/i.exec(head)?.[1];
  return /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(head)?.[1] ?? xml;
}

function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  const name = ALIASES[label.toLowerCase()] ?? label;
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

/** Byte patterns of encodings whose text has none of the others' marks. */
function sniff(all: Uint8Array): string {
  const bytes = all.subarray(0, SNIFF_BYTES);
  const zeros = zeroShare(bytes);
  if (zeros.even > 0.2 && zeros.odd < 0.05) return "utf-16be";
  if (zeros.odd > 0.2 && zeros.even < 0.05) return "utf-16le";
  if (isUtf8(bytes)) return "utf-8";
  const candidates = [
    "shift_jis",
    "euc-jp",
    "gb18030",
    "big5",
    "euc-kr",
    "windows-1251",
    "windows-1250",
    "windows-1252",
  ];
  let best = "windows-1252";
  let bestScore = -1;
  for (const label of candidates) {
    const score = plausibility(label, bytes);
    if (score > bestScore + 1e-9) {
      best = label;
      bestScore = score;
    }
  }
  return best;
}

function zeroShare(bytes: Uint8Array): { even: number; odd: number } {
  let even = 0;
  let odd = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) i % 2 === 0 ? even++ : odd++;
  const half = Math.max(1, bytes.length / 2);
  return { even: even / half, odd: odd / half };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // Streaming: a character cut off at the end of the sample is no fault.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** How much text decoded so looks like text: letters of the scripts that use the encoding, no strays. */
function plausibility(label: string, bytes: Uint8Array): number {
  const text = decoderFor(label)
    .decode(bytes)
    .replace(/<[^>]*>/g, " ");
  let foreign = 0;
  let good = 0;
  let before = 0;
  for (const character of text.slice(0, 20_000)) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0x80) {
      foreign++;
      good += worth(label, code);
    }
    // Cyrillic words have no Latin letters in them: "d\u0439j\u0430" is French read wrongly.
    if (
      label === "windows-1251" &&
      isLatin(before) !== isLatin(code) &&
      isCyrillic(before) !== isCyrillic(code) &&
      !isSpace(before) &&
      !isSpace(code)
    )
      good -= 1;
    before = code;
  }
  if (foreign === 0) return label === "windows-1252" ? 0 : -1;
  // Two bytes to a character: the fewer characters explain as much.
  return good / foreign;
}

function worth(label: string, code: number): number {
  if (code === 0xfffd || (code >= 0x80 && code < 0xa0) || (code >= 0xe000 && code < 0xf900)) return -4;
  switch (label) {
    case "shift_jis":
    case "euc-jp":
      // Kana is what tells Japanese from Chinese; half-width kana is what misread Latin text looks like.
      return code >= 0x3040 && code <= 0x30ff
        ? 1.4
        : isHan(code)
          ? 0.7
          : code >= 0xff61 && code <= 0xff9f
            ? -0.5
            : code >= 0x3000
              ? 0.6
              : -0.5;
    case "gb18030":
    case "big5":
      return isCommonHan(code)
        ? 0.95
        : isHan(code)
          ? 0.3
          : code >= 0x3000 && code <= 0x303f
            ? 0.8
            : code >= 0xff00
              ? 0.7
              : -0.5;
    case "euc-kr":
      return code >= 0xac00 && code <= 0xd7a3 ? 1.1 : code >= 0x3000 && code <= 0x303f ? 0.5 : -0.3;
    case "windows-1251":
      return (code >= 0x430 && code <= 0x44f) || code === 0x451 ? 1 : code >= 0x410 && code <= 0x42f ? 0.4 : -0.6;
    case "windows-1250":
      return /[ąćęłńśźżěščřžýáíéúůťďňőűöüóđ„”–…]/i.test(String.fromCodePoint(code)) ? 0.75 : -0.8;
    default:
      return /[àâäáãåæçèéêëìíîïñòóôöõøœùúûüÿß«»„“”‘’–—…·°€£©®]/i.test(String.fromCodePoint(code)) ? 0.78 : -0.3;
  }
}

function isLatin(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isCyrillic(code: number): boolean {
  return code >= 0x400 && code <= 0x4ff;
}

function isSpace(code: number): boolean {
  return code <= 0x20;
}

function isHan(code: number): boolean {
  return code >= 0x4e00 && code <= 0x9fff;
}

/** The most frequent characters of Chinese: misread text hits rare ones. */
const COMMON_HAN = new Set(
  "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它與從時來國們會這個為過發後裡經麼學現當沒動麵還進樣開實無"
    .split("")
    .map((character) => character.codePointAt(0) ?? 0),
);

function isCommonHan(code: number): boolean {
  return COMMON_HAN.has(code);
}

function decoderFor(label: string): { decode(bytes: Uint8Array): string } {
  return new TextDecoder(label as Bun.Encoding);
}
