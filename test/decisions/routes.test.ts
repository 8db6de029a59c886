import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Fake, type Gateway, nativeAnswers, startFake, startGateway } from "./support.ts";

let upstream: Fake;
let gateway: Gateway;
let key: string;

const NOUL = { type: "noul", instructions: "Is it urgent?" };
const CHOICE = { type: "choice", criteria: { billing: "Money", technical: null, other: null } };
const SCORE = { type: "score", instructions: "How angry?", criteria: ["calm", "annoyed", "angry"] };
const ask = (questions: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  model: "decide-1.0.0",
  state: "The server is down!",
  questions,
  ...more,
});

beforeAll(async () => {
  upstream = startFake(nativeAnswers);
  const route = { provider: "typesafe", model: "jev-1.13.0" };
  gateway = await startGateway({
    providers: {
      typesafe: { kind: "systemone", base_url: upstream.url, api_key: "upstream-secret", retry: { attempts: 1 } },
      chat: { kind: "openai", base_url: upstream.url, discover: false },
    },
    models: [{ id: "chatty", routes: [{ provider: "chat", model: "chatty" }] }],
    decisions: {
      models: [
        { id: "decide-1.0.0", aliases: ["decide-latest"], backend: { kind: "systemone", routes: [route] } },
        { id: "small-1.0.0", backend: { kind: "systemone", routes: [route], limits: { questions: 2, options: 3 } } },
        { id: "costly-1.0.0", tier: "premium", backend: { kind: "systemone", routes: [route] } },
        { id: "moved-1.0.0", backend: { kind: "systemone", routes: [{ ...route, path: "/other/systemone" }] } },
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
  upstream.answer = nativeAnswers;
  upstream.calls.length = 0;
});

describe("POST /v1/systemone", () => {
  test("answers the three types of question in the specification's format", async () => {
    const questions = { urgent: NOUL, topic: CHOICE, mood: SCORE };
    const { status, body, headers } = await gateway.post("/v1/systemone", ask(questions), key);
    expect(status).toBe(200);
    expect(body.model).toBe("decide-1.0.0");
    expect(Object.keys(body.answers)).toEqual(["urgent", "topic", "mood"]);
    expect(body.answers.urgent).toEqual({ type: "noul", noul: expect.closeTo(0.87, 9) });
    expect(body.answers.topic).toEqual({
      type: "choice",
      choice: "other",
      probabilities: { billing: expect.any(Number), technical: expect.any(Number), other: expect.any(Number) },
      confidence: expect.any(Number),
    });
    expect(body.answers.mood.legend).toBe("angry");
    expect(body.answers.mood.score).toBeGreaterThan(1);
    for (const answer of [body.answers.topic, body.answers.mood]) {
      const values = Object.values(answer.probabilities) as number[];
      expect(values.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
    }
    expect(body.usage).toEqual({ input_tokens: 321, output_tokens: 7 });
    expect(headers.get("x-ratelimit-limit")).toBe("100000");
    expect(headers.get("x-request-id")).not.toBeNull();
  });

  test("sends the questions unchanged, with the upstream's model and credentials", async () => {
    await gateway.post("/v1/systemone", ask({ topic: CHOICE, mood: SCORE, urgent: NOUL }), key);
    const [call] = upstream.calls;
    expect(call!.path).toBe("/v1/systemone");
    expect(call!.headers.get("authorization")).toBe("Bearer upstream-secret");
    expect(call!.body).toEqual({
      model: "jev-1.13.0",
      state: "The server is down!",
      questions: { topic: CHOICE, mood: SCORE, urgent: NOUL },
    });
  });

  test("an alias and another letter case lead to the version, which the answer names", async () => {
    for (const model of ["decide-latest", "DECIDE-1.0.0", "Decide-Latest"]) {
      const { status, body } = await gateway.post("/v1/systemone", ask({ q: NOUL }, { model }), key);
      expect([status, body.model]).toEqual([200, "decide-1.0.0"]);
    }
  });

  test("a configured path is called", async () => {
    await gateway.post("/v1/systemone", ask({ q: NOUL }, { model: "moved-1.0.0" }), key);
    expect(upstream.calls[0]!.path).toBe("/v1/other/systemone");
  });

  test("a choice of one option needs no upstream", async () => {
    const only = { type: "choice", criteria: { yes: null } };
    const before = (await gateway.usage()).length;
    const { body } = await gateway.post("/v1/systemone", ask({ q: only }), key);
    expect(body.answers.q).toEqual({ type: "choice", choice: "yes", probabilities: { yes: 1 }, confidence: 1 });
    expect(body.usage.output_tokens).toBe(0);
    expect(upstream.calls).toHaveLength(0);
    // The tokens that the answer reports are in the usage row.
    const row = (await gateway.usage(before + 1)).at(-1);
    expect(row).toMatchObject({ status: 200, input_tokens: body.usage.input_tokens, estimated: 1 });
    const both = await gateway.post("/v1/systemone", ask({ q: only, r: NOUL }), key);
    expect(Object.keys(both.body.answers)).toEqual(["q", "r"]);
    expect(Object.keys(upstream.calls[0]!.body.questions)).toEqual(["r"]);
  });

  test("text parts of a state are joined; objects and other arrays are sent unchanged", async () => {
    const parts = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    for (const [state, shown] of [
      [parts, "one\ntwo"],
      [{ a: 1 }, { a: 1 }],
      [
        [1, 2],
        [1, 2],
      ],
    ]) {
      await gateway.post("/v1/systemone", ask({ q: NOUL }, { state }), key);
      expect(upstream.calls.at(-1)!.body.state).toEqual(shown);
    }
  });

  test("more questions than the upstream accepts at once are sent in several calls", async () => {
    const questions = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, NOUL]));
    const { status, body } = await gateway.post("/v1/systemone", ask(questions, { model: "small-1.0.0" }), key);
    expect(status).toBe(200);
    expect(Object.keys(body.answers)).toEqual(["a", "b", "c", "d", "e"]);
    expect(upstream.calls.map((call) => Object.keys(call.body.questions).length).sort()).toEqual([1, 2, 2]);
    expect(body.usage.input_tokens).toBe(963);
  });

  test("the request has a usage row: input is charged, with the version's id", async () => {
    const mine = await gateway.key();
    const before = (await gateway.usage()).length;
    await gateway.post("/v1/systemone", ask({ q: NOUL }, { model: "decide-latest" }), mine);
    const rows = (await gateway.usage(before + 1)).slice(before);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      model: "decide-1.0.0",
      provider: "typesafe",
      upstream_model: "jev-1.13.0",
      endpoint: "/v1/systemone",
      status: 200,
      input_tokens: 321,
      output_tokens: 7,
      estimated: 0,
    });
  });
});

