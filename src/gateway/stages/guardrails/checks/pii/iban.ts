// International bank account numbers: by the length that their country gives them, and their check digits (ISO 13616).

import { entryOf } from "../../../../../base/json-object.ts";
import { openTail, type TextCheck } from "../check.ts";

/** The characters of a number by country, as the registry of SWIFT states them. */
const LENGTHS: Readonly<Record<string, number>> = {
  ...{ AD: 24, AE: 23, AL: 28, AT: 20, AZ: 28, BA: 20, BE: 16, BG: 22, BH: 22, BI: 27, BR: 29, BY: 28, CH: 21, CR: 22 },
  ...{ CY: 28, CZ: 24, DE: 22, DJ: 27, DK: 18, DO: 28, EE: 20, EG: 29, ES: 24, FI: 18, FK: 18, FO: 18, FR: 27, GB: 22 },
  ...{ GE: 22, GI: 23, GL: 18, GR: 27, GT: 28, HN: 28, HR: 21, HU: 28, IE: 22, IL: 23, IQ: 23, IS: 26, IT: 27, JO: 30 },
  ...{ KW: 30, KZ: 20, LB: 28, LC: 32, LI: 21, LT: 20, LU: 20, LV: 21, LY: 25, MC: 27, MD: 24, ME: 22, MK: 19, MN: 20 },
  ...{ MR: 27, MT: 31, MU: 30, NI: 28, NL: 18, NO: 15, OM: 23, PK: 24, PL: 28, PS: 29, PT: 25, QA: 29, RO: 24, RS: 22 },
  ...{ RU: 33, SA: 24, SC: 31, SD: 18, SE: 24, SI: 19, SK: 24, SM: 27, SO: 23, ST: 25, SV: 28, TL: 23, TN: 24, TR: 26 },
  ...{ UA: 29, VA: 22, VG: 24, XK: 20, YE: 30 },
};
const COUNTRIES = Object.keys(LENGTHS).join("|");
const FORM = new RegExp(
  `(?<![\\p{L}\\p{N}_])(${COUNTRIES})\\d\\d(?:[A-Z\\d]{11,30}|([ \\u00a0-])[A-Z\\d]{4}(?:\\2[A-Z\\d]{4}){1,6}(?:\\2[A-Z\\d]{1,4})?)`,
  "giu",
);
const TAIL = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:[A-Z]|(?:${COUNTRIES})(?:\\d?|\\d\\d[A-Z\\d]{0,30}|\\d\\d([ \\u00a0-])(?:[A-Z\\d]{4}\\1){0,7}[A-Z\\d]{0,4}))$`,
  "giu",
);
const END = /[\p{L}\p{N}_]/uy;

/** The check. */
export const ibanCheck: TextCheck = {
  longest: 46,
  next(text, from) {
    FORM.lastIndex = from;
    for (let found = FORM.exec(text); found !== null; found = FORM.exec(text)) {
      const length = entryOf(LENGTHS, (found[1] ?? "").toUpperCase()) ?? 0;
      const end = endOf(found[0], length);
      END.lastIndex = found.index + (end ?? 0);
      if (end !== undefined && !END.test(text) && isIban(found[0].slice(0, end))) {
        return { start: found.index, end: found.index + end, label: "IBAN" };
      }
      FORM.lastIndex = found.index + 1;
    }
    return undefined;
  },
  open(text, from) {
    return openTail(TAIL, text, { from, longest: this.longest });
  },
};

/** Where the given number of letters and digits ends. */
function endOf(text: string, length: number): number | undefined {
  let charsLeft = length;
  for (let at = 0; at < text.length; at++) {
    if (/[A-Za-z\d]/.test(text[at]!)) charsLeft--;
    if (charsLeft === 0) return at + 1;
  }
  return undefined;
}

function isIban(text: string): boolean {
  const plain = text.replace(/[^A-Za-z\d]/g, "").toUpperCase();
  let rest = 0;
  for (const char of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
