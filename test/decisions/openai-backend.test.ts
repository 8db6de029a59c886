import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Fake, type Gateway, startFake, startGateway } from "./support.ts";

let upstream: Fake;
let gateway: Gateway;
let key: string;

// biome-ignore lint/suspicious/noExplicitAny: Whatever came.
function answers(body: any): Response {
  // biome-ignore lint/suspicious/noExplicitAny: As above.
  const list = body.questions.map(({ type, name, choices, levels }: any) => {
    if (type === "predicate") return { type, name, probability: 0.25 };
    const names =
      type === "choice"
        ? choices.map((one: { value: unknown }) => one.value)
        : levels.map((_: unknown, at: number) => at);
    const probabilities = names.map((value: unknown) => ({ value, probability: 1 / names.length }));
    return { type, name, confidence: 0, probabilities };
  });
  return Response.json({
    model: "gpt-d-1",
    answers: list,
    usage: { input_tokens: 50, output_tokens: 3, total_tokens: 53 },
  });
}

beforeAll(async () => {
  upstream = startFake(answers);
  gateway = await startGateway({
    providers: {
      one: { kind: "openai-decisions", base_url: upstream.url, api_key: "k", retry: { attempts: 1 } },
      two: { kind: "openai-decisions", base_url: `${upstream.url}/second`, api_key: "k", retry: { attempts: 1 } },
    },
    decisions: {
      models: [
        {
          id: "openai-1.0.0",
          backend: {
            kind: "openai-decisions",
            routes: [
              { provider: "one", model: "gpt-d-1", priority: 1 },
              { provider: "two", model: "gpt-d-1", priority: 2 },
            ],
          },
        },
      ],
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
  upstream.answer = answers;
});

const ask = (questions: Record<string, unknown>, state: unknown = "s") =>
  gateway.post("/v1/systemone", { model: "openai-1.0.0", state, questions }, key);

test("the three types, each in the form of that protocol", async () => {
  const { status, body } = await ask(
    {
      n: { type: "noul", instructions: "Is it?", criteria: { true: "yes", false: { a: 1 } } },
      c: { type: "choice", criteria: { a: "first", b: null } },
      s: { type: "score", instructions: { text: "How?" }, criteria: ["low", "high"] },
    },
    { data: true },
  );
  expect(status).toBe(200);
  expect(body.answers.n.noul).toBeCloseTo(0.25, 9);
  expect(body.answers.c).toMatchObject({ choice: "a", probabilities: { a: 0.5, b: 0.5 }, confidence: 0 });
  expect(body.answers.s).toMatchObject({ score: 0.5, probabilities: { low: 0.5, high: 0.5 } });
  expect(body.usage).toEqual({ input_tokens: 50, output_tokens: 3 });
  const [call] = upstream.calls;
  expect(call!.path).toBe("/v1/decisions");
  expect(call!.body).toEqual({
    model: "gpt-d-1",
    input: [{ role: "user", content: [{ type: "input_json", data: { data: true } }] }],
    questions: [
      { type: "predicate", name: "n", instructions: 'Is it?\nTrue means: yes\nFalse means: {"a":1}' },
      {
        type: "choice",
        name: "c",
        instructions: "Which option fits the input best?",
        choices: [{ value: "a", description: "first" }, { value: "b" }],
      },
      {
        type: "score",
        name: "s",
        instructions: '{"text":"How?"}',
        levels: [
          { label: "0", description: "low" },
          { label: "1", description: "high" },
        ],
      },
    ],
  });
});

test("more than 400 questions are sent in several calls", async () => {
  const questions = Object.fromEntries(
    Array.from({ length: 401 }, (_, i) => [`q${i}`, { type: "noul", instructions: "?" }]),
  );
  const { status, body } = await ask(questions);
  expect(status).toBe(200);
  expect(Object.keys(body.answers)).toHaveLength(401);
  expect(upstream.calls.map(({ body }) => body.questions.length).sort()).toEqual([1, 400]);
});

test.each([
  ["too few answers", { answers: [] }],
  ["an answer of another type", { answers: [{ type: "score", name: "q", probabilities: [] }] }],
])("%s fails the request", async (_, body) => {
  upstream.answer = () => Response.json({ model: "x", ...body });
  const answer = await ask({ q: { type: "noul", instructions: "?" } });
  expect([answer.status, answer.body.error.code]).toEqual([503, "decision_unavailable"]);
});

const ONE_REFUSED = () =>
  Response.json({
    answers: [
      { type: "refusal", name: "q" },
      { type: "predicate", name: "p", probability: 1 },
    ],
    usage: { input_tokens: 50, output_tokens: 3 },
  });

test("a refusal is final: it names its question, and no other route is tried", async () => {
  upstream.answer = ONE_REFUSED;
  const before = (await gateway.usage()).length;
  const noul = { type: "noul", instructions: "?" };
  const { status, body } = await ask({ one: { type: "choice", criteria: { a: null } }, p: noul, q: noul });
  expect([status, body.error.code, body.error.param]).toEqual([400, "content_policy_violation", "questions.q"]);
  expect(body.error.message).toContain("refuses to answer this question");
  expect(upstream.calls.map(({ path }) => path)).toEqual(["/v1/decisions"]);
  // The upstream read the request, and the vendor bills it.
  const rows = await gateway.usage(before + 1);
  expect(rows.at(-1)).toMatchObject({ status: 400, error_code: "content_policy_violation", input_tokens: 50 });
});

test("in OpenAI's own format a refused question has a refusal as its answer, and the others have theirs", async () => {
  upstream.answer = ({ questions }) =>
    Response.json({
      model: "gpt-d-1",
      answers: questions.map(({ name }: { name: string }, at: number) =>
        at % 2 === 0 ? { type: "refusal", name } : { type: "predicate", name, probability: 0.25 },
      ),
      usage: { input_tokens: 50, output_tokens: 3 },
    });
  const asked = ["a", "b", undefined].map((name) => ({ type: "predicate", name, instructions: "?" }));
  const { status, body } = await gateway.post(
    "/v1/decisions",
    { model: "openai-1.0.0", input: "s", questions: asked },
    key,
  );
  expect([status, body.answers]).toEqual([
    200,
    [
      { type: "refusal", name: "a" },
      { type: "predicate", name: "b", probability: 0.25 },
      { type: "refusal", name: null },
    ],
  ]);
  expect(upstream.calls).toHaveLength(1);
});

test("refusals of several calls keep their questions", async () => {
  upstream.answer = ({ questions }) =>
    Response.json({
      answers: questions.map(({ name }: { name: string }) =>
        name === "q400" ? { type: "refusal", name } : { type: "predicate", name, probability: 1 },
      ),
    });
  const many = Object.fromEntries(
    Array.from({ length: 401 }, (_, at) => [`q${at}`, { type: "noul", instructions: "?" }]),
  );
  const { status, body } = await ask(many);
  expect([status, body.error.code, body.error.param]).toEqual([400, "content_policy_violation", "questions.q400"]);
});

test("a client of OpenAI's format decides how its prompt is cached", async () => {
  const wishes = { prompt_cache_key: "k1", prompt_cache_options: { mode: "explicit", ttl: "30m" } };
  const questions = [{ type: "predicate", instructions: "?" }];
  const asked = { model: "openai-1.0.0", input: "s", questions };
  expect((await gateway.post("/v1/decisions", { ...asked, ...wishes }, key)).status).toBe(200);
  expect(upstream.calls[0]!.body).toMatchObject(wishes);
  expect((await gateway.post("/v1/decisions", asked, key)).status).toBe(200);
  expect(Object.keys(upstream.calls[1]!.body).filter((name) => name.startsWith("prompt_cache"))).toEqual([]);
});

test.each<[string, object]>([
  ["prompt_cache_key", { prompt_cache_key: 1 }],
  ["prompt_cache_options", { prompt_cache_options: "30m" }],
])("%s of another type is refused by its name", async (param, wishes) => {
  const questions = [{ type: "predicate", instructions: "?" }];
  const { status, body } = await gateway.post(
    "/v1/decisions",
    { model: "openai-1.0.0", input: "s", questions, ...wishes },
    key,
  );
  expect([status, body.error.param, upstream.calls.length]).toEqual([400, param, 0]);
});

test("tokens that the upstream read from a cache and wrote to one are reported and recorded, over several calls", async () => {
  const usage = {
    input_tokens: 50,
    output_tokens: 3,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
  };
  upstream.answer = async (body) => Response.json({ ...((await answers(body).json()) as object), usage });
  const before = (await gateway.usage()).length;
  const questions = Array.from({ length: 400 }, () => ({ type: "predicate", instructions: "?" }));
  const { status, body } = await gateway.post("/v1/decisions", { model: "openai-1.0.0", input: "s", questions }, key);
  expect([status, body.usage]).toEqual([
    200,
    {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 53,
    },
  ]);
  const many = Object.fromEntries(
    Array.from({ length: 401 }, (_, at) => [`q${at}`, { type: "noul", instructions: "?" }]),
  );
  expect((await ask(many)).status).toBe(200);
  const rows = (await gateway.usage(before + 2)).slice(before);
  expect(rows.map((row) => [row["cached_tokens"], row["cache_write_tokens"]])).toEqual([
    [4, 2],
    [8, 4],
  ]);
});

test("a second route to the same version is tried when the first is down", async () => {
  upstream.answer = (body, path) =>
    path === "/v1/decisions" ? Response.json({ error: { message: "down" } }, { status: 503 }) : answers(body);
  const before = (await gateway.usage()).length;
  const answer = await ask({ q: { type: "noul", instructions: "?" } });
  expect(answer.status).toBe(200);
  expect(upstream.calls.map(({ path }) => path)).toEqual(["/v1/decisions", "/v1/second/decisions"]);
  const rows = await gateway.usage(before + 1);
  expect(rows.at(-1)).toMatchObject({ provider: "two", model: "openai-1.0.0" });
});

/** The answers to predicates by the names of their questions. Later ones are more probable. */
const named = (questions: readonly { name: string }[]) =>
  questions.map(({ name }, at) => ({ type: "predicate", name, probability: (at + 1) / 10 }));
// biome-ignore lint/suspicious/noExplicitAny: Whatever is answered.
const reply = (list: readonly any[]) => Response.json({ model: "gpt-d-1", answers: list });
const THREE = Object.fromEntries(["a", "b", "c"].map((key) => [key, { type: "noul", instructions: `${key}?` }]));

test("answers are matched by their names, in any order", async () => {
  upstream.answer = ({ questions }) => reply(named(questions).reverse());
  const { status, body } = await ask(THREE);
  const p = Object.entries(body.answers).map(([key, one]) => [key, (one as { noul: number }).noul]);
  expect([status, p]).toEqual([
    200,
    [
      ["a", 0.1],
      ["b", 0.2],
      ["c", 0.3],
    ],
  ]);
});

test.each<[string, (list: ReturnType<typeof named>) => unknown[], number]>([
  ["no names: in the order they were asked", (list) => list.map((one) => ({ ...one, name: null })), 200],
  ["a name twice", (list) => list.map((one) => ({ ...one, name: "a" })), 503],
  ["a name that was not asked", (list) => list.map((one, at) => (at === 1 ? { ...one, name: "z" } : one)), 503],
  ["a name missing among others", (list) => list.map((one, at) => (at === 1 ? { ...one, name: null } : one)), 503],
])("answers are matched to questions by name, or else refused: %s", async (_name, change, expected) => {
  upstream.answer = ({ questions }) => reply(change(named(questions)));
  expect((await ask(THREE)).status).toBe(expected);
});

test.each([
  [
    "an option that was not asked for",
    [
      { value: "a", probability: 0.5 },
      { value: "b", probability: 0.5 },
      { value: "z", probability: 0.5 },
    ],
    503,
  ],
  [
    "an option twice",
    [
      { value: "a", probability: 0.5 },
      { value: "a", probability: 0.5 },
    ],
    503,
  ],
  [
    "an option of nothing that was not asked for",
    [
      { value: "a", probability: 0.5 },
      { value: "b", probability: 0.5 },
      { value: "z", probability: 0 },
    ],
    200,
  ],
])("probabilities must be those of the options that were asked: %s", async (_name, probabilities, expected) => {
  upstream.answer = () => reply([{ type: "choice", name: "q", probabilities }]);
  expect((await ask({ q: { type: "choice", criteria: { a: null, b: null } } })).status).toBe(expected);
});

test("an option without a name is sent with a unique one", async () => {
  const { status, body } = await ask({ q: { type: "choice", criteria: { "": "nothing", "(empty)": null } } });
  const values = upstream.calls[0]!.body.questions[0].choices.map((one: { value: string }) => one.value);
  expect(values.every((value: string) => value !== "") && new Set(values).size).toBe(2);
  expect([status, body.answers.q.probabilities]).toEqual([200, { "": 0.5, "(empty)": 0.5 }]);
});
