// Guardrails of chats, in every client format over every protocol, whole and streamed: nothing that was masked or denied leaves, and
// the client gets its own values back.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat, type Heard } from "../../../support/heard.ts";
import { startUpstream } from "../../../support/upstream.ts";

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
    models: DIALECTS.flatMap((id) =>
      ["masked", "denied", "plain"].map((use) => ({
        id: `${use}-${id}`,
        routes: [{ provider: id, model: "up-model" }],
      })),
    ),
    guardrails: [
      {
        name: "no-stones",
        on: ["input"],
        check: { kind: "words", words: ["kryptonite"] },
        action: "deny",
        apply: { models: ["masked-*"] },
      },
      {
        name: "pii",
        on: ["input"],
        check: { kind: "pii", find: ["email", "card"] },
        action: "mask",
        apply: { models: ["masked-*"] },
      },
      {
        name: "tickets",
        check: { kind: "pattern", patterns: { TICKET: "\\bT-\\d{4,6}\\b" } },
        action: "mask",
        restore: false,
        apply: { models: ["masked-*"] },
      },
      {
        name: "no-codes",
        on: ["output"],
        check: { kind: "pattern", patterns: { CODE: "launch code [0-9]{6}" } },
        action: "deny",
        apply: { models: ["denied-*"] },
      },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const ROWS = CLIENT_FORMATS.flatMap((format) =>
  DIALECTS.flatMap((dialect) => [false, true].map((stream) => [format.name, dialect, stream, format] as const)),
);

/** The body of a format with another text of its user. */
function bodyOf(format: ClientFormat, text: string, options: { stream: boolean }): Json {
  return JSON.parse(JSON.stringify(format.body({ ...options, tools: true })).replaceAll("How is it?", text)) as Json;
}

async function ask(format: ClientFormat, model: string, text: string, said: Said & { stream: boolean }) {
  upstream.answer((received) => say(received, said));
  const response = await app.post(format.path, { ...bodyOf(format, text, said), model });
  const raw = await response.text();
  expect(response.status, raw).toBe(200);
  const heard: Heard = said.stream ? format.streamed(raw) : format.whole(JSON.parse(raw) as Json);
  return { heard, raw, response, sent: upstream.received.map((one) => one.text).join("\n") };
}

test.each(ROWS)("what is masked is restored: %s over %s, stream %p", async (_format, dialect, stream, format) => {
  const { heard, sent, response } = await ask(
    format,
    `masked-${dialect}`,
    "I am ada@example.com, not bob@example.com; ada@example.com paid with 4111 1111 1111 1111 for T-12345.",
    {
      stream,
      split: 7,
      text: "Hello [EMAIL_1], [email_2] and [EMAIL_3]! Card: [ CARD 1 ], ticket T-777777 and [TICKET_1].",
      calls: [{ id: "c_1", name: "weather", args: { city: 'of [EMAIL_1]\n"[CARD_1]"' } }],
    },
  );
  expect(sent).toContain("I am [EMAIL_1], not [EMAIL_2]; [EMAIL_1] paid with [CARD_1] for [TICKET_1].");
  expect(heard.text).toBe(
    "Hello ada@example.com, bob@example.com and [EMAIL_3]! Card: 4111 1111 1111 1111, ticket [TICKET_2] and [TICKET_1].",
  );
  // Legacy completions have no calls.
  if (format.name === "openai-completions") return;
  expect(heard.calls).toEqual([{ name: "weather", args: { city: 'of ada@example.com\n"4111 1111 1111 1111"' } }]);
  if (!stream) expect(response.headers.get("x-sallyport-guardrails")).toBe("pii=masked:4, tickets=masked:2");
  await app.flushLogs();
  expect(app.logs.filter((line) => line["guardrails"] !== undefined).at(-1)?.["guardrails"]).toBe(
    "pii=masked:4, tickets=masked:2",
  );
  expect(JSON.stringify(app.logs)).not.toContain("ada@");
});

test.each(ROWS)("a denied request is not sent: %s over %s, stream %p", async (_format, dialect, stream, format) => {
  upstream.answer((received) => say(received, { text: "Hi" }));
  const body = { ...bodyOf(format, "Where is KRYPTONITE?", { stream }), model: `masked-${dialect}` };
  const response = await app.post(format.path, body);
  const text = await response.text();
  expect(response.status).toBe(400);
  expect(text).toContain("no-stones");
  if (format.name !== "ollama") expect(text).toContain("guardrail_denied");
  expect(text.toLowerCase()).not.toContain("kryptonite");
  expect(response.headers.get("x-sallyport-guardrails")).toBe("no-stones=denied");
  expect(upstream.received).toHaveLength(0);
});

const STOPS: Readonly<Record<string, unknown>> = {
  "openai-chat": "content_filter",
  "openai-completions": "content_filter",
  "openai-responses": "incomplete",
  "anthropic-messages": "refusal",
  gemini: "SAFETY",
  "ollama-chat": "stop",
  "ollama-generate": "stop",
};

test.each(ROWS)("a denied answer ends before it: %s over %s, stream %p", async (_format, dialect, stream, format) => {
  const { heard, raw, response } = await ask(format, `denied-${dialect}`, "The code?", {
    stream,
    split: 5,
    text: "It is so. The launch code 123456 is known.",
    calls: [{ id: "c_1", name: "weather", args: { city: "x" } }],
    usage: { input: 11, output: 7 },
  });
  expect("It is so. The ".startsWith(heard.text)).toBe(true);
  expect(heard.calls).toEqual([]);
  expect(heard.stop).toEqual(STOPS[format.name]);
  // The call ends with a denied stream, so that its usage is what was known by then.
  if (!stream) expect(heard.usage).toMatchObject({ input: 11, output: 7 });
  // Random ids and times may have the same digits.
  expect(raw.replaceAll(/[0-9a-f-]{10,}/g, "")).not.toMatch(/launch|1234|known/);
  if (!stream) expect(response.headers.get("x-sallyport-guardrails")).toBe("no-codes=denied");
});

test.each(ROWS)(
  "a call with something denied does not leave: %s over %s, stream %p",
  async (_format, dialect, stream, format) => {
    const { heard, raw } = await ask(format, `denied-${dialect}`, "The code?", {
      stream,
      text: "Well.",
      calls: [{ id: "c_1", name: "weather", args: { city: "launch code 123456" } }],
    });
    expect(heard.text).toBe("Well.");
    expect(heard.calls).toEqual([]);
    expect(heard.stop).toEqual(STOPS[format.name]);
    expect(raw).not.toContain("launch");
  },
);

test.each(CLIENT_FORMATS.map((format) => [format.name, format] as const))(
  "a denied stream ends the call of the provider: %s",
  async (_name, format) => {
    const left = Promise.withResolvers<void>();
    upstream.answer(() => {
      const delta = { role: "assistant", content: "The launch code 123456 is known. " };
      const chunk = {
        id: "a",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta }],
      };
      const body = new ReadableStream<string>({
        start: (out) => out.enqueue(`data: ${JSON.stringify(chunk)}\n\n`),
        cancel: () => left.resolve(),
      });
      return new Response(body.pipeThrough(new TextEncoderStream()), {
        headers: { "content-type": "text/event-stream" },
      });
    });
    const body = { ...bodyOf(format, "The code?", { stream: true }), model: "denied-openai-chat" };
    const response = await app.post(format.path, body);
    const heard = format.streamed(await response.text());
    await left.promise;
    expect(heard.stop).toEqual(STOPS[format.name]);
    expect("The ".startsWith(heard.text)).toBe(true);
  },
);

