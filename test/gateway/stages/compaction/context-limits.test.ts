// Invalid `context_management`, records of other accounts, routes with different abilities, and disabled compaction.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { openStore } from "../../../../src/store/engine/open.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { say } from "../../../support/fake-model.ts";
import { type FakeUpstream, framesOf, type Received, sse, startUpstream } from "../../../support/upstream.ts";
import { answerOf, asker, CLEAR, COMPACT, editingConfig, type Json, listOf, usageOf } from "./editing-fixture.ts";
import { tightUpstream } from "./tight-upstream.ts";

let upstream: FakeUpstream;
let app: TestApp;
let off: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({ config: editingConfig(upstream.baseUrl) });
  off = await startTestApp({ config: { ...editingConfig(upstream.baseUrl), compaction: { enabled: false } } });
});
afterAll(async () => {
  await Promise.all([app.stop(), off.stop(), upstream.stop()]);
});
const ask = asker(() => app);

beforeEach(() => {
  upstream.received.length = 0;
  const { script } = tightUpstream({ window: 1e6, say: () => ({ text: "Well said.", split: 7 }) });
  upstream.answer(script);
});

describe("invalid values are answered with 400 and named", () => {
  const edit = (value: Json) => ({ context_management: { edits: [value] } });
  const at = "context_management.edits[0]";
  test.each<[Json, string]>([
    [{ context_management: [] }, "context_management"],
    [{ context_management: { edits: {} } }, "context_management.edits"],
    [edit({ type: "compact_2030" }), `${at}.type`],
    [edit({}), `${at}.type`],
    [{ context_management: { edits: ["x"] } }, at],
    [edit({ type: "compact_20260112", trigger: 5 }), `${at}.trigger`],
    [edit({ type: "compact_20260112", trigger: { type: "tool_uses", value: 5 } }), `${at}.trigger.type`],
    [edit({ type: "compact_20260112", trigger: { type: "input_tokens", value: "5" } }), `${at}.trigger.value`],
    [edit({ type: "compact_20260112", pause_after_compaction: "yes" }), `${at}.pause_after_compaction`],
    [edit({ type: "compact_20260112", instructions: 5 }), `${at}.instructions`],
    [edit({ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: -1 } }), `${at}.keep.value`],
    [
      edit({ type: "clear_tool_uses_20250919", clear_at_least: { type: "input_tokens" } }),
      `${at}.clear_at_least.value`,
    ],
    [edit({ type: "clear_tool_uses_20250919", exclude_tools: [1] }), `${at}.exclude_tools[0]`],
    [edit({ type: "clear_tool_uses_20250919", clear_tool_inputs: "x" }), `${at}.clear_tool_inputs`],
    [edit({ type: "clear_thinking_20251015", keep: "some" }), `${at}.keep`],
    [edit({ type: "clear_thinking_20251015", keep: { type: "turns", value: 1 } }), `${at}.keep.type`],
    [{ context_management: { edits: [CLEAR, CLEAR] } }, "context_management.edits[1].type"],
    [{ compaction: { type: "summarize" }, ...edit(CLEAR) }, "context_management"],
  ])("%j", async (more, param) => {
    const body = { model: "gemini", max_tokens: 9, messages: [{ role: "user", content: "hi" }], ...more };
    const response = await app.post("/v1/messages", body);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: "invalid_request", param } },
    ]);
    expect(upstream.received).toEqual([]);
  });

  test.each<[unknown, string]>([
    [{}, "context_management"],
    [[5], "context_management[0]"],
    [[{ type: "other" }], "context_management[0].type"],
    [[{ type: "compaction", compact_threshold: 0 }], "context_management[0].compact_threshold"],
    [[{ type: "compaction", compact_threshold: 1.5 }], "context_management[0].compact_threshold"],
    [[{ type: "compaction" }, { type: "compaction" }], "context_management[1]"],
  ])("responses: %j", async (context_management, param) => {
    const response = await app.post("/v1/responses", { model: "gemini", input: "hi", context_management });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: "invalid_request", param } },
    ]);
    expect(upstream.received).toEqual([]);
  });

  test("values that only a provider of the same format gets are left for it to check", async () => {
    const body = {
      model: "anthropic-messages",
      max_tokens: 9,
      messages: listOf("native"),
      ...edit({ type: "compact_2030" }),
    };
    expect((await app.post("/v1/messages", body)).status).toBe(200);
    expect(upstream.received[0]?.json).toMatchObject({ context_management: body.context_management });
  });
});

