// Probes an engine with one easy question: whether it returns log probabilities at all, and whether it answers with a letter. It
// does not matter which letter is the most probable.

import { ApiError } from "../../base/errors.ts";
import { type BackendAnswer, type BackendSpec, NonsenseAnswer, type Upstream } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import { FewAlternatives } from "../backends/labels.ts";
import type { Question } from "../questions.ts";

/** If the letters have a lower total probability, the engine begins its answer with something else. */
export const MASS_FIT = 0.9;

/** Why the engine is unfit; "" if it is fit, undefined if it could not be asked. */
export async function probeEngine(asked: BackendSpec, upstream: Upstream): Promise<string | undefined> {
  // The probe has a bound of its own for the total probability, and its own text about it. Biases do not matter to it.
  const spec = { ...asked, orders: 1, minLabelMass: 0, prior: "none" as const };
  const ask = (state: string, questions: readonly Question[]) =>
    backendOf(spec).answer({ state, questions, spec }, upstream);
  try {
    const questions = spec.limits["chosen_tokens"] === undefined ? [EASY] : [EASY, WIDE];
    const { labelMass = 1 } = await ask(CLEAR_DAY, questions);
    if (labelMass < MASS_FIT) return massReason(labelMass);
    return await fewAlternatives(spec, (question) => ask("", [question]));
  } catch (error) {
    if (error instanceof NonsenseAnswer) return error.message;
    // The question itself is valid, so the refusal is about the parameters. Reasoning models without log probabilities answer
    // like this.
    if (error instanceof ApiError && error.apiCode === "invalid_request") return REFUSED;
    // An upstream that cannot be reached shows nothing about its engine.
    return undefined;
  }
}

/**
 * Whether the engine shows as many alternatives as requested. An unstated limit only shows if many answers are about equally
 * probable, so the engine is asked for one of as many options as a call can distinguish. Returns the problem, or "".
 */
async function fewAlternatives(
  { limits }: BackendSpec,
  ask: (question: Question) => Promise<BackendAnswer>,
): Promise<string> {
  const options = EVEN.slice(0, limits["top_logprobs"] ?? EVEN.length);
  if (options.length <= 2) return "";
  try {
    const { capped } = await ask({ key: "even", type: "choice", instructions: "Pick one at random.", options });
    return capped === undefined || capped >= options.length ? "" : new FewAlternatives(capped, options.length).message;
  } catch (error) {
    if (error instanceof FewAlternatives) return error.message;
    // A model may answer such an unusual question differently, and it did answer the easy one.
    if (error instanceof NonsenseAnswer) return "";
    throw error;
  }
}

/** The engine's own text is left out, since `/health` is public. */
const REFUSED = "its engine refuses requests for the log probabilities of a single token";

/** The text for an engine whose letters have this low a total probability. */
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

const named = (names: string) => names.split(" ").map((label) => ({ label, criterion: null }));

/** As many options as engines commonly show alternatives, all equally likely. */
const EVEN = named(
  "apple banana cherry date elder fig grape hazel iris juniper kiwi lemon mango nettle olive peach quince rose sage thyme",
);

/** More options than letters, for engines that can score given tokens. */
const WIDE: Question = {
  key: "wide",
  type: "choice",
  instructions: "What is shining?",
  options: named(
    "sun moon star lamp fire gold snow ice glass mirror sea lake river eye tooth coin ring sword armour candle torch lantern comet meteor aurora pearl opal amber brass tin salt sand",
  ),
};
