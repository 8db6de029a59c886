// Takes tags out of a text that is not parsed.

/** The text with a space in place of each tag. A `<` that no `>` follows stays, and is not looked for one by one. */
export function spacedTags(text: string): string {
  const end = text.lastIndexOf(">") + 1;
  return text.slice(0, end).replace(/<[^>]*>/g, " ") + text.slice(end);
}
