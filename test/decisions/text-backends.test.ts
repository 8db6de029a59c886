import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { believed, type Habits, startSimulated } from "./simulated.ts";
import { type Fake, type Gateway, startGateway } from "./support.ts";

const WEIGHTS: Record<string, number> = { red: 1, green: 0, blue: -1, Yes: 0.4, No: -0.4, None: -8 };
const TILTED: Habits = {
  beliefs: (_, options) =>
    options.map((text) => {
      const level = /^Level (\d+)/.exec(text);
      if (level !== null) return Number(level[1]);
      const numbered = /^item(\d+)$/.exec(text);
      if (numbered !== null) return numbered[1] === "137" ? 6 : -Number(numbered[1]) / 100;
      return WEIGHTS[text.split(/[ :]/)[0]!] ?? 0;
    }),
};
/** The probabilities of the model without its bias for positions. */
const truth = (options: string[]) =>
  believed({ state: "", question: "", options, letters: true }, TILTED).map(Math.exp);

let upstream: Fake;
let gateway: Gateway;
let key: string;
const habits: Habits = { ...TILTED };

beforeAll(async () => {
  upstream = startSimulated(habits);
  const routes = [{ provider: "sim", model: "sim-1" }];
  gateway = await startGateway({
    providers: {
      sim: { kind: "openai", preset: "vllm", base_url: upstream.url, discover: false, retry: { attempts: 1 } },
    },
    decisions: {
      models: [
        { id: "letters-1.0.0", backend: { kind: "logprobs", prior: "none", routes, min_label_mass: 0.1 } },
        { id: "single-1.0.0", backend: { kind: "logprobs", prior: "none", routes, orders: 1 } },
        { id: "narrow-1.0.0", backend: { kind: "logprobs", prior: "none", routes, limits: { top_logprobs: 5 } } },
        { id: "written-1.0.0", backend: { kind: "verbalized", routes } },
      ],
    },
  });
  key = await gateway.key();
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

afterEach(() => {
  for (const name of Object.keys(habits)) delete habits[name as keyof Habits];
  Object.assign(habits, TILTED);
  upstream.calls.length = 0;
});

const COLOURS = { type: "choice", instructions: "Which colour?", criteria: { red: null, green: null, blue: null } };
const many = (count: number) => ({
  type: "choice",
  criteria: Object.fromEntries(Array.from({ length: count }, (_, i) => [`item${i}`, null])),
});
const decide = async (model: string, questions: Record<string, unknown>, state: unknown = "Some state") => {
  const answer = await gateway.post("/v1/systemone", { model, state, questions }, key);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

describe("log-probabilities of letters", () => {
  test("give the model's own distribution, with all tokens of a letter added up", async () => {
    const { answers, usage } = await decide("letters-1.0.0", { q: COLOURS });
    const [red, green, blue] = truth(["red", "green", "blue"]);
    expect(answers.q.choice).toBe("red");
    expect(answers.q.probabilities.red).toBeCloseTo(red!, 6);
    expect(answers.q.probabilities.green).toBeCloseTo(green!, 6);
    expect(answers.q.probabilities.blue).toBeCloseTo(blue!, 6);
    // The tokens are counted once by the gateway, however many calls were needed.
    expect(usage.input_tokens).toBeLessThan(30);
  });

  test("two orders cancel a position bias; one order does not", async () => {
    habits.gains = [1.5, 0, -1.5];
    const asked = { q: { ...COLOURS, criteria: { blue: null, green: null, red: null } } };
    const both = await decide("letters-1.0.0", asked);
    const [red] = truth(["red", "green", "blue"]);
    expect(both.answers.q.probabilities.red).toBeCloseTo(red!, 6);
    const single = await decide("single-1.0.0", asked);
    expect(single.answers.q.probabilities.red).toBeLessThan(red! - 0.3);
  });

  test("yes or no, with and without criteria", async () => {
    habits.gains = [0.7, -0.7];
    const { answers } = await decide("letters-1.0.0", {
      plain: { type: "noul", instructions: "Is it?" },
      said: { type: "noul", instructions: "Is it?", criteria: { true: "It is.", false: "It is not." } },
    });
    const expected = 1 / (1 + Math.exp(-0.8));
    expect(answers.plain.noul).toBeCloseTo(expected, 6);
    expect(answers.said.noul).toBeCloseTo(expected, 6);
  });

  test("a score is the mean of the levels", async () => {
    const { answers } = await decide("letters-1.0.0", { q: { type: "score", criteria: ["bad", "fair", "good"] } });
    const p = truth(["Level 0", "Level 1", "Level 2"]);
    expect(answers.q.score).toBeCloseTo(p[1]! + 2 * p[2]!, 6);
    expect(answers.q.legend).toBe("good");
  });

  test("the other questions, and the keys, change nothing", async () => {
    const alone = await decide("letters-1.0.0", { q: COLOURS });
    const together = await decide("letters-1.0.0", {
      other: many(30),
      renamed: COLOURS,
      b: { type: "noul", instructions: "?" },
    });
    expect(together.answers.renamed).toEqual(alone.answers.q);
  });

  test("permuting the options permutes the probabilities", async () => {
    habits.gains = [0.9, 0.2, -1.1];
    const { answers: one } = await decide("letters-1.0.0", { q: COLOURS });
    const turned = { ...COLOURS, criteria: { blue: null, green: null, red: null } };
    const { answers: two } = await decide("letters-1.0.0", { q: turned });
    for (const name of ["red", "green", "blue"]) {
      expect(two.q.probabilities[name]).toBeCloseTo(one.q.probabilities[name], 9);
    }
  });

  test.each([
    ["letters-1.0.0", 3],
    ["single-1.0.0", 5],
    ["letters-1.0.0", 30],
    ["letters-1.0.0", 90],
    ["written-1.0.0", 4],
  ])("%s: with %d options the order in the request changes nothing", async (model, count) => {
    habits.gains = [0.9, 0.4, -0.3, -1.1];
    const names = Object.keys(many(count).criteria);
    const askIn = async (order: readonly string[]) => {
      const criteria = Object.fromEntries(order.map((name) => [name, null]));
      return (await decide(model, { q: { type: "choice", criteria } })).answers.q;
    };
    const given = await askIn(names);
    for (const order of [[...names].reverse(), [...names.slice(count >> 1), ...names.slice(0, count >> 1)]]) {
      const other = await askIn(order);
      expect(other.choice).toBe(given.choice);
      // They may differ in the last bits, because sums are made in the client's order.
      for (const name of names) expect(other.probabilities[name]).toBeCloseTo(given.probabilities[name], 12);
    }
  });

  test.each([21, 77, 255])(
    "%d options are asked in groups, the right one is found, and none has probability 0",
    async (count) => {
      const { answers } = await decide("letters-1.0.0", { q: many(count) });
      const values = Object.values(answers.q.probabilities) as number[];
      expect(values).toHaveLength(count);
      expect(values.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
      expect(Math.min(...values)).toBeGreaterThan(0);
      if (count > 137) expect(answers.q.choice).toBe("item137");
      else expect(answers.q.choice).toBe("item0");
      for (const { body } of upstream.calls) expect(body.top_logprobs).toBeLessThanOrEqual(20);
    },
  );

  test("an engine that shows few alternatives gets small groups", async () => {
    habits.top = 5;
    const { answers } = await decide("narrow-1.0.0", { q: many(12) });
    expect(answers.q.choice).toBe("item0");
    for (const { body } of upstream.calls) expect(body.top_logprobs).toBe(5);
  });

  test("asks for one token without thinking, state first", async () => {
    await decide("letters-1.0.0", { q: COLOURS }, { text: "hello" });
    const [call] = upstream.calls;
    expect(call!.path).toBe("/v1/chat/completions");
    expect(call!.body).toMatchObject({
      model: "sim-1",
      max_tokens: 1,
      temperature: 0,
      logprobs: true,
      chat_template_kwargs: { enable_thinking: false },
    });
    const text: string = call!.body.messages.at(-1).content;
    expect(text.indexOf('{"text":"hello"}')).toBeLessThan(text.indexOf("Which colour?"));
    // The prompts of both orders are equal up to the options.
    const other: string = upstream.calls[1]!.body.messages.at(-1).content;
    expect(other.slice(0, other.indexOf("A. "))).toBe(text.slice(0, text.indexOf("A. ")));
  });

  test.each([
    ["vllm", { chat_template_kwargs: { enable_thinking: false } }],
    ["llamacpp", { chat_template_kwargs: { enable_thinking: false }, cache_prompt: true }],
    ["ollama", { reasoning_effort: "none" }],
    ["openrouter", { reasoning: { enabled: false }, provider: { require_parameters: true } }],
    ["openai", {}],
  ])("%s is told not to think by its own parameter", async (preset, words) => {
    const own = await startGateway({
      providers: { engine: { preset, kind: "openai", base_url: upstream.url, api_key: "k", discover: false } },
      decisions: {
        models: [
          { id: "j-1", backend: { kind: "logprobs", prior: "none", routes: [{ provider: "engine", model: "m" }] } },
        ],
      },
    });
    try {
      const body = { model: "j-1", state: "s", questions: { q: COLOURS } };
      const answer = await own.post("/v1/systemone", body, await own.key());
      expect([answer.status, answer.headers.get("x-sallyport-calibration")]).toEqual([200, "none"]);
      const {
        model: _m,
        messages: _t,
        max_tokens: _x,
        temperature: _y,
        logprobs: _l,
        top_logprobs: _n,
        ...rest
      } = upstream.calls[0]!.body;
      expect(rest).toMatchObject(words);
      expect(
        Object.keys(rest)
          .filter((name) => /think|reason|template/.test(name))
          .sort(),
      ).toEqual(
        Object.keys(words)
          .filter((name) => /think|reason|template/.test(name))
          .sort(),
      );
    } finally {
      await own.stop();
    }
  });

  test("the probability of tokens other than letters is in the log", async () => {
    habits.chatter = 0.2;
    const from = gateway.logs.length;
    await decide("letters-1.0.0", { q: COLOURS });
    const mass = () =>
      gateway.logs
        .slice(from)
        .join("")
        .match(/"label_mass":([\d.]+)/)?.[1];
    await until(() => mass() !== undefined);
    expect(Number(mass())).toBeCloseTo(0.8, 6);
  });

  test("ten questions are called at the same time, and never more calls than allowed", async () => {
    const answer = upstream.answer;
    const waiting: (() => void)[] = [];
    const waves: number[] = [];
    upstream.answer = async (body, path) => {
      await new Promise<void>((resume) => waiting.push(resume));
      return answer(body, path);
    };
    const questions = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`q${i}`, { type: "noul", instructions: "?" }]),
    );
    const answered = decide("letters-1.0.0", questions);
    let left = 24;
    while (left > 0) {
      await until(() => waiting.length === Math.min(left, 20));
      waves.push(waiting.length);
      left -= waiting.length;
      for (const resume of waiting.splice(0)) resume();
    }
    await answered;
    upstream.answer = answer;
    expect(waves).toEqual([20, 4]);
  });

  test("a long state is sent once before the rest follows", async () => {
    let running = 0;
    let most = 0;
    const answer = upstream.answer;
    const seen: number[] = [];
    upstream.answer = async (body, path) => {
      running += 1;
      most = Math.max(most, running);
      seen.push(running);
      const response = await answer(body, path);
      running -= 1;
      return response;
    };
    const questions = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`q${i}`, COLOURS]));
    await decide("letters-1.0.0", questions, "long ".repeat(2000));
    upstream.answer = answer;
    expect(seen).toHaveLength(12);
    expect(seen.slice(0, 1)).toEqual([1]);
    expect(most).toBeLessThanOrEqual(8);
  });

  test.each<[string, () => void]>([
    ["shows no log-probabilities", () => (upstream.answer = () => chatOf("A", null))],
    ["says something else", () => (upstream.answer = () => chatOf("Well", [["Well", -0.0001]]))],
    ["answers with nothing", () => (upstream.answer = () => chatOf("", []))],
    ["is broken", () => (upstream.answer = () => new Response("no", { status: 500 }))],
  ])("an engine that %s: 503", async (_, break_) => {
    const answer = upstream.answer;
    break_();
    const { status, body } = await gateway.post(
      "/v1/systemone",
      { model: "letters-1.0.0", state: "s", questions: { q: COLOURS } },
      key,
    );
    upstream.answer = answer;
    expect([status, body.error.code]).toEqual([503, "decision_unavailable"]);
  });

  test("a model that answers with other tokens is removed from the list, with the reason in /health", async () => {
    const ids = async () =>
      (await gateway.get("/v1/systemone/models", key)).body.data.map((model: { id: string }) => model.id);
    habits.chatter = 0.8;
    await decide("letters-1.0.0", { q: COLOURS });
    expect(await ids()).not.toContain("letters-1.0.0");
    const { body } = await gateway.get("/health");
    // Another model on the same engine also answers badly.
    expect(body.subsystems.decisions).toMatchObject({
      status: "degraded",
      unfit: [{ model: "letters-1.0.0" }, { model: "single-1.0.0" }],
    });
    habits.chatter = 0;
    await decide("letters-1.0.0", { q: COLOURS });
    expect(await ids()).toContain("letters-1.0.0");
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 1000) throw new Error("it did not come about");
    await Bun.sleep(2);
  }
}