const big = (words: number) => "word ".repeat(words);
const options = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`o${i}`, null]));
const q = (question: unknown) => ask({ q: question });

describe("refused requests do not reach an upstream", () => {
  const rows: [string, unknown, number, string, string | null][] = [
    ["malformed JSON", "{", 400, "invalid_json", null],
    ["no model", { state: "s", questions: { q: NOUL } }, 400, "invalid_request", "model"],
    ["no state", { model: "decide-1.0.0", questions: { q: NOUL } }, 400, "invalid_request", "state"],
    ["a number as state", ask({ q: NOUL }, { state: 3 }), 400, "invalid_request", "state"],
    ["null as state", ask({ q: NOUL }, { state: null }), 400, "invalid_request", "state"],
    ["no questions", { model: "decide-1.0.0", state: "s" }, 400, "invalid_request", "questions"],
    ["questions in a list", { ...ask({}), questions: [NOUL] }, 400, "invalid_request", "questions"],
    ["stream", ask({ q: NOUL }, { stream: false }), 400, "invalid_request", "stream"],
    ["tools", ask({ q: NOUL }, { tools: [] }), 400, "invalid_request", "tools"],
    ["system", ask({ q: NOUL }, { system: "x" }), 400, "invalid_request", "system"],
    ["thread_id", ask({ q: NOUL }, { thread_id: "t" }), 400, "invalid_request", "thread_id"],
    ["conversation_id", ask({ q: NOUL }, { conversation_id: "t" }), 400, "invalid_request", "conversation_id"],
    ["empty questions", ask({}), 422, "invalid_question", "questions"],
    [
      "2001 questions",
      ask(Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`q${i}`, NOUL]))),
      422,
      "invalid_question",
      "questions",
    ],
    ["an empty key", ask({ "": NOUL }), 422, "invalid_question", "questions"],
    ["a question that is no object", q("x"), 422, "invalid_question", "questions.q"],
    ["an unknown type", q({ type: "maybe" }), 422, "invalid_question", "questions.q.type"],
    ["a noul without instructions", q({ type: "noul" }), 422, "invalid_question", "questions.q.instructions"],
    ["instructions of a number", q({ ...NOUL, instructions: 1 }), 422, "invalid_question", "questions.q.instructions"],
    ["noul criteria in a list", q({ ...NOUL, criteria: [] }), 422, "invalid_question", "questions.q.criteria"],
    [
      "noul criterion of a number",
      q({ ...NOUL, criteria: { true: 1 } }),
      422,
      "invalid_question",
      "questions.q.criteria.true",
    ],
    [
      "a noul criterion of another name",
      q({ ...NOUL, criteria: { yes: "x" } }),
      422,
      "invalid_question",
      "questions.q.criteria.yes",
    ],
    ["a choice without criteria", q({ type: "choice" }), 422, "invalid_question", "questions.q.criteria"],
    ["a choice of nothing", q({ type: "choice", criteria: {} }), 422, "invalid_question", "questions.q.criteria"],
    ["256 options", q({ type: "choice", criteria: options(256) }), 422, "invalid_question", "questions.q.criteria"],
    [
      "an option of a number",
      q({ type: "choice", criteria: { a: 1 } }),
      422,
      "invalid_question",
      "questions.q.criteria.a",
    ],
    ["a score without criteria", q({ type: "score" }), 422, "invalid_question", "questions.q.criteria"],
    ["one level", q({ type: "score", criteria: ["a"] }), 422, "invalid_question", "questions.q.criteria"],
    ["11 levels", q({ type: "score", criteria: Array(11).fill("a") }), 422, "invalid_question", "questions.q.criteria"],
    [
      "a level of null",
      q({ type: "score", criteria: ["a", null] }),
      422,
      "invalid_question",
      "questions.q.criteria[1]",
    ],
    ["an unknown model", ask({ q: NOUL }, { model: "nope" }), 404, "model_not_found", "model"],
    ["a chat model", ask({ q: NOUL }, { model: "chatty" }), 400, "wrong_model_family", "model"],
    ["a model above the plan", ask({ q: NOUL }, { model: "costly-1.0.0" }), 403, "tier_required", "model"],
    [
      "state and longest question too large",
      ask({ q: NOUL }, { state: big(33_000) }),
      413,
      "context_too_large",
      "state",
    ],
    [
      "everything together too large",
      ask(Object.fromEntries(["a", "b", "c"].map((k) => [k, { ...NOUL, instructions: big(22_000) }]))),
      413,
      "context_too_large",
      "state",
    ],
    [
      "more options than this upstream takes",
      { ...q(CHOICE), model: "small-1.0.0", questions: { q: { type: "choice", criteria: options(4) } } },
      422,
      "invalid_question",
      "questions.q.criteria",
    ],
  ];
  test.each(rows)("%s", async (_, body, status, code, param) => {
    const before = (await gateway.usage()).length;
    const answer = await gateway.post("/v1/systemone", body, key);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ code, param, message: expect.any(String) });
    expect(upstream.calls).toHaveLength(0);
    // A refused request has a usage row too, at no cost.
    const rows = (await gateway.usage(before + 1)).slice(before);
    expect(rows).toMatchObject([{ status, error_code: code, cost_micros: 0 }]);
  });

  test("requests just within the limits are accepted", async () => {
    const widest = ask({ q: { type: "choice", criteria: options(255) } });
    expect((await gateway.post("/v1/systemone", widest, key)).status).toBe(200);
    const large = ask({ q: NOUL }, { state: big(32_000) });
    expect((await gateway.post("/v1/systemone", large, key)).status).toBe(200);
  });

  test("without a key, with a wrong one, and beyond the rate limit", async () => {
    const bare = await fetch(`${gateway.url}/v1/systemone`, { method: "POST", body: "{}" });
    expect([bare.status, (await bare.json()).error.code]).toEqual([401, "missing_api_key"]);
    const wrong = await gateway.post("/v1/systemone", ask({ q: NOUL }), "sk-wrong");
    expect([wrong.status, wrong.body.error.code]).toEqual([401, "invalid_api_key"]);
    const slow = await gateway.key("free", 1);
    expect((await gateway.post("/v1/systemone", ask({ q: NOUL }), slow)).status).toBe(200);
    const limited = await gateway.post("/v1/systemone", ask({ q: NOUL }), slow);
    expect([limited.status, limited.body.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("failures of the upstream", () => {
  const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    Response.json(body, { status, headers });
  const detail = (message: string, type = "api_usage_error") => ({ detail: { error_type: type, message } });
  const answers = (answer: unknown) => json(200, { model: "jev-1.13.0", answers: { q: answer } });
  const rows: [string, () => Response, number, string][] = [
    ["unknown model", () => json(400, detail("Unknown model: jev")), 503, "decision_unavailable"],
    [
      "its context overflows",
      () => json(400, { detail: { error_type: "max_tokens_exceeded" } }),
      413,
      "context_too_large",
    ],
    ["it refuses a question", () => json(400, { detail: "Too many choices." }), 422, "invalid_question"],
    ["it refuses the request", () => json(400, detail("Invalid request.")), 503, "decision_unavailable"],
    ["our key is wrong", () => json(401, detail("no", "authentication_error")), 503, "decision_unavailable"],
    ["no credit", () => json(402, detail("pay")), 503, "decision_unavailable"],
    ["no key", () => json(403, { detail: "Not authenticated" }), 503, "decision_unavailable"],
    ["nothing there", () => json(404, { detail: "Not Found" }), 503, "decision_unavailable"],
    [
      "a schema error",
      () => json(422, { detail: [{ type: "missing", input: "SECRET" }] }),
      503,
      "decision_unavailable",
    ],
    [
      "a schema error of a question",
      () =>
        json(422, {
          detail: [{ type: "x", loc: ["body", "questions", "q", "noul", "criteria"], msg: "No.", input: "SECRET" }],
        }),
      422,
      "invalid_question",
    ],
    ["limited", () => json(429, detail("slow"), { "retry-after": "7" }), 429, "provider_rate_limited"],
    ["overloaded", () => json(529, detail("busy")), 503, "decision_unavailable"],
    ["broken", () => json(500, { error: "oops" }), 503, "decision_unavailable"],
    ["no JSON", () => new Response("<html>"), 503, "decision_unavailable"],
    ["no answers", () => json(200, { model: "x" }), 503, "decision_unavailable"],
    ["a missing answer", () => json(200, { answers: {} }), 503, "decision_unavailable"],
    ["a probability above 1", () => answers({ type: "noul", noul: 1.5 }), 503, "decision_unavailable"],
    ["no probability", () => answers({ type: "noul" }), 503, "decision_unavailable"],
  ];
  test.each(rows)("%s", async (_, answer, status, code) => {
    upstream.answer = answer;
    const got = await gateway.post("/v1/systemone", ask({ q: NOUL }), await gateway.key());
    expect(got.status).toBe(status);
    expect(got.body.error.code).toBe(code);
    expect(JSON.stringify(got.body)).not.toContain("SECRET");
    if (status === 429) expect(got.headers.get("retry-after")).toBe("7");
    // No other model answers in its place.
    expect(new Set(upstream.calls.map((call) => call.body.model))).toEqual(new Set(["jev-1.13.0"]));
  });

  test("the time to wait is passed on", async () => {
    upstream.answer = () => json(529, detail("busy"), { "retry-after": "9" });
    const got = await gateway.post("/v1/systemone", ask({ q: NOUL }), await gateway.key());
    expect([got.status, got.headers.get("retry-after")]).toEqual([503, "9"]);
  });

  test.each<[Record<string, number>, number]>([
    [{ "0": 0.2, "1": 0.3, "2": 0.5 }, 1.3],
    [{ "1": 0.9, "2": 0.1 }, 1.1],
    [{ "1": 0.2, "2": 0.3, "3": 0.5 }, 1.3],
    [{ "3": 1 }, 2],
  ])("a score keyed %p of levels that are numbers is %d", async (probabilities, score) => {
    upstream.answer = () => answers({ type: "score", probabilities });
    const { body } = await gateway.post("/v1/systemone", q({ type: "score", criteria: ["1", "2", "3"] }), key);
    expect(body.answers.q.score).toBeCloseTo(score, 9);
  });

  test("no other version answers in place of one whose upstream is down", async () => {
    upstream.answer = () => json(500, {});
    const { status } = await gateway.post("/v1/systemone", ask({ q: NOUL }, { model: "decide-1.0.0" }), key);
    expect(status).toBe(503);
    expect(upstream.calls.length).toBeGreaterThan(0);
    expect(new Set(upstream.calls.map(({ body }) => body.model))).toEqual(new Set(["jev-1.13.0"]));
  });

  test("one unanswered question fails them all", async () => {
    upstream.answer = () => json(200, { answers: { a: { type: "noul", noul: 0.5 } } });
    const { status } = await gateway.post("/v1/systemone", ask({ a: NOUL, b: NOUL }), key);
    expect(status).toBe(503);
  });
});

describe("lists", () => {
  test("versions and aliases, in the specification's format and in TypeSafe's", async () => {
    const { status, body } = await gateway.get("/v1/systemone/models", key);
    expect(status).toBe(200);
    expect(body.object).toBe("list");
    expect(body.data).toContainEqual({ id: "decide-1.0.0", type: "systemone" });
    expect(body.data).toContainEqual({ id: "decide-latest", type: "systemone" });
    const native = await gateway.get("/typesafe/v1/models", key);
    expect(native.body.models).toContainEqual({
      name: "decide-latest",
      description: "",
      release_date: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await gateway.get("/v1/systemone/models")).status).toBe(401);
  });

  test("they are not chat models", async () => {
    const { body } = await gateway.get("/v1/models", key);
    expect(body.data.map((model: { id: string }) => model.id)).not.toContain("decide-1.0.0");
    expect((await gateway.get("/v1/models/decide-1.0.0", key)).status).toBe(404);
    for (const model of ["decide-1.0.0", "decide-latest"]) {
      const chat = { model, messages: [{ role: "user", content: "hi" }] };
      const answer = await gateway.post("/v1/chat/completions", chat, key);
      expect([answer.status, answer.body.error.code]).toEqual([400, "wrong_model_family"]);
    }
  });
});
