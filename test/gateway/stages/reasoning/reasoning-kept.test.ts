// Reasoning that a client does not send back or cannot represent: it is restored from memory, or is contained in what the client
// does send back.

import { afterAll, describe, expect, test } from "bun:test";
import { say } from "../../../support/fake-model.ts";
import { chatAnswer, chatChunk, type Received, sse } from "../../../support/upstream.ts";
import {
  CLIENTS,
  type Client,
  framesIn,
  type Json,
  providerOf,
  QUESTION,
  sealOf,
  startProviders,
  thinks,
  thoughtOf,
} from "./reasoning-fixture.ts";

const { app, upstream, stop } = await startProviders();
afterAll(stop);

const chat = CLIENTS["chat"] as Client;

/** What a client stores that knows only OpenAI's own members. */
function plain(message: Json): Json {
  const { role, content, tool_calls } = message;
  const calls = (tool_calls as Json[]).map(({ id, type, function: fn }) => ({ id, type, function: fn }));
  return { role, content, tool_calls: calls };
}

/**
 * Sends two turns. The second one contains what `keep` leaves of the first answer. Returns what the provider receives in the
 * second turn.
 */
async function twice(
  client: Client,
  model: string,
  { stream, keep, first }: { stream: boolean; keep?: (turn: Json) => Json; first?: (received: Received) => Response },
): Promise<Json> {
  upstream.answer(first ?? ((received) => say(received, thinks(providerOf(received)))));
  const answer = await app.post(client.path, client.first(model, stream));
  expect(answer.status).toBe(200);
  const text = await answer.text();
  const kept = stream ? client.streamed(framesIn(text)) : client.kept(JSON.parse(text) as Json);
  let up: Json = {};
  upstream.answer((received) => {
    up = received.json ?? {};
    return say(received, { text: "Done." });
  });
  const second = await app.post(client.path, client.second(model, keep === undefined ? kept : kept.map(keep)));
  expect(second.status).toBe(200);
  return up;
}

describe.each([false, true])("a chat client that sends back only the calls, stream %p", (stream) => {
  test("DeepSeek still gets its reasoning_content", async () => {
    const up = await twice(chat, "deepseek", { stream, keep: plain });
    expect((up["messages"] as Json[])[1]).toMatchObject({ reasoning_content: thoughtOf("deepseek") });
  });

  test("Claude still gets its thinking", async () => {
    const up = await twice(chat, "claude", { stream, keep: plain });
    expect(up["thinking"]).toMatchObject({ type: "enabled" });
    const block = { type: "thinking", thinking: thoughtOf("claude"), signature: sealOf("claude") };
    expect((up["messages"] as Json[])[1]?.["content"]).toMatchObject([block, { type: "tool_use" }]);
  });

  test("Gemini 3 still gets its signature, not a placeholder", async () => {
    const up = JSON.stringify(await twice(chat, "gemini-3", { stream, keep: plain }));
    expect(up).toContain(`"thoughtSignature":"${sealOf("gemini-3")}"`);
    expect(up).not.toContain("skip_thought_signature_validator");
  });

  test("OpenAI still gets its encrypted reasoning", async () => {
    const up = await twice(chat, "openai", { stream, keep: plain });
    expect((up["input"] as Json[]).find(({ type }) => type === "reasoning")).toMatchObject({
      encrypted_content: sealOf("openai"),
    });
  });
});

test("conversations whose provider counts its calls do not get each other's reasoning", async () => {
  const tell = (secret: string) => (received: Received) =>
    say(received, {
      reasoning: { text: `The user is ${secret}.` },
      calls: [{ id: "functions.look:0", name: "look", args: {} }],
    });
  const ask = (name: string): Json => ({
    ...chat.first("deepseek", false),
    messages: [{ role: "user", content: name }],
  });
  const turns: Record<string, Json> = {};
  for (const name of ["Ann", "Bob"]) {
    upstream.answer(tell(name));
    const answer = (await (await app.post(chat.path, ask(name))).json()) as { choices: { message: Json }[] };
    turns[name] = plain(answer.choices[0]?.message as Json);
  }
  for (const name of ["Ann", "Bob", "Eve"]) {
    let up: Json[] = [];
    upstream.answer((received) => {
      up = received.json?.["messages"] as Json[];
      return say(received, { text: "Done." });
    });
    const result = { role: "tool", tool_call_id: "functions.look:0", content: "seen" };
    const messages = [{ role: "user", content: name }, turns[name] ?? turns["Ann"], result];
    expect((await app.post(chat.path, { ...ask(name), messages })).status).toBe(200);
    expect(up[1]?.["reasoning_content"]).toBe(name === "Eve" ? undefined : `The user is ${name}.`);
  }
});

test("a restart loses the reasoning in memory, and the next turn is sent without it", async () => {
  await twice(chat, "deepseek", { stream: false, keep: plain });
  const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  let up = "";
  upstream.answer((received) => {
    up = received.text;
    return say(received, { text: "Done." });
  });
  await app.restart();
  await app.post(chat.path, chat.second("deepseek", [{ role: "assistant", content: null, tool_calls: [call] }]));
  expect(up).not.toContain("reasoning_content");
});