function chatOf(content: string, tokens: [string, number][] | null, finish_reason = "stop"): Response {
  const top_logprobs = (tokens ?? []).map(([token, logprob]) => ({ token, logprob, bytes: null }));
  const logprobs =
    tokens === null ? null : { content: top_logprobs.length === 0 ? [] : [{ ...top_logprobs[0], top_logprobs }] };
  const choices = [{ index: 0, message: { role: "assistant", content }, logprobs, finish_reason }];
  return Response.json({ id: "x", object: "chat.completion", created: 1, model: "sim-1", choices });
}

describe("probabilities a model writes down", () => {
  test("are read from its JSON, and the orders are averaged", async () => {
    habits.gains = [0.5, 0, -0.5];
    const { answers } = await decide("written-1.0.0", { q: COLOURS, big: many(40) });
    const [red] = truth(["red", "green", "blue"]);
    expect(answers.q.probabilities.red).toBeCloseTo(red!, 6);
    expect(Object.keys(answers.big.probabilities)).toHaveLength(40);
    expect(upstream.calls[0]!.body.response_format.json_schema.schema.required).toEqual(["1", "2", "3"]);
  });

  test.each([
    ['Sure! ```json\n{"1": "70%", "2": 20, "3": 10}\n```', 0.7],
    ['{"1": 0.7, "2": 0.2}', 7 / 9],
    ['{"1": 7, "2": 2, "3": 1', 0.7],
    ['<think>Maybe {"1": 0.1}? Or {a, b}.</think>\n{"1": 0.7, "2": 0.2, "3": 0.1}', 0.7],
    ['A set {x} first: {"1": 0.7, "2": 0.2, "3": 0.1} (so {y}, I think }:)', 0.7],
    ['{"probabilities": {"1": 0.7, "2": 0.2, "3": 0.1}}', 0.7],
  ])("%s is understood", async (content, red) => {
    const answer = upstream.answer;
    upstream.answer = () => chatOf(content, null);
    const asked = { q: { ...COLOURS, criteria: { red: null, green: null, blue: null } } };
    const first = await gateway.post("/v1/systemone", { model: "written-1.0.0", state: "s", questions: asked }, key);
    upstream.answer = answer;
    expect(first.status).toBe(200);
    // Both orders got the same text. The first and the last option therefore swap their probabilities, and the mean is the same
    // for both.
    const { red: a, blue: b } = first.body.answers.q.probabilities;
    expect(a).toBeCloseTo(b, 6);
    expect(red).toBeGreaterThan(0);
  });

  test.each([
    "I do not know",
    '<think>{"1": 0.7, "2": 0.3, "3": 0}',
    "{}",
    '{"1": 0, "2": 0, "3": 0}',
    '{"1": "much"}',
  ])("%s is not a valid answer: 503", async (content) => {
    const answer = upstream.answer;
    upstream.answer = () => chatOf(content, null);
    const { status } = await gateway.post(
      "/v1/systemone",
      { model: "written-1.0.0", state: "s", questions: { q: COLOURS } },
      key,
    );
    upstream.answer = answer;
    expect(status).toBe(503);
  });

  test.each([
    ['{"1": 0.1, "2": 0.', 503],
    ['{"1": 0.1, "2": 0.2, "3": 0.7', 200],
  ])("%s, cut off at the maximum number of tokens: %p", async (content, expected) => {
    const answer = upstream.answer;
    upstream.answer = () => chatOf(content, null, "length");
    const questions = { q: { ...COLOURS, criteria: { red: null, green: null, blue: null } } };
    const { status } = await gateway.post("/v1/systemone", { model: "written-1.0.0", state: "s", questions }, key);
    upstream.answer = answer;
    expect(status).toBe(expected);
  });
});
