// Counting tokens for Anthropic's clients, and their other auxiliary requests.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { countTokens } from "../../../../src/tokens/count.ts";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream();
const provider = (kind: string) => ({ kind, base_url: upstream.baseUrl, api_key: "sk-up", discover: false });
const app = await startTestApp({
  tier: "free",
  config: {
    providers: { claude: provider("anthropic"), chat: provider("openai") },
    models: [
      {
        id: "native",
        routes: [
          { provider: "chat", model: "second", priority: 2 },
          { provider: "claude", model: "up-model" },
        ],
      },
      { id: "other", routes: [{ provider: "chat", model: "up-model" }] },
      { id: "dear", tier: "pro", routes: [{ provider: "chat", model: "up-model" }] },
    ],
  },
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer(() => Response.json({ input_tokens: 4711, context_management: { original_input_tokens: 9 } }));
});

const count = (body: Json, headers: Record<string, string> = {}) =>
  app.post("/v1/messages/count_tokens?beta=true", body, headers);
const messages = [{ role: "user", content: "Hello, how many tokens are these?" }];

test("a provider of the same protocol counts itself", async () => {
  const body = { model: "native", messages, cache_control: { type: "ephemeral" }, unknown_field: [1.0] };
  const response = await count(body, {
    "anthropic-beta": "token-counting-2024-11-01",
    "anthropic-version": "2023-06-01",
  });
  expect(await response.json()).toEqual({ input_tokens: 4711, context_management: { original_input_tokens: 9 } });
  const [sent] = upstream.received;
  expect(sent?.path).toBe("/v1/messages/count_tokens");
  expect(sent?.json).toEqual({ ...body, model: "up-model" });
  expect(sent?.headers.get("anthropic-beta")).toBe("token-counting-2024-11-01");
});

test("a wish for the cost is not sent to a provider that does not know it, as with a message", async () => {
  await count({ model: "native", messages, usage: { include: true } });
  expect(upstream.received[0]?.json).toEqual({ model: "up-model", messages });
});

test.each([
  ...[404, 405, 501].map((status): [string, () => Response] => [
    `answers ${status}`,
    () => Response.json({ type: "error", error: { type: "not_found_error", message: "no" } }, { status }),
  ]),
  ["answers 404 with a page", () => new Response("<html>", { status: 404 })],
  [
    "names another path",
    () => Response.json({ error: { message: "Invalid URL", code: "unknown_url" } }, { status: 404 }),
  ],
])("the gateway counts for a server without that endpoint, which %s", async (_name, answer) => {
  upstream.answer(answer);
  const response = await count({ model: "native", messages });
  expect([response.status, await response.json()]).toEqual([200, { input_tokens: expect.any(Number) }]);
  expect(upstream.received[0]?.path).toBe("/v1/messages/count_tokens");
});

test("if the provider refuses the reasoning, the gateway counts, because the request would be answered without it", async () => {
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
  const error = { type: "invalid_request_error", message };
  upstream.answer(() => Response.json({ type: "error", error }, { status: 400 }));
  const thought = { role: "assistant", content: [{ type: "thinking", thinking: "Hm.", signature: "b3du" }] };
  const messages = [{ role: "user", content: "hi" }, thought, { role: "user", content: "And?" }];
  const response = await app.post("/v1/messages/count_tokens", { model: "native", messages });
  expect(response.status).toBe(200);
  expect(((await response.json()) as { input_tokens: number }).input_tokens).toBeWithin(1, 100);
  expect(upstream.received).toHaveLength(1);
});

test("an error of the provider is returned", async () => {
  const error = { type: "invalid_request_error", message: "messages.0.content: Field required" };
  upstream.answer(() => Response.json({ type: "error", error }, { status: 400 }));
  const response = await count({ model: "native", messages });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: "error", error: { code: "invalid_request" } });
});

