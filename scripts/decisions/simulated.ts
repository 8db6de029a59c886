// A simulated chat model with known habits: its skill at finding the right answer, its overconfidence, and its
// preference for "yes" and for the first letters. It is therefore known what a calibration should find.

import type { ChatRequest } from "../../src/chat/request.ts";
import type { ChatResult } from "../../src/chat/result.ts";
import type { DecisionRoute, Upstream } from "../../src/decisions/backends/backend.ts";
import { letterAt } from "../../src/decisions/backends/prompt.ts";
import type { LabelledRow } from "../../src/decisions/calibration/calibrate.ts";
import { softmax } from "../../src/decisions/calibration/calibration.ts";
import { type Question, textOfContent } from "../../src/decisions/questions.ts";

export interface Habits {
  /** How far the right answer exceeds the others, in standard deviations of the noise. */
  readonly skill: number;
  /** The factor by which log-odds are too large. */
  readonly sharpness: number;
  /** Added to the log-odds of true in yes/no questions, before `sharpness` is applied. */
  readonly yes: number;
  /** Added to the log-weight of the first letter. It decreases linearly to its negative at the last letter. */
  readonly firstLetters: number;
  readonly seed: number;
}

/** An upstream with this model. Rows are recognised by their state. */
export function simulatedUpstream(rows: readonly LabelledRow[], habits: Habits): Upstream {
  const beliefs = new Map(rows.map((row, at) => [textOfContent(row.state), beliefsOf(row, at, habits)]));
  const route: DecisionRoute = { provider: "simulated", model: "simulated-1", path: "", priority: 1, weight: 1 };
  const never = () => Promise.reject(new Error("only chats are simulated"));
  return {
    post: never,
    tokens: never,
    async chat(requestFor, read) {
      const shown = readPrompt(requestFor(route));
      const own = beliefs.get(shown.state);
      if (own === undefined) throw new Error(`an unknown row was asked: ${shown.state.slice(0, 200)}`);
      const none = Math.log(0.02);
      const count = shown.options.length;
      const scores = shown.options.map((option, at) => {
        const lean = count === 1 ? 0 : 1 - (2 * at) / (count - 1);
        return habits.sharpness * (own.get(option) ?? none) + habits.firstLetters * lean;
      });
      return read({ result: answer(softmax(scores)), route });
    },
  };
}

/** The calibrated log-probabilities of the options, by the text that a prompt shows. */
function beliefsOf({ question, truth }: LabelledRow, at: number, { skill, seed, yes }: Habits): Map<string, number> {
  const random = generator(seed * 1_000_003 + at);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const evidence = question.options.map((_, option) => {
    // On a scale, the levels beside the right one have half of its advantage.
    const near = question.type === "score" ? Math.max(0, 1 - Math.abs(option - truth) / 2) : option === truth ? 1 : 0;
    return skill * (skill * near + normal());
  });
  const logs = softmax(evidence).map(Math.log);
  return new Map(
    question.options.map((option, i) => [
      shownAs(question, i),
      logs[i]! + (question.type === "noul" && option.label === "true" ? yes : 0),
    ]),
  );
}

function shownAs({ type, options }: Question, at: number): string {
  const { label } = options[at]!;
  return type === "noul"
    ? label === "true"
      ? "Yes"
      : "No"
    : type === "score"
      ? `Level ${label}`
      : (label.split(":")[0] ?? label);
}

function readPrompt({ messages }: ChatRequest): { state: string; options: string[] } {
  const part = messages.at(-1)?.content[0];
  const text = part?.type === "text" ? part.text : "";
  const state = /<state (\w+)>\n([\s\S]*)\n<\/state \1>/.exec(text)?.[2] ?? "";
  const lines = text.slice(text.lastIndexOf("\nQuestion: ")).split("\n");
  // The text after a colon describes the option.
  return { state, options: lines.flatMap((line) => /^[A-Z]\. ([^:]*)/.exec(line)?.[1] ?? []) };
}

function answer(probabilities: readonly number[]): ChatResult {
  const top = probabilities
    .map((p, at) => ({ token: letterAt(at), logprob: Math.log(Math.max(p, 1e-12)) }))
    .sort((a, b) => b.logprob - a.logprob);
  const chosen = top[0]!;
  const logprobs = [{ ...chosen, top_logprobs: top.slice(0, 20) }];
  const block = { type: "text", text: chosen.token, logprobs };
  return { choices: [{ index: 0, blocks: [block] }] } as unknown as ChatResult;
}

/** Uniform random numbers in [0, 1), determined by the seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
