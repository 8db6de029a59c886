// A simulated chat model whose preference for an option does not depend on the other options: the weight of an option
// is e to the power of its worth. The correct probabilities for any number of options are therefore known exactly.

import type { ChatRequest } from "../../src/chat/request.ts";
import type { ChatResult } from "../../src/chat/result.ts";
import type { BackendSpec, DecisionRoute, Upstream } from "../../src/decisions/backends/backend.ts";
import { logprobs } from "../../src/decisions/backends/logprobs.ts";
import { CONTENT_FREE, type Priors } from "../../src/decisions/backends/prior.ts";
import { calibrate, softmax, UNCALIBRATED } from "../../src/decisions/calibration/calibration.ts";
import type { Question } from "../../src/decisions/questions.ts";
import { REVISION } from "../../src/decisions/revision.ts";

/** The model's weight for "none of these". */
export type NoneHabit = { readonly worth: number } | "complement";

export interface ConsistentHabits {
  readonly worths: ReadonlyMap<string, number>;
  readonly none: NoneHabit;
  /** Added to the worth of the first position. It decreases linearly to its negative at the last position. */
  readonly first?: number;
  /** Added to the worth of an option at a position. */
  readonly gain?: (at: number, count: number) => number;
  /** The worths of the options without a state; absent: all are equal. */
  readonly stateless?: ReadonlyMap<string, number>;
  /** The share of a letter's probability that is given to its variants (" A", "a"). */
  readonly variants?: number;
  /** The limit of alternatives that are returned, whatever number is requested. */
  readonly shows?: number;
}

const ROUTE: DecisionRoute = { provider: "simulated", model: "simulated-1", path: "", priority: 1, weight: 1 };

/** A version that asks each question in two orders. */
export const SPEC: BackendSpec = {
  kind: "logprobs",
  routes: [ROUTE],
  limits: {},
  orders: 2,
  concurrency: 32,
  revision: REVISION,
  minLabelMass: 0,
};

/** The model, and the number of calls to it. */
export function consistentUpstream(habits: ConsistentHabits): { upstream: Upstream; calls(): number } {
  let calls = 0;
  const never = () => Promise.reject(new Error("only chats are simulated"));
  const chat: Upstream["chat"] = async (requestFor, read) => {
    calls += 1;
    return read({ result: answerTo(requestFor(ROUTE), habits), route: ROUTE });
  };
  return { upstream: { chat, post: never, tokens: never }, calls: () => calls };
}

function answerTo(request: ChatRequest, habits: ConsistentHabits): ChatResult {
  const shown = optionsOf(request);
  const whole = logSum([...habits.worths.values()]);
  const own = shown.filter((name) => name !== NONE).map((name) => habits.worths.get(name)!);
  const worths = shown.map((name, at) => {
    const lean = shown.length === 1 ? 0 : 1 - (2 * at) / (shown.length - 1);
    const liked = (habits.first ?? 0) * lean + (habits.gain?.(at, shown.length) ?? 0);
    return liked + (isStateless(request) ? (habits.stateless?.get(name) ?? 0) : worthOf(name));
  });
  function worthOf(name: string): number {
    if (name !== NONE) return habits.worths.get(name)!;
    if (habits.none !== "complement") return habits.none.worth;
    // Its probability equals that of all hidden options together.
    return Math.log(Math.max(Math.exp(whole) - Math.exp(logSum(own)), 1e-12));
  }
  const variants = habits.variants ?? 0;
  const tokens = softmax(worths).flatMap((p, at) => {
    const letter = String.fromCharCode(65 + at);
    return [
      { token: letter, p: p * (1 - variants) },
      { token: ` ${letter}`, p: (p * variants) / 2 },
      { token: letter.toLowerCase(), p: (p * variants) / 2 },
    ];
  });
  const top = tokens
    .filter(({ p }) => p > 0)
    .sort((a, b) => b.p - a.p)
    .slice(0, Math.min(request.topLogprobs ?? 0, habits.shows ?? Number.POSITIVE_INFINITY))
    .map(({ token, p }) => ({ token, logprob: Math.log(p) }));
  const block = { type: "text", text: top[0]!.token, logprobs: [{ ...top[0], top_logprobs: top }] };
  const usage = { inputTokens: 100, outputTokens: 1 };
  return { choices: [{ index: 0, blocks: [block] }], usage } as unknown as ChatResult;
}

const NONE = "None of these";

/** Whether a request shows the options without a state. */
export function isStateless({ messages }: ChatRequest): boolean {
  const part = messages.at(-1)?.content[0];
  return part?.type === "text" && part.text.includes(`>\n${CONTENT_FREE}\n<`);
}

function optionsOf({ messages }: ChatRequest): string[] {
  const part = messages.at(-1)?.content[0];
  const text = part?.type === "text" ? part.text : "";
  const lines = text.slice(text.lastIndexOf("\nQuestion: ")).split("\n");
  return lines.flatMap((line) => /^[A-Z]\. (.*)/.exec(line)?.[1] ?? []);
}

function logSum(values: readonly number[]): number {
  const top = Math.max(...values);
  return top + Math.log(values.reduce((sum, value) => sum + Math.exp(value - top), 0));
}

/** The backend's answer with this model, by option. */
export async function answerOf(
  habits: ConsistentHabits,
  spec: BackendSpec = SPEC,
  priors?: Priors,
): Promise<{ probabilities: Map<string, number>; calls: number }> {
  const labels = [...habits.worths.keys()];
  const options = labels.map((label) => ({ label, criterion: null }));
  const question: Question = { key: "q", type: "choice", instructions: "Which?", options };
  const { upstream, calls } = consistentUpstream(habits);
  const { readings } = await logprobs.answer({ state: "A state.", questions: [question], spec, priors }, upstream);
  const values = calibrate(question, readings[0]!, UNCALIBRATED);
  return { probabilities: new Map(labels.map((label, at) => [label, values[at]!])), calls: calls() };
}

/** The correct answer. */
export function truthOf(worths: ReadonlyMap<string, number>): Map<string, number> {
  const values = softmax([...worths.values()]);
  return new Map([...worths.keys()].map((label, at) => [label, values[at]!]));
}

/** Half of the sum of all absolute differences. */
export function totalVariation(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  return [...a].reduce((sum, [label, p]) => sum + Math.abs(p - (b.get(label) ?? 0)), 0) / 2;
}

/** The worths of `count` options: one exceeds the others by `lead`, and the others vary by about one. */
export function worthsOf(count: number, lead: number, random: () => number): Map<string, number> {
  const right = Math.floor(random() * count);
  return new Map(
    Array.from({ length: count }, (_, at): [string, number] => {
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return [`option${at}`, normal + (at === right ? lead : 0)];
    }),
  );
}
