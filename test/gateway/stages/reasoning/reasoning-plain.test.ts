// Reasoning that no provider sealed, between tool calls: open models get it back, whichever format the client speaks. Providers
// that look up items by their ids do not, and then it is named as dropped.

import { afterAll, describe, expect, test } from "bun:test";
import { say } from "../../../support/fake-model.ts";
import { type Json, PARAMETERS, startProviders } from "./reasoning-fixture.ts";

const { app, upstream, stop } = await startProviders();
afterAll(stop);

const PLAN = "First look, then tell.";
const tools = [{ type: "function", name: "look", parameters: PARAMETERS }];
const reasoning = (more: Json) => ({ type: "reasoning", id: "rs_up_1", ...more });
const content = [{ type: "reasoning_text", text: PLAN }];
const summary = [{ type: "summary_text", text: PLAN }];
const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "snow" };
const user = { role: "user", content: "Look." };
const loop = (item: Json) => ({ tools, store: false, input: [user, item, call, output] });
const thinking = {
  max_tokens: 500,
  tools: [{ name: "look", input_schema: PARAMETERS }],
  messages: [
    user,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: PLAN, signature: "" },
        { type: "tool_use", id: "call_1", name: "look", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "snow" }] },
  ],
};

async function sent(model: string, path: string, body: Json): Promise<{ up: Json; dropped: string | null }> {
  let up: Json = {};
  upstream.answer((received) => {
    up = received.json ?? {};
    return say(received, { text: "Done." });
  });
  const response = await app.post(path, { ...body, model });
  expect(response.status).toBe(200);
  return { up, dropped: response.headers.get("x-sallyport-dropped") };
}

const ITEMS: [string, Json][] = [
  ["its text", reasoning({ summary: [], content })],
  ["a summary", reasoning({ summary })],
  ["a null instead of a seal", reasoning({ summary, content, encrypted_content: null })],
];

describe.each(ITEMS)("an item with %s", (_name, item) => {
  test("is unchanged for an open model over Responses", async () => {
    const { up, dropped } = await sent("gpt-oss", "/v1/responses", loop(item));
    expect((up["input"] as Json[])[1]).toEqual(item);
    expect(dropped).toBeNull();
  });

  test("is named where items are looked up", async () => {
    const { up, dropped } = await sent("openai", "/v1/responses", loop(item));
    expect((up["input"] as Json[]).map(({ type }) => type ?? "message")).toEqual([
      "message",
      "function_call",
      "function_call_output",
    ]);
    expect(dropped).toBe("input.reasoning");
  });

  test("is told to an open model over chat completions", async () => {
    const { up } = await sent("compatible", "/v1/responses", loop(item));
    expect((up["messages"] as Json[])[1]).toMatchObject({ role: "assistant", reasoning_content: PLAN });
  });
});

test("thinking is sent to an open model over chat completions between tool calls only", async () => {
  const open = await sent("compatible", "/v1/messages", thinking);
  expect((open.up["messages"] as Json[])[1]).toMatchObject({ reasoning_content: PLAN });
  const past = { ...thinking, messages: [...thinking.messages, { role: "assistant", content: "Snow." }, user] };
  expect(JSON.stringify((await sent("compatible", "/v1/messages", past)).up)).not.toContain(PLAN);
});

test("thinking is not sent to a server that refuses it", async () => {
  expect(JSON.stringify((await sent("groq", "/v1/messages", thinking)).up)).not.toContain(PLAN);
});

test("an item without any text says nothing that could be lost", async () => {
  const { up, dropped } = await sent("openai", "/v1/responses", loop(reasoning({ summary: [] })));
  expect(up["input"]).toHaveLength(3);
  expect(dropped).toBeNull();
});