test("what was masked is counted if no route answers", async () => {
  const count = async () =>
    Number(
      /sallyport_guardrails_total\{[^}]*guardrail="pii"[^}]*\} (\d+)/.exec(
        await (await app.call("/metrics")).text(),
      )?.[1],
    );
  const before = (await count()) || 0;
  upstream.answer(() => new Response("{}", { status: 401 }));
  const [format] = CLIENT_FORMATS;
  const body = { ...bodyOf(format!, "I am ada@example.com", { stream: false }), model: "masked-openai-chat" };
  expect((await app.post(format!.path, body)).status).toBeGreaterThan(400);
  expect(await count()).toBe(before + 1);
});

test("a model without guardrails is relayed as before", async () => {
  const [format] = CLIENT_FORMATS;
  const { heard, sent } = await ask(format!, "plain-openai-chat", "ada@example.com", {
    stream: true,
    text: "launch code 123456",
  });
  expect(heard.text).toBe("launch code 123456");
  expect(sent).toContain("ada@example.com");
});

test("placeholders that the client wrote stand for nothing", async () => {
  const [format] = CLIENT_FORMATS;
  const text = "[EMAIL_1] is literal, ada@example.com is not.";
  const { heard, sent } = await ask(format!, "masked-openai-chat", text, {
    stream: false,
    text: "[EMAIL_1] [EMAIL_2]",
  });
  expect(sent).toContain("[EMAIL_1] is literal, [EMAIL_2] is not.");
  expect(heard.text).toBe("[EMAIL_1] ada@example.com");
});
