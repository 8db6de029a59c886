// Holds Markdown against the text it was made of, word by word.

import { type Block, cutBlocks } from "../../src/pages/content/blocks.ts";
import { judgeBlocks } from "../../src/pages/content/choose.ts";
import { fillFromState } from "../../src/pages/content/embedded.ts";
import { chooseMain, keepMainContent } from "../../src/pages/content/main-content.ts";
import { tidy } from "../../src/pages/content/tidy.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { loadWeights } from "../../src/pages/content/weights.ts";
import { needsScript } from "../../src/pages/convert/needs-script.ts";
import { closest, type PageElement } from "../../src/pages/dom/node.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { toMarkdown } from "../../src/pages/markdown/markdown.ts";

const ADDRESS = "http://127.0.0.1/page";
/** Set as signs of their own, in a notation of their own, or left out as what only serves the screen. */
const APART = new Set(["math", "pre", "code", "button", "tex", "ruby", "rt", "kbd", "samp", "tt"]);

/** How many blocks of a page were kept, and the texts of those whose words are not in its Markdown as they were, in order. */
export function unfaithfulBlocks(html: string): { readonly kept: number; readonly missing: readonly string[] } {
  const read = () => {
    const document = parsePage(html);
    if (needsScript(document) !== undefined) fillFromState(document);
    tidy(document, ADDRESS, createTrace(false));
    return document;
  };
  const judged = read();
  const blocks = cutBlocks(judged.body);
  const weights = loadWeights();
  const kept = chooseMain(judged, blocks, judgeBlocks(judged, blocks, { url: ADDRESS, weights }));
  const document = read();
  keepMainContent(document, { url: ADDRESS, weights, trace: createTrace(false) });
  const shown = lettersOf(plain(toMarkdown(document.body)));
  const missing: string[] = [];
  let at = 0;
  for (const block of blocks) {
    if (!kept.has(block) || isApart(block)) continue;
    const own = lettersOf(block.text);
    const found = shown.text.indexOf(own.text, at);
    if (found < 0 || !isParted(block, own, shown, found)) missing.push(block.text);
    if (found >= 0) at = found + own.text.length;
  }
  return { kept: kept.size, missing };
}

/** Letters and digits in a row, with the places between them at which something else stands. */
interface Letters {
  readonly text: string;
  readonly gaps: ReadonlySet<number>;
}

function lettersOf(text: string): Letters {
  let letters = "";
  let end = 0;
  const gaps = new Set<number>();
  for (const match of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (match.index > end) gaps.add(letters.length);
    letters += match[0];
    end = match.index + match[0].length;
  }
  return { text: letters, gaps };
}

/** Whether words that stood apart still do, and words that were one still are, but where two elements met. */
function isParted({ nodes }: Block, own: Letters, shown: Letters, at: number): boolean {
  const seams = new Set<number>();
  const raised = new Set<number>();
  let length = 0;
  for (const node of nodes) {
    const { text } = lettersOf(node.data);
    // A power or the mark of a note is no digit of the number before it.
    if (/^\d/.test(text) && closest(node, ({ tag }) => tag === "sup" || tag === "sub") !== undefined)
      raised.add(length);
    length += text.length;
    seams.add(length);
  }
  for (let place = 1; place < own.text.length; place++) {
    const isGap = shown.gaps.has(at + place);
    if (raised.has(place) && !isGap) return false;
    if (own.gaps.has(place) ? !isGap : isGap && !seams.has(place)) return false;
  }
  return true;
}

/** Code and formulas have a notation of their own. */
function isApart({ element, nodes }: Block): boolean {
  const is = ({ tag }: PageElement) => APART.has(tag);
  return is(element) || closest(element, is) !== undefined || nodes.some((node) => closest(node, is) !== undefined);
}

/** Markdown without what is not text: addresses, pictures, escapes, emphasis inside of words. */
function plain(markdown: string): string {
  const html = Bun.markdown.html(markdown);
  return html
    .replace(/<img\b[^>]*>/g, "")
    .replace(/<\/?(?:a|b|strong|em|i|del|s|code|span|u|ins|mark)\b[^>]*>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&");
}
