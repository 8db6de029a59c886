// Compares Markdown with the text from which it was made, word by word.

import { type Block, cutBlocks } from "../../src/pages/content/blocks.ts";
import { judgeBlocks } from "../../src/pages/content/choose.ts";
import { chooseMain, keepMainContent } from "../../src/pages/content/main-content.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { loadWeights } from "../../src/pages/content/weights.ts";
import { closest, type PageElement, type PageText } from "../../src/pages/dom/node.ts";
import { tabPanels } from "../../src/pages/dom/parts.ts";
import { isIcon } from "../../src/pages/markdown/inline-joins.ts";
import { toMarkdown } from "../../src/pages/markdown/markdown.ts";
import { isWayBack } from "../../src/pages/markdown/notes.ts";
import { ADDRESS, readPage } from "./read-page.ts";

/**
 * Elements whose text is written as separate characters or in another notation, or left out because it serves only the
 * screen.
 */
const APART = new Set(["math", "pre", "code", "button", "tex", "ruby", "rt", "kbd", "samp", "tt"]);

/** The result for the words of a page's kept blocks. */
export interface Fidelity {
  readonly kept: number;
  /** Texts whose words are not in the Markdown unchanged and in order. */
  readonly missing: readonly string[];
  /** Texts that differ intentionally, by the rule that allows it. */
  readonly intended: ReadonlyMap<string, readonly string[]>;
}

/** The cases in which the Markdown intentionally differs from the text of the page. */
const RULES: readonly Rule[] = [
  {
    name: "icons: fonts of pictures set a picture as the word for it",
    isSilent: (node) => closest(node, isIcon) !== undefined,
  },
  {
    name: "notes: a note does not say where it is pointed to from",
    isSilent: (node) => closest(node, isWayBack) !== undefined,
  },
  {
    name: "captions: the caption of a table stands above it, wherever the page has it",
    isSilent: () => false,
    isMoved: (node) => closest(node, ({ tag }) => tag === "caption") !== undefined,
  },
  {
    name: "tabs: the name of a tab stands over what it opens",
    isSilent: () => false,
    isMoved: (node, tabs) => closest(node, (element) => tabs.has(element)) !== undefined,
  },
];

interface Rule {
  readonly name: string;
  /** Text that is left out. */
  readonly isSilent: (node: PageText) => boolean;
  /** Whether the block may be at another place. */
  readonly isMoved?: (node: PageText, tabs: ReadonlySet<PageElement>) => boolean;
}

/** Compares the kept blocks of a page with its Markdown. */
export function checkFidelity(html: string): Fidelity {
  const judged = readPage(html);
  const blocks = cutBlocks(judged.body);
  const weights = loadWeights();
  const { verdicts, kind, isSureArticle } = judgeBlocks(judged, blocks, { url: ADDRESS, weights });
  const kept = chooseMain(judged, blocks, verdicts, { kind, isSureArticle });
  const document = readPage(html);
  keepMainContent(document, { url: ADDRESS, weights, trace: createTrace(false) });
  const shown = lettersOf(plain(toMarkdown(document.body)));
  const missing: string[] = [];
  const intended = new Map<string, string[]>();
  const tabs = new Set(tabPanels(judged.body).keys());
  let at = 0;
  for (const block of blocks) {
    if (!kept.has(block) || isApart(block)) continue;
    const end = endOf(block, shown, at);
    const isMovable = RULES.some(({ isMoved }) => isMoved?.(block.nodes[0] as PageText, tabs) === true);
    if (end !== undefined) at = isMovable ? at : end;
    else {
      const rule = RULES.find((one) => appliesTo(one, block, { shown, at, tabs }));
      if (rule === undefined) missing.push(block.text);
      else intended.set(rule.name, [...(intended.get(rule.name) ?? []), block.text]);
    }
  }
  return { kept: kept.size, missing, intended };
}

/** Whether the Markdown contains the block in the form that the rule allows. */
function appliesTo(
  { isSilent, isMoved }: Rule,
  block: Block,
  { shown, at, tabs }: { shown: Letters; at: number; tabs: ReadonlySet<PageElement> },
): boolean {
  const nodes = block.nodes.filter((node) => !isSilent(node));
  const moved = isMoved?.(block.nodes[0] as PageText, tabs) === true;
  if (nodes.length === block.nodes.length && !moved) return false;
  const text = nodes.map((node) => node.data).join(" ");
  return text.trim() === "" || endOf({ ...block, nodes, text }, shown, moved ? 0 : at, !moved) !== undefined;
}

/**
 * The position in the Markdown after the words of a block, searched for from a given position; undefined if they are
 * not there unchanged.
 */
function endOf(block: Block, shown: Letters, from: number, isLoose = false): number | undefined {
  const own = lettersOf(block.text);
  for (let at = shown.text.indexOf(own.text, from), tries = 0; at >= 0 && tries < 50; tries++) {
    if (isParted(block, own, shown, at, isLoose)) return at + own.text.length;
    at = shown.text.indexOf(own.text, at + 1);
  }
  return undefined;
}

/** Consecutive letters and digits, with the positions between them that have other characters. */
interface Letters {
  readonly text: string;
  readonly gaps: ReadonlySet<number>;
}

/** Characters that mark where a word may be broken, and are not spaces. */
const SOFT_SIGNS = /[\u00ad\u200b\u2060\ufeff]/g;

function lettersOf(marked: string): Letters {
  const text = marked.replace(SOFT_SIGNS, "");
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

/** Whether separate words are still separate and single words are still whole, except where two elements meet. */
function isParted({ nodes }: Block, own: Letters, shown: Letters, at: number, isLoose: boolean): boolean {
  const seams = new Set<number>();
  const raised = new Set<number>();
  let length = 0;
  for (const node of nodes) {
    const { text } = lettersOf(node.data);
    // A superscript or the number of a note does not belong to the digits before it.
    if (/^\d/.test(text) && closest(node, ({ tag }) => tag === "sup" || tag === "sub") !== undefined)
      raised.add(length);
    length += text.length;
    seams.add(length);
  }
  for (let place = 1; place < own.text.length; place++) {
    const isGap = shown.gaps.has(at + place);
    if (raised.has(place) && !isGap) return false;
    // Where text was left out, the parts of a line are joined here, not by the page.
    if (isLoose && seams.has(place)) continue;
    if (own.gaps.has(place) ? !isGap : isGap && !seams.has(place)) return false;
  }
  return true;
}

/** Code and formulas have their own notation. */
function isApart({ element, nodes }: Block): boolean {
  const is = ({ tag }: PageElement) => APART.has(tag);
  return is(element) || closest(element, is) !== undefined || nodes.some((node) => closest(node, is) !== undefined);
}

/** The text of Markdown without addresses, pictures, escapes and emphasis within words. */
function plain(markdown: string): string {
  // A note that consists of an address would be parsed as a link definition.
  const html = Bun.markdown.html(markdown.replace(/^\[\^([^\]]+)\]:/gm, "$1:"));
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
