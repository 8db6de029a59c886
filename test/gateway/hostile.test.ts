// Broken and hostile input from clients and providers.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { chatAnswer, chatChunk, type FakeUpstream, framesOf, sse, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let up: FakeUpstream;
const USER = [{ role: "user", content: "hi" }];

beforeAll(async () => {
  up = startUpstream();
  app = await startTestApp({
    config: {
      providers: {
        up: {
          kind: "openai",
          base_url: up.baseUrl,
          api_key: "up-secret-key",
          discover: false,
          retry: { attempts: 1 },
          breaker: { failures: 1000 },
        },
      },
      models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const chat = (body: Record<string, unknown>) =>
  app.post("/v1/chat/completions", { model: "m", messages: USER, ...body });

describe("clients", () => {
  const huge = "x".repeat(500_000);
  test.each<[string, Record<string, unknown>]>([
    ["a role", { messages: [{ role: huge, content: "x" }] }],
    ["a model", { model: huge }],
    ["a tool choice", { tools: [{ type: "function", function: { name: "f" } }], tool_choice: huge }],
  ])("%s of half a megabyte is not sent back", async (_name, body) => {
    const answer = await chat(body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect((await answer.text()).length).toBeLessThan(5000);
  });

  test.each(["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions"])(
    "%s: nesting without end is no failure of ours",
    async (path) => {
      up.answer(() => chatAnswer({ content: "ok" }));
      const deep = "[".repeat(100_000) + "]".repeat(100_000);
      const body = `{"model":"m","max_tokens":5,"messages":${JSON.stringify(USER)},"input":"x","prompt":"x","x":${deep}}`;
      const headers = { "content-type": "application/json" };
      expect((await app.call(path, { method: "POST", body, headers })).status).toBeLessThan(500);
    },
  );

  test("halves of characters never reach a header", async () => {
    up.answer(() => chatAnswer({ content: "ok" }));
    const answer = await app.post("/v1/messages", { model: "m", max_tokens: 5, messages: USER, "\ud800": 1, top_k: 1 });
    expect(answer.status).toBe(200);
  });
});

describe("providers", () => {
  test("half a character as a finish reason", async () => {
    up.answer(() => chatAnswer({ content: "ok" }, { finish: "\ud800" }));
    const answer = await app.post("/v1/messages", { model: "m", max_tokens: 5, messages: USER });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sallyport-stop-reason")).toBe("%EF%BF%BD");
  });

  test("an event over several data lines", async () => {
    const chunk = chatChunk({ content: "two lines" }).slice("data: ".length).trim();
    const lines = JSON.stringify(JSON.parse(chunk), null, 1).split("\n");
    const pieces = [
      chatChunk({ role: "assistant" }),
      `${lines.map((line) => `data: ${line}`).join("\n")}\n\n`,
      chatChunk({}, { finish: "stop" }),
      "data: [DONE]\n\n",
    ];
    up.answer(() => sse(pieces));
    const frames = (await framesOf(await chat({ stream: true }))) as { choices: { delta: { content?: string } }[] }[];
    expect(frames.at(-1) as unknown).toBe("[DONE]");
    expect(
      frames
        .slice(0, -1)
        .map((frame) => frame.choices[0]?.delta.content ?? "")
        .join(""),
    ).toContain("two lines");
  });

  test.each([
    ["no number", "1e400"],
    ["more than a century", "9999999999999999999999"],
    ["a fraction", "0.2"],
  ])("a Retry-After that is %s", async (_name, value) => {
    up.answer(() => Response.json({ error: { message: "slow" } }, { status: 429, headers: { "retry-after": value } }));
    const answer = await chat({});
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after") ?? "1").toMatch(/^[1-9]\d*$/);
  });
});
