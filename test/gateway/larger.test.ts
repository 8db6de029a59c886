// Models that name a larger one, which takes the requests that are too long for them.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { chatAnswer, chatChunk, sse, startUpstream } from "../support/upstream.ts";

const up = startUpstream();
const routes = (model: string) => [{ provider: "up", model }];
const prices = { input: 1, output: 1 };
const config = {
  tiers: { free: { rpm: 100_000 } },
  providers: { up: { kind: "openai", base_url: up.baseUrl, api_key: "k", discover: false } },
  models: [
    { id: "small", larger: "huge", prices, routes: routes("up-small"), context_length: 1000 },
    { id: "unknown", larger: "huge", prices, routes: routes("up-small") },
    { id: "alone", prices, routes: routes("up-small") },
    { id: "above", larger: "dear", prices, routes: routes("up-small") },
    { id: "missing", larger: "nowhere", prices, routes: routes("up-small") },
    { id: "chain", larger: "unknown", prices, routes: routes("up-small") },
    { id: "cheap", larger: "costly", prices, routes: routes("up-small") },
    { id: "costly", prices: { input: 1, output: 1_000_000 }, routes: routes("up-huge") },
    { id: "huge", prices, routes: routes("up-huge"), context_length: 1_000_000 },
    { id: "dear", tier: "premium", prices, routes: routes("up-huge") },
  ],
};
const app = await startTestApp({ tier: "free", key: { budgetMicros: 1_000_000_000 }, config });
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const TOO_LONG = { error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" } };

beforeEach(() => {
  up.received.length = 0;
  up.answer(({ json }) => {
    if (json?.["model"] === "up-small") return Response.json(TOO_LONG, { status: 400 });
    if (json?.["stream"] !== true) return chatAnswer({ content: "Hi." });
    return sse([chatChunk({ content: "Hi." }), chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]);
  });
});

const modelsAsked = () => up.received.map(({ json }) => json?.["model"]);
const chat = (model: string, content = "Hi") =>
  app.post("/v1/chat/completions", { model, messages: [{ role: "user", content }] });

test.each(CLIENT_FORMATS.flatMap((of) => [false, true].map((stream) => [of.name, stream, of] as const)))(
  "%s, stream %p: the larger model answers under the name of the other",
  async (_name, stream, of) => {
    const answer = await app.post(of.path, { ...of.body({ stream, tools: false }), model: "unknown" });
    const text = await answer.text();
    expect([answer.status, answer.headers.get("x-sallyport-model")]).toEqual([200, "huge"]);
    expect((stream ? of.streamed(text) : of.whole(JSON.parse(text))).text).toBe("Hi.");
    expect(text).toContain('"unknown"');
    expect(text).not.toContain("huge");
    expect(modelsAsked()).toEqual(["up-small", "up-huge"]);
  },
);

/** The smaller model's estimate of such a request is more than half of the tokens a minute. */
const TOKENS = { tpm: 1000, max_tokens: 600 };

test.each(["unknown", "small"])(
  "%s: a request that the larger model takes counts once in its run and in the tokens a minute",
  async (model) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    up.answer(({ json }) =>
      json?.["model"] === "up-small"
        ? Response.json(TOO_LONG, { status: 400 })
        : chatAnswer({ content: "Hi." }, { extra: { usage } }),
    );
    await app.reconfigure({
      ...config,
      tiers: { free: { rpm: 100_000, tpm: TOKENS.tpm, runs: { requests: 2, usd: 0.001 } } },
    });
    const ask = () =>
      app.post(
        "/v1/chat/completions",
        { model, messages: [{ role: "user", content: "Hi" }], max_tokens: TOKENS.max_tokens },
        { "x-sallyport-run": `run of ${model}` },
      );
    const first = await ask();
    expect([first.status, await first.text()]).toEqual([200, expect.stringContaining("Hi.")]);
    const second = await ask();
    expect([second.status, second.headers.get("x-sallyport-model")]).toEqual([200, "huge"]);
    // What the first one used is taken off, and what the second one may use is held once.
    await second.text();
    const third = await ask();
    const { error } = (await third.json()) as { error: { code: string; details: unknown } };
    expect([third.status, error.code, error.details]).toMatchObject([402, "run_limit_reached", { limit: "requests" }]);
    await app.reconfigure(config);
  },
);

test("what is certainly too long is not sent to the smaller one, and the log and the usage name both", async () => {
  const answer = await chat("small", "word ".repeat(2000));
  expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([200, "small"]);
  expect(modelsAsked()).toEqual(["up-huge"]);
  await app.flushLogs();
  expect(app.logs.findLast((line) => "larger_for" in line)).toMatchObject({ model: "huge", larger_for: "small" });
});

test.each(["alone", "above", "missing"])("%s: the request is refused as one that is too long", async (model) => {
  const answer = await chat(model);
  const { error } = (await answer.json()) as { error: { code: string } };
  expect([answer.status, error.code]).toEqual([400, "context_length_exceeded"]);
  expect(modelsAsked()).toEqual(["up-small"]);
});

test("the larger model of a larger model is not asked, and a request that fits is not sent on", async () => {
  expect((await chat("chain")).status).toBe(400);
  up.answer(() => chatAnswer({ content: "Hi." }));
  up.received.length = 0;
  const answer = await chat("small");
  expect([answer.status, answer.headers.get("x-sallyport-model")]).toEqual([200, "small"]);
  expect(modelsAsked()).toEqual(["up-small"]);
});

test.each([
  ["alone", { model: "cheap" }],
  ["as one of several", { models: ["cheap", "small"] }],
])(
  "%s: what the larger model may cost is reserved, so that two requests cannot both spend the rest",
  async (_, named) => {
    const asked = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    up.answer(async ({ json }) => {
      if (json?.["model"] === "up-small") return Response.json(TOO_LONG, { status: 400 });
      const isFirst = modelsAsked().filter((model) => model === "up-huge").length === 1;
      asked.resolve();
      if (isFirst) await ended.promise;
      return Response.json({ error: { message: "busy" } }, { status: 503 });
    });
    const body = { ...named, messages: [{ role: "user", content: "Hi" }], max_tokens: 600 };
    const first = app.post("/v1/chat/completions", body);
    await asked.promise;
    const second = await app.post("/v1/chat/completions", body);
    ended.resolve();
    expect([second.status, (await first).status]).toEqual([429, 502]);
  },
);
