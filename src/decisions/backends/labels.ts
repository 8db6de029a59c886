// Reads the log-probabilities of label letters out of the first token of a chat answer, as OpenAI-compatible engines give
// them. One letter may be several tokens ("A", " A"): they are added up. A letter that the engine did not show is bounded by
// what it did show, and never impossible.

import type { ChatResult } from "../../chat/result.ts";
import { isRecord } from "../questions.ts";
import { NonsenseAnswer } from "./backend.ts";

/** What the first token says. */
export interface LabelScores {
  /** By position, natural logarithms. */
  readonly logProbabilities: readonly number[];
  /** What the letters have together; the rest went to other tokens. */
  readonly mass: number;
}

/** Nothing is less probable than this. */
const FLOOR = 1e-9;
/** Where the letters have less together, the engine did not answer the question. */
const MASS_MIN = 0.01;

/** A letter alone, with what tokenizers and habits put around it. */
const LETTER = /^[\s▁Ġ"'`(*]*([A-Z])[\s.:)"'`*]*$/u;

/** The scores of `count` letters from A. Throws `NonsenseAnswer` when there are none. */
export function labelScores(result: ChatResult, count: number): LabelScores {
  return scoresBy(firstTokenOf(result), count, (token) => (LETTER.exec(token)?.[1]?.charCodeAt(0) ?? 0) - 65);
}

/** As many alternatives engines show unasked. */
const UNASKED_MAX = 21;

/** The scores of labels that the engine was told to score. Throws `NonsenseAnswer` when it did not. */
export function chosenScores(result: ChatResult, labels: readonly string[]): LabelScores {
  const shown = firstTokenOf(result);
  if (shown.length < labels.length && shown.length <= UNASKED_MAX) {
    throw new NonsenseAnswer("The engine does not score the tokens it is told to.");
  }
  const places = new Map(labels.map((label, at) => [label, at]));
  return scoresBy(shown, labels.length, (token) => places.get(token.replace(PREFIX, "")) ?? -1);
}

/** What tokenizers put before a word. */
const PREFIX = /^[\s▁Ġ]+/u;

function scoresBy(shown: readonly ShownToken[], count: number, placeOf: (token: string) => number): LabelScores {
  const found = new Array<number>(count).fill(0);
  let seen = 0;
  let least = 1;
  for (const { token, logprob } of shown) {
    const p = Math.exp(logprob);
    seen += p;
    least = Math.min(least, p);
    const at = placeOf(token);
    if (at >= 0 && at < count) found[at]! += p;
  }
  const mass = found.reduce((sum, p) => sum + p, 0);
  if (mass < MASS_MIN) throw new NonsenseAnswer(`The label letters have a probability of ${mass} together.`);
  const missing = found.filter((p) => p === 0).length;
  // Not shown: at most as probable as the least that was, and as the remainder that all of them share.
  const bound = missing === 0 ? 0 : Math.min(least, Math.max(0, 1 - seen) / missing);
  return {
    logProbabilities: found.map((p) => Math.log(Math.max(p === 0 ? bound : p, FLOOR))),
    mass: Math.min(1, mass),
  };
}

interface ShownToken {
  readonly token: string;
  readonly logprob: number;
}

/** The alternatives of the first token that is not white space. */
function firstTokenOf(result: ChatResult): ShownToken[] {
  const blocks = result.choices[0]?.blocks ?? [];
  const positions = blocks.flatMap((block) => (block.type === "text" ? (block.logprobs ?? []) : []));
  for (const position of positions) {
    if (!isRecord(position)) continue;
    const alternatives = readTokens(Array.isArray(position["top_logprobs"]) ? position["top_logprobs"] : []);
    // The chosen token stands among the alternatives too, or below them. Two that read alike are two tokens: a letter and
    // the byte it is made of.
    const chosen = readTokens([position]).filter(({ token }) => alternatives.every((one) => one.token !== token));
    const list = [...chosen, ...alternatives];
    if (list.length > 0 && list.some(({ token }) => token.trim() !== "")) return list;
  }
  throw new NonsenseAnswer("The engine gave no log-probabilities.");
}

function readTokens(given: readonly unknown[]): ShownToken[] {
  return given.flatMap((one) => {
    if (!isRecord(one) || typeof one["token"] !== "string" || typeof one["logprob"] !== "number") return [];
    if (!(one["logprob"] <= 1e-6)) return [];
    return [{ token: one["token"], logprob: Math.min(0, one["logprob"]) }];
  });
}
