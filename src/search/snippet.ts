// The texts of a hit at a bounded length, whatever an engine sends.

/** Longer than any engine's own snippets; abstracts of papers are cut. */
const SNIPPET_CHARS_MAX = 1000;
const TITLE_CHARS_MAX = 300;

/** A snippet without what readers cannot see or would read twice. */
export function cleanSnippet(text: string): string {
  return cut(visible(text), SNIPPET_CHARS_MAX);
}

/** A title on one line. */
export function cleanTitle(text: string): string {
  return cut(visible(text), TITLE_CHARS_MAX);
}

/** Control characters, marks of direction, characters without width and what could not be decoded; joiners are part of words. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]+/g;

function visible(text: string): string {
  return (
    text
      // Beyond this nothing is kept anyway: a text of megabytes is not read through.
      .slice(0, 4 * SNIPPET_CHARS_MAX)
      .replace(INVISIBLE, (run) => (/\s/.test(run) ? " " : ""))
      .replace(/\s+/g, " ")
      .trim()
  );
}

/** Ends between words where there are any near the limit, and never inside a character. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const head = text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, "");
  const space = head.lastIndexOf(" ");
  return `${(space > charsMax * 0.8 ? head.slice(0, space) : head).trimEnd()}…`;
}
