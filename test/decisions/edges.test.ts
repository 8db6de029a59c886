// Unusual requests and upstream answers.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { logprobs } from "../../src/decisions/backends/logprobs.ts";
import type { Question } from "../../src/decisions/questions.ts";
import { REVISION } from "../../src/decisions/revision.ts";
import { TokenCounter } from "../../src/tokens/count.ts";
import { startSimulated } from "./simulated.ts";
import { type Fake, type Gateway, nativeAnswers, startFake, startGateway } from "./support.ts";

let native: Fake;
let chat: Fake;
let gateway: Gateway;
let key: string;
const MODELS = ["native-1.0.0", "letters-1.0.0", "written-1.0.0"];

beforeAll(async () => {
  native = startFake(nativeAnswers);
  chat = startSimulated({ beliefs: (_, options) => options.map((_one, at) => -at / 10) });
  const retry = { attempts: 1 };
  const model = (id: string, kind: string, provider: string, limits = {}) => ({
    id,
    backend: { kind, prior: "none", limits, routes: [{ provider, model: "m" }] },
  });
  gateway = await startGateway({
    providers: {
      native: { kind: "systemone", base_url: native.url, retry, breaker: { failures: 1000 } },
      chat: { kind: "openai", base_url: chat.url, discover: false, retry },
    },
    decisions: {
      models: [
        model(MODELS[0]!, "systemone", "native"),
        model(MODELS[1]!, "logprobs", "chat"),
        model(MODELS[2]!, "verbalized", "chat"),
        model("few-1.0.0", "logprobs", "chat", { options: 3 }),
      ],
    },
  });
  key = await gateway.key();
});
afterAll(async () => {
  await gateway.stop();
  native.stop();
  chat.stop();
});
const usual = { native: nativeAnswers as Fake["answer"], chat: undefined as Fake["answer"] | undefined };
afterEach(() => {
  native.answer = usual.native;
  if (usual.chat !== undefined) chat.answer = usual.chat;
  native.calls.length = 0;
  chat.calls.length = 0;
});

const NOUL = { type: "noul", instructions: "Is it?" };
const choiceOf = (labels: readonly string[]) => ({
  type: "choice",
  criteria: Object.fromEntries(labels.map((label) => [label, null])),
});
const ask = (model: string, questions: unknown, state: unknown = "s", path = "/v1/systemone") =>
  gateway.post(path, { model, state, questions }, key);

describe.each(MODELS)("%s", (model) => {
  test("options may have any text, and their probabilities sum to 1", async () => {
    const labels = [
      "",
      " ",
      "\n",
      "a\nb",
      "a b",
      "\u0000",
      "\ud800",
      "\u2028",
      "👩‍👩‍👧",
      "é",
      "e\u0301",
      "A. x",
      "None of these",
    ];
    labels.push("0", "1", "true", "Ａ", "\u202e", "__proto__", "constructor", "x".repeat(2000));
    const { status, body } = await ask(model, { "a.b[0]": choiceOf(labels) }, "half a \ud83d character");
    expect(status).toBe(200);
    const { probabilities, choice } = body.answers["a.b[0]"];
    expect(new Set(Object.keys(probabilities))).toEqual(new Set(labels));
    expect(labels).toContain(choice);
    const sum = (Object.values(probabilities) as number[]).reduce((total, p) => total + p, 0);
    expect(sum).toBeCloseTo(1, 9);
  });

  test("keys are not changed, whatever they are called", async () => {
    const text = `{"__proto__":${JSON.stringify(NOUL)},"toString":${JSON.stringify(NOUL)},"10":${JSON.stringify(NOUL)},"2":${JSON.stringify(NOUL)}}`;
    const sent = `{"model":"${model}","state":"s","questions":${text}}`;
    const response = await fetch(`${gateway.url}/v1/systemone`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: sent,
    });
    const answered = await response.text();
    expect(response.status).toBe(200);
    for (const name of ["__proto__", "toString", "10", "2"]) expect(answered).toContain(`"${name}":{"type":"noul"`);
  });

  test("three choices of 255 options and the seven others of a mixed request are all answered", async () => {
    const many = choiceOf(Array.from({ length: 255 }, (_, at) => `option ${at}`));
    const levels = { type: "score", criteria: Array.from({ length: 10 }, (_, at) => `level ${at}`) };
    const others = { d: NOUL, e: NOUL, f: levels, g: levels, h: choiceOf(["one"]), i: choiceOf(["x", "y"]), j: NOUL };
    const { status, body } = await ask(model, { a: many, b: many, c: many, ...others });
    expect(status).toBe(200);
    expect(Object.keys(body.answers)).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    for (const name of ["a", "b", "c"]) {
      const p = Object.values(body.answers[name].probabilities) as number[];
      expect([p.length, Math.min(...p) > 0 || model === "native-1.0.0"]).toEqual([255, true]);
      expect(p.reduce((total, one) => total + one, 0)).toBeCloseTo(1, 9);
    }
  });

  test("the limits hold to the token", async () => {
    const counter = new TokenCounter();
    const asked = await counter.count("Is it?");
    const words = (tokens: number) => `word${" word".repeat(tokens - 1)}`;
    expect(await counter.count(words(1000))).toBe(1000);
    const at = async (state: number, questions: unknown = { q: NOUL }) =>
      (await ask(model, questions, words(state))).status;
    expect([await at(32_768 - asked), await at(32_769 - asked)]).toEqual([200, 413]);
    const long = (tokens: number) => ({ type: "noul", instructions: words(tokens) });
    const total = (last: number) => ({ a: long(20_000), b: long(20_000), c: long(last) });
    const rest = 65_536 - 40_000 - 10_000;
    expect([await at(10_000, total(rest)), await at(10_000, total(rest + 1))]).toEqual([200, 413]);
  });
});

