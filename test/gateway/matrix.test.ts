// Every client format with every upstream protocol, through the running program: the client receives what the model said,
// streamed and whole alike, wherever the bytes are split, and broken answers end with the error of the client's format.

import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../support/any-text.ts";
import { startTestApp } from "../support/app.ts";
import { BROKE, DIALECTS, KINDS, type Said, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat, type Heard } from "../support/heard.ts";
import { type Received, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const USAGE = { input: 120, output: 33, cached: 100, reasoning: 9 };
const CASES: Record<string, Said> = {
  text: { text: 'Grüße aus 東京 👋🏽\n"quoted" \\ done', usage: USAGE },
  "parallel tools": {
    calls: [
      { id: "call_1", name: "weather", args: { city: "Zürich" } },
      { id: "call_2", name: "weather", args: { city: "東京", deep: { list: [1, '"}{', null] } } },
    ],
    usage: USAGE,
  },
  "text and a tool": { text: "Let me look.", calls: [{ id: "call_1", name: "weather", args: { city: "Oslo" } }] },
  "a tool without arguments": { calls: [{ id: "call_1", name: "weather", args: {} }] },
  reasoning: { reasoning: { text: "First, think.", signature: "c2lnbmF0dXJl" }, text: "Then speak.", usage: USAGE },
  "reasoning and a tool": {
    reasoning: { text: "Look it up.", signature: "c2lnbmF0dXJl" },
    calls: [{ id: "call_1", name: "weather", args: { city: "Oslo" } }],
  },
};

const upstream = startUpstream();
const route = (provider: string) => [{ provider, model: "up-model" }];
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        {
          kind: KINDS[name],
          base_url: upstream.baseUrl,
          api_key: "k",
          discover: false,
          retry: { attempts: 1 },
          breaker: { failures: 1000 },
        },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: route(id) })),
    tiers: { premium: { rpm: 100_000 } },
  },
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});

async function ask(format: ClientFormat, model: string, options: { stream: boolean; tools: boolean }) {
  const response = await app.post(format.path, { ...format.body(options), model });
  return { status: response.status, text: await response.text() };
}

async function hear(format: ClientFormat, model: string, said: Said): Promise<{ whole: Heard; streamed: Heard }> {
  upstream.answer((received) => say(received, said));
  const tools = said.calls !== undefined;
  const whole = await ask(format, model, { stream: false, tools });
  expect(whole.status).toBe(200);
  const streamed = await ask(format, model, { stream: true, tools });
  expect(streamed.status).toBe(200);
  return { whole: format.whole(JSON.parse(whole.text) as Json), streamed: format.streamed(streamed.text) };
}

const STOPS: Readonly<Record<string, { plain: string; tools: string }>> = {
  "openai-chat": { plain: "stop", tools: "tool_calls" },
  "openai-responses": { plain: "completed", tools: "completed" },
  "anthropic-messages": { plain: "end_turn", tools: "tool_use" },
  "openai-completions": { plain: "stop", tools: "stop" },
  gemini: { plain: "STOP", tools: "STOP" },
  "ollama-chat": { plain: "stop", tools: "stop" },
  "ollama-generate": { plain: "stop", tools: "stop" },
};

/** What a client of the format can receive of the answer. */
function expected(format: ClientFormat, dialect: string, said: Said): Heard {
  const calls = format.isTextOnly ? [] : (said.calls ?? []).map(({ name, args }) => ({ name, args }));
  const { input = 11, output = 7, cached = 0, reasoning = 0 } = said.usage ?? {};
  // Anthropic's upstreams do not report reasoning tokens separately, and its clients receive none.
  const counts = dialect !== "anthropic-messages" && format.name !== "anthropic-messages" && !format.isTerse;
  return {
    text: said.text ?? "",
    reasoning: format.isTextOnly ? "" : (said.reasoning?.text ?? ""),
    calls,
    stop: STOPS[format.name]?.[calls.length > 0 ? "tools" : "plain"],
    usage: { input, output, cached: format.isTerse ? 0 : cached, reasoning: counts ? reasoning : 0 },
  };
}

