// Numbers of payment cards: by their length, their first digits, the way in which they are grouped, and Luhn's check digit.

import { type Found, openTail, type TextCheck } from "../check.ts";

const START = /(?<![\p{L}\p{N}_])(?<!\d[.,])\d/gu;
/** Four groups of four and up to three more digits, groups of 4, 6 and 5, or of 4, 6 and 4; or no groups. */
const FORMS = [
  /\d{4}([ .\u00a0-])\d{4}\1\d{4}\1\d{4}\1\d{3}/y,
  /\d{4}([ .\u00a0-])\d{4}\1\d{4}\1\d{4}/y,
  /\d{4}([ .\u00a0-])\d{6}\1\d{5}/y,
  /\d{4}([ .\u00a0-])\d{6}\1\d{4}/y,
  /\d{12,19}/y,
];
const END = /(?![\p{L}\p{N}_]|[.,-]\d)/uy;
const TAIL =
  /(?<![\p{L}\p{N}_])(?<!\d[.,])\d(?:\d{0,18}|\d{3}([ .\u00a0-])(?:\d{0,4}|\d{4}\1(?:\d{0,4}|\d{4}\1(?:\d{0,4}|\d{4}\1\d{0,3}))|\d{0,6}|\d{6}\1\d{0,5}))[.,-]?$/gu;

/** The first digits of the networks' numbers, and how many digits they have. */
const NETWORKS: readonly { readonly first: RegExp; readonly digits: readonly number[] }[] = [
  // Numbers of goods have 13 digits, and no cards are issued with as many.
  { first: /^4/, digits: [16, 19] },
  { first: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, digits: [16] },
  { first: /^3[47]/, digits: [15] },
  { first: /^3(?:0[0-5]|095|[689])/, digits: [14, 16, 19] },
  { first: /^(?:6011|64[4-9]|65)/, digits: [16, 17, 18, 19] },
  { first: /^35(?:2[89]|[3-8])/, digits: [16, 17, 18, 19] },
  { first: /^(?:62|81)/, digits: [16, 17, 18, 19] },
  { first: /^(?:50[0-9]{2}|5[678]|6304|67)/, digits: [12, 14, 15, 16, 17, 18, 19] },
  { first: /^(?:220[0-4]|9792|60|82|508)/, digits: [16] },
];

/** The check. */
export const cardCheck: TextCheck = {
  longest: 26,
  next(text, from) {
    START.lastIndex = from;
    for (let start = START.exec(text); start !== null; start = START.exec(text)) {
      const found = cardAt(text, start.index);
      if (found !== undefined) return found;
    }
    return undefined;
  },
  open(text, from) {
    return openTail(TAIL, text, { from, longest: this.longest });
  },
};

function cardAt(text: string, start: number): Found | undefined {
  for (const form of FORMS) {
    form.lastIndex = start;
    const found = form.exec(text)?.[0];
    if (found === undefined) continue;
    END.lastIndex = start + found.length;
    if (END.test(text) && isCard(found.replace(/\D/g, ""))) return { start, end: start + found.length, label: "CARD" };
  }
  return undefined;
}

function isCard(digits: string): boolean {
  return (
    NETWORKS.some(({ first, digits: lengths }) => lengths.includes(digits.length) && first.test(digits)) && luhn(digits)
  );
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const weighed = at % 2 === 0 ? digit : digit * 2;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}
