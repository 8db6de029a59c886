// Parameters whose loss would change the answer: they are sent unchanged if the upstream uses the client's protocol, and
// otherwise refused by name before any call. Defaults of the gateway are not reported as dropped.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../../support/app.ts";
import { startUpstream } from "../../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream(({ path }) =>
  Response.json(
    path.endsWith("/responses")
      ? { id: "r", object: "response", status: "completed", output: [] }
      : path.endsWith("/messages")
        ? {
            id: "m",
            type: "message",
            role: "assistant",
            content: [{ type: "text", text: "ok" }],
            stop_reason: "end_turn",
          }
        : { id: "c", choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] },
  ),
);
const provider = (kind: string, quirks: Json = {}) => ({
  kind,
  base_url: upstream.baseUrl,
  api_key: "k",
  discover: false,
  quirks,
});
const app = await startTestApp({
  config: {
    providers: {
      chat: provider("openai"),
      responses: provider("openai-responses"),
      claude: provider("anthropic"),
      picky: provider("openai", { refuses_by_model: { "up-*": ["temperature", "max_tokens"] } }),
    },
    models: ["chat", "responses", "claude", "picky"].map((id) => ({
      id,
      routes: [{ provider: id, model: "up-model" }],
    })),
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const asResponses = { path: "/v1/responses", own: "responses", body: { input: "hi" } as Json };
const asMessages = {
  path: "/v1/messages",
  own: "claude",
  body: { max_tokens: 9, messages: [{ role: "user", content: "hi" }] } as Json,
};
const execution = { type: "code_execution_20250825", name: "code_execution" };

test.each([
  [asResponses, "prompt", { prompt: { id: "pmpt_1", variables: { name: "Ada" } } }],
  [asResponses, "tool_choice", { tools: [{ type: "file_search" }], tool_choice: { type: "file_search" } }],
  [asMessages, "mcp_servers", { mcp_servers: [{ type: "url", url: "https://mcp.example", name: "x" }] }],
  [asMessages, "container", { container: "container_1" }],
  [asMessages, "tool_choice", { tools: [execution], tool_choice: { type: "tool", name: "code_execution" } }],
])("what only its own protocol can say is refused for another: %j: %s", async ({ path, own, body }, param, more) => {
  const ownAnswer = await app.post(path, { ...body, ...more, model: own });
  expect(ownAnswer.status).toBe(200);
  expect(upstream.received[0]?.json).toMatchObject(more);
  upstream.received.length = 0;
  const other = await app.post(path, { ...body, ...more, model: "chat" });
  expect(other.status).toBe(400);
  expect(await other.json()).toMatchObject({ error: { code: "unsupported_parameter", param } });
  expect(upstream.received).toHaveLength(0);
});

test.each([
  [asResponses, { conversation: null, prompt: null }],
  [asMessages, { mcp_servers: [], container: null }],
  [
    asResponses,
    { tools: [{ type: "web_search" }, { type: "function", name: "f", parameters: {} }], tool_choice: "auto" },
  ],
])("%j: a value without effect is not refused", async ({ path, body }, more) => {
  expect((await app.post(path, { ...body, ...more, model: "chat" })).status).toBe(200);
});

test("a reference to an item that is not stored is refused by name", async () => {
  const input = [
    { type: "item_reference", id: "msg_unknown" },
    { role: "user", content: "hi" },
  ];
  const response = await app.post("/v1/responses", { model: "chat", input });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_request", param: "input" } });
  // A provider that uses the client's protocol may know the item.
  expect((await app.post("/v1/responses", { model: "responses", input })).status).toBe(200);
  expect(upstream.received[0]?.json).toMatchObject({ input });
});

test("the gateway stores answers, so the upstream is not asked to", async () => {
  await app.post("/v1/responses", { model: "chat", input: "hi", store: true });
  expect(upstream.received[0]?.json).not.toHaveProperty("store");
  await app.post("/v1/chat/completions", { model: "chat", messages: [{ role: "user", content: "hi" }], store: true });
  expect(upstream.received[1]?.json).toMatchObject({ store: true });
});

test.each([asResponses, asMessages, { path: "/v1/chat/completions", body: asMessages.body }])(
  "%j: a default of ours that a provider refuses is not told as dropped",
  async ({ path, body }) => {
    const { max_tokens: _limit, ...rest } = body;
    const plain = await app.post(path, { ...(path === "/v1/messages" ? body : rest), model: "picky" });
    expect(plain.status).toBe(200);
    expect(plain.headers.get("x-sallyport-dropped")).toBe(path === "/v1/messages" ? "max_tokens" : null);
    expect(upstream.received[0]?.json).not.toHaveProperty("temperature");
    const asked = await app.post(path, { ...body, model: "picky", temperature: 0.2 });
    expect(asked.headers.get("x-sallyport-dropped")).toContain("temperature");
  },
);