describe.each(CLIENT_FORMATS)("$name", (format) => {
  describe.each([...DIALECTS])("over %s", (dialect) => {
    test.each(Object.entries(CASES))("%s", async (_name, said) => {
      const { whole, streamed } = await hear(format, dialect, said);
      expect(whole).toEqual(expected(format, dialect, said));
      expect(streamed).toEqual(whole);
    });

    test.each([1, 2, 3, 7])("the bytes in pieces of %p", async (split) => {
      const said: Said = { ...CASES["reasoning"], text: "東京 👋🏽 ok", split };
      const { streamed } = await hear(format, dialect, said);
      expect(streamed).toEqual(expected(format, dialect, said));
    });

    test.each(["end", "error"] as const)("an answer that breaks off by its %s", async (by) => {
      upstream.answer((received) =>
        say(received, { text: "one two three four", breaks: { after: cutAt(dialect), with: by } }),
      );
      const { status, text } = await ask(format, dialect, { stream: true, tools: false });
      expect(status).toBe(200);
      const failure = format.failure(text);
      if (format.isTerse) expect(failure).toEqual({ message: expect.any(String) });
      else expect(failure).toMatchObject({ type: expect.stringMatching(/_error$/), request_id: expect.any(String) });
      if (by === "end" && !format.isTerse) expect(failure?.["code"]).toBe("provider_stream_interrupted");
      if (by === "error") expect(failure?.["message"]).toBe(BROKE);
      expect(text).not.toContain("[DONE]");
      expect(text).not.toMatch(/"(?:finish_reason|stop_reason)":"/);
      expect(text).toContain("one");
    });

    test.each(["text", "parallel tools", "reasoning"])("%s from an upstream that does not stream", async (name) => {
      const said = CASES[name] as Said;
      upstream.answer((received) => whole(received, said));
      const tools = said.calls !== undefined;
      const { status, text } = await ask(format, dialect, { stream: true, tools });
      expect(status).toBe(200);
      expect(format.streamed(text)).toEqual(expected(format, dialect, said));
    });

    test("an answer that never starts is an HTTP error", async () => {
      upstream.answer((received) => say(received, { text: "one", breaks: { after: 0, with: "error" } }));
      const { status, text } = await ask(format, dialect, { stream: true, tools: false });
      expect(status).toBe(502);
      expect(format.refusal(JSON.parse(text))).toMatchObject({ code: "provider_unavailable" });
    });
  });
});

/** The answer of a server that ignores the request for a stream. */
function whole(received: Received, said: Said): Response {
  const path = received.path.replace("streamGenerateContent", "generateContent");
  return say({ ...received, path, json: { ...received.json, stream: false } }, said);
}

/** The number of frames before the first text, by protocol. */
function cutAt(dialect: string): number {
  return { "openai-chat": 2, "openai-responses": 5, "anthropic-messages": 4 }[dialect] ?? 1;
}

test("any text and any arguments arrive unchanged in every format", async () => {
  const letters = anyText({ minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== "");
  const args = fc.dictionary(anyText({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 4,
  });
  const pairs = CLIENT_FORMATS.filter(({ isTextOnly }) => isTextOnly !== true).flatMap((format) =>
    DIALECTS.map((dialect) => ({ format, dialect })),
  );
  const answer = fc.record({ pair: fc.constantFrom(...pairs), text: letters, args, split: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(answer, async ({ pair: { format, dialect }, text, args, split }) => {
      const plain = JSON.parse(JSON.stringify(args)) as Json;
      const said: Said = { text, calls: [{ id: "call_1", name: "weather", args: plain }], split };
      const { whole, streamed } = await hear(format, dialect, said);
      expect(whole).toEqual(expected(format, dialect, said));
      expect(streamed).toEqual(whole);
    }),
    { numRuns: 150 },
  );
}, 60_000);
