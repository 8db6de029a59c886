// Escapes text so that Markdown shows it as it is, and no more than that: every needless backslash is noise to a reader.

/** Signs that mean something at the start of a line. */
const STARTS = /^(?:#|[-+=>]|\d{1,9}[.)])/m;

/** Whether it matters where in a line the text stands. */
export function startsLikeBlock(text: string): boolean {
  return STARTS.test(text.trimStart());
}

/** Escapes one run of text; amid a line, what would only mean something at its start is left as it is. */
export function escapeMarkdown(text: string, { isAmidLine = false } = {}): string {
  // One tilde alone strikes nothing out. Looked for by hand: a pattern would search the whole text from each place.
  const hasPair = text.indexOf("~") !== text.lastIndexOf("~");
  const inline = text
    // Before a letter a backslash is one.
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
