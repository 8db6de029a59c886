// Predicts how good a choice of main content is: the F1 that the kept text would have against a person's choice.

import type { Block } from "./blocks.ts";
import { sigmoid } from "./boost.ts";

/**
 * The slope and offset, in log odds, that map the F1 expected by the verdicts to the mean F1 of the development pages
 * (scripts/score-extraction.ts measures how well it predicts). The verdicts are somewhat too sure of good pages.
 */
const SLOPE = 0.939;
const OFFSET = 0.456;
/** The odds are kept finite. */
const SURE = 0.995;

/** The F1 that is predicted for the kept blocks, from 0 to 1, given the probability of each block to be main content. */
export function predictQuality(
  blocks: readonly Block[],
  verdicts: readonly number[],
  kept: ReadonlySet<Block>,
): number {
  let taken = 0;
  let right = 0;
  let wanted = 0;
  for (const block of blocks) {
    const length = block.text.length + 2;
    const share = length * (verdicts[block.index] as number);
    wanted += share;
    if (!kept.has(block)) continue;
    taken += length;
    right += share;
  }
  if (taken === 0) return 0;
  const expected = Math.min(SURE, Math.max(1 - SURE, (2 * right) / (taken + wanted)));
  return sigmoid(SLOPE * Math.log(expected / (1 - expected)) + OFFSET);
}
