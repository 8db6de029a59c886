// Tools whose names or kinds an upstream does not accept, in both directions: requests are valid and consistent, and the client
// gets its own names.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const [chat] = CLIENT_FORMATS;
if (chat === undefined) throw new Error("There is a chat format.");
const fn = (name: string) => ({ type: "function", function: { name, parameters: { type: "object", properties: {} } } });

test.each([false, true])("a name that starts with a digit over gemini, streamed %p", async (stream) => {
  upstream.answer((received) => say(received, { calls: [{ id: "c_1", name: "_21st_magic", args: { a: 1 } }] }));
  const history = [
    { role: "user", content: "go" },
    {
      role: "assistant",
      tool_calls: [{ id: "c_0", type: "function", function: { name: "21st_magic", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c_0", content: "done" },
  ];
  const response = await app.post(chat.path, {
    model: "gemini",
    stream,
    messages: history,
    tools: [fn("21st_magic"), fn("plain")],
    tool_choice: { type: "function", function: { name: "21st_magic" } },
  });
  const text = await response.text();
  const heard = stream ? chat.streamed(text) : chat.whole(JSON.parse(text) as Json);
  expect(heard.calls).toEqual([{ name: "21st_magic", args: { a: 1 } }]);
  const up = upstream.received[0];
  expect(up?.json).toMatchObject({
    tools: [{ functionDeclarations: [{ name: "_21st_magic" }, { name: "plain" }] }],
    toolConfig: { functionCallingConfig: { allowedFunctionNames: ["_21st_magic"] } },
  });
  expect(up?.text).not.toContain('"21st_magic"');
});

test("a name that starts with a digit is kept if the protocol allows it", async () => {
  upstream.answer((received) => say(received, { text: "ok" }));
  const body = { messages: [{ role: "user", content: "go" }], tools: [fn("21st_magic")] };
  for (const model of ["openai-responses", "anthropic-messages"]) await app.post(chat.path, { ...body, model });
  for (const { json } of upstream.received) expect(json).toMatchObject({ tools: [{ name: "21st_magic" }] });
});

test("allowed tools have the names and kinds with which the tools are sent", async () => {
  upstream.answer((received) => say(received, { text: "ok" }));
  const allowed = [
    { type: "function", function: { name: "a.b" } },
    { type: "custom", custom: { name: "free" } },
  ];
  const response = await app.post(chat.path, {
    model: "openai-responses",
    messages: [{ role: "user", content: "go" }],
    tools: [fn("a.b"), { type: "custom", custom: { name: "free" } }, fn("other")],
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: allowed } },
  });
  expect(response.status).toBe(200);
  expect(upstream.received[0]?.json).toMatchObject({
    tools: [{ name: "a_b" }, { type: "custom", name: "free" }, { name: "other" }],
    tool_choice: {
      type: "allowed_tools",
      mode: "required",
      tools: [
        { type: "function", name: "a_b" },
        { type: "custom", name: "free" },
      ],
    },
  });
});

test.each([
  ["top_k", { top_k: -1 }],
  ["tool_choice", { tools: [fn("f")], tool_choice: "any" }],
  ["response_format", { response_format: { type: "grammar", grammar: "root ::= x" } }],
  [
    "tool_choice",
    {
      tools: [{ type: "custom", custom: { name: "free" } }],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "custom", custom: { name: "free" } }] },
      },
    },
  ],
])("tools that only some servers know are sent to servers of the client's own protocol: %s", async (_name, more) => {
  upstream.answer((received) => say(received, { text: "ok" }));
  const body = { model: "openai-chat", messages: [{ role: "user", content: "go" }], ...more };
  expect((await app.post(chat.path, body)).status).toBe(200);
  expect(upstream.received[0]?.json).toMatchObject(more);
});

test("a stored prompt or a conversation replaces the input", async () => {
  upstream.answer((received) => say(received, { text: "ok" }));
  const prompt = { prompt: { id: "pmpt_1" } };
  expect((await app.post("/v1/responses", { model: "openai-responses", store: false, ...prompt })).status).toBe(200);
  expect(upstream.received.at(-1)?.json).toMatchObject(prompt);
  // The gateway stores this conversation.
  const items = [{ type: "message", role: "user", content: "go" }];
  const { id } = (await (await app.post("/v1/conversations", { items })).json()) as { id: string };
  expect((await app.post("/v1/responses", { model: "openai-responses", conversation: id })).status).toBe(200);
  expect(JSON.stringify(upstream.received.at(-1)?.json?.["input"])).toContain("go");
  expect((await app.post("/v1/responses", { model: "openai-responses" })).status).toBe(400);
});
