// Bounds the length of a hit's texts, whatever an engine sends.

/** Maximum length of a snippet, longer than those that engines write. Abstracts are cut. */
const SNIPPET_CHARS_MAX = 1000;
const TITLE_CHARS_MAX = 300;

/** A snippet without invisible characters and repetitions. */
export function cleanSnippet(text: string): string {
  return cut(visible(text), SNIPPET_CHARS_MAX);
}

/** A title on one line. */
export function cleanTitle(text: string): string {
  return cut(visible(text), TITLE_CHARS_MAX);
}

/**
 * Control characters, direction marks, zero-width and undecodable characters. Joiners are left out, as they are parts of words.
 */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]+/g;

function visible(text: string): string {
  return (
    text
      // The rest would be dropped anyway, so megabytes of text are not processed.
      .slice(0, 4 * SNIPPET_CHARS_MAX)
      .replace(INVISIBLE, (run) => (/\s/.test(run) ? " " : ""))
      .replace(/\s+/g, " ")
      .trim()
  );
}

/** Cuts between words if there is a space near the limit, and never inside a character. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const head = text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, "");
  const space = head.lastIndexOf(" ");
  return `${(space > charsMax * 0.8 ? head.slice(0, space) : head).trimEnd()}…`;
}
