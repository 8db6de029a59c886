// What a vendor refuses for its content concerns one request: it changes nothing for other accounts, it is not sent again, and its
// reason reaches the client.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { type FakeUpstream, type Received, sse, startUpstream } from "../support/upstream.ts";
import { faultFrame } from "../support/upstream-faults.ts";

type Json = Record<string, unknown>;

let app: TestApp;
let up: FakeUpstream;
/** The key of another account. */
let neighbour: string;

beforeAll(async () => {
  up = startUpstream();
  const provider = (dialect: DialectName) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
  });
  app = await startTestApp({
    config: {
      tiers: { premium: { rpm: 100_000 } },
      // The breaker's settings are the defaults.
      providers: Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(dialect)])),
      models: DIALECTS.map((dialect) => ({ id: dialect, routes: [{ provider: dialect, model: "up-model" }] })),
    },
  });
  const store = await app.openStore();
  const account = await accountStore(store).createAccount({
    username: "neighbour",
    email: "n@x.example",
    tier: "premium",
    emailVerified: true,
  });
  if ("refused" in account) throw new Error(account.refused);
  ({ key: neighbour } = await keyStore(store).createKey({ accountId: account.id, name: "n" }));
  await store.close();
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const WORDS = { status: 400, message: "Refused.", code: "cyber_policy", types: ["x", "x", "x"] as const };

/** The answer of a vendor that refuses: failed as a whole, or broken off after its first words. */
function refuse(received: Received): Response | Promise<Response> {
  if (received.json?.["stream"] !== true) {
    return Response.json({
      id: "r",
      status: "failed",
      output: [],
      error: { code: "cyber_policy", message: "Refused." },
    });
  }
  const begun = say(received, { text: "Some words.", breaks: { after: 5, with: "end" } });
  return begun.text().then((text) => sse([text, faultFrame("openai-responses", WORDS)]));
}

test.each([false, true])("five refusals of one account change nothing for another, stream %p", async (stream) => {
  const body = { model: "openai-responses", input: "Hi", store: false, stream };
  for (let i = 0; i < 6; i++) {
    up.answer(refuse);
    const before = up.received.length;
    const response = await app.post("/v1/responses", body);
    const text = await response.text();
    expect(up.received.length - before).toBe(1);
    expect(response.status).toBe(stream ? 200 : 400);
    expect(text).toContain('"code":"cyber_policy"');
    expect(text).toContain("Refused.");
  }
  up.answer((received) => say(received, { text: "Fine." }));
  const other = await app.post("/v1/responses", body, { authorization: `Bearer ${neighbour}` });
  expect(other.status).toBe(200);
  expect(await other.text()).toContain("Fine.");
});

/** Answers that end by a refusal, with the vendor's words. */
const ENDS: readonly [DialectName, (received: Received) => Response][] = [
  [
    "anthropic-messages",
    ({ json }) => {
      const end = {
        stop_reason: "refusal",
        stop_details: { type: "refusal", category: "bio", explanation: "Not this." },
      };
      const message = { id: "m", type: "message", role: "assistant", model: "up", content: [] };
      const usage = { input_tokens: 3, output_tokens: 1 };
      if (json?.["stream"] !== true) return Response.json({ ...message, ...end, usage });
      const frame = (type: string, more: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
      return sse([
        frame("message_start", { message: { ...message, stop_reason: null, usage } }),
        frame("message_delta", { delta: end, usage }),
        frame("message_stop", {}),
      ]);
    },
  ],
  [
    "gemini",
    ({ path }) => {
      const chunk = {
        candidates: [{ index: 0, finishReason: "SAFETY", finishMessage: "Not this.", content: { parts: [] } }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 },
      };
      return path.includes(":stream") ? sse([`data: ${JSON.stringify(chunk)}\n\n`]) : Response.json(chunk);
    },
  ],
];

describe.each(ENDS)("an answer of %s that ends by a refusal", (dialect, script) => {
  const [chat, responses, messages] = CLIENT_FORMATS;

  test("its reason reaches chat clients", async () => {
    up.answer(script);
    const whole = await app.post(chat!.path, { ...chat!.body({ stream: false, tools: false }), model: dialect });
    expect(whole.status).toBe(200);
    expect(await whole.json()).toMatchObject({
      choices: [{ message: { content: null, refusal: "Not this." }, finish_reason: "content_filter" }],
    });
    const streamed = await app.post(chat!.path, { ...chat!.body({ stream: true, tools: false }), model: dialect });
    const text = await streamed.text();
    expect(chat!.streamed(text)).toMatchObject({ text: "", stop: "content_filter" });
    expect(text).toContain('"delta":{"refusal":"Not this."}');
  });

  test("its reason reaches Responses clients", async () => {
    up.answer(script);
    const part = { type: "refusal", refusal: "Not this." };
    const whole = await app.post(responses!.path, {
      ...responses!.body({ stream: false, tools: false }),
      model: dialect,
    });
    expect(whole.status).toBe(200);
    expect(await whole.json()).toMatchObject({ output: [{ type: "message", content: [part] }] });
    const streamed = await app.post(responses!.path, {
      ...responses!.body({ stream: true, tools: false }),
      model: dialect,
    });
    const text = await streamed.text();
    responses!.streamed(text);
    expect(text).toContain("response.refusal.delta");
    expect(text).toContain(JSON.stringify(part));
  });

  test("messages clients get the stop reason", async () => {
    up.answer(script);
    for (const stream of [false, true]) {
      const response = await app.post(messages!.path, { ...messages!.body({ stream, tools: false }), model: dialect });
      const text = await response.text();
      expect(text).toContain('"stop_reason":"refusal"');
      expect(text).toContain("Not this.");
    }
  });
});

/** The formats that have no code of OpenAI's or Anthropic's: what a client of each is told. */
const OTHERS = {
  "Ollama's clients": {
    path: () => "/api/chat",
    body: (model: string, stream: boolean) => ({ model, stream, messages: [{ role: "user", content: "Hi" }] }),
  },
  "Gemini's clients": {
    path: (model: string, stream: boolean) =>
      `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: () => ({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] }),
  },
};

describe.each(Object.entries(OTHERS))("%s", (_name, { path, body }) => {
  test.each([false, true])("hear the vendor's words after one call, stream %p", async (stream) => {
    up.answer(refuse);
    const before = up.received.length;
    const model = "openai-responses";
    const response = await app.post(path(model, stream), body(model, stream));
    const text = await response.text();
    expect([response.status, up.received.length - before]).toEqual([stream ? 200 : 400, 1]);
    expect(text).toContain("cyber_policy");
    expect(text).toContain("Refused.");
  });

  test.each(ENDS.flatMap(([dialect, script]) => [false, true].map((stream) => [dialect, stream, script] as const)))(
    "hear the reason of an answer of %s that ends by a refusal, stream %p",
    async (model, stream, script) => {
      up.answer(script);
      const response = await app.post(path(model, stream), body(model, stream));
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain("Not this.");
    },
  );
});
