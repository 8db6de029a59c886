// The demo model with the tools of an agent: it calls one once in a conversation, in every format, so that the agent ends.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { longestStep } from "../support/steps.ts";

type Json = Record<string, unknown>;

const startedSeconds = Math.floor(Date.now() / 1000);
const app = await startTestApp({
  config: {
    providers: { demo: { kind: "demo" } },
    models: [{ id: "mine", routes: [{ provider: "demo", model: "demo-echo" }] }],
  },
});
afterAll(() => app.stop());

const fn = { name: "f", parameters: { type: "object", properties: {} } };
const tools = [{ type: "function", function: fn }];
const ask = async (messages: Json[], more: Json = {}) => {
  const response = await app.post("/v1/chat/completions", { model: "demo-echo", messages, tools, ...more });
  expect(response.status).toBe(200);
  return (await response.json()) as { choices: [{ message: Json & { tool_calls?: { id: string }[] } }] } & Json;
};
const user = { role: "user", content: "Create a file" };

test("the demo model calls a tool once in a conversation", async () => {
  const first = await ask([user]);
  const { message } = first.choices[0];
  expect(first).toHaveProperty("system_fingerprint", null);
  const id = message.tool_calls?.[0]?.id;
  expect(id).toStartWith("call_");
  const history = [user, message, { role: "tool", tool_call_id: id, content: "done" }];
  const second = await ask(history);
  expect(second.choices[0].message.tool_calls).toBeUndefined();
  const third = await ask([...history, second.choices[0].message, { role: "user", content: "and now?" }]);
  expect(third.choices[0].message).toMatchObject({ content: "and now?" });
  expect(third.choices[0].message.tool_calls).toBeUndefined();
});

test.each(["required", { type: "function", function: { name: "f" } }])(
  "or again if it is forced: %j",
  async (tool_choice) => {
    const { message } = (await ask([user])).choices[0];
    const id = message.tool_calls?.[0]?.id;
    const history = [
      user,
      message,
      { role: "tool", tool_call_id: id, content: "done" },
      { role: "assistant", content: "done" },
    ];
    const again = await ask([...history, user], { tool_choice });
    expect(again.choices[0].message.tool_calls).toHaveLength(1);
    expect(again.choices[0].message.tool_calls?.[0]?.id).not.toBe(id);
  },
);

test("an agent of Anthropic's comes to an end", async () => {
  const messages: Json[] = [{ role: "user", content: "Create a file" }];
  let calls = 0;
  for (let turn = 0; turn < 4; turn++) {
    const body = {
      model: "demo-echo",
      max_tokens: 100,
      messages,
      tools: [{ name: "Agent", input_schema: { type: "object" } }],
    };
    const answer = (await (await app.post("/v1/messages", body)).json()) as { content: Json[] };
    const call = answer.content.find(({ type }) => type === "tool_use");
    messages.push({ role: "assistant", content: answer.content });
    if (call === undefined) messages.push({ role: "user", content: "go on" });
    else {
      calls++;
      messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call["id"], content: "ok" }] });
    }
  }
  expect(calls).toBe(1);
});

test("each chunk has the members that generated clients require", async () => {
  const response = await app.post("/v1/chat/completions", { model: "demo-echo", messages: [user], stream: true });
  const chunks = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  expect(chunks.length).toBeGreaterThan(2);
  for (const chunk of chunks) expect(JSON.parse(chunk.slice(6))).toHaveProperty("system_fingerprint", null);
});

test("no model of the list is of 1970", async () => {
  const { data } = (await (await app.call("/v1/models")).json()) as { data: { id: string; created: number }[] };
  expect(data.map(({ id }) => id)).toContain("mine");
  for (const { created } of data) expect(created).toBeGreaterThanOrEqual(startedSeconds - 1);
});

test("a missing key fails with a message that the log shows", async () => {
  const response = await app.post("/v1/chat/completions", { model: "mine", messages: [user] }, { authorization: "" });
  expect(response.status).toBe(401);
  const { error } = (await response.json()) as { error: { message: string } };
  await app.flushLogs();
  expect(JSON.stringify(app.logs)).toContain(error.message);
});

test("a message of megabytes is repeated up to the output limit, in short steps", async () => {
  const content = "的a ".repeat(1024 * 1024);
  for (const stream of [false, true]) {
    const body = { model: "demo-echo", input: content, store: false, stream };
    let shortestMs = Number.POSITIVE_INFINITY;
    // A step that is too long is measured again, since garbage is collected at any time.
    for (let tries = 4; tries > 0 && shortestMs >= 100; tries--) {
      const { longestMs, result } = await longestStep(async () => (await app.post("/v1/responses", body)).text());
      shortestMs = Math.min(shortestMs, longestMs);
      expect(result).toContain('"reason":"max_output_tokens"');
    }
    expect(shortestMs).toBeLessThan(100);
  }
});
