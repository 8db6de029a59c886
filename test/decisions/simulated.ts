// A chat model with known biases behind an OpenAI-compatible endpoint: its beliefs follow a rule of the test, it prefers
// positions by known amounts, and it is overconfident by a known factor. The values that calibration should find are therefore
// known.

import { type Fake, startFake } from "./support.ts";

export interface Habits {
  /** The true log-weights of the options' texts for a state. They need not be normalised. */
  beliefs(state: string, options: readonly string[]): number[];
  /** The amount that is added to the log-weight at each position. */
  gains?: readonly number[];
  /** A factor on the logits. With 2 the model is overconfident by that factor. */
  sharpness?: number;
  /** The probability of tokens other than letters. */
  chatter?: number;
  /** The number of alternatives that are returned. The default is the API's own maximum. */
  top?: number;
}

export interface Shown {
  state: string;
  question: string;
  options: string[];
  letters: boolean;
}

/** The state, question and options in a prompt. */
export function readPrompt(text: string): Shown {
  const state = /<state (\w+)>\n([\s\S]*)\n<\/state \1>/.exec(text)?.[2] ?? "";
  const question = /Question: (.*)/.exec(text)?.[1] ?? "";
  const letters = /^A\. /m.test(text);
  const options = text
    .slice(text.indexOf("Question: "))
    .split("\n")
    .flatMap((line) => /^(?:[A-Z]|\d+)\. (.*)$/.exec(line)?.[1] ?? []);
  return { state, question, options, letters };
}

/** The log-probabilities by position. */
export function believed(shown: Shown, habits: Habits): number[] {
  const scores = habits
    .beliefs(shown.state, shown.options)
    .map((belief, at) => belief * (habits.sharpness ?? 1) + (habits.gains?.[at] ?? 0));
  const top = Math.max(...scores);
  const norm = top + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - top), 0));
  return scores.map((score) => score - norm + Math.log(1 - (habits.chatter ?? 0)));
}

export function startSimulated(habits: Habits, delayMs = 0): Fake {
  return startFake(async (body) => {
    if (delayMs > 0) await Bun.sleep(delayMs);
    const shown = readPrompt(body.messages.at(-1).content);
    const scores = believed(shown, habits);
    const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 };
    const base = { id: "x", object: "chat.completion", created: 1, model: "sim-1", usage, system_fingerprint: "fp_1" };
    if (!shown.letters) {
      const content = JSON.stringify(Object.fromEntries(scores.map((score, at) => [at + 1, Math.exp(score)])));
      const message = { role: "assistant", content };
      return Response.json({ ...base, choices: [{ index: 0, message, finish_reason: "stop" }] });
    }
    // Half of each letter's probability belongs to the token with a leading space, as in real tokenizers.
    const tokens = scores.flatMap((score, at) => {
      const letter = String.fromCharCode(65 + at);
      return [
        { token: letter, logprob: score + Math.log(0.75), bytes: null },
        { token: ` ${letter}`, logprob: score + Math.log(0.25), bytes: null },
      ];
    });
    if (habits.chatter !== undefined) tokens.push({ token: "The", logprob: Math.log(habits.chatter), bytes: null });
    const top_logprobs = tokens
      .sort((a, b) => b.logprob - a.logprob)
      .slice(0, Math.min(habits.top ?? 20, body.top_logprobs));
    const logprobs = body.logprobs === true ? { content: [{ ...top_logprobs[0], top_logprobs }] } : null;
    const message = { role: "assistant", content: top_logprobs[0]!.token };
    return Response.json({ ...base, choices: [{ index: 0, message, logprobs, finish_reason: "length" }] });
  });
}

/** Draws an index by its probability. */
export function draw(probabilities: readonly number[], random: () => number): number {
  let mark = random();
  for (const [at, p] of probabilities.entries()) {
    mark -= p;
    if (mark < 0) return at;
  }
  return probabilities.length - 1;
}
