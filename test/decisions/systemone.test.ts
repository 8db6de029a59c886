// How a score is read from servers that key it otherwise than by index.

import { expect, test } from "bun:test";
import { answersView } from "../../src/decisions/answers.ts";
import { systemone } from "../../src/decisions/backends/systemone.ts";
import { calibrate, UNCALIBRATED } from "../../src/decisions/calibration.ts";
import type { Question } from "../../src/decisions/questions.ts";

const route = { provider: "p", model: "m", path: "", priority: 1, weight: 1 };
const spec = { kind: "systemone" as const, routes: [route], limits: {}, orders: 1, concurrency: 1 };

const scoreOf = (levels: readonly string[]): Question => ({
  key: "q",
  type: "score",
  instructions: "?",
  options: levels.map((criterion, at) => ({ label: String(at), criterion })),
});

async function read(question: Question, answer: unknown): Promise<number[]> {
  const never = () => Promise.reject(new Error("not asked"));
  const upstream = { post: async () => ({ body: { answers: { q: answer } }, route }), chat: never, tokens: never };
  const { readings } = await systemone.answer({ state: "s", questions: [question], spec }, upstream);
  return calibrate(question, readings[0]!, UNCALIBRATED);
}

test.each([
  [["bad", "fair", "good"]],
  [["same", "same", "same (2)"]],
  // Texts that are other levels' numbers.
  [["2", "1", "0"]],
  [["1", "2", "3"]],
])("the specification's own shape of %p is read as it was meant", async (levels) => {
  const question = scoreOf(levels);
  const probabilities = [0.1, 0.3, 0.6];
  const out = await read(question, answersView([{ question, probabilities }])["q"]);
  probabilities.forEach((p, at) => {
    expect(out[at]).toBeCloseTo(p, 9);
  });
});

test("levels of equal text are told apart where there is nothing but their names", async () => {
  const answer = { type: "score", probabilities: { same: 0.1, "same (2)": 0.9 } };
  const out = await read(scoreOf(["same", "same"]), answer);
  expect(out[1]).toBeCloseTo(0.9, 9);
});
