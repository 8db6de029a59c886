// Regular expressions of the operator.

import { LinearPattern } from "../../../../base/linear-pattern.ts";
import { HELD_CHARS_MAX, type TextCheck } from "./check.ts";

/** Creates the check of one expression. Throws `SyntaxError` if it cannot be used. */
export function patternCheck(label: string, source: string): TextCheck {
  const pattern = new LinearPattern(source);
  const isBounded = pattern.longest < HELD_CHARS_MAX;
  return {
    longest: isBounded ? pattern.longest + 1 : Number.POSITIVE_INFINITY,
    next(text, from) {
      const found = pattern.find(text, from);
      return found === undefined ? undefined : { ...found, label };
    },
    open: (text, from) => (isBounded ? pattern.open(text, from) : from),
  };
}
