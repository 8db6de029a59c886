// Escapes text so that Markdown shows it as it is, and no more than necessary: every needless backslash is noise to a reader.

/** Characters with a meaning at the start of a line. */
const STARTS = /^(?:#|[-+=>]|\d{1,9}[.)])/m;

/** Where in a line the text stands, if that matters. */
export function startsLikeBlock(text: string): boolean {
  return STARTS.test(text.trimStart());
}

/** Escapes one run of text; inside a line, characters that only have a meaning at its start are left alone. */
export function escapeMarkdown(text: string, { isAmidLine = false } = {}): string {
  // A single tilde strikes nothing out. Searched for by hand: a pattern would scan the whole text from each position.
  const hasPair = text.indexOf("~") !== text.lastIndexOf("~");
  const inline = text
    // Before a letter a backslash is literal.
    .replace(/\\(?=[!-/:-@[-`{-~]|\s*$)/g, "\\\\")
    .replace(hasPair ? /[*`~]/g : /[*`]/g, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?=[a-zA-Z/!?])/g, "\\<")
    .replace(/&(?=[a-zA-Z]{2,31};|#\d{1,7};|#x[\da-f]{1,6};)/gi, "&amp;")
    .replace(/\](?=[([:])/g, "\\]")
    .replace(/!(?=\[)/g, "\\!");
  if (isAmidLine) return inline;
  return inline
    .replace(/^(#{1,6})(?=\s|$)/gm, "\\$1")
    .replace(/^([-+])(?=\s|$)/gm, "\\$1")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, "$1\\$2")
    .replace(/^>/gm, "\\>")
    .replace(/^(=+|--[- ]*)$/gm, "\\$1");
}
