// The prior of a running gateway: made once for each question, kept in the store, shown in the answer, and never
// needed for one.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { readPrompt, startSimulated } from "./simulated.ts";
import type { Fake } from "./support.ts";

/** Three equal options, of which the model likes the one in the first place. */
const fake: Fake = startSimulated({ beliefs: (_, options) => options.map(() => 0), gains: [1.5, 0, 0] });
const answers = fake.answer;
let app: TestApp;

/** The same model name at another server, which has other biases. */
const other: Fake = startSimulated({ beliefs: (_, options) => options.map(() => 0), gains: [0, 0, 1.5] });
const configFor = ({ url }: Fake) => ({
  usage: { flush: "1ms" },
  health: { probe: "off" },
  providers: { chat: { kind: "openai", base_url: url, discover: false, retry: { attempts: 1 } } },
  decisions: {
    models: [{ id: "judge-1.0.0", backend: { kind: "logprobs", routes: [{ provider: "chat", model: "sim-1" }] } }],
  },
});

beforeAll(async () => {
  app = await startTestApp({ config: configFor(fake) });
});
afterEach(() => {
  fake.answer = answers;
});
afterAll(async () => {
  await app.stop();
  fake.stop();
  other.stop();
});

const choice = (instructions: string, options = ["a", "b", "c"]) => ({
  type: "choice",
  instructions,
  criteria: Object.fromEntries(options.map((name) => [name, null])),
});
const isStateless = (body: { messages: { content: string }[] }) =>
  readPrompt(body.messages.at(-1)!.content).state === "N/A";

/** Asks; returns what the answer says of its probabilities, and the calls upstream. */
async function ask(questions: Record<string, unknown>, state = "s") {
  const from = fake.calls.length;
  const response = await app.post("/v1/systemone", { model: "judge-1.0.0", state, questions });
  const said = {
    status: response.status,
    calibration: response.headers.get("x-sallyport-calibration"),
    made: response.headers.get("x-sallyport-prior-calls"),
  };
  return { ...said, body: await response.json(), calls: fake.calls.length - from };
}

const shares = (body: { answers: Record<string, { probabilities: Record<string, number> }> }, key = "q") =>
  Object.values(body.answers[key]!.probabilities).map((p) => Math.round(p * 1e6) / 1e6);
const EVEN = [0.333333, 0.333333, 0.333333];

test("a prior is made with the first question of its kind, and kept over a restart", async () => {
  const q = choice("Which one?");
  const first = await ask({ q });
  expect(first).toMatchObject({ status: 200, calibration: "prior", made: "2", calls: 4 });
  expect(shares(first.body)).toEqual(EVEN);
  const second = await ask({ q }, "another state");
  expect(second).toMatchObject({ calibration: "prior", made: "0", calls: 2 });
  await app.restart();
  const later = await ask({ q }, "a third state");
  expect(later).toMatchObject({ calibration: "prior", made: "0", calls: 2 });
  expect(shares(later.body)).toEqual(EVEN);
});

test("without it a question is answered all the same, which the answer says; others of the request have theirs", async () => {
  const [bad, good] = [choice("Is it refused?"), choice("Is it answered?")];
  fake.answer = (body, path) =>
    isStateless(body) && readPrompt(body.messages.at(-1).content).question === bad.instructions
      ? Response.json({ error: { message: "This is refused." } }, { status: 400 })
      : answers(body, path);
  expect(await ask({ good })).toMatchObject({ calibration: "prior", made: "2", calls: 4 });
  const first = await ask({ bad, good });
  expect(first).toMatchObject({ status: 200, calibration: "none" });
  expect(shares(first.body, "good")).toEqual(EVEN);
  expect(shares(first.body, "bad")).not.toEqual(EVEN);
  // For a while it is not tried again.
  expect(await ask({ bad })).toMatchObject({ status: 200, calibration: "none", made: "0", calls: 2 });
  await app.flushLogs();
  const warned = app.logs.filter(({ msg }) => String(msg).includes("without its prior"));
  expect(warned).toHaveLength(1);
});

test("a question that is asked in groups has none", async () => {
  const many = choice(
    "Which of many?",
    Array.from({ length: 30 }, (_, at) => `option${at}`),
  );
  expect(await ask({ many })).toMatchObject({ status: 200, calibration: "none", made: "0", calls: 6 });
});

test("it is made anew for another server of the same name, and that of the first one is kept", async () => {
  const q = choice("Whose bias is it?");
  expect(await ask({ q })).toMatchObject({ status: 200, calibration: "prior", made: "2" });
  await app.reconfigure(configFor(other));
  const moved = await ask({ q });
  expect(moved).toMatchObject({ status: 200, calibration: "prior", made: "2" });
  expect(shares(moved.body)).toEqual(EVEN);
  await app.reconfigure(configFor(fake));
  expect(await ask({ q })).toMatchObject({ status: 200, calibration: "prior", made: "0" });
});
