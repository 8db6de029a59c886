// Histories that a provider would refuse as written, with the client's own protocol and with others: call ids, a final turn of
// the model, and a request for no answer.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "Yes.", usage: { input: 4, output: 1 } }));
const entry = (preset: string) => ({ preset, base_url: upstream.baseUrl, api_key: "k", discover: false });
const route = (provider: string, model: string) => ({ id: `${provider}:${model}`, routes: [{ provider, model }] });
const app = await startTestApp({
  config: {
    providers: {
      mistral: entry("mistral"),
      openrouter: entry("openrouter"),
      anthropic: entry("anthropic"),
      gemini: entry("gemini"),
    },
    models: [
      route("mistral", "mistral-large-latest"),
      route("openrouter", "anthropic/claude-opus-5.5"),
      route("openrouter", "anthropic/claude-sonnet-4.5"),
      route("anthropic", "claude-opus-5"),
      route("gemini", "gemini-3-pro"),
    ],
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function sent(path: string, body: Json) {
  const before = upstream.received.length;
  const answer = await app.post(path, body);
  return {
    status: answer.status,
    answer: (await answer.json()) as Json,
    dropped: answer.headers.get("x-sallyport-dropped"),
    calls: upstream.received.length - before,
    messages: (upstream.received.at(-1)?.json?.["messages"] ?? []) as Json[],
  };
}

const CHAT = "/v1/chat/completions";
const ASKED = { role: "user", content: "Look." };

describe("ids of calls", () => {
  const turns = (id: string) => [
    ASKED,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: id, content: "seen" },
  ];
  const idsOf = (messages: Json[]) => [
    (messages[1]?.["tool_calls"] as Json[] | undefined)?.[0]?.["id"],
    messages[2]?.["tool_call_id"],
  ];

  test("another provider's become nine characters, the same for the call and its result", async () => {
    const { status, messages } = await sent(CHAT, {
      model: "mistral:mistral-large-latest",
      messages: turns("call_of_another_provider"),
    });
    const [call, result] = idsOf(messages);
    expect(status).toBe(200);
    expect(call).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(result).toBe(call);
  });

  test("its own ids are sent unchanged", async () => {
    const { messages } = await sent(CHAT, { model: "mistral:mistral-large-latest", messages: turns("D681PevKs") });
    expect(idsOf(messages)).toEqual(["D681PevKs", "D681PevKs"]);
    expect(messages).toEqual(turns("D681PevKs"));
  });
});

describe("a final turn of the model's, over chat completions", () => {
  const begun = { role: "assistant", content: "Once upon" };

  test.each([
    [CHAT, {}],
    ["/v1/messages", { max_tokens: 9 }],
  ])("a model that cannot continue its turn is told to go on, from %s", async (path, more) => {
    const body = { model: "openrouter:anthropic/claude-opus-5.5", messages: [ASKED, begun], ...more };
    const { status, messages, dropped } = await sent(path, body);
    expect(status).toBe(200);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[1]).toEqual(begun);
    expect(dropped).toBe("prefill");
  });

  test("a model that can gets it as the last message", async () => {
    const body = { model: "openrouter:anthropic/claude-sonnet-4.5", messages: [ASKED, begun] };
    const { messages, dropped } = await sent(CHAT, body);
    expect(messages).toEqual([ASKED, begun]);
    expect(dropped).toBeNull();
  });
});

describe("max_tokens 0, which only fills the cache", () => {
  const body = { max_tokens: 0, messages: [ASKED] };

  test("is sent unchanged if the protocol supports it", async () => {
    const { status } = await sent("/v1/messages", { ...body, model: "anthropic:claude-opus-5" });
    expect(status).toBe(200);
    expect(upstream.received.at(-1)?.json?.["max_tokens"]).toBe(0);
  });

  test.each(["gemini:gemini-3-pro", "mistral:mistral-large-latest"])("is refused by name over %s", async (model) => {
    const { status, answer, calls } = await sent("/v1/messages", { ...body, model });
    expect(status).toBe(400);
    expect(answer["error"]).toMatchObject({ code: "invalid_request", param: "max_tokens" });
    expect(calls).toBe(0);
  });
});
