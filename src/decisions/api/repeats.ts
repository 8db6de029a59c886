// Finds questions and options that a request names twice. In JSON the last one wins silently: another question than the
// one asked would be answered, or an expected option be missing.

import { topLevelMembers } from "../../base/json-splice.ts";
import { badQuestion } from "../questions.ts";

/** Larger ones are hardly ever within the limits, and not worth another look. */
const CHARACTERS_MAX = 2 * 1024 * 1024;

const QUESTIONS = { questions: true };
const CRITERIA = { criteria: true };

/** Throws 422 with the path of what stands twice. The text must have been read as a sound request already. */
export function refuseRepeats(text: string): void {
  if (text.length > CHARACTERS_MAX) return;
  const questions = membersOf(text, topLevelMembers(text, 0, QUESTIONS).get("questions")?.at(-1)?.valueStart);
  for (const [key, spans] of questions) {
    if (spans.length > 1) throw badQuestion(`questions.${key}`, "This question is asked twice with the same key.");
    const { criteria = [] } = Object.fromEntries(topLevelMembers(text, spans[0]!.valueStart, CRITERIA));
    for (const [label, { length }] of membersOf(text, criteria.at(-1)?.valueStart)) {
      if (length > 1) throw badQuestion(`questions.${key}.criteria.${label}`, "This option is named twice.");
    }
  }
}

/** The members of an object that begins there; of anything else none. */
function membersOf(text: string, from: number | undefined): ReturnType<typeof topLevelMembers> {
  return from !== undefined && text[from] === "{" ? topLevelMembers(text, from) : new Map();
}
