// Writes superscripts and subscripts in text without markup. Left as they are, 10 to the 6th power would become 106, a price of
// 12 euros and 50 cents 1250, and a note mark would add a digit to the number before it.

/** A superscript or subscript, with the text around it in the same line. */
export interface Raised {
  readonly tag: "sup" | "sub";
  /** Its content in plain text. */
  readonly text: string;
  readonly before: string;
  readonly after: string;
  /** Whether it is known to refer to a note. */
  readonly isMark?: boolean;
}

/** Signs and suffixes that can be written as normal text: "1st", "Brand™". */
const FLAT_AFTER_DIGIT = /^(?:st|nd|rd|th|er|ère|ème|nde|º|ª)$/i;
const FLAT = /^[®©™℠º°ª′″']$/;
/** Signs that only refer to notes, and numbers in square brackets. */
const MARK = /^(?:[*†‡§¶#]+|\[[^\]]{1,12}\](?:\s*(?:,\s*)?\[[^\]]{1,12}\])*)$/;
const NUMBERS = /^\d{1,3}(?:\s*[,–-]\s*\d{1,3})*$/;
/** Texts after which a raised number is a note mark, as neither a year nor the end of a sentence or of a long word has a power. */
const BEFORE_MARK = /(?:^|[^\p{N}\p{L}.,×·*^/+=−-])(?:1[5-9]|20)\d\d$|[.,;:!?”"’»]$|\p{Ll}{4}$/u;
/** Long words that have powers: units and functions. */
const HAS_POWER = /(?:met(?:er|re)|feet|foot|inch|yard|mile|second|acre|sinh?|cosh?|tanh?|log)e?s?$/i;
const MONEY = "(?:\\p{Sc}|\\b(?:USD|EUR|GBP|CHF|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł|Kč|Fr)\\b\\.?)";
const MONEY_BEFORE = new RegExp(`${MONEY}\\s*\\d[\\d.,' \u00a0]*$`, "u");
const MONEY_AFTER = new RegExp(`^\\s*${MONEY}`, "u");
const ABOVE = signs("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ");
const BELOW = signs("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎");

function signs(plain: string, set: string): ReadonlyMap<string, string> {
  const shown = [...set];
  return new Map([...plain].map((sign, at) => [sign, shown[at] ?? sign]));
}

/** Whether the text is the hundredths of the amount of money around it. */
export function isCents({ tag, text, before, after }: Raised): boolean {
  if (/^\d/.test(after)) return false;
  const isPair = tag === "sup" && /^\d\d$/.test(text.trim()) && /\d$/.test(before) && !/[.,]\d+$/.test(before);
  return isPair && (MONEY_BEFORE.test(before) || MONEY_AFTER.test(after));
}

/** Whether the text is the part of a number after its point, with the point. */
function isDecimals({ text, after }: Raised): boolean {
  return /^[.,]\d+$/.test(text.trim()) && !/^\d/.test(after);
}

/** The plain text of a superscript or subscript; "" for the mark of a note. */
export function raisedText(raised: Raised): string {
  const { tag, before, isMark = false } = raised;
  const text = raised.text.trim();
  if (text === "" || isMark) return "";
  if (tag === "sup") {
    if (MARK.test(text)) return "";
    if (FLAT.test(text)) return text;
    if (/\d$/.test(before) && (FLAT_AFTER_DIGIT.test(text) || isDecimals(raised))) return text;
    if (isCents(raised)) return `.${text}`;
    if (NUMBERS.test(text) && BEFORE_MARK.test(before) && !HAS_POWER.test(before)) return "";
  }
  return notation(raised);
}

/**
 * A superscript or subscript as Unicode characters, or in a programmer's notation. After a digit it is the latter, since readers
 * that simplify Unicode characters would join the digits.
 */
export function notation({ tag, text, before, after }: Raised): string {
  const plain = text.trim();
  const table = tag === "sup" ? ABOVE : BELOW;
  if (!/[\p{N}^_]$/u.test(before) && [...plain].every((sign) => table.has(sign)))
    return [...plain].map((sign) => table.get(sign)).join("");
  const isBare = /^[+-]?[\p{L}\p{N}]+$/u.test(plain) && !/^[\p{L}\p{N}]/u.test(after);
  return `${tag === "sup" ? "^" : "_"}${isBare ? plain : `(${plain})`}`;
}

const BELOW_SIGNS = new Map([...BELOW].map(([plain, shown]) => [shown, plain]));
const ABOVE_SIGNS = new Map([...ABOVE].map(([plain, shown]) => [shown, plain]));

/**
 * A text with all superscripts and subscripts in one notation, for comparisons: `10<sup>6</sup>`, `10⁶` and `10^6` are equal, and
 * none of them is 106.
 */
export function comparableRaised(text: string): string {
  return text
    .replace(/<(sup|sub)>([^<>]{0,200})<\/\1>/gi, (_, tag: string, inner: string) =>
      inner.trim() === "" ? "" : `${/sup/i.test(tag) ? "^" : "_"}${inner.trim()}`,
    )
    .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ]+/g, (found) => `^${[...found].map((sign) => ABOVE_SIGNS.get(sign) ?? sign).join("")}`)
    .replace(/[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎]+/g, (found) => `_${[...found].map((sign) => BELOW_SIGNS.get(sign) ?? sign).join("")}`);
}

/** Markdown with its superscripts and subscripts as text without markup, escaped for Markdown. */
export function withoutRaisedMarkup(markdown: string): string {
  const shown = markdown.replace(
    /<(sup|sub)>([^<>]{0,200})<\/\1>/gi,
    (whole, name: string, inner: string, at: number) => {
      const isMark = /^(?:\[[^\]]{1,40}\]\([^()\s]*#[^()\s]*\)[\s,]*)+$/.test(inner);
      const tag = name.toLowerCase() === "sup" ? "sup" : "sub";
      const before = markdown.slice(Math.max(0, at - 40), at).replace(/[*_~`\]]+$/, "");
      const after = markdown.slice(at + whole.length, at + whole.length + 20).replace(/^[*_~`[]+/, "");
      const text = raisedText({ tag, text: inner, before, after, isMark });
      return text === "" ? LEFT_OUT : text.replace(/[_*~`]/g, "\\$&");
    },
  );
  return shown.replace(/(?<=[\p{L}\p{N}][*_~`]{0,4})\0+(?=[*_~`]{0,4}[\p{L}\p{N}])/gu, " ").replaceAll(LEFT_OUT, "");
}

/** Stands for a mark until it is known whether the texts around it must be kept apart. */
const LEFT_OUT = "\0";
