// The history that is sent if client and provider use the same protocol: everything except values of other providers.

import { afterAll, expect, test } from "bun:test";
import { say } from "../../../support/fake-model.ts";
import { CLIENTS, type Client, type Json, PARAMETERS, QUESTION, startProviders, thinks } from "./reasoning-fixture.ts";

const { app, upstream, stop } = await startProviders();
afterAll(stop);

const SAID = { type: "text", text: "So.", cache_control: { type: "ephemeral" } };

const oldEnvelope = (values: Json) => `sallyport.1.${Buffer.from(JSON.stringify(values)).toString("base64url")}`;

/** Sends a body to a model and returns the text that its provider received. */
async function sent(path: string, body: Json, said = "Done."): Promise<string> {
  let up = "";
  upstream.answer((received) => {
    up = received.text;
    return say(received, { text: said });
  });
  const response = await app.post(path, body, { "anthropic-beta": "some-beta" });
  expect({ status: response.status, text: response.status === 200 ? "" : await response.text() }).toEqual({
    status: 200,
    text: "",
  });
  return up;
}

test("opening an envelope changes nothing else in a messages request", async () => {
  const envelope = oldEnvelope({ origin: "openai-responses", encrypted: "e", summary: true });
  const own = { type: "thinking", thinking: "Own.", signature: "b3du" };
  const body = {
    model: "claude",
    max_tokens: 4000,
    mcp_servers: [{ type: "url", url: "https://mcp.example", name: "m" }],
    container: "container_1",
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    service_tier: "auto",
    speed: "fast",
    cache_control: { type: "ephemeral" },
    tools: [
      {
        name: "look",
        input_schema: PARAMETERS,
        defer_loading: true,
        input_examples: [{ at: "x" }],
        allowed_callers: ["direct"],
        eager_input_streaming: true,
        cache_control: { type: "ephemeral" },
      },
    ],
    messages: [
      {
        role: "user",
        content: [
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "d" },
            citations: { enabled: true },
          },
        ],
      },
      { role: "assistant", content: [{ type: "thinking", thinking: "Foreign.", signature: envelope }] },
      { role: "user", content: "And?" },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "Foreign.", signature: envelope }, own, SAID],
      },
      { role: "user", content: "Go on." },
    ],
  };
  // Parsing would round this number. It shows that the rest of the body was not parsed and written again.
  const text = JSON.stringify(body).replace('"at":"x"', '"at":12345678901234567890.0');
  const expected = JSON.stringify({
    ...body,
    model: "claude-sonnet-4-5",
    messages: [body.messages[0], body.messages[2], { role: "assistant", content: [own, SAID] }, body.messages[4]],
  }).replace('"at":"x"', '"at":12345678901234567890.0');
  let up = "";
  upstream.answer((received) => {
    up = received.text;
    return say(received, { text: "Done." });
  });
  const headers = { authorization: `Bearer ${app.key}`, "content-type": "application/json" };
  const response = await fetch(`${app.url}/v1/messages`, { method: "POST", headers, body: text });
  expect(response.status).toBe(200);
  expect(up).toBe(expected);
});

test("unsigned thinking is never sent to Claude, nor is a turn that contains nothing else", async () => {
  const up = await sent("/v1/messages", {
    model: "claude",
    max_tokens: 100,
    messages: [
      QUESTION,
      { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "" }] },
      { role: "user", content: "Go on." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "y" },
          { type: "text", text: "So." },
        ],
      },
      { role: "user", content: "Go on." },
    ],
  });
  expect(up).not.toContain("thinking");
  expect((JSON.parse(up) as { messages: Json[] }).messages.map(({ role }) => role)).toEqual([
    "user",
    "user",
    "assistant",
    "user",
  ]);
});

test.each([
  ["messages", "gemini-3", { origin: "gemini", signature: "b2xk", callId: "call_1" }, '"thoughtSignature":"b2xk"'],
  ["messages", "openai", { origin: "openai-responses", encrypted: "b2xk" }, '"encrypted_content":"b2xk"'],
  ["responses", "claude", { origin: "anthropic-messages", signature: "b2xk" }, '"signature":"b2xk"'],
] as const)("envelopes of the first release open: %s client, %s", async (name, model, values, expected) => {
  const client = CLIENTS[name] as Client;
  const envelope = oldEnvelope(values);
  const kept: Json[] =
    name === "messages"
      ? [
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "callId" in values ? "" : "Hm.", signature: envelope },
              { type: "tool_use", id: "call_1", name: "look", input: {} },
            ],
          },
        ]
      : [
          { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: envelope },
          { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        ];
  expect(await sent(client.path, client.second(model, kept))).toContain(expected);
});

test("an upstream's own reasoning that the gateway has never seen is sent unchanged", async () => {
  const own = { type: "reasoning", id: "rs_own", summary: [], encrypted_content: "gAAAAown" };
  const client = CLIENTS["responses"] as Client;
  const call = { type: "function_call", id: "fc_own", call_id: "call_1", name: "look", arguments: "{}" };
  const up = JSON.parse(await sent(client.path, client.second("openai", [own, call]))) as { input: Json[] };
  expect(up.input.slice(1, 3)).toEqual([own, call]);
});

test("reasoning without content is only sent to the provider that stores it", async () => {
  const client = CLIENTS["responses"] as Client;
  upstream.answer((received) => say(received, { ...thinks("openai"), reasoning: { text: "Hm." } }));
  const { include: _include, ...first } = client.first("openai", false);
  const answer = (await (await app.post(client.path, { ...first, store: true })).json()) as Json;
  const kept = client.kept(answer);
  expect(await sent(client.path, client.second("openai", kept))).toContain('"id":"rs_up1"');
  const elsewhere = await sent(client.path, client.second("azure", kept));
  expect(elsewhere).not.toContain("rs_up1");
  expect(elsewhere).not.toContain('"id":"fc_');
});

test("a call keeps its id beside the provider's own reasoning, whatever was removed before it", async () => {
  const client = CLIENTS["responses"] as Client;
  const foreign = {
    type: "reasoning",
    summary: [],
    encrypted_content: oldEnvelope({ origin: "gemini", signature: "x" }),
  };
  const values = { origin: "openai-responses", encrypted: "b3du", itemId: "rs_own" };
  const own = { type: "reasoning", summary: [], encrypted_content: oldEnvelope(values) };
  const call = { type: "function_call", id: "fc_own", call_id: "call_1", name: "look", arguments: "{}" };
  const up = JSON.parse(await sent(client.path, client.second("openai", [foreign, own, call]))) as { input: Json[] };
  expect(up.input.slice(1, 3)).toEqual([{ ...own, id: "rs_own", encrypted_content: "b3du" }, call]);
});