test("one of ten questions that cannot be answered fails them all", async () => {
  usual.chat ??= chat.answer;
  const answer = chat.answer;
  chat.answer = (body, path) =>
    body.messages.at(-1).content.includes("the seventh")
      ? Response.json({ choices: [{ index: 0, message: { content: "?" }, finish_reason: "stop" }] })
      : answer(body, path);
  const questions = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`q${at}`, NOUL]));
  const broken = { ...questions, q7: { ...NOUL, instructions: "Is it the seventh?" } };
  expect((await ask("letters-1.0.0", questions)).status).toBe(200);
  const { status, body } = await ask("letters-1.0.0", broken);
  expect([status, body.error.code, body.answers]).toEqual([503, "decision_unavailable", undefined]);
});

describe("probabilities of an upstream are passed on to the last digit", () => {
  test.each([0.93, 0.1, 0, 1, 0.8700000001])("yes or no: %p", async (noul) => {
    native.answer = () => Response.json({ model: "m", answers: { q: { type: "noul", noul } } });
    expect((await ask("native-1.0.0", { q: NOUL })).body.answers.q.noul).toBe(noul);
  });

  test("a choice whose sum is 1, and one that was rounded", async () => {
    const of = async (probabilities: Record<string, number>) => {
      native.answer = () => Response.json({ model: "m", answers: { q: { type: "choice", probabilities } } });
      return (await ask("native-1.0.0", { q: choiceOf(Object.keys(probabilities)) })).body.answers.q.probabilities;
    };
    expect(await of({ a: 0.1, b: 0.2, c: 0.7 })).toEqual({ a: 0.1, b: 0.2, c: 0.7 });
    const third = expect.closeTo(1 / 3, 9);
    expect(await of({ a: 0.33, b: 0.33, c: 0.33 })).toEqual({ a: third, b: third, c: third });
  });
});

describe("an answer without valid probabilities is refused", () => {
  const bad = ["NaN", "null", "-0.2", "1.2", '"0.5"', "true", "1e999", "{}", "[0.5]"];
  test.each(bad)("of yes or no: %s", async (noul) => {
    native.answer = () => new Response(`{"model":"m","answers":{"q":{"type":"noul","noul":${noul}}}}`);
    expect((await ask("native-1.0.0", { q: NOUL })).status).toBe(503);
  });
  test.each(bad)("of a choice: %s", async (p) => {
    native.answer = () =>
      new Response(`{"model":"m","answers":{"q":{"type":"choice","probabilities":{"a":${p},"b":0.5}}}}`);
    expect((await ask("native-1.0.0", { q: choiceOf(["a", "b"]) })).status).toBe(503);
  });
  test.each(bad)("of a score: %s", async (p) => {
    native.answer = () =>
      new Response(`{"model":"m","answers":{"q":{"type":"score","probabilities":{"0":0.5,"1":${p}}}}}`);
    expect((await ask("native-1.0.0", { q: { type: "score", criteria: ["low", "high"] } })).status).toBe(503);
  });
});

