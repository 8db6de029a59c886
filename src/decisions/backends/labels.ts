// Reads the log probabilities of label letters from the first token of a chat answer, as OpenAI-compatible engines return them.
// One letter may be several tokens ("A", " A"), whose probabilities are added. A letter that is not shown gets an upper bound, so
// that no letter is impossible.

import { isRecord } from "../../base/json-object.ts";
import type { ChatResult } from "../../chat/result.ts";
import { LEGACY_REVISION } from "../revision.ts";
import { NonsenseAnswer } from "./backend.ts";

/** What was read of the first token. */
export interface LabelScores {
  /** The natural logarithms of the probabilities, by position. */
  readonly logProbabilities: readonly number[];
  /** The total probability of the letters; the rest went to other tokens. */
  readonly mass: number;
  /** The number of alternatives, if the engine withheld some of those that were requested. */
  readonly capped?: number;
}

/** How the letters were requested. */
export interface LetterAsking {
  readonly count: number;
  /** The number of requested alternatives. */
  readonly top: number;
  readonly revision: number;
}

/** The smallest probability of a letter. */
const FLOOR = 1e-9;
/** If the letters together have less probability, the engine did not answer the question. */
const MASS_MIN = 0.01;

/** Matches a letter, with the characters that commonly surround it. */
const LETTER = /^[\s▁Ġ"'`(*]*([A-Za-z])[\s.:)"'`*]*$/u;
/** The pattern of the previous revision, which only counted capitals. */
const CAPITAL = /^[\s▁Ġ"'`(*]*([A-Z])[\s.:)"'`*]*$/u;

/** If the alternatives' sum is at least this, they are complete. */
const ALL = 0.999;
/** The maximum total probability that is assumed for letters which an engine omitted; more would be a guess. */
const KEPT_BACK_MAX = 0.02;

/** The engine shows fewer alternatives than requested, and the letters may be among the others. */
export class FewAlternatives extends NonsenseAnswer {
  constructor(shown: number, asked: number) {
    const limit = shown === 0 ? "" : `; set limits.top_logprobs to ${shown}`;
    super(`its engine shows ${shown} alternatives of a token although ${asked} were requested${limit}`);
    this.name = "FewAlternatives";
  }
}

/** Reads the scores of `count` letters, beginning with A. Throws `NonsenseAnswer` if there are none. */
export function labelScores(result: ChatResult, { count, top, revision }: LetterAsking): LabelScores {
  const former = revision === LEGACY_REVISION;
  const letter = former ? CAPITAL : LETTER;
  const { tokens, alternatives } = firstTokenOf(result);
  const plain = scoresBy(tokens, count, (token) => (letter.exec(token)?.[1]?.toUpperCase().charCodeAt(0) ?? 0) - 65);
  // The alternatives are complete, so a letter that is not among them has no probability.
  if (alternatives < top && plain.seen > ALL) return plain;
  const scores = former ? plain : withSpellings(plain, tokens);
  if (alternatives >= top) return scores;
  if (!former && scores.keptBack > KEPT_BACK_MAX) throw new FewAlternatives(alternatives, top);
  return { ...scores, capped: alternatives };
}

/** The number of alternatives that engines show by default. */
const UNASKED_MAX = 21;

/** Reads the scores of labels that the engine was told to score. Throws `NonsenseAnswer` if it did not score them. */
export function chosenScores(result: ChatResult, labels: readonly string[]): LabelScores {
  const { tokens: shown } = firstTokenOf(result);
  if (shown.length < labels.length && shown.length <= UNASKED_MAX) {
    throw new NonsenseAnswer("The engine did not score the requested tokens.");
  }
  const places = new Map(labels.map((label, at) => [label, at]));
  return scoresBy(shown, labels.length, (token) => places.get(token.replace(PREFIX, "")) ?? -1);
}

/** Marks for the start of a word in tokenizers. */
const PREFIX = /^[\s▁Ġ]+/u;

interface CountedScores extends LabelScores {
  /** The total probability of all tokens that are shown. */
  readonly seen: number;
  /** The lowest probability that is shown. */
  readonly least: number;
  /** An upper bound for each label that is not shown. */
  readonly keptBack: number;
}

function scoresBy(shown: readonly ShownToken[], count: number, placeOf: (token: string) => number): CountedScores {
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
  if (mass < MASS_MIN) throw new NonsenseAnswer(`The label letters have a total probability of ${mass}.`);
  const missing = found.filter((p) => p === 0).length;
  // A label that is not shown is at most as probable as the lowest one that is, and all of them share the remainder.
  const bound = missing === 0 ? 0 : Math.min(least, Math.max(0, 1 - seen) / missing);
  return {
    logProbabilities: found.map((p) => Math.log(Math.max(p === 0 ? bound : p, FLOOR))),
    mass: Math.min(1, mass),
    seen,
    least,
    keptBack: bound * missing,
  };
}

/**
 * Adds the spellings that an engine omits. For a probable letter, both "A" and " A" are among the alternatives, but for an
 * improbable one only the more common spelling is, which would favour the probable letter. The ratio of the spellings is taken
 * from letters that show both.
 */
function withSpellings(scores: CountedScores, shown: readonly ShownToken[]): CountedScores {
  const bySpelling = spellingsOf(shown, scores.logProbabilities.length);
  const [common, ...others] = [...bySpelling.values()].sort((a, b) => totalOf(b) - totalOf(a));
  if (common === undefined || others.length === 0) return scores;
  const added = new Map<number, number>();
  for (const other of others) {
    const both = [...other.keys()].filter((at) => common.has(at));
    if (both.length === 0) continue;
    const ratio = totalOf(other, both) / totalOf(common, both);
    for (const [at, p] of common) {
      if (!other.has(at)) added.set(at, (added.get(at) ?? 0) + Math.min(scores.least, ratio * p));
    }
  }
  return {
    ...scores,
    logProbabilities: scores.logProbabilities.map((logP, at) => Math.log(Math.exp(logP) + (added.get(at) ?? 0))),
  };
}

/** The probabilities by spelling, then by position: "A" and "B" have the same spelling, " A" and " B" another one. */
function spellingsOf(shown: readonly ShownToken[], count: number): Map<string, Map<number, number>> {
  const out = new Map<string, Map<number, number>>();
  for (const { token, logprob } of shown) {
    const letter = LETTER.exec(token)?.[1];
    const at = (letter?.toUpperCase().charCodeAt(0) ?? 0) - 65;
    if (letter === undefined || at >= count) continue;
    const spelling = token.replace(letter, letter === letter.toUpperCase() ? "X" : "x");
    const own = out.get(spelling) ?? new Map<number, number>();
    out.set(spelling, own.set(at, (own.get(at) ?? 0) + Math.exp(logprob)));
  }
  return out;
}

function totalOf(by: ReadonlyMap<number, number>, only: Iterable<number> = by.keys()): number {
  let sum = 0;
  for (const at of only) sum += by.get(at) ?? 0;
  return sum;
}

interface ShownToken {
  readonly token: string;
  readonly logprob: number;
}

/** The first token that is not white space: the chosen token and its alternatives, and the number of alternatives. */
function firstTokenOf(result: ChatResult): { tokens: ShownToken[]; alternatives: number } {
  const blocks = result.choices[0]?.blocks ?? [];
  const positions = blocks.flatMap((block) => (block.type === "text" ? (block.logprobs ?? []) : []));
  for (const position of positions) {
    if (!isRecord(position)) continue;
    const alternatives = readTokens(Array.isArray(position["top_logprobs"]) ? position["top_logprobs"] : []);
    // The chosen token is among the alternatives, or it is less probable than all of them. Two tokens may look alike: a letter,
    // and the byte of which it consists.
    const chosen = readTokens([position]).filter(({ token }) => alternatives.every((one) => one.token !== token));
    const list = [...chosen, ...alternatives];
    if (list.length > 0 && list.some(({ token }) => token.trim() !== "")) {
      return { tokens: list, alternatives: alternatives.length };
    }
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
