// Parses untrusted Markdown in bounded time. The lexer's work grows with the square of a paragraph's length and with
// the depth of nesting, so whatever exceeds these limits is shown unparsed: a long paragraph by itself, otherwise the
// whole text.

import { Lexer, type Token } from "marked";

/** The limit for a paragraph, heading or table cell. The inline markup of a longer one is not parsed. */
const INLINE_CHARS_MAX = 3000;
/**
 * The limit for a line, above those of ordinary tables and paragraphs. A text with a longer line is not parsed at all.
 */
const LINE_CHARS_MAX = 20_000;
/** Twenty quotes or lists that begin on one line. A text with such a line is not parsed at all. */
const NESTED = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){20}/m;

/** The tokens; undefined if the whole text is to be shown unparsed. */
export function markdownTokens(text: string): readonly Token[] | undefined {
  if (NESTED.test(text) || text.split("\n").some(({ length }) => length > LINE_CHARS_MAX)) return undefined;
  const lexer = new Lexer({ gfm: true });
  try {
    const blocks = lexer.blockTokens(text.replace(/\r\n?/g, "\n"));
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length <= INLINE_CHARS_MAX) lexer.inlineTokens(src, tokens);
      else tokens.push({ type: "text", raw: src, text: src, escaped: false });
    }
    return blocks;
  } catch {
    // For example because the nesting is too deep.
    return undefined;
  }
}