test("a record that is sealed with a list can only be opened for its account and its format", async () => {
  const messages = listOf("sealed");
  const answer = await answerOf(await ask("gemini", [COMPACT], { messages }));
  const [block] = answer.content as [Json];
  const sealed = String(block["encrypted_content"]);
  const store = openStore({ dataDir: app.dataDir });
  const other = await accountStore(store).createAccount({ username: "other", email: "o@example.com", tier: "premium" });
  if ("refused" in other) throw new Error(other.refused);
  const { key } = await keyStore(store).createKey({ accountId: other.id, name: "k" });
  store.close();
  const next = [
    { role: "assistant", content: [block] },
    { role: "user", content: "Go on." },
  ];
  const body = { model: "gemini", max_tokens: 9, messages: next };
  const item = { model: "gemini", input: [{ type: "compaction", encrypted_content: sealed }] };
  upstream.received.length = 0;
  for (const refused of [
    await app.post("/v1/messages", body, { authorization: `Bearer ${key}` }),
    await app.post("/v1/responses", item),
  ]) {
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "invalid_compaction" } }]);
  }
  expect(upstream.received).toEqual([]);
  expect((await app.post("/v1/messages", body)).status).toBe(200);
});

test("a route that supports edits gets them, and its replacement without support does not", async () => {
  const edits = [{ ...CLEAR, keep: { type: "tool_uses", value: 1 } }];
  const { status } = await ask("mixed", edits);
  expect([status, upstream.received[0]?.json?.["context_management"]]).toEqual([200, { edits }]);
  upstream.received.length = 0;
  upstream.answer((received) =>
    upstream.received.length === 1
      ? new Response("{}", { status: 500 })
      : say(received, { text: "Well said.", usage: usageOf(received) }),
  );
  const answer = await answerOf(await ask("mixed", edits));
  expect(answer.context_management?.applied_edits).toMatchObject([{ cleared_tool_uses: 11 }]);
  expect(upstream.received[1]?.text).not.toContain("context_management");
});

test("with compaction turned off the parameter is dropped and named, and a record is refused", async () => {
  for (const model of ["plain-messages", "openai-chat"]) {
    upstream.received.length = 0;
    const body = { model, max_tokens: 9, messages: listOf("off"), context_management: { edits: [COMPACT] } };
    const answer = await off.post("/v1/messages", body);
    expect([answer.status, answer.headers.get("x-sallyport-dropped")]).toEqual([200, "context_management"]);
    expect(upstream.received[0]?.text).not.toContain("context_management");
    const { context_management: _edits, ...plain } = body;
    const refused = await off.post("/v1/messages", { ...plain, compaction: { type: "summarize" } });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "compaction" } }]);
  }
});

describe("counting tokens", () => {
  const edits = [{ ...CLEAR, keep: { type: "tool_uses", value: 1 } }];
  const count = async (model: string, more: Json) => {
    const answer = await app.post("/v1/messages/count_tokens", { model, messages: listOf("counted"), ...more });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { input_tokens: number; context_management?: { original_input_tokens: number } };
  };

  test.each(["openai-chat", "gemini", "plain-messages"])(
    "with %s: the count after the edits, and the count before",
    async (model) => {
      upstream.answer(({ text }) => Response.json({ input_tokens: Math.ceil(text.length / 4) }));
      const whole = await count(model, {});
      const cleared = await count(model, { context_management: { edits } });
      expect(whole.context_management).toBeUndefined();
      expect(cleared.input_tokens).toBeLessThan(whole.input_tokens * 0.7);
      const original = cleared.context_management?.original_input_tokens ?? 0;
      expect(original / whole.input_tokens).toBeGreaterThan(0.7);
      for (const { text } of upstream.received) expect(text).not.toContain("context_management");
    },
  );

  test("a provider that clears by itself gets the client's own parameter", async () => {
    upstream.answer(() => Response.json({ input_tokens: 5, context_management: { original_input_tokens: 50 } }));
    const told = await count("anthropic-messages", { context_management: { edits } });
    expect(told).toEqual({ input_tokens: 5, context_management: { original_input_tokens: 50 } });
    expect(upstream.received[0]?.json).toMatchObject({ context_management: { edits }, messages: listOf("counted") });
  });

  test("a record of ours is opened before it is counted", async () => {
    const answer = await answerOf(await ask("gemini", [COMPACT], { messages: listOf("counted record") }));
    upstream.received.length = 0;
    upstream.answer(() => Response.json({ input_tokens: 5 }));
    const messages = [
      { role: "assistant", content: answer.content },
      { role: "user", content: "Go on." },
    ];
    await count("anthropic-messages", { messages });
    expect(upstream.received[0]?.text).toContain("fact-2 is v2x");
    expect(upstream.received[0]?.text).not.toContain("sallyport.c1.");
  });
});

