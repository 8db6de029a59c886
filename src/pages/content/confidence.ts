// Predicts how good a choice of main content is: the F1 that the kept text would have against a person's choice.

import type { Block } from "./blocks.ts";
import { sigmoid } from "./boost.ts";

/**
 * The slope, offset and weight of doubt, in log odds, that map the F1 expected by the verdicts to the mean F1 of the development pages,
 * by verdicts that have not seen the site of a page (scripts/score-extraction.ts measures how well it predicts).
 */
const SLOPE = 0.71;
const OFFSET = 1.23;
/** The weight of the mean variance of the verdicts on what is kept: text that may as well be left out is often the wrong text. */
const DOUBT = -3.88;
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
  let doubt = 0;
  for (const block of blocks) {
    const length = block.text.length + 2;
    const verdict = verdicts[block.index] as number;
    const share = length * verdict;
    wanted += share;
    if (!kept.has(block)) continue;
    taken += length;
    right += share;
    doubt += share * (1 - verdict);
  }
  if (taken === 0) return 0;
  const expected = Math.min(SURE, Math.max(1 - SURE, (2 * right) / (taken + wanted)));
  return sigmoid(SLOPE * Math.log(expected / (1 - expected)) + OFFSET + (DOUBT * doubt) / taken);
}
