// Reading a score from servers whose keys are not the index of the level.

import { expect, test } from "bun:test";
import { answersView } from "../../src/decisions/api/answers.ts";
import type { Upstream } from "../../src/decisions/backends/backend.ts";
import { systemone } from "../../src/decisions/backends/systemone.ts";
import { calibrate, UNCALIBRATED } from "../../src/decisions/calibration/calibration.ts";
import type { Question } from "../../src/decisions/questions.ts";
import { REVISION } from "../../src/decisions/revision.ts";
import { findVendor } from "../../src/vendors/look-up.ts";

const route = { provider: "p", model: "m", path: "", priority: 1, weight: 1 };
const spec = {
  kind: "systemone" as const,
  routes: [route],
  limits: {},
  orders: 1,
  concurrency: 1,
  revision: REVISION,
  minLabelMass: 0.5,
};

const scoreOf = (levels: readonly string[]): Question => ({
  key: "q",
  type: "score",
  instructions: "?",
  options: levels.map((criterion, at) => ({ label: String(at), criterion })),
});

async function read(question: Question, answer: unknown): Promise<number[]> {
  const never = () => Promise.reject(new Error("not asked"));
  const post: Upstream["post"] = async (_path, _body, read) => read({ body: { answers: { q: answer } }, route });
  const upstream = { post, chat: never, tokens: never };
  const { readings } = await systemone.answer({ state: "s", questions: [question], spec }, upstream);
  return calibrate(question, readings[0]!, UNCALIBRATED);
}

test.each([
  [["bad", "fair", "good"]],
  [["same", "same", "same (2)"]],
  // The texts of levels are numbers of other levels.
  [["2", "1", "0"]],
  [["1", "2", "3"]],
])("a score of %p in the specification's format is read correctly", async (levels) => {
  const question = scoreOf(levels);
  const probabilities = [0.1, 0.3, 0.6];
  const out = await read(question, answersView([{ question, probabilities }])["q"]);
  probabilities.forEach((p, at) => {
    expect(out[at]).toBeCloseTo(p, 9);
  });
});

test.each([
  ["ollama", true],
  ["systemone", false],
])("a question that is not only text is sent to %s as text: %p", async (server, asText) => {
  const sent: Readonly<Record<string, unknown>>[] = [];
  const never = () => Promise.reject(new Error("not asked"));
  const upstream: Upstream = {
    post: async (_path, body, read) => {
      sent.push(body(route, findVendor(server)?.api.decisions ?? {}));
      const probabilities = { a: 0.5, b: 0.5 };
      return read({ body: { answers: { c: { type: "choice", probabilities }, n: { type: "noul", noul: 1 } } }, route });
    },
    chat: never,
    tokens: never,
  };
  const choice: Question = {
    ...{ key: "c", type: "choice", instructions: undefined },
    options: [
      { label: "a", criterion: { of: "a" } },
      { label: "b", criterion: null },
    ],
  };
  const noul: Question = {
    ...{ key: "n", type: "noul", instructions: ["Is it?"] },
    options: [
      { label: "true", criterion: ["yes"] },
      { label: "false", criterion: null },
    ],
  };
  await systemone.answer({ state: "s", questions: [choice, noul], spec }, upstream);
  expect(sent[0]!["questions"]).toEqual(
    asText
      ? {
          c: {
            type: "choice",
            instructions: "Which option fits the state best?",
            criteria: { a: '{"of":"a"}', b: null },
          },
          n: { type: "noul", instructions: '["Is it?"]', criteria: { true: '["yes"]' } },
        }
      : {
          c: { type: "choice", criteria: { a: { of: "a" }, b: null } },
          n: { type: "noul", instructions: ["Is it?"], criteria: { true: ["yes"] } },
        },
  );
});

test("levels with equal text are distinguished if only their names are sent", async () => {
  const answer = { type: "score", probabilities: { same: 0.1, "same (2)": 0.9 } };
  const out = await read(scoreOf(["same", "same"]), answer);
  expect(out[1]).toBeCloseTo(0.9, 9);
});
