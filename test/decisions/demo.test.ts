// The decision model inside the program: it answers without a provider, always alike, and only to its own name.

import { afterAll, expect, test } from "bun:test";
import { nativeAnswers, startFake, startGateway } from "./support.ts";

const gateway = await startGateway({});
const key = await gateway.key();
afterAll(() => gateway.stop());

const STATE = "I was charged twice, and nobody answers. I want a refund today!";
const QUESTIONS = {
  refund: { type: "noul", instructions: "Does the customer want a refund?" },
  praise: { type: "noul", instructions: "Is it praise?" },
  reply: { type: "noul", instructions: "Is all well?", criteria: { true: "thanks", false: "nobody answers" } },
  topic: { type: "choice", criteria: { support: null, billing: "Charges and refunds" } },
  flavour: { type: "choice", criteria: { sweet: null, sour: { like: ["lemons"] } } },
  urgency: { type: "score", criteria: ["can wait", "today", "now"] },
};
const ask = (body: object, at = gateway, as = key) =>
  at.post("/v1/systemone", { model: "demo-decide", state: STATE, questions: QUESTIONS, ...body }, as);
const listed = async (at = gateway, as = key) =>
  (await at.get("/v1/systemone/models", as)).body.data.map(({ id }: { id: string }) => id);

test("answers follow the words that the state shares with each of them", async () => {
  const { status, body, headers } = await ask({});
  expect([status, body.model]).toEqual([200, "demo-decide"]);
  expect(headers.get("x-sallyport-route")).toBe("demo/demo-decide");
  expect(headers.get("x-sallyport-calibration")).toBe("none");
  const { refund, praise, reply, topic, flavour, urgency } = body.answers;
  expect([refund.noul > 0.9, praise.noul < 0.5, reply.noul < 0.1]).toEqual([true, true, true]);
  expect([topic.choice, topic.probabilities.billing > 0.9]).toEqual(["billing", true]);
  expect(flavour.probabilities).toEqual({ sweet: 0.5, sour: 0.5 });
  expect([urgency.legend, urgency.probabilities.today > 0.5]).toEqual(["today", true]);
  expect(body.usage.input_tokens).toBeGreaterThan(30);
  expect((await ask({})).body).toEqual(body);
});

test.each([
  ["many options", Object.fromEntries(Array.from({ length: 255 }, (_, at) => [`option ${at}`, null]))],
  ["names of an object's members", JSON.parse('{"__proto__":null,"constructor":"refund","toString":null}')],
])("%s sum to 1", async (_what, criteria) => {
  const { status, body } = await ask({ questions: { a: { type: "choice", criteria } } });
  expect(status).toBe(200);
  const given = Object.values<number>(body.answers.a.probabilities);
  expect(given).toHaveLength(Object.keys(criteria).length);
  expect(given.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 9);
});

test("the demo is a decision model in lists, in all formats and in errors", async () => {
  expect(await listed()).toEqual(["demo-decide"]);
  expect((await gateway.get("/v1/models/demo-decide", key)).status).toBe(404);
  const native = await gateway.get("/typesafe/v1/models", key);
  expect(native.body.models[0]).toMatchObject({ name: "demo-decide", description: expect.stringContaining("demo") });
  const decided = await gateway.post(
    "/v1/decisions",
    { model: "demo-decide", input: STATE, questions: [{ type: "predicate", instructions: "A refund?" }] },
    key,
  );
  expect(decided.status).toBe(200);
  const chat = { model: "demo-decide", messages: [{ role: "user", content: "hi" }] };
  expect((await gateway.post("/v1/chat/completions", chat, key)).body.error.code).toBe("wrong_model_family");
  expect((await (await fetch(`${gateway.url}/health`)).json()).subsystems.decisions).toMatchObject({
    status: "disabled",
  });
});

test("the demo never answers for another model, and its name can be given to another model or switched off", async () => {
  const fake = startFake(nativeAnswers);
  const entry = (id: string, aliases: string[] = []) => {
    return { id, aliases, backend: { kind: "systemone", routes: [{ provider: "judge", model: "j" }] } };
  };
  const providers = { judge: { kind: "systemone", base_url: fake.url } };
  const other = await startGateway({
    providers,
    decisions: { models: [entry("down-1.0.0"), entry("x-1.0.0", ["x"])] },
  });
  const mine = await other.key();
  try {
    expect(await listed(other, mine)).toEqual(["down-1.0.0", "x-1.0.0", "x", "demo-decide"]);
    fake.answer = () => new Response("", { status: 500 });
    expect((await ask({ model: "down-1.0.0" }, other, mine)).status).toBe(503);
    expect((await ask({ model: "nothing" }, other, mine)).status).toBe(404);
    fake.answer = nativeAnswers;
    await other.reload({ providers, decisions: { models: [entry("x-1.0.0", ["demo-decide"])] } });
    const { body } = await ask({}, other, mine);
    expect(body.model).toBe("x-1.0.0");
    await gateway.reload({ providers: { demo: { enabled: false } } });
    expect(await listed()).toEqual([]);
    expect((await ask({})).status).toBe(404);
  } finally {
    await other.stop();
    fake.stop();
    await gateway.reload({});
  }
});
