// The orders in which options are shown, so that a liking for a position evens out.

import type { Observation } from "../calibration/calibration.ts";
import type { Question, QuestionType } from "../questions.ts";
import { FORMER_REVISION } from "../revision.ts";
import { formerOrders } from "./former.ts";

/** How options are shown. */
export interface Turning {
  readonly type: QuestionType;
  /** At most this many orders. */
  readonly count: number;
  readonly revision?: number;
  /** Levels too are shown from the middle: to learn what positions gain, never to answer. */
  readonly freely?: boolean;
}

/**
 * The orders. One: as given. As many as options, or more: rotations, so that each option stands everywhere once. Between these
 * each rotation stands with its reverse, so that a liking that rises or falls with the position cancels out; one that would
 * stand alone is left out. Levels and yes/no, which have a direction, are shown upwards and downwards only.
 */
export function ordersOf(options: readonly number[], { type, count, revision, freely = false }: Turning): number[][] {
  if (revision === FORMER_REVISION) return formerOrders(options, type, count);
  const most = type === "choice" || freely ? Math.min(count, options.length) : Math.min(count, 2);
  if (most <= 1) return [[...options]];
  if (most === options.length && most > 2) return rotations(options, most);
  return rotations(options, Math.floor(most / 2)).flatMap((order) => [order, [...order].reverse()]);
}

/** This many rotations, evenly spaced. */
function rotations(options: readonly number[], count: number): number[][] {
  return Array.from({ length: count }, (_, turn) => {
    const from = Math.floor((turn * options.length) / count);
    return [...options.slice(from), ...options.slice(0, from)];
  });
}

/**
 * A choice with its options sorted by name: whatever order a client writes them in, the same is asked and the same comes out.
 * `restore` puts readings back into the order of the client's options. Levels and yes/no have an order of their own.
 */
export function sorted(question: Question): {
  readonly question: Question;
  restore(readings: readonly Observation[]): readonly Observation[];
} {
  if (question.type !== "choice") return { question, restore: (readings) => readings };
  const { options } = question;
  const places = options.map((_, at) => at).sort((a, b) => (options[a]!.label < options[b]!.label ? -1 : 1));
  return {
    question: { ...question, options: places.map((at) => options[at]!) },
    restore: (readings) => readings.map((reading) => ({ ...reading, order: reading.order.map((at) => places[at]!) })),
  };
}
