// Writes probabilities as answers in two formats: docs/reference/http-api.md#post-v1systemone, and TypeSafe's own, in which
// scores are keyed by the index of the level. Probabilities are in the order of the question's options and sum to 1.

import { UnusedNames } from "../../base/unused-names.ts";
import { type Question, textOfContent } from "../questions.ts";
import { argMax, choiceConfidence, scoreConfidence } from "./confidence.ts";

/** A question with its probabilities. */
export interface Answered {
  readonly question: Question;
  readonly probabilities: readonly number[];
  /** Whether the model refused to answer it, so that there are no probabilities. */
  readonly refused?: boolean;
}

/** The member `answers` of docs/reference/http-api.md#post-v1systemone. */
export function answersView(answered: readonly Answered[]): Record<string, unknown> {
  return Object.fromEntries(answered.map((one) => [one.question.key, answerView(one)]));
}

function answerView({ question, probabilities }: Answered): Record<string, unknown> {
  if (question.type !== "score") return plainView({ question, probabilities });
  const levels = question.options.map(({ criterion }) => textOfContent(criterion ?? ""));
  const names = distinct(levels);
  return {
    type: "score",
    score: meanLevel(probabilities),
    legend: levels[argMax(probabilities)],
    probabilities: byName(names, probabilities),
    confidence: scoreConfidence(probabilities),
    legend_map: Object.fromEntries(levels.map((level, index) => [String(index), level])),
    level_probabilities: byName(indices(levels.length), probabilities),
  };
}

/** The member `answers` in TypeSafe's own format. */
export function nativeAnswersView(answered: readonly Answered[]): Record<string, unknown> {
  return Object.fromEntries(answered.map((one) => [one.question.key, nativeView(one)]));
}

function nativeView({ question, probabilities }: Answered): Record<string, unknown> {
  if (question.type !== "score") return plainView({ question, probabilities });
  return {
    type: "score",
    score: meanLevel(probabilities),
    // The levels as received, since a level may be any JSON.
    legend: Object.fromEntries(question.options.map(({ label, criterion }) => [label, criterion])),
    probabilities: byName(indices(probabilities.length), probabilities),
    confidence: scoreConfidence(probabilities),
  };
}

/** The answer to a yes/no question or a choice, which is the same in both formats. */
function plainView({ question, probabilities }: Answered): Record<string, unknown> {
  if (question.type === "noul") return { type: "noul", noul: probabilities[0] };
  const labels = question.options.map(({ label }) => label);
  return {
    type: "choice",
    choice: labels[argMax(probabilities)],
    probabilities: byName(labels, probabilities),
    confidence: choiceConfidence(probabilities),
  };
}

/** The expected level, counted from 0. */
export function meanLevel(probabilities: readonly number[]): number {
  let mean = 0;
  for (let i = 0; i < probabilities.length; i++) mean += i * probabilities[i]!;
  return Math.min(mean, probabilities.length - 1);
}

/** Makes texts distinct: equal texts get " (2)", " (3)" and so on, but never the text of another option. */
export function distinct(texts: readonly string[]): string[] {
  const unused = new UnusedNames({ before: " (", after: ")" }, new Set(texts));
  return texts.map((text) => unused.take(text));
}

// `fromEntries` sets own properties, whatever their name, so that an option may be called __proto__.
function byName(names: readonly string[], probabilities: readonly number[]): Record<string, number> {
  return Object.fromEntries(names.map((name, index) => [name, probabilities[index]!]));
}

function indices(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}
