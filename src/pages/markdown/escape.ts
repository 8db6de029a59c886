// Escapes text so that Markdown shows it unchanged. Only necessary backslashes are added, as each one distracts the reader.

/** Characters that have a meaning at the start of a line. */
const STARTS = /^(?:#|[-+=>]|\d{1,9}[.)])/m;

/** Whether a text could be taken for the start of a block, so that its position in the line matters. */
export function startsLikeBlock(text: string): boolean {
  return STARTS.test(text.trimStart());
}

/** Escapes a run of text. Inside a line, characters that have a meaning only at its start are not escaped. */
export function escapeMarkdown(text: string, { isAmidLine = false } = {}): string {
  // A single tilde does not strike anything out. `indexOf` is used because a pattern would scan the whole text from each
  // position.
  const hasPair = text.indexOf("~") !== text.lastIndexOf("~");
  const inline = text
    // A backslash before a letter is shown as it is and needs no escaping.
    .replace(/\\(?=[!-/:-@[-`{-~]|\s*$)/g, "\\\\")
    .replace(hasPair ? /[*`~]/g : /[*`]/g, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?=[a-zA-Z/!?])/g, "\\<")
    .replace(/&(?=[a-zA-Z]{2,31};|#\d{1,7};|#x[\da-f]{1,6};)/gi, "&amp;")
    .replace(/\](?=[([:])/g, "\\]")
    .replace(/!(?=\[)/g, "\\!");
  if (isAmidLine) return inline;
  // A space before a character does not take its meaning away.
  return inline
    .replace(/^( ?)(#{1,6})(?=\s|$)/gm, "$1\\$2")
    .replace(/^( ?)([-+])(?=\s|$)/gm, "$1\\$2")
    .replace(/^( ?\d{1,9})([.)])(?=\s|$)/gm, "$1\\$2")
    .replace(/^( ?)>/gm, "$1\\>")
    .replace(/^( ?)(=+|--[- ]*)$/gm, "$1\\$2");
}
