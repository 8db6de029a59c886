// The choice of main content by someone else than the fitted trees: the page's blocks are described in numbered lines, and the
// answer says which of them are main content.

import type { Block } from "./blocks.ts";

/** A request for the page's blocks, if the program's own choice of them is doubtful. */
export interface Doubt {
  /** The blocks are described if the predicted quality is lower than this, from 0 to 1. */
  readonly below: number;
}

/** Bounds of what is described. A page with more blocks, or with longer lines in all, is left to the program's own choice. */
const BLOCKS_MAX = 1500;
const CHARS_MAX = 60_000;
/** How much of a long block is shown: its start and its end tell what it is. */
const HEAD_CHARS = 160;
const TAIL_CHARS = 40;
/** The probabilities that stand for a label, so that the later steps complete lists, tables and headings as usual. */
const LABELLED = 0.95;
const NOT_LABELLED = 0.02;

/** One line for each block: its number, its element and its text, shortened. Undefined if the page is too long for that. */
export function describeBlocks(blocks: readonly Block[]): readonly string[] | undefined {
  if (blocks.length > BLOCKS_MAX) return undefined;
  const lines = blocks.map(({ index, element, text, linkChars }) => {
    const isLink = linkChars > text.length / 2 ? " link" : "";
    return `[${index}] ${element.tag}${isLink}: ${shortened(text)}`;
  });
  return lines.reduce((sum, line) => sum + line.length + 1, 0) > CHARS_MAX ? undefined : lines;
}

function shortened(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS + 5) return text;
  return `${text.slice(0, HEAD_CHARS)} ... ${text.slice(-TAIL_CHARS)}`;
}

/** The verdicts that follow from labels: for each block, whether its number is among the labelled ones. */
export function labelVerdicts(blocks: readonly Block[], labelled: readonly number[]): number[] {
  const numbers = new Set(labelled);
  return blocks.map(({ index }) => (numbers.has(index) ? LABELLED : NOT_LABELLED));
}
