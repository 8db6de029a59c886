// E-mail addresses.

import { openTail, type TextCheck } from "../check.ts";

// Letters of the scripts in which words stand apart; in others, an address would take the sentence before it along.
const LETTER = "\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}";
const LOCAL_CHARS = 64;
const LOCAL = `[${LETTER}\\p{N}_][${LETTER}\\p{M}\\p{N}_.+'-]{0,${LOCAL_CHARS - 1}}`;
const BEFORE_AT = new RegExp(`${LOCAL}$`, "u");
const DOMAIN_CHARS = 190;
/** The characters of a domain, and those with which it ends. */
const DOMAIN_RUN = new RegExp(`[${LETTER}\\p{M}\\p{N}.-]{1,${DOMAIN_CHARS + 1}}`, "uy");
const DOMAIN =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.){1,20}(?:xn--[a-z\d-]{1,58}[a-z\d]|\p{L}[\p{L}\p{M}]{1,23})(?![\p{L}\p{M}\p{N}])/iu;
const TAIL = new RegExp(`${LOCAL}(?:@[${LETTER}\\p{M}\\p{N}.-]{0,${DOMAIN_CHARS}})?$`, "gu");

/** The check. */
export const emailCheck: TextCheck = {
  longest: LOCAL_CHARS + 1 + DOMAIN_CHARS + 1,
  next(text, from) {
    for (let at = text.indexOf("@", from); at >= 0; at = text.indexOf("@", at + 1)) {
      const local = BEFORE_AT.exec(text.slice(Math.max(from, at - LOCAL_CHARS), at));
      if (local === null) continue;
      DOMAIN_RUN.lastIndex = at + 1;
      const run = DOMAIN_RUN.exec(text)?.[0];
      const domain = run === undefined || run.length > DOMAIN_CHARS ? null : DOMAIN.exec(run);
      if (domain !== null) return { start: at - local[0].length, end: at + 1 + domain[0].length, label: "EMAIL" };
    }
    return undefined;
  },
  open(text, from) {
    return openTail(TAIL, text, { from, longest: this.longest });
  },
};
