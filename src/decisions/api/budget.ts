// Counts the tokens of a decision request for its two limits: the state with all questions, and the state with the longest
// question. Counting stops when a limit is exceeded, and lets other work run in between.

import { ApiError } from "../../base/errors.ts";
import { TokenCounter } from "../../tokens/count.ts";
import { type DecisionRequest, type ParamNames, type Question, textOfContent } from "../questions.ts";

/** The limits are documented at docs/reference/http-api.md#post-v1systemone. */
export const TOTAL_TOKENS_MAX = 65_536;
export const LONGEST_TOKENS_MAX = 32_768;

/** A character has at most three bytes, and a token at least one. */
const TOKENS_PER_CHARACTER_MAX = 3;

/**
 * Checks the limits. Throws 413 `context_too_large`. Returns a function that counts the billed tokens in case the upstream does
 * not; most requests are so small that nothing else needs to be counted.
 */
export async function measure(request: Omit<DecisionRequest, "model">): Promise<() => Promise<number>> {
  const state = textOfContent(request.state);
  const questions = request.questions.map((question) => ({ key: question.key, text: questionText(question) }));
  const characters = questions.reduce((sum, { text }) => sum + text.length, state.length);
  const count = () => countAll(state, questions, request.names);
  if (characters * TOKENS_PER_CHARACTER_MAX <= LONGEST_TOKENS_MAX) return count;
  const total = await count();
  return async () => total;
}

async function countAll(
  state: string,
  questions: readonly { key: string; text: string }[],
  names: ParamNames,
): Promise<number> {
  const counter = new TokenCounter();
  const stateTokens = await counter.count(state, LONGEST_TOKENS_MAX);
  if (stateTokens > LONGEST_TOKENS_MAX) throw tooLarge("The state alone", LONGEST_TOKENS_MAX, names.state);
  let totalTokens = stateTokens;
  for (const { key, text } of questions) {
    const tokens = await counter.count(text, LONGEST_TOKENS_MAX - stateTokens);
    if (stateTokens + tokens > LONGEST_TOKENS_MAX) {
      // The longer of the two is the one to shorten.
      const param = tokens > stateTokens ? names.of(`questions.${key}`) : names.state;
      throw tooLarge("The state with the longest question", LONGEST_TOKENS_MAX, param);
    }
    totalTokens += tokens;
    if (totalTokens > TOTAL_TOKENS_MAX) throw tooLarge("The state with all questions", TOTAL_TOKENS_MAX, names.state);
  }
  return totalTokens;
}

function tooLarge(what: string, limit: number, param: string): ApiError {
  const message = `${what} has more than the allowed ${limit} tokens. Shorten '${param}'.`;
  return new ApiError("context_too_large", message, { param });
}

/** Names of questions up to this length are not counted, since they only identify answers. Longer ones count as text. */
const NAME_CHARACTERS_FREE = 64;

/** The text of a question: its instructions, and the names and meanings of its options. */
function questionText({ key, name = key, type, instructions, options }: Question): string {
  const lines = name.length > NAME_CHARACTERS_FREE ? [name] : [];
  if (instructions !== undefined) lines.push(textOfContent(instructions));
  for (const { label, criterion } of options) {
    const meaning = criterion === null ? "" : textOfContent(criterion);
    if (type === "choice") lines.push(meaning === "" ? label : `${label}: ${meaning}`);
    else if (meaning !== "") lines.push(meaning);
  }
  return lines.join("\n");
}
