// The orders in which options are shown, so that a liking for a position evens out.

import type { QuestionType } from "../questions.ts";

/**
 * At most `count` orders of the options. One: as given. Two, and always for levels and yes/no, which have a direction: as
 * given and reversed. More: rotations, evenly spaced, so that with as many as options each stands everywhere once.
 */
export function ordersOf(options: readonly number[], type: QuestionType, count: number): number[][] {
  const most = type === "choice" ? Math.min(count, options.length) : Math.min(count, 2);
  if (most <= 1) return [[...options]];
  if (most === 2) return [[...options], [...options].reverse()];
  return Array.from({ length: most }, (_, turn) => {
    const from = Math.floor((turn * options.length) / most);
    return [...options.slice(from), ...options.slice(0, from)];
  });
}
