// A chat model that believes the same of an option in whatever company it stands: it says each with a weight of e to its worth.
// What an answer to any number of options should be is therefore known exactly.

import type { ChatRequest } from "../../src/chat/request.ts";
import type { ChatResult } from "../../src/chat/result.ts";
import type { BackendSpec, DecisionRoute, Upstream } from "../../src/decisions/backends/backend.ts";
import { logprobs } from "../../src/decisions/backends/logprobs.ts";
import { CONTENT_FREE } from "../../src/decisions/backends/prior.ts";
import { calibrate, softmax, UNCALIBRATED } from "../../src/decisions/calibration/calibration.ts";
import type { Question } from "../../src/decisions/questions.ts";
import { REVISION } from "../../src/decisions/revision.ts";

/** What it makes of "none of these". */
export type NoneHabit = { readonly worth: number } | "complement";

export interface ConsistentHabits {
  readonly worths: ReadonlyMap<string, number>;
  readonly none: NoneHabit;
  /** Added to the worth of the first position, falling evenly to minus this at the last. */
  readonly first?: number;
  /** Added to the worth of a position. */
  readonly gain?: (at: number, count: number) => number;
  /** What it believes of the options without a state; absent: that all are alike. */
  readonly stateless?: ReadonlyMap<string, number>;
  /** Share of a letter that comes as a variant (" A", "a") of it. */
  readonly variants?: number;
  /** Alternatives shown at most, whatever is asked for. */
  readonly shows?: number;
}

const ROUTE: DecisionRoute = { provider: "simulated", model: "simulated-1", path: "", priority: 1, weight: 1 };

/** As a version that is asked in two orders. */
export const SPEC: BackendSpec = {
  kind: "logprobs",
  routes: [ROUTE],
  limits: {},
  orders: 2,
  concurrency: 32,
  revision: REVISION,
  minLabelMass: 0,
};

/** The model, and how often it was asked. */
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
    // As probable as all the options together that are not shown.
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
  return { choices: [{ index: 0, blocks: [block] }] } as unknown as ChatResult;
}

const NONE = "None of these";

function isStateless({ messages }: ChatRequest): boolean {
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

/** What the backend makes of the model, by option. */
export async function answerOf(
  habits: ConsistentHabits,
  spec: BackendSpec = SPEC,
): Promise<{ probabilities: Map<string, number>; calls: number }> {
  const labels = [...habits.worths.keys()];
  const options = labels.map((label) => ({ label, criterion: null }));
  const question: Question = { key: "q", type: "choice", instructions: "Which?", options };
  const { upstream, calls } = consistentUpstream(habits);
  const { readings } = await logprobs.answer({ state: "A state.", questions: [question], spec }, upstream);
  const values = calibrate(question, readings[0]!, UNCALIBRATED);
  return { probabilities: new Map(labels.map((label, at) => [label, values[at]!])), calls: calls() };
}

/** What the answer should be. */
export function truthOf(worths: ReadonlyMap<string, number>): Map<string, number> {
  const values = softmax([...worths.values()]);
  return new Map([...worths.keys()].map((label, at) => [label, values[at]!]));
}

/** Half of the sum of all differences. */
export function totalVariation(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  return [...a].reduce((sum, [label, p]) => sum + Math.abs(p - (b.get(label) ?? 0)), 0) / 2;
}

/** Worths of `count` options: one stands out by `lead`, the others vary by about one. */
export function worthsOf(count: number, lead: number, random: () => number): Map<string, number> {
  const right = Math.floor(random() * count);
  return new Map(
    Array.from({ length: count }, (_, at): [string, number] => {
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return [`option${at}`, normal + (at === right ? lead : 0)];
    }),
  );
}