describe("invalid log-probabilities", () => {
  const tokens = (list: readonly unknown[]) => {
    const logprobs = { content: [{ token: "A", logprob: -0.1, top_logprobs: list }] };
    return Response.json({ choices: [{ index: 0, message: { content: "A" }, logprobs, finish_reason: "length" }] });
  };
  const token = (text: string, logprob: unknown) => ({ token: text, logprob });
  test.each<[string, unknown[], number, string | null]>([
    [
      "in words with spaces and marks",
      [token("A", -0.1), token("▁A", Math.log(0.05)), token("ĠB", Math.log(0.02)), token(" C.", Math.log(0.0065))],
      200,
      "0.981",
    ],
    ["fewer than were asked for, which have nearly all", [token("A", Math.log(0.985))], 200, "0.985"],
    // The missing alternatives may be the other letters.
    ["fewer than were asked for", [token("A", Math.log(0.6005))], 503, null],
    ["none beside the chosen one", [], 503, null],
    ["null and above 0", [token("A", null), token("B", 3)], 503, null],
    ["so small that nothing is left", [token("A", -9999), token("B", -9999)], 503, null],
    ["of other words", [token("The", -0.01), token("<0x0A>", -5)], 503, null],
  ])("%s: %p", async (_name, list, expected, mass) => {
    usual.chat ??= chat.answer;
    chat.answer = () => (expected === 200 || list.length === 0 ? tokens(list) : noChosen(list));
    const { status, body, headers } = await ask("letters-1.0.0", { q: choiceOf(["a", "b", "c"]) });
    expect([status, headers.get("x-sallyport-label-mass")]).toEqual([expected, mass]);
    if (expected !== 200) return;
    const p = Object.values(body.answers.q.probabilities) as number[];
    expect(Math.min(...p)).toBeGreaterThan(0);
    expect(p.reduce((total, one) => total + one, 0)).toBeCloseTo(1, 9);
  });

  const noChosen = (list: readonly unknown[]) => {
    const logprobs = { content: [{ ...(list[0] as object), top_logprobs: list }] };
    return Response.json({ choices: [{ index: 0, message: { content: "?" }, logprobs, finish_reason: "length" }] });
  };
});

test.each([
  ["one of two in percent", '{"1": "70%"}', 0.7, 0.3],
  ["one of two", '{"1": 0.7}', 0.7, 0.3],
  ["both, badly summed", '{"1": 0.9, "2": 0.3}', 0.75, 0.25],
])("options that a model leaves out share the rest: %s", async (_name, content, yes, no) => {
  usual.chat ??= chat.answer;
  chat.answer = (body) => {
    // In the other order, the model gives the same answer for the same option.
    const turned = /\n1\. No/.test(body.messages.at(-1).content);
    const said = turned ? content.replace('"1"', '"x"').replace('"2"', '"1"').replace('"x"', '"2"') : content;
    return Response.json({ choices: [{ index: 0, message: { content: said }, finish_reason: "stop" }] });
  };
  const { status, body } = await ask("written-1.0.0", { q: NOUL });
  expect(status).toBe(200);
  expect(body.answers.q.noul).toBeCloseTo(yes / (yes + no), 9);
});

test("a version's own limit of options holds for every backend", async () => {
  expect((await ask("few-1.0.0", { q: choiceOf(["a", "b", "c"]) })).status).toBe(200);
  const { status, body } = await ask("few-1.0.0", { q: choiceOf(["a", "b", "c", "d"]) });
  expect([status, body.error.code, body.error.param]).toEqual([422, "invalid_question", "questions.q.criteria"]);
});

test.each([{}, { true: null }, { true: "" }, { maybe: "x" }])(
  "criteria %p alone are not a question",
  async (criteria) => {
    const { status, body } = await ask(
      "native-1.0.0",
      { q: { type: "noul", criteria } },
      "s",
      "/typesafe/v1/systemone",
    );
    expect([status, body.error?.code]).toEqual([422, "invalid_question"]);
    expect(native.calls).toHaveLength(0);
  },
);

test("of several answers that a model writes the last one is used, whatever precedes it", async () => {
  usual.chat ??= chat.answer;
  const content = '<think>{"1": 1, "2": 0}</think>{"1": 0.5, "2": 0.5} No: {"1": 0.2, "2": 0.8}';
  chat.answer = () => Response.json({ choices: [{ index: 0, message: { content }, finish_reason: "stop" }] });
  const { body } = await ask("written-1.0.0", { q: { type: "score", criteria: ["low", "high"] } });
  // With ascending and descending order, the second option is each level once.
  expect(body.answers.q.score).toBeCloseTo(0.5, 6);
});

