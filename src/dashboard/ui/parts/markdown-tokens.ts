// Parses untrusted Markdown in bounded time. The lexer's work grows with the square of a paragraph's length and with
// every level of nesting, so text beyond these limits is left unparsed.

import { Lexer, type Token } from "marked";

/** A longer paragraph is left unparsed. */
const INLINE_CHARS_MAX = 3000;
/** Longer than any line of a real table or paragraph. */
const LINE_CHARS_MAX = 20_000;
/** The limit of nested quotes and lists on one line. */
const NESTED = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){20}/m;

/** The tokens; undefined for a text that is shown unparsed. */
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
    // Parsing failed, for example because of its depth, so the text is shown unparsed.
    return undefined;
  }
}
