// Finds duplicate names of questions and options in a request. JSON parsers silently use the last one, so a different question
// would be answered, or an expected option would be missing.

import { topLevelMembers } from "../../base/json-splice.ts";
import { badQuestion } from "../questions.ts";

/** Larger requests are not checked; they rarely pass the token limits. */
const CHARACTERS_MAX = 2 * 1024 * 1024;

const QUESTIONS = { questions: true };
const CRITERIA = { criteria: true };

/** Throws 422 with the path of the duplicate. The text must already have been parsed as a valid request. */
export function refuseRepeats(text: string): void {
  if (text.length > CHARACTERS_MAX) return;
  const questions = membersOf(text, topLevelMembers(text, 0, QUESTIONS).get("questions")?.at(-1)?.valueStart);
  for (const [key, spans] of questions) {
    if (spans.length > 1)
      throw badQuestion(`questions.${key}`, "Two questions have this key. Give each question a key of its own.");
    const { criteria = [] } = Object.fromEntries(topLevelMembers(text, spans[0]!.valueStart, CRITERIA));
    for (const [label, { length }] of membersOf(text, criteria.at(-1)?.valueStart)) {
      if (length > 1)
        throw badQuestion(
          `questions.${key}.criteria.${label}`,
          "Two options have this name. Give each option a name of its own.",
        );
    }
  }
}

/** The members of the object that begins at this position; none if it is not an object. */
function membersOf(text: string, from: number | undefined): ReturnType<typeof topLevelMembers> {
  return from !== undefined && text[from] === "{" ? topLevelMembers(text, from) : new Map();
}
