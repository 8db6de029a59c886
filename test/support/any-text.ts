// Texts of any characters for property tests. fast-check's own unit "binary" lists a million characters the first time, which takes
// seconds, and keeps them: every later garbage collection of the process would walk over them.

import fc from "fast-check";

const CODES = 0x11_0000;
/** Halves of characters are none. */
const HALVES = { from: 0xd800, count: 0x800 };
const CHARACTERS = CODES - HALVES.count;
/** A failure is shown with letters from here on where it does not depend on the character. */
const FIRST = "a".charCodeAt(0);

/** Any character. */
const anyCharacter: fc.Arbitrary<string> = fc.integer({ min: 0, max: CHARACTERS - 1 }).map(
  (number) => {
    const at = (number + FIRST) % CHARACTERS;
    return String.fromCodePoint(at < HALVES.from ? at : at + HALVES.count);
  },
  (character) => {
    const code = typeof character === "string" ? (character.codePointAt(0) ?? -1) : -1;
    if (code < 0 || character !== String.fromCodePoint(code)) throw new Error("It is not one character.");
    if (code >= HALVES.from && code < HALVES.from + HALVES.count) throw new Error("It is half a character.");
    const at = code < HALVES.from ? code : code - HALVES.count;
    return (at - FIRST + CHARACTERS) % CHARACTERS;
  },
);

/** A text of any characters. */
export function anyText(limits: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...limits, unit: anyCharacter });
}
