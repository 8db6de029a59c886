// What every check of texts is to the guardrails: it finds parts of a text, and says from where on it needs more of it.

/** A part of a text that a check found. */
export interface Found {
  readonly start: number;
  readonly end: number;
  /** What it is, as placeholders name it: `EMAIL`. */
  readonly label: string;
}

/** How many characters before a match a check may look at. */
export const CONTEXT_CHARS = 64;

/** The most characters that are held back of a stream. A check with longer matches reads whole texts. */
export const HELD_CHARS_MAX = 256;

/**
 * Finds something in texts. Pure. Whether something begins at a place depends on the `CONTEXT_CHARS` before it, on the `longest`
 * characters after it and on `from`, and on nothing else; so that the parts of a stream give what its whole text gives.
 */
export interface TextCheck {
  /** The characters of its longest match, with those behind it that it looks at; infinite without a limit. */
  readonly longest: number;
  /** The first part that begins at `from` or later, as if the text ended here. */
  next(text: string, from: number): Found | undefined;
  /** The first place from `from` on at which something may begin that depends on what follows the text; its length: none. */
  open(text: string, from: number): number;
}

/** Where a pattern that ends with the text begins within its last `longest` characters; the length of the text: nowhere. */
export function openTail(pattern: RegExp, text: string, { from, longest }: { from: number; longest: number }): number {
  pattern.lastIndex = Math.max(from, text.length - longest);
  const found = pattern.exec(text);
  return found === null ? text.length : found.index;
}