test("OpenRouter's clients see the reasoning, once", async () => {
  upstream.answer((received) => say(received, thinks(providerOf(received))));
  const streamed = framesIn(await (await app.post(chat.path, chat.first("claude", true))).text());
  const deltas = streamed.map((frame) => (frame["choices"] as Json[])[0]?.["delta"] as Json);
  const shown = deltas.map((delta) => {
    const details = delta["reasoning_details"] as Json[] | undefined;
    return details === undefined ? String(delta["reasoning"] ?? "") : details.map(({ text }) => String(text)).join("");
  });
  expect(shown.join("")).toBe(thoughtOf("claude"));
  const whole = (await (await app.post(chat.path, chat.first("claude", false))).json()) as Json;
  const message = (whole["choices"] as Json[])[0]?.["message"] as Json;
  expect(message).toMatchObject({
    reasoning_content: thoughtOf("claude"),
    reasoning: thoughtOf("claude"),
    reasoning_details: [{ type: "reasoning.text", text: thoughtOf("claude"), format: "anthropic-claude-v1" }],
  });
});

const DETAILS = [
  { type: "reasoning.text", text: "Hm.", signature: "b3Blbg==", format: "anthropic-claude-v1", index: 0 },
  { type: "reasoning.encrypted", data: "aGlkZGVu", id: "call_1", format: "google-gemini-v1", index: 1 },
];
const CALL = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"x"}' } };
const GOOGLE = { extra_content: { google: { thought_signature: "Z29vZ2xl" } } };

const VENDORS: Readonly<Record<string, { message: Json; deltas: Json[]; expected: Json }>> = {
  "OpenRouter's details": {
    message: { content: null, reasoning: "Hm.", reasoning_details: DETAILS, tool_calls: [CALL] },
    deltas: [
      { role: "assistant", content: "" },
      { reasoning: "H", reasoning_details: [{ ...DETAILS[0], text: "H", signature: undefined }] },
      { reasoning: "m.", reasoning_details: [{ ...DETAILS[0], text: "m.", signature: undefined }] },
      { content: "", reasoning_details: [{ type: "reasoning.text", signature: "b3Blbg==", index: 0 }] },
      { tool_calls: [{ index: 0, ...CALL }], reasoning_details: [DETAILS[1]] },
    ],
    expected: { reasoning_details: DETAILS },
  },
  "Google's signature of a call": {
    message: { content: null, tool_calls: [{ ...CALL, ...GOOGLE }] },
    deltas: [{ role: "assistant", content: "" }, { tool_calls: [{ index: 0, ...CALL, ...GOOGLE }] }],
    expected: { tool_calls: [{ ...CALL, ...GOOGLE }] },
  },
};

describe.each(Object.entries(VENDORS))("%s", (_name, { message, deltas, expected }) => {
  const first = (received: Received) =>
    received.json?.["stream"] === true
      ? sse([...deltas.map((delta) => chatChunk(delta)), chatChunk({}, { finish: "tool_calls" }), "data: [DONE]\n\n"])
      : chatAnswer(message, { finish: "tool_calls" });

  describe.each(Object.entries(CLIENTS))("%s client", (_client, client) => {
    test.each([false, true])("is returned to its provider, stream %p", async (stream) => {
      const up = await twice(client, "compatible", { stream, first });
      const turn = (up["messages"] as Json[]).find(({ role }) => role === "assistant") as Json;
      const calls = (turn["tool_calls"] as Json[]).map(({ index: _index, ...call }) => call);
      // Untouched streams keep the pieces as they arrived.
      const got: Json = { ...turn, tool_calls: calls };
      if (client === chat && stream && "reasoning_details" in expected) {
        expect(JSON.stringify(got["reasoning_details"])).toContain("aGlkZGVu");
      } else expect(got).toMatchObject(expected);
    });

    test.each(["claude", "groq", "gemini-3", "openai", "deepseek"])("is not sent to %s", async (target) => {
      upstream.answer(first);
      const answer = (await (await app.post(client.path, client.first("compatible", false))).json()) as Json;
      let up = "";
      upstream.answer((received) => {
        up = received.text;
        return say(received, { text: "Done." });
      });
      const second = await app.post(client.path, client.second(target, client.kept(answer)));
      expect(second.status).toBe(200);
      for (const seal of ["b3Blbg==", "aGlkZGVu", "Z29vZ2xl", "sallyport.1"]) expect(up).not.toContain(seal);
    });
  });
});

test("reasoning without a seal gets one in the responses format, so that its clients send it back", async () => {
  const client = CLIENTS["responses"] as Client;
  upstream.answer((received) => say(received, thinks("deepseek")));
  const answer = (await (await app.post(client.path, client.first("deepseek", false))).json()) as Json;
  const reasoning = client.kept(answer).find(({ type }) => type === "reasoning");
  expect(reasoning?.["encrypted_content"]).toStartWith("sallyport.1.");
  const up = await twice(client, "deepseek", { stream: false });
  expect((up["messages"] as Json[])[1]).toMatchObject({ reasoning_content: thoughtOf("deepseek") });
  expect((up["messages"] as Json[])[0]).toMatchObject(QUESTION);
});
