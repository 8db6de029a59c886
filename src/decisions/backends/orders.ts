// The orders in which options are shown, so that a liking for a position evens out.

import type { Reading } from "../calibration.ts";
import type { Question, QuestionType } from "../questions.ts";

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

/**
 * A choice with its options sorted by name: whatever order a client writes them in, the same is asked and the same comes out.
 * `restore` puts readings back into the order of the client's options. Levels and yes/no have an order of their own.
 */
export function sorted(question: Question): {
  readonly question: Question;
  restore(readings: readonly Reading[]): readonly Reading[];
} {
  if (question.type !== "choice") return { question, restore: (readings) => readings };
  const { options } = question;
  const places = options.map((_, at) => at).sort((a, b) => (options[a]!.label < options[b]!.label ? -1 : 1));
  return {
    question: { ...question, options: places.map((at) => options[at]!) },
    restore: (readings) => readings.map((reading) => ({ ...reading, order: reading.order.map((at) => places[at]!) })),
  };
}
