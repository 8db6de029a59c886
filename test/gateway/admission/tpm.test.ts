// Tokens a minute of a key (`tiers.NAME.tpm`): the estimate counts when a request is admitted, and what was used replaces it.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { TURN_TOKENS } from "../../../src/gateway/usage/prompt-tokens.ts";
import { countTokens } from "../../../src/tokens/count.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { CLIENT_FORMATS } from "../../support/heard.ts";
import { chatAnswer, chatChunk, type FakeUpstream, HANG, sse, startUpstream } from "../../support/upstream.ts";

const TPM = 10_000;

let up: FakeUpstream;
let app: TestApp;
let now = Date.UTC(2026, 0, 1);
const clock = { now: () => now };
beforeAll(async () => {
  up = startUpstream();
  app = await startTestApp({
    clock,
    key: { rpm: 1_000_000 },
    config: {
      tiers: { premium: { tpm: TPM, trial: "0s" } },
      models: [
        { id: "m", routes: [{ provider: "up", model: "m" }], max_output_tokens: 50_000 },
        { id: "embedder", kind: "embedding", routes: [{ provider: "up", model: "e" }] },
      ],
      providers: {
        up: { kind: "openai", base_url: up.baseUrl, discover: false, retry: { attempts: 1 } },
        judges: { kind: "systemone", base_url: up.baseUrl },
      },
      decisions: {
        models: [{ id: "judge", backend: { kind: "systemone", routes: [{ provider: "judges", model: "j" }] } }],
      },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});
beforeEach(() => {
  // The window is empty.
  now += 120_000;
  up.received.length = 0;
  up.answer(() => answered(2));
});

/** A request that uses two tokens or more. */
const usageOf = (tokens: number) => ({ prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens });
const answered = (tokens: number) => chatAnswer({ content: "x" }, { extra: { usage: usageOf(tokens) } });
const CHAT = { model: "m", messages: [{ role: "user", content: "hi" }] };
const ask = (more: object = {}, signal?: AbortSignal) =>
  app.call("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...CHAT, ...more }),
    ...(signal === undefined ? {} : { signal }),
  });
const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;
const headersOf = ({ headers }: Response) =>
  ["limit", "remaining", "reset"].map((name) => {
    const value = headers.get(`x-ratelimit-${name}-tokens`);
    return value === null ? null : Number(value);
  });

/** What the smallest request is estimated at. */
const SMALLEST = countTokens("hi\n") + TURN_TOKENS + 1;
/** What is left, by a request that uses two tokens of it. */
async function left(): Promise<number> {
  up.answer(() => answered(2));
  const response = await ask({ max_tokens: 1 });
  await response.text();
  return (headersOf(response)[1] ?? -1) + (response.status === 200 ? SMALLEST : 0);
}

test("of a hundred requests at once exactly as many are admitted as fit by their estimates", async () => {
  const gate = Promise.withResolvers<void>();
  up.answer(async () => {
    await gate.promise;
    return answered(10);
  });
  const refused: Response[] = [];
  // The prompt has a few tokens: nine of these fit, the tenth does not.
  const asked = Array.from({ length: 100 }, async () => {
    const response = await ask({ max_tokens: TPM / 10 });
    if (response.status === 429) refused.push(response);
    if (refused.length === 91) gate.resolve();
    return response.status;
  });
  const statuses = await Promise.all(asked);
  expect(statuses.filter((status) => status === 200)).toHaveLength(9);
  expect(up.received).toHaveLength(9);
  expect(await errorOf(refused[0]!)).toMatchObject({
    code: "rate_limit_exceeded",
    message: expect.stringMatching(
      /^This key may use 10000 tokens a minute, of which \d+ are left; this request may use \d+\. /,
    ),
    details: { limit: "tpm" },
  });
  // Requests in progress may give tokens back.
  expect(refused[0]!.headers.get("retry-after")).toBe("2");
  // Ten of each were used.
  expect(await left()).toBe(TPM - 90);
});

test("what was used counts for a minute, and the headers say what is left", async () => {
  up.answer(() => answered(6000));
  const first = await ask({ max_tokens: 6000 });
  expect(first.status).toBe(200);
  const [limit, remaining, reset] = headersOf(first);
  expect([limit, reset]).toEqual([TPM, 61]);
  expect(remaining).toBeWithin(TPM - 6020, TPM - 6000);
  now += 20_000;
  const refused = await ask({ max_tokens: 6000 });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "41"]);
  expect(headersOf(refused)).toEqual([TPM, 4000, 41]);
  expect((await ask({ max_tokens: 3000 })).status).toBe(200);
  now += 41_000;
  expect((await ask({ max_tokens: 3000 })).status).toBe(200);
});

test("a request larger than the whole limit is refused without a call, and is not to be repeated", async () => {
  for (const body of [
    { max_tokens: TPM },
    { max_tokens: 1, messages: [{ role: "user", content: "many words ".repeat(TPM) }] },
    { max_tokens: TPM / 4, n: 5 },
  ]) {
    const refused = await ask(body);
    expect([refused.status, refused.headers.get("x-should-retry"), refused.headers.get("retry-after")]).toEqual([
      429,
      "false",
      null,
    ]);
    expect(await errorOf(refused)).toMatchObject({ code: "rate_limit_exceeded", details: { limit: "tpm" } });
  }
  expect(up.received).toHaveLength(0);
  expect(await left()).toBe(TPM);
  expect(await left()).toBe(TPM - 2);
});

