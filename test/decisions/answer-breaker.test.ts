// Routes whose answers do not fit the question: the version's next route is used, and such a route is tried last for a while. An
// upstream's token counts are only accepted if they are possible.

import { afterEach, describe, expect, test } from "bun:test";
import { type Fake, type Gateway, nativeAnswers, startFake, startGateway } from "./support.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

const NOUL = { type: "noul", instructions: "Is it?" };
const nonsense = () => Response.json({ model: "m", answers: { q: { type: "noul", noul: 1.5 } } });

function letters(mass: number): Response {
  const top_logprobs = [
    { token: "A", logprob: Math.log(mass * 0.8) },
    { token: "B", logprob: Math.log(mass * 0.2) },
    { token: "The", logprob: Math.log(Math.max(1e-9, 1 - mass)) },
  ];
  const logprobs = { content: [{ ...top_logprobs[0], top_logprobs }] };
  return Response.json({ choices: [{ index: 0, message: { content: "A" }, logprobs, finish_reason: "length" }] });
}

async function two(kind: "systemone" | "logprobs", first: Fake["answer"], second: Fake["answer"], more = {}) {
  const fakes = [startFake(first), startFake(second)] as const;
  open.push(...fakes);
  const provider = (fake: Fake) => ({
    kind: kind === "systemone" ? kind : "openai",
    base_url: fake.url,
    discover: false,
    retry: { attempts: 1 },
    breaker: { failures: 3, window: "1m", cooldown: "1m" },
  });
  const routes = ["one", "two"].map((name, at) => ({ provider: name, model: "m", priority: at + 1 }));
  const gateway = await startGateway({
    providers: { one: provider(fakes[0]), two: provider(fakes[1]) },
    decisions: { models: [{ id: "x-1.0.0", backend: { kind, prior: "none", routes, ...more } }] },
  });
  open.push(gateway);
  const key = await gateway.key();
  const ask = () => gateway.post("/v1/systemone", { model: "x-1.0.0", state: "s", questions: { q: NOUL } }, key);
  return { gateway, ask, calls: () => fakes.map(({ calls }) => calls.length) };
}

const breakers = async (gateway: Gateway) =>
  JSON.stringify((await gateway.get("/health")).body).match(/"(?:state|status)":"open"/g) ?? [];

describe.each<["systemone" | "logprobs", Fake["answer"], Fake["answer"]]>([
  ["systemone", nonsense, nativeAnswers],
  ["logprobs", () => letters(0.2), () => letters(0.99)],
])("invalid answers of a %s route", (kind, bad, good) => {
  test("the next route of the version answers, and is tried first after a while", async () => {
    const { gateway, ask, calls } = await two(kind, bad, good);
    for (let turn = 0; turn < 8; turn++) {
      const { status, headers } = await ask();
      expect([status, headers.get("x-sallyport-route")]).toEqual([200, "two/m"]);
    }
    const each = kind === "logprobs" ? 2 : 1;
    expect(calls()[1]).toBe(8 * each);
    expect(calls()[0]).toBeLessThanOrEqual(3 + each);
    // The provider itself is healthy, so chats may use it.
    expect(await breakers(gateway)).toEqual([]);
  });

  test("if no route gives valid answers, all are tried each time, and none is suspended", async () => {
    const { ask, calls } = await two(kind, bad, bad);
    for (let turn = 0; turn < 6; turn++) expect((await ask()).body.error.code).toBe("decision_unavailable");
    expect(Math.min(...calls())).toBeGreaterThanOrEqual(6);
  });

  test("a route with invalid answers is used if the others are down", async () => {
    let mended = false;
    const { ask } = await two(
      kind,
      (body, path) => (mended ? good(body, path) : bad(body, path)),
      (body, path) => (mended ? new Response("down", { status: 500 }) : good(body, path)),
    );
    for (let turn = 0; turn < 4; turn++) expect((await ask()).status).toBe(200);
    mended = true;
    const { status, headers } = await ask();
    expect([status, headers.get("x-sallyport-route")]).toEqual([200, "one/m"]);
  });
});

test.each([
  [0.6, undefined, 200],
  [0.45, undefined, 503],
  [0.45, 0.4, 200],
  [0.099, 0, 200],
  [0.9, 0.95, 503],
])("letters that have %p together, with at least %p asked for: %p", async (mass, least, expected) => {
  const more = least === undefined ? {} : { min_label_mass: least };
  const answer = () => letters(mass);
  const { ask } = await two("logprobs", answer, answer, more);
  expect((await ask()).status).toBe(expected);
});

test.each([
  [{ input_tokens: -5, output_tokens: -1 }],
  [{ input_tokens: 1.5, output_tokens: "7" }],
  [{ input_tokens: "12", output_tokens: null }],
  [{ input_tokens: 1e300 }],
  [{ input_tokens: 0, output_tokens: 0 }],
  [{ input_tokens: 0, output_tokens: 7 }],
  [null],
  ["many"],
])("usage %p is ignored", async (usage) => {
  const native: Fake["answer"] = () =>
    Response.json({ model: "m", answers: { q: { type: "noul", noul: 0.5 } }, usage });
  const { ask, gateway } = await two("systemone", native, native);
  const { status, body } = await ask();
  expect(status).toBe(200);
  for (const count of Object.values(body.usage))
    expect(Number.isSafeInteger(count) && (count as number) >= 0).toBe(true);
  const [row] = await gateway.usage(1);
  expect(row).toMatchObject({ estimated: 1, input_tokens: body.usage.input_tokens });
  expect(row!["input_tokens"]).toBeGreaterThan(0);
});

test.each([
  [{ prompt_tokens: -5, completion_tokens: -1, total_tokens: -6 }],
  [{ prompt_tokens: 1e300, completion_tokens: 1 }],
  [{ prompt_tokens: "x", completion_tokens: {} }],
])("usage %p of a chat is ignored", async (usage) => {
  const chat: Fake["answer"] = async () => Response.json({ ...(await letters(0.99).json()), usage });
  const { ask, gateway } = await two("logprobs", chat, chat);
  const { status, body } = await ask();
  expect(status).toBe(200);
  for (const count of Object.values(body.usage))
    expect(Number.isSafeInteger(count) && (count as number) >= 0).toBe(true);
  const [row] = await gateway.usage(1);
  for (const name of ["input_tokens", "output_tokens", "cost_micros"]) {
    expect(Number.isSafeInteger(row![name]) && (row![name] as number) >= 0).toBe(true);
  }
});

test.each([
  [{ a: 0.5, b: 0.5, z: 0.5 }, 503],
  [{ a: 0.5, b: 0.5, z: 0 }, 200],
])("a choice with an option that was not in the question: %p", async (probabilities, expected) => {
  const answer: Fake["answer"] = () => Response.json({ model: "m", answers: { q: { type: "choice", probabilities } } });
  const fake = startFake(answer);
  open.push(fake);
  const gateway = await startGateway({
    providers: { one: { kind: "systemone", base_url: fake.url } },
    decisions: {
      models: [{ id: "x-1.0.0", backend: { kind: "systemone", routes: [{ provider: "one", model: "m" }] } }],
    },
  });
  open.push(gateway);
  const asked = { model: "x-1.0.0", state: "s", questions: { q: { type: "choice", criteria: { a: null, b: null } } } };
  expect((await gateway.post("/v1/systemone", asked, await gateway.key())).status).toBe(expected);
});
