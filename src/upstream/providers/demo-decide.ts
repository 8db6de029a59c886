// The built-in provider's answers to typed decisions. It understands nothing: an answer is the more probable, the more of its
// words occur in the state. The same question about the same state always has the same answer.

import { isRecord } from "../../base/json-object.ts";

type Json = Readonly<Record<string, unknown>>;

/** Answers in the format of TypeSafe. The gateway counts the tokens. */
export function demoDecisions({ model, state, questions }: Json): Response {
  const seen = new Set(stemsOf(state));
  const answers = Object.entries(questions as Readonly<Record<string, Json>>).map(([key, question]) => [
    key,
    answerOf(question, seen),
  ]);
  return Response.json({ model, answers: Object.fromEntries(answers) });
}

function answerOf({ type, instructions, criteria }: Json, seen: ReadonlySet<string>): Json {
  if (type === "noul") {
    const said = isRecord(criteria) ? criteria : {};
    const hits = hitsOf([instructions, said["true"]], seen) - hitsOf([said["false"]], seen);
    // What the state does not mention is rather not so.
    return { noul: distribution([hits - 0.5, 0])[0] };
  }
  const options: readonly (readonly [string, unknown])[] = Array.isArray(criteria)
    ? criteria.map((text: unknown, level) => [String(level), [text]])
    : Object.entries(criteria as Json).map(([name, meaning]) => [name, [name, meaning]]);
  const shares = distribution(options.map(([, texts]) => hitsOf(texts as readonly unknown[], seen)));
  return { probabilities: Object.fromEntries(options.map(([name], at) => [name, shares[at]])) };
}

/** More words in common than this say nothing more. */
const HITS_MAX = 2;

/** How many different words of the texts occur in the state. */
function hitsOf(texts: readonly unknown[], seen: ReadonlySet<string>): number {
  const hits = new Set(texts.flatMap(stemsOf).filter((stem) => seen.has(stem)));
  return Math.min(HITS_MAX, hits.size);
}

/** The weight of a word in common. */
const GAIN = 2;

/** Probabilities in whole hundredths, or finer ones for many options, whose sum is exactly 1. */
function distribution(hits: readonly number[]): number[] {
  const weights = hits.map((count) => Math.exp(GAIN * count));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const units = hits.length <= 10 ? 100 : 100_000;
  const exact = weights.map((weight) => (weight / total) * units);
  const whole = exact.map(Math.floor);
  const left = units - whole.reduce((sum, count) => sum + count, 0);
  // The units that rounding down has left go to those that lost most, so that the order of the options decides ties alone.
  const losers = [...exact.keys()].sort((a, b) => exact[b]! - whole[b]! - (exact[a]! - whole[a]!) || a - b);
  for (const at of losers.slice(0, left)) whole[at]! += 1;
  return whole.map((count) => count / units);
}

/** Words with the same beginning count as the same word, such as "charged" and "charges". */
const STEM_LETTERS = 5;
/** Shorter words, and these, occur in any text. */
const WORD_LETTERS_MIN = 3;
const COMMON = new Set(
  "about and are but can does for from had has have his her its not one our she that the their them there they this was were what which who will with would you your".split(
    " ",
  ),
);

/** The words of a text or of JSON, shortened to their beginnings. */
function stemsOf(content: unknown): string[] {
  if (content === undefined || content === null) return [];
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => word.length >= WORD_LETTERS_MIN && !COMMON.has(word))
    .map((word) => word.slice(0, STEM_LETTERS));
}