describe("the gateway counts for models of other providers", () => {
  const tokens = async (more: Json) =>
    ((await (await count({ model: "other", messages, ...more })).json()) as Json)["input_tokens"] as number;

  test("text, system and tools all count", async () => {
    const plain = await tokens({});
    expect(plain).toBe(countTokens(messages[0]?.content ?? "") + 4);
    expect(await tokens({ system: "Be brief and kind." })).toBeGreaterThan(plain + 4);
    const tool = {
      name: "look",
      description: "Looks something up.",
      input_schema: { type: "object", properties: { q: { type: "string" } } },
    };
    expect(await tokens({ tools: [tool] })).toBeGreaterThan(plain + 15);
    expect(await tokens({ tools: [{ type: "web_search_20250305", name: "web_search" }] })).toBeGreaterThan(plain + 10);
  });

  test("an image counts as a large one, in a tool's result too", async () => {
    const plain = await tokens({});
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
    const turns = [
      ...messages,
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [image] }, image] },
    ];
    const seen = await tokens({ messages: turns });
    expect(seen).toBeGreaterThan(plain + 3200);
    expect(seen).toBeLessThan(plain + 3300);
    expect(upstream.received).toHaveLength(0);
  });
});

test("counting is free, but still needs a key", async () => {
  for (let i = 0; i < 25; i++) expect((await count({ model: "other", messages })).status).toBe(200);
  const response = await count({ model: "other", messages });
  expect(response.headers.get("x-ratelimit-limit")).toBeNull();
  expect((await count({ model: "other", messages }, { authorization: "Bearer sk-wrong" })).status).toBe(401);
  expect((await count({ model: "dear", messages })).status).toBe(403);
  expect((await count({ model: "none", messages })).status).toBe(404);
  const invalid = await count({ model: "other" });
  expect(invalid.status).toBe(400);
  expect(await invalid.json()).toMatchObject({ type: "error", error: { param: "messages" } });
});

test("Anthropic's clients find the models and the service", async () => {
  const headers = { "anthropic-version": "2023-06-01" };
  const list = (await (await app.call("/v1/models?limit=1000", { headers })).json()) as { data: Json[] };
  expect(list).toMatchObject({ has_more: false });
  expect(list.data.find((model) => model["id"] === "other")).toMatchObject({ type: "model", display_name: "other" });
  const plain = (await (await app.call("/v1/models?limit=1000")).json()) as { data: Json[] };
  expect(plain.data.find((model) => model["id"] === "other")).toMatchObject({ type: "chat" });
  const head = await fetch(`${app.url}/`, { method: "HEAD" });
  expect(head.status).toBe(200);
  expect(await head.text()).toBe("");
});

test("a request that another protocol cannot express is refused, not counted", async () => {
  const tools = [{ type: "web_search_20250305", name: "web_search" }];
  const refused = await count({ model: "other", messages, tools, tool_choice: { type: "tool", name: "web_search" } });
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "tool_choice" } }]);
  const counted = await count({ model: "other", messages, compaction: { instructions: "x" } });
  expect(counted.status).toBe(200);
});

test("a thread that the gateway holds is counted whole, and may be continued meanwhile", async () => {
  const answer = {
    id: "a",
    choices: [{ index: 0, message: { role: "assistant", content: "Some are." }, finish_reason: "stop" }],
  };
  upstream.answer(() => Response.json(answer));
  const send = async (more: Json) =>
    (await (await app.post("/v1/messages", { model: "other", max_tokens: 9, messages, ...more })).json()) as Json;
  const { id } = await send({ thread: { type: "create" } });
  const thread = { type: "continue", previous_message_id: id };
  const tokens = async (more: Json) =>
    ((await (await count({ model: "other", ...more })).json()) as Json)["input_tokens"];
  const whole = [...messages, { role: "assistant", content: "Some are." }, ...messages];
  const counted = await tokens({ messages: whole });
  expect(await Promise.all([tokens({ messages, thread }), tokens({ messages, thread })])).toEqual([counted, counted]);
  expect(await send({ thread })).toMatchObject({ type: "message" });
  const unknown = await count({ model: "other", messages, thread: { ...thread, previous_message_id: "msg_1" } });
  expect([unknown.status, await unknown.json()]).toMatchObject([
    404,
    { error: { details: { error_code: "thread_not_found" } } },
  ]);
});
