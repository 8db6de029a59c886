// How large a decision request is in tokens, and the two limits of the specification ("Limits"): state with all questions,
// and state with the longest one. Counts at most a million characters, so that no request holds the event loop.

import { ApiError } from "../base/errors.ts";
import { countTokens } from "../base/tokens.ts";
import { type DecisionRequest, type Question, textOf } from "./questions.ts";

/** Contract §3 "decision limits". */
export const TOTAL_TOKENS_MAX = 65_536;
export const LONGEST_TOKENS_MAX = 32_768;

/** More than this is counted in part, each text by its share, and scaled up. */
const COUNTED_CHARACTERS_MAX = 1_000_000;

/** A character is at most three bytes, and a token at least one. */
const TOKENS_PER_CHARACTER_MAX = 3;

/**
 * Holds the request against the limits; throws 413 `context_too_large`. Gives its tokens as they are billed where the
 * upstream does not count: most requests are too small to need counting otherwise, so it happens when asked for.
 */
export function measure(request: Pick<DecisionRequest, "state" | "questions">): () => number {
  const state = textOf(request.state);
  const questions = request.questions.map(questionText);
  const characters = questions.reduce((sum, text) => sum + text.length, state.length);
  const count = () => countAll(state, questions, characters);
  if (characters * TOKENS_PER_CHARACTER_MAX <= LONGEST_TOKENS_MAX) return count;
  const total = count();
  return () => total;
}

function countAll(state: string, questions: readonly string[], characters: number): number {
  const share = Math.min(1, COUNTED_CHARACTERS_MAX / characters);
  const stateTokens = countShare(state, share);
  let totalTokens = stateTokens;
  let longest = 0;
  for (const text of questions) {
    const tokens = countShare(text, share);
    totalTokens += tokens;
    longest = Math.max(longest, tokens);
  }
  if (totalTokens > TOTAL_TOKENS_MAX) throw tooLarge("State and questions", totalTokens, TOTAL_TOKENS_MAX);
  const single = stateTokens + longest;
  if (single > LONGEST_TOKENS_MAX) throw tooLarge("State and the longest question", single, LONGEST_TOKENS_MAX);
  return totalTokens;
}

function tooLarge(what: string, tokens: number, limit: number): ApiError {
  const message = `${what} have ${tokens} tokens; the limit is ${limit}. Shrink the state.`;
  return new ApiError("context_too_large", message, { param: "state" });
}

function countShare(text: string, share: number): number {
  if (share >= 1) return countTokens(text);
  const counted = Math.ceil(text.length * share);
  return counted === 0 ? 0 : Math.ceil((countTokens(text.slice(0, counted)) * text.length) / counted);
}

/** The words of a question: what is asked, the names of the options and what they mean. */
function questionText({ type, instructions, options }: Question): string {
  const lines = instructions === undefined ? [] : [textOf(instructions)];
  for (const { label, criterion } of options) {
    const meaning = criterion === null ? "" : textOf(criterion);
    if (type === "choice") lines.push(meaning === "" ? label : `${label}: ${meaning}`);
    else if (meaning !== "") lines.push(meaning);
  }
  return lines.join("\n");
}