test("without an output limit a request takes what is left, and gives back what it did not use", async () => {
  const gate = Promise.withResolvers<void>();
  up.answer(async () => {
    await gate.promise;
    return answered(100);
  });
  const asked: Promise<Response>[] = [];
  // Of the limit that the gateway sets, 4096 tokens, two and a half fit.
  while (asked.length < 3) {
    const next = up.next();
    asked.push(ask());
    await next;
  }
  expect((await ask()).status).toBe(429);
  gate.resolve();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await left()).toBe(TPM - 300);
  expect((await ask()).status).toBe(200);
});

describe("the estimate is given back", () => {
  test.each([
    ["by a refusal of the provider", () => new Response("{}", { status: 400 }), {}, 400],
    [
      "by a stream",
      () => sse([chatChunk({ content: "x" }, { finish: "stop", usage: usageOf(2) }), "data: [DONE]\n\n"]),
      { stream: true },
      200,
    ],
  ] as const)("%s", async (_, script, more, status) => {
    up.answer(script);
    const response = await ask({ max_tokens: TPM / 2, ...more });
    await response.text();
    expect(response.status).toBe(status);
    expect(await left()).toBeWithin(TPM - 20, TPM + 1);
  });

  test("when the client leaves, and what a cut stream has sent counts", async () => {
    up.answer(() => sse([chatChunk({ content: "some words ".repeat(1000) }), HANG]));
    const leaving = new AbortController();
    const next = up.next();
    const response = await ask({ max_tokens: TPM / 2, stream: true }, leaving.signal);
    const reader = response.body!.getReader();
    await reader.read();
    leaving.abort();
    await (await next).aborted;
    up.answer(() => answered(2));
    let rest = await left();
    while (rest < TPM / 2) rest = await left();
    expect(rest).toBeWithin(TPM - 3000, TPM - 1500);
  });
});

test("the parts of a request with several prompts are reserved together", async () => {
  const complete = (max: number) =>
    app.post("/v1/completions", { model: "m", prompt: ["a", "b", "c", "d"], max_tokens: max });
  const refused = await complete(3000);
  expect([refused.status, (await errorOf(refused))["details"]]).toEqual([429, { limit: "tpm" }]);
  expect(up.received).toHaveLength(0);
  up.answer(() =>
    Response.json({
      id: "x",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
      usage: usageOf(50),
    }),
  );
  expect((await complete(2000)).status).toBe(200);
  expect(await left()).toBe(TPM - 200);
});

test("other endpoints count too", async () => {
  up.answer(() =>
    Response.json({ object: "list", data: [], model: "e", usage: { prompt_tokens: 700, total_tokens: 700 } }),
  );
  const embedded = await app.post("/v1/embeddings", { model: "embedder", input: "hi" });
  expect([embedded.status, headersOf(embedded)[0]]).toEqual([200, TPM]);
  expect(await left()).toBe(TPM - 700);
  const refused = await app.post("/v1/embeddings", { model: "embedder", input: "many words ".repeat(TPM) });
  expect([refused.status, (await errorOf(refused))["details"]]).toEqual([429, { limit: "tpm" }]);
});

test("decisions count too", async () => {
  up.answer(() => {
    const answers = { q: { type: "noul", noul: 0.5 } };
    return Response.json({ model: "j", answers, usage: { input_tokens: 400, output_tokens: 2 } });
  });
  const questions = { q: { type: "noul", instructions: "Is it so?" } };
  const ask = (state: string) => app.post("/v1/systemone", { model: "judge", state, questions });
  const decided = await ask("It is.");
  expect([decided.status, headersOf(decided)[0]]).toEqual([200, TPM]);
  expect(TPM - (await left())).toBeWithin(400, 403);
  const refused = await ask("many words ".repeat(TPM));
  expect([refused.status, (await errorOf(refused))["details"]]).toEqual([429, { limit: "tpm" }]);
});

test.each(CLIENT_FORMATS)("$name refuses in its own form", async (format) => {
  up.answer(() => answered(TPM));
  expect((await ask()).status).toBe(200);
  const refused = await app.post(format.path, { ...format.body({ stream: false, tools: false }), model: "m" });
  expect([refused.status, headersOf(refused)[0], headersOf(refused)[1]]).toEqual([429, TPM, 0]);
  const error = format.refusal(await refused.json());
  if (format.noDetails !== true) expect(error["details"]).toEqual({ limit: "tpm" });
});

test("the plan and the key tell the limit, and keys without one have no headers", async () => {
  expect(await (await app.call("/v1/key")).json()).toMatchObject({ tpm: TPM });
  const tiers = (await (await app.call("/v1/tiers")).json()) as { data: { id: string; tpm: unknown }[] };
  expect(tiers.data.map(({ tpm }) => tpm)).toEqual([null, null, TPM]);
  const providers = { up: { kind: "openai", base_url: up.baseUrl, discover: false } };
  await app.reconfigure({ models: [{ id: "m", routes: [{ provider: "up", model: "m" }] }], providers });
  expect(headersOf(await ask())).toEqual([null, null, null]);
});
