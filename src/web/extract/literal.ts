// Whether a value stands as it is in the words that it is quoted with. One that does not may be derived, as a sum or a
// summary, or made up: its reader should know. Pure.

const WORD = /[\p{L}\p{N}]+/gu;

/** True for values that the quotes hold, and for those that never stand literally: true, false, null, objects. */
export function isLiteral(value: unknown, quotes: readonly string[]): boolean {
  if (typeof value === "number") return quotes.some((quote) => numbersIn(quote).has(Math.abs(value)));
  if (typeof value === "string") {
    // Scripts without spaces have no words to compare.
    const plain = plainText(value);
    if (quotes.some((quote) => plainText(quote).includes(plain))) return true;
    const words = new Set(quotes.flatMap(wordsOf));
    const own = wordsOf(value);
    return own.length === 0 || own.some((word) => words.has(word));
  }
  if (Array.isArray(value)) return value.every((one) => isLiteral(one, quotes));
  return true;
}

function plainText(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

function wordsOf(text: string): string[] {
  // Words of a letter or two are in every sentence; numbers are not.
  const words = plainText(text).match(WORD) ?? [];
  const telling = words.filter((word) => word.length > 2 || /\p{N}/u.test(word) || /[^\u0000-\u024f]/.test(word));
  return telling.length > 0 ? telling : words;
}

/** The numbers of a text, in each way that its points and commas may be meant. */
function numbersIn(text: string): Set<number> {
  const found = new Set<number>();
  for (const [written] of text.normalize("NFKC").matchAll(/\d[\d.,'’\u00a0\u202f ]*/g)) {
    const plain = written.replace(/['’\u00a0\u202f]/g, "").replace(/[.,\s]+$/, "");
    for (const one of [plain, ...plain.split(" ")])
      for (const reading of [one.replace(/[, ]/g, ""), one.replace(/[. ]/g, "").replace(",", ".")]) {
        const number = Number(reading);
        if (reading !== "" && Number.isFinite(number)) found.add(number);
      }
  }
  return found;
}
