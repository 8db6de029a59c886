// Escapes text so that Markdown shows it as it is, and no more than that: every needless backslash is noise to a reader.

/** Escapes one run of text. */
export function escapeMarkdown(text: string): string {
  // One tilde alone strikes nothing out. Looked for by hand: a pattern would search the whole text from each place.
  const hasPair = text.indexOf("~") !== text.lastIndexOf("~");
  return text
    .replace(hasPair ? /[\\*`~]/g : /[\\*`]/g, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?=[a-zA-Z/!?])/g, "\\<")
    .replace(/&(?=[a-zA-Z]{2,31};|#\d{1,7};|#x[\da-f]{1,6};)/gi, "&amp;")
    .replace(/\](?=[([:])/g, "\\]")
    .replace(/!(?=\[)/g, "\\!")
    .replace(/^(#{1,6})(?=\s|$)/gm, "\\$1")
    .replace(/^([-+])(?=\s|$)/gm, "\\$1")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, "$1\\$2")
    .replace(/^>/gm, "\\>")
    .replace(/^(=+|--[- ]*)$/gm, "\\$1");
}
