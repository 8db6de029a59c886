// Markdown of strangers as tokens, in bounded time: the lexer's work grows with the square of a paragraph's length and with
// every level of nesting, so what no author writes is left as text.

import { Lexer, type Token } from "marked";

/** A longer paragraph is text as it stands. */
const INLINE_CHARS_MAX = 3000;
/** A line that no table and no paragraph of an author has. */
const LINE_CHARS_MAX = 20_000;
/** Quotes and lists within each other on one line. */
const NESTED = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){20}/m;

/** The tokens; undefined for a text that is only shown as it is. */
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
    // Too deep for the stack, say: whatever it is, it is a text.
    return undefined;
  }
}
