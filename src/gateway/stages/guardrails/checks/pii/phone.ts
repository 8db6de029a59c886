// Telephone numbers: in international form, separated as such numbers are, or after a word that names one. A row of digits alone may
// be anything.

import { type Found, openTail, type TextCheck } from "../check.ts";

const GAP = "[ ./()\\u00a0\\u2010-\\u2013-]";
const RUN = new RegExp(`(?<![\\p{L}\\p{N}_])(?<!\\d[.,:/ -]|[#$€£§])(?:\\+|\\()?\\(?\\d(?:${GAP}{0,3}\\d){4,16}`, "gu");
const TAIL = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?<!\\d[.,:/ -]|[#$€£§])(?:[+(]{1,2}|(?:\\+|\\()?\\(?\\d(?:${GAP}{0,3}\\d){0,16}${GAP}{0,3}[,:]?)$`,
  "gu",
);
/** What may not follow a number. */
const MORE = /[\p{L}\p{N}_%€$£]|[.,:/-]\d/uy;

/** Words that name a number, before it: at most a few characters stand between. */
const NAMED =
  /(?:\b(?:tele?(?:fon[oae]?|phone|foon)?s?|tél(?:éphone)?|teléfono|tlf|ph(?:one)?|call(?: me| us)?|mobil[ei]?|mobiel|móvil|cell(?:ulare|ular)?|celular|portable|handy(?:nummer)?|rufnummer|telefonnummer|fax|whatsapp|sms|telemóvel|telefone|komórka|numer telefonu|mob)|(?:тел(?:ефон)?|моб(?:ильный)?|電話|携帯|电话|電話番号|手机|전화|फ़ोन))[^\p{N}\n]{0,20}$/iu;
const NAMED_CHARS = 48;

/** Forms without a word before them that hardly anything else has. */
const SEPARATED: readonly RegExp[] = [
  /^\(0?\d{1,4}\)[ -]?\d{2,5}(?:[ .-]?\d{2,5}){1,3}$/,
  /^(?:1[ .-])?\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4}$/,
  /^0\d{1,5}[ /.\u00a0-]\d{2,8}(?:[ .\u00a0-]\d{2,5}){0,4}$/,
  /^[6-9]\d{2}([ .-])\d{2}\1\d{2}\1\d{2}$/,
  /^1[3-9]\d([ -])\d{4}\1\d{4}$/,
  /^\d{2} 9\d{4}[ -]\d{4}$/,
];
/** A gap that no number has that is told by its form alone. */
const WIDE_GAP = /[ \u00a0]{2}/;
const DATE = /^(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:\d{4}|\d{2}))(?!\d|[-./]\d)/;
/** What stands before a row of digits that is a part of a longer name, as in `10.1000/abc.0123.45678`. */
const WITHIN = /[\p{L}\p{N}_][./-]$/u;
const DOTTED = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** The check. */
export const phoneCheck: TextCheck = {
  longest: 80,
  next(text, from) {
    RUN.lastIndex = from;
    for (let found = RUN.exec(text); found !== null; found = RUN.exec(text)) {
      const phone = phoneAt(text, found);
      if (phone !== undefined) return phone;
      RUN.lastIndex = found.index + 1;
    }
    return undefined;
  },
  open(text, from) {
    return openTail(TAIL, text, { from, longest: this.longest });
  },
};

/** The longest beginning of a row of digits and gaps that is a number. */
function phoneAt(text: string, { 0: run, index }: RegExpExecArray): Found | undefined {
  let isNamed: boolean | undefined;
  // Rows of figures in columns are no numbers of their own, and every figure in them begins a row.
  const wide = WIDE_GAP.exec(run)?.index;
  if (wide !== undefined && !/^\(?\+|^00/.test(run)) {
    isNamed = NAMED.test(text.slice(Math.max(0, index - NAMED_CHARS), index));
  }
  for (let length = isNamed === false ? wide! : run.length; length > 6; length--) {
    if (!/\d/.test(run[length - 1]!)) continue;
    MORE.lastIndex = index + length;
    if (MORE.test(text)) continue;
    isNamed ??= NAMED.test(text.slice(Math.max(0, index - NAMED_CHARS), index));
    if (isPhone(run.slice(0, length), isNamed, WITHIN.test(text.slice(Math.max(0, index - 3), index))))
      return { start: index, end: index + length, label: "PHONE" };
  }
  return undefined;
}

function isPhone(text: string, isNamed: boolean, isWithin: boolean): boolean {
  const digits = text.replace(/\D/g, "");
  if (digits.length < 6 || digits.length > 15 || /^0+$/.test(digits)) return false;
  if (/^\(?\+/.test(text)) return /^[1-9]/.test(digits) && digits.length >= 8;
  if (/^00[1-9]/.test(text) && digits.length >= 11 && (isNamed || /[ ./-]/.test(text))) return true;
  if (DATE.test(text) || DOTTED.test(text)) return false;
  if (isNamed) return digits.length >= 6;
  return digits.length >= 9 && !isWithin && SEPARATED.some((form) => form.test(text));
}
