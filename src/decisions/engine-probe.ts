// Asks an engine one easy question, to find out whether it can be read by log-probabilities at all: whether it shows them,
// and puts its answer in the letters. Which letter wins is not judged.

import { ApiError } from "../base/errors.ts";
import { type BackendSpec, NonsenseAnswer, type Upstream } from "./backends/backend.ts";
import { BACKENDS } from "./backends/index.ts";
import type { Question } from "./questions.ts";

/** Where the letters have less together, the engine answers something else first. */
export const MASS_FIT = 0.9;

/** Why the engine is not to be read so; "" for nothing, undefined where it could not be asked. */
export async function probeEngine(asked: BackendSpec, upstream: Upstream): Promise<string | undefined> {
  const spec = { ...asked, orders: 1 };
  try {
    const questions = spec.limits["chosen_tokens"] === undefined ? [EASY] : [EASY, WIDE];
    const { labelMass = 1 } = await BACKENDS.logprobs.answer({ state: CLEAR_DAY, questions, spec }, upstream);
    return labelMass >= MASS_FIT ? "" : massReason(labelMass);
  } catch (error) {
    if (error instanceof NonsenseAnswer) return error.message;
    // The question is sound: what is refused is the way it is asked, as by models that think and show no log-probabilities.
    if (error instanceof ApiError && error.apiCode === "invalid_request") return REFUSED;
    // An upstream that could not be reached says nothing about its engine.
    return undefined;
  }
}

/** Without the engine's own words: `/health` is public. */
const REFUSED = "its engine refuses to be asked for the log-probabilities of one token";

/** What is said of an engine whose letters have so little. */
export function massReason(mass: number): string {
  return `its engine puts ${Math.floor(mass * 100)} % of the answer in the option letters; ${MASS_FIT * 100} % are needed`;
}

const CLEAR_DAY = "The sky is blue and the sun is shining.";

const EASY: Question = {
  key: "probe",
  type: "noul",
  instructions: "Is the sky blue?",
  options: [
    { label: "true", criterion: null },
    { label: "false", criterion: null },
  ],
};

/** More options than letters, for engines that are said to score chosen tokens. */
const WIDE: Question = {
  key: "wide",
  type: "choice",
  instructions: "What is shining?",
  options:
    "sun moon star lamp fire gold snow ice glass mirror sea lake river eye tooth coin ring sword armour candle torch lantern comet meteor aurora pearl opal amber brass tin salt sand"
      .split(" ")
      .map((label) => ({ label, criterion: null })),
};