test("a stored thread whose client sends records is compacted with the content of the records", async () => {
  const asked = { messages: listOf("kept record"), thread_id: "kept-record" };
  const answer = await answerOf(await ask("gemini", [COMPACT], asked));
  const messages = [
    { role: "assistant", content: answer.content },
    ...listOf("kept record").slice(0, 8),
    { role: "user", content: "Go on." },
  ];
  await answerOf(await ask("gemini", [], { messages, thread_id: "kept-record" }));
  const compact = async (): Promise<Json> => {
    const done = await app.post("/v1/responses/compact", { model: "gemini", thread_id: "kept-record" });
    const json = (await done.json()) as Json & { messages_before?: number };
    // The thread is stored only after the answer has been sent.
    return json.messages_before === undefined || json.messages_before < 15 ? compact() : json;
  };
  const text = JSON.stringify(await compact());
  expect(text).toContain("fact-2 is v2x");
  expect(text).not.toContain("sallyport.c1.");
});

test("the provider's own edits are relayed unchanged", async () => {
  const frames = [
    {
      type: "message_start",
      message: {
        id: "msg_up",
        type: "message",
        role: "assistant",
        model: "up",
        content: [],
        usage: { input_tokens: 5, output_tokens: 0 },
      },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "compaction", content: null, encrypted_content: null },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "compaction_delta", content: "before", encrypted_content: "vendor" },
    },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "on" } },
    { type: "content_block_stop", index: 1 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      context_management: {
        applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: 2, cleared_input_tokens: 9 }],
      },
      usage: { output_tokens: 3, iterations: [{ type: "compaction", input_tokens: 7, output_tokens: 2 }] },
    },
    { type: "message_stop" },
  ];
  upstream.answer(() => sse(frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)));
  const answer = await ask("anthropic-messages", [CLEAR, COMPACT], { stream: true });
  const heard = (await framesOf(answer)) as Json[];
  expect(heard.slice(1)).toEqual(frames.slice(1));
  expect(upstream.received[0]?.json).toMatchObject({ context_management: { edits: [CLEAR, COMPACT] } });
});

/** The errors by which providers refuse a prompt that is too long: with both sizes, with the limit alone, and without any. */
const REFUSALS: Readonly<Record<string, (tokens: number) => string>> = {
  "both figures": (tokens) =>
    `This model's maximum context length is 1500 tokens. However, your messages resulted in ${tokens} tokens.`,
  "the limit alone": () =>
    "This model's maximum context length is 9000 tokens. Please reduce the length of the messages.",
  "no figures": () => "Your input exceeds the context window of this model.",
};

describe.each(Object.entries(REFUSALS).map(([name, words], n) => [name, words, n] as const))(
  "a wall with %s",
  (name, words, n) => {
    const refuse = (received: Received, most: number) => {
      const tokens = Math.ceil(received.text.length / 4);
      if (received.text.includes("You keep the record"))
        return say(received, { text: "## Task\nfact-2 is v2x", usage: usageOf(received) });
      if (tokens <= most) return say(received, { text: "Well said.", usage: usageOf(received) });
      const error = { message: words(tokens), type: "invalid_request_error", code: "context_length_exceeded" };
      return Response.json({ error }, { status: 400 });
    };

    test.each(["openai-chat", "plain-messages"])(
      "is met once, and the client gets its record; over %s",
      async (model) => {
        upstream.answer((received) => refuse(received, 1500));
        const messages = listOf(`wall ${name} ${model}`);
        const edits = [{ ...COMPACT, trigger: { type: "input_tokens", value: 15_000 } }];
        const answer = await answerOf(await ask(`${model}-${n}`, edits, { messages }));
        expect(answer.content.map(({ type }) => type)).toEqual(["compaction", "text"]);
        expect(upstream.received.filter(({ text }) => !text.includes("You keep the record"))).toHaveLength(2);
      },
    );

    test("if nothing can be shortened further, the error is returned after one more try", async () => {
      upstream.answer((received) => refuse(received, 1));
      for (const more of [{}, { thread_id: `wall ${name}` }]) {
        upstream.received.length = 0;
        const messages = listOf(`high wall ${name} ${JSON.stringify(more)}`);
        const refused = await ask(`openai-chat-${n + 3}`, "thread_id" in more ? [] : [COMPACT], { messages, ...more });
        expect([refused.status, await refused.json()]).toMatchObject([
          400,
          { error: { code: "context_length_exceeded" } },
        ]);
        expect(
          upstream.received.filter(({ text }) => !text.includes("You keep the record")).length,
        ).toBeLessThanOrEqual(2);
      }
    });
  },
);