test("a long key of a question counts as its text, and so does a long name", async () => {
  const words = " word".repeat(100_000);
  const { status, body } = await ask("native-1.0.0", { [words]: { type: "noul", instructions: "?" } });
  expect([status, body.error?.code]).toEqual([413, "context_too_large"]);
  const questions = [{ type: "predicate", name: words, instructions: "?" }];
  const named = await gateway.post("/v1/decisions", { model: "native-1.0.0", input: "s", questions }, key);
  expect([named.status, named.body.error?.code]).toEqual([413, "context_too_large"]);
});

test("an endless key is not repeated in full", async () => {
  const { status, body } = await ask("native-1.0.0", { ["k".repeat(100_000)]: { type: "maybe" } });
  expect(status).toBe(422);
  expect(body.error.param.length).toBeLessThan(1100);
  expect(body.error.param).toStartWith("questions.kkk");
});

test("after one call has failed the rest are not started", async () => {
  const question = (at: number): Question => ({
    ...{ key: `q${at}`, type: "noul", instructions: "?" },
    options: ["true", "false"].map((label) => ({ label, criterion: null })),
  });
  const route = { provider: "p", model: "m", path: "", priority: 1, weight: 1 };
  const spec = {
    kind: "logprobs" as const,
    routes: [route],
    limits: {},
    orders: 2,
    concurrency: 4,
    revision: REVISION,
    minLabelMass: 0.5,
  };
  let calls = 0;
  const never = () => Promise.reject(new Error("not asked"));
  const chat = async () => {
    calls += 1;
    await Bun.sleep(1);
    throw new Error("down");
  };
  const questions = Array.from({ length: 40 }, (_, at) => question(at));
  await expect(logprobs.answer({ state: "s", questions, spec }, { chat, post: never, tokens: never })).rejects.toThrow(
    "down",
  );
  await Bun.sleep(20);
  expect(calls).toBe(4);
});

describe("duplicate names are refused with their path", () => {
  const noul = JSON.stringify(NOUL);
  const choice = (criteria: string) => `{"type":"choice","criteria":${criteria}}`;
  test.each([
    ["a question", `{"q":${noul},"r":${noul},"q":${noul}}`, "questions.q"],
    ["a question, spelt otherwise", `{"q":${noul},"\\u0071":${noul}}`, "questions.q"],
    ["an option", `{"q":${choice('{"a":null,"b":"x","a":"y"}')}}`, "questions.q.criteria.a"],
    ["the only option", `{"q":${noul},"r":${choice('{ "a" : null , "a" : null }')}}`, "questions.r.criteria.a"],
    [
      "what true means",
      `{"q":{"type":"noul","instructions":"?","criteria":{"true":"x","true":"y"}}}`,
      "questions.q.criteria.true",
    ],
  ])("%s", async (_, questions, param) => {
    for (const path of ["/v1/systemone", "/typesafe/v1/systemone"]) {
      const { status, body } = await gateway.post(
        path,
        `{"model":"native-1.0.0","state":"s","questions":${questions}}`,
        key,
      );
      expect([status, body.error.code, body.error.param]).toEqual([422, "invalid_question", param]);
    }
    expect(native.calls).toHaveLength(0);
  });

  test.each([
    ["in the state", `{"a":1,"a":2}`, `{"q":${noul}}`],
    ["in texts", `"{\\"q\\":1,\\"q\\":2}"`, `{"q":${choice('{"a":"\\"a\\":1,\\"a\\":2","b":null}')}}`],
    [
      "within a level, or what an option means",
      `"s"`,
      `{"q":{"type":"score","criteria":[{"x":1,"x":2},"b"]},"r":${choice('{"a":{"x":1,"x":2},"b":null}')}}`,
    ],
    ["under two questions", `"s"`, `{"q":${choice('{"a":null,"b":null}')},"r":${choice('{"a":null,"b":null}')}}`],
  ])("not %s", async (_, state, questions) => {
    const sent = `{"questions":"x","model":"native-1.0.0","state":${state},"questions":${questions}}`;
    expect((await gateway.post("/v1/systemone", sent, key)).status).toBe(200);
  });
});
