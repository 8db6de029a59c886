// The orders in which options are shown, so that position biases cancel out.

import type { Observation } from "../calibration/calibration.ts";
import type { Question, QuestionType } from "../questions.ts";
import { LEGACY_REVISION } from "../revision.ts";
import { legacyOrders } from "./legacy-revision.ts";

/** How options are shown. */
export interface Turning {
  readonly type: QuestionType;
  /** The maximum number of orders. */
  readonly count: number;
  readonly revision?: number;
  /** Whether levels are also shown starting from the middle. This is only for learning position biases, never for answering. */
  readonly freely?: boolean;
}

/**
 * The orders in which options are shown. One order: as given. As many orders as options, or more: rotations, so that each option
 * is in every position once. In between: rotations, each paired with its reverse, so that a bias that rises or falls with the
 * position cancels out; a rotation without a pair is left out. Levels and yes/no have a direction, so they are only shown upwards
 * and downwards.
 */
export function ordersOf(options: readonly number[], { type, count, revision, freely = false }: Turning): number[][] {
  if (revision === LEGACY_REVISION) return legacyOrders(options, type, count);
  const most = type === "choice" || freely ? Math.min(count, options.length) : Math.min(count, 2);
  if (most <= 1) return [[...options]];
  if (most === options.length && most > 2) return rotations(options, most);
  return rotations(options, Math.floor(most / 2)).flatMap((order) => [order, [...order].reverse()]);
}

/** Rotations at equal distances, of this number. */
function rotations(options: readonly number[], count: number): number[][] {
  return Array.from({ length: count }, (_, turn) => {
    const from = Math.floor((turn * options.length) / count);
    return [...options.slice(from), ...options.slice(0, from)];
  });
}

/**
 * A choice with its options sorted by name, so that prompts and results do not depend on the order in the request. `restore` puts
 * readings back into the order of the client's options. Levels and yes/no keep their own order.
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
