import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Fake, type Gateway, nativeAnswers, startFake, startGateway } from "./support.ts";

let upstream: Fake;
let gateway: Gateway;
let key: string;

beforeAll(async () => {
  upstream = startFake(nativeAnswers);
  const routes = [{ provider: "typesafe", model: "jev-1.13.0" }];
  gateway = await startGateway({
    providers: { typesafe: { kind: "systemone", base_url: upstream.url } },
    decisions: {
      models: [{ id: "decide-1.0.0", aliases: ["decide-latest"], backend: { kind: "systemone", routes } }],
    },
  });
  key = await gateway.key();
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

beforeEach(() => {
  upstream.calls.length = 0;
});

describe("the other formats", () => {
  test("TypeSafe's own: a score by index, criteria that ask alone", async () => {
    const question = { type: "noul", criteria: { true: "It is on fire." } };
    const levels = { type: "score", criteria: ["low", { level: "high" }] };
    const { status, body, headers } = await gateway.post(
      "/typesafe/v1/systemone",
      { model: "decide-1.0.0", state: "The server is down!", questions: { q: question, s: levels } },
      key,
    );
    expect(status).toBe(200);
    expect(body.answers.s.legend).toEqual({ "0": "low", "1": { level: "high" } });
    expect(Object.keys(body.answers.s.probabilities)).toEqual(["0", "1"]);
    expect(body.answers.s.legend_map).toBeUndefined();
    expect(headers.get("x-typesafe-request-id")).toBe(headers.get("x-request-id"));
  });

  test("OpenAI's: a list in, a list out", async () => {
    const questions = [
      { type: "predicate", name: "urgent", instructions: "Is it urgent?" },
      { type: "choice", instructions: "Which?", choices: [{ value: true, description: "yes" }, { value: "no" }] },
      { type: "score", instructions: "How?", levels: [{ label: "low" }, { label: "high", description: "very" }] },
    ];
    const input = [{ role: "user", content: [{ type: "input_json", data: { a: 1 } }] }];
    const request = { model: "decide-latest", input, questions };
    const { status, body } = await gateway.post("/v1/decisions", request, key);
    expect(status).toBe(200);
    expect(body.model).toBe("decide-1.0.0");
    expect(body.answers[0]).toEqual({ type: "predicate", name: "urgent", probability: expect.closeTo(0.87, 9) });
    expect(body.answers[1]).toMatchObject({ type: "choice", name: null, choice: "no" });
    expect(body.answers[1].probabilities[0]).toEqual({ value: true, probability: expect.any(Number) });
    expect(body.answers[2].probabilities[1]).toMatchObject({ value: 1, label: "high" });
    expect(body.usage).toMatchObject({ input_tokens: 321, output_tokens: 7, total_tokens: 328 });
    expect(upstream.calls[0]!.body.state).toEqual({ a: 1 });
    expect(upstream.calls[0]!.body.questions["2"].criteria).toEqual(["low", "high: very"]);
  });

  test("OpenAI's: a boolean and a text of the same letters are two values", async () => {
    const choices = [{ value: true }, { value: "true" }, { value: "no" }];
    const request = {
      model: "decide-latest",
      input: "x",
      questions: [{ type: "choice", instructions: "Which?", choices }],
    };
    const { status, body } = await gateway.post("/v1/decisions", request, key);
    expect(status).toBe(200);
    expect(body.answers[0].probabilities.map(({ value }: { value: unknown }) => value)).toEqual([true, "true", "no"]);
    expect(Object.keys(upstream.calls[0]!.body.questions["0"].criteria)).toEqual(["true", '"true"', '"no"']);
  });

  test.each([
    [{ stream: false }, 400, "stream"],
    [{ tools: [] }, 400, "tools"],
    [{ questions: [] }, 422, "questions"],
    [{ questions: {} }, 400, "questions"],
    [{ input: 3 }, 400, "input"],
    [{ questions: [{ type: "predicate" }] }, 422, "questions[0].instructions"],
    [{ questions: [{ type: "choice", instructions: "x", choices: [{ value: "a" }] }] }, 422, "questions[0].choices"],
    [
      { questions: [{ type: "choice", instructions: "x", choices: [{ value: "a" }, { value: "a" }] }] },
      422,
      "questions[0].choices",
    ],
    [{ questions: [{ type: "score", instructions: "x", levels: [{ label: "a" }] }] }, 422, "questions[0].levels"],
    [
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "https://example.com/x.png" }] }] },
      400,
      "input[0].content[0]",
    ],
  ])("%p is refused", async (change, status, param) => {
    const request = { model: "decide-1.0.0", input: "x", questions: [{ type: "predicate", instructions: "x" }] };
    const answer = await gateway.post("/v1/decisions", { ...request, ...change }, key);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
    expect(upstream.calls).toHaveLength(0);
  });

  test.each([
    [
      "/v1/systemone",
      { state: "word ".repeat(33_000), questions: { q: { type: "noul", instructions: "x" } } },
      "state",
    ],
    [
      "/typesafe/v1/systemone",
      { state: "word ".repeat(33_000), questions: { q: { type: "noul", instructions: "x" } } },
      "state",
    ],
    [
      "/v1/decisions",
      { input: "word ".repeat(33_000), questions: [{ type: "predicate", instructions: "x" }] },
      "input",
    ],
    [
      "/v1/systemone",
      {
        state: "x",
        questions: {
          a: { type: "noul", instructions: "x" },
          q: { type: "noul", instructions: "word ".repeat(33_000) },
        },
      },
      "questions.q",
    ],
    [
      "/v1/decisions",
      {
        input: "x",
        questions: [
          { type: "predicate", instructions: "x" },
          { type: "predicate", instructions: "word ".repeat(33_000) },
        ],
      },
      "questions[1]",
    ],
  ])("a too large value is named in that format: %s", async (path, body, name) => {
    const { status, body: answer } = await gateway.post(path, { model: "decide-1.0.0", ...body }, key);
    expect([status, answer.error.code, answer.error.param]).toEqual([413, "context_too_large", name]);
    expect(answer.error.message).toContain(`Shorten '${name}'`);
  });
});
