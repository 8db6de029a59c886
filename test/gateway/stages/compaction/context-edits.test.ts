// The edits of `context_management` and how they are reported: cleared results and reasoning, records in whole and streamed
// answers, and pauses.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { say } from "../../../support/fake-model.ts";
import { type FakeUpstream, framesOf, type Received, startUpstream } from "../../../support/upstream.ts";
import {
  answerOf,
  asker,
  CLEAR,
  COMPACT,
  editingConfig,
  inputOf,
  type Json,
  listOf,
  usageOf,
} from "./editing-fixture.ts";
import { tightUpstream } from "./tight-upstream.ts";

let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({ config: editingConfig(upstream.baseUrl) });
});
afterAll(async () => {
  await Promise.all([app.stop(), upstream.stop()]);
});
const ask = asker(() => app);

let summaries: string[];
beforeEach(() => {
  upstream.received.length = 0;
  const { seen, script } = tightUpstream({ window: 1e6, say: () => ({ text: "Well said.", split: 7 }) });
  summaries = seen.summaries;
  upstream.answer(script);
});

/** A summary that is as long as the conversations of these tests. */
const LONG = Array.from({ length: 1700 }, (_, at) => `w${at}`).join(" ");
const OVER = ["openai-chat", "openai-responses", "gemini", "plain-messages"];

describe.each(OVER)("clearing, over %s", (model) => {
  test.each([false, true])("old results become placeholders, and the answer says so; stream: %p", async (stream) => {
    const edit = { ...CLEAR, keep: { type: "tool_uses", value: 4 }, exclude_tools: ["write"] };
    const response = await ask(model, [edit], { stream });
    expect(response.headers.get("x-sallyport-compaction")).toMatch(/^cleared; before=\d+; after=\d+$/);
    expect(response.headers.get("x-sallyport-dropped")).toBeNull();
    const answer = await answerOf(response);
    expect(answer.content).toEqual([{ type: "text", text: "Well said." }]);
    // Four of the eight old results belong to the excluded tool.
    expect(answer.context_management).toEqual({
      applied_edits: [
        { type: "clear_tool_uses_20250919", cleared_tool_uses: 4, cleared_input_tokens: expect.any(Number) },
      ],
    });
    expect(Number(answer.context_management?.applied_edits[0]?.["cleared_input_tokens"])).toBeGreaterThan(4 * 60);
    expect(answer.usage.iterations).toBeUndefined();
    const { text = "" } = upstream.received[0] ?? {};
    expect(text.match(/\[cleared: about \d+ tokens, tool read\]/g)).toHaveLength(4);
    expect(text.match(/line line/g)?.length).toBeGreaterThan(0);
    expect(text).toContain("src/f1.ts");
    expect(text).not.toContain("context_management");
  });

  test("the inputs of the calls are cleared too, for all tools or for some", async () => {
    await ask(model, [{ ...CLEAR, clear_tool_inputs: true }]);
    expect(upstream.received[0]?.text.match(/src\/f\d+\.ts/g)).toHaveLength(3);
    upstream.received.length = 0;
    await ask(model, [{ ...CLEAR, clear_tool_inputs: ["write"] }]);
    expect(upstream.received[0]?.text.match(/src\/f\d+\.ts/g)).toHaveLength(3 + 4);
  });

  test.each([
    ["few calls", { ...CLEAR, trigger: { type: "tool_uses", value: 12 } }],
    ["little input", { type: CLEAR.type }],
    ["little to clear", { ...CLEAR, clear_at_least: { type: "input_tokens", value: 5000 } }],
    ["all of it new", { ...CLEAR, keep: { type: "tool_uses", value: 12 } }],
  ])("nothing is cleared for %s", async (_, edit) => {
    const response = await ask(model, [edit]);
    expect(response.headers.get("x-sallyport-compaction")).toBeNull();
    const answer = await answerOf(response);
    if (model !== "plain-messages") expect(answer.context_management).toEqual({ applied_edits: [] });
    const { text = "" } = upstream.received[0] ?? {};
    expect(text).not.toContain("cleared:");
    expect(text).not.toContain("context_management");
    expect(response.headers.get("x-sallyport-dropped")).toBeNull();
  });
});

test("the reasoning of old turns is cleared, and a loop of calls counts as one turn", async () => {
  const thinking = (n: number) => ({ type: "thinking", thinking: `thought-${n}`, signature: `c2ln${n}` });
  const turn = (n: number) => [
    { role: "user", content: `question ${n}` },
    { role: "assistant", content: [thinking(n), { type: "tool_use", id: `t${n}`, name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `t${n}`, content: "seen" }] },
    { role: "assistant", content: [thinking(n + 10), { type: "text", text: `answer ${n}` }] },
  ];
  const messages = [...[0, 1, 2].flatMap(turn), { role: "user", content: "go on" }];
  const kept = async (keep: unknown) => {
    upstream.received.length = 0;
    const edits = [{ type: "clear_thinking_20251015", ...(keep === undefined ? {} : { keep }) }];
    const answer = await answerOf(await ask("plain-messages", edits, { messages }));
    const { text = "" } = upstream.received[0] ?? {};
    return { thoughts: [...new Set(text.match(/thought-\d+/g))], edits: answer.context_management?.applied_edits };
  };
  const said = (cleared_thinking_turns: number) => [
    { type: "clear_thinking_20251015", cleared_thinking_turns, cleared_input_tokens: expect.any(Number) },
  ];
  expect(await kept(undefined)).toEqual({ thoughts: ["thought-2", "thought-12"], edits: said(2) });
  const two = { thoughts: ["thought-1", "thought-11", "thought-2", "thought-12"], edits: said(1) };
  expect(await kept({ type: "thinking_turns", value: 2 })).toEqual(two);
  for (const all of ["all", { type: "all" }]) {
    expect((await kept(all)).thoughts).toHaveLength(6);
  }
});

describe.each(OVER)("compacting, over %s", (model) => {
  test.each([false, true])("the answer begins with the record; stream: %p", async (stream) => {
    const messages = listOf(`compacting ${model} ${stream}`);
    const response = await ask(model, [COMPACT], { messages, stream });
    expect(response.headers.get("x-sallyport-compaction")).toMatch(/^compacted; before=\d+; after=\d+$/);
    const answer = await answerOf(response);
    expect(structuredClone(answer.content)).toEqual([
      {
        type: "compaction",
        content: expect.stringContaining("fact-2 is v2x"),
        encrypted_content: expect.stringMatching(/^sallyport\.c1\./),
      },
      { type: "text", text: "Well said." },
    ]);
    expect(answer.stop_reason).toBe("end_turn");
    expect(answer.context_management).toEqual({ applied_edits: [] });
    const { iterations = [], ...own } = answer.usage;
    expect(iterations).toMatchObject([
      { type: "compaction", input_tokens: expect.any(Number), output_tokens: 5 },
      { type: "message", ...own },
    ]);
    expect(summaries).toHaveLength(1);
    expect(summaries[0]).toContain("Only names.");
    // The client continues with the answer alone.
    upstream.received.length = 0;
    const next = [
      { role: "assistant", content: answer.content },
      { role: "user", content: "Go on." },
    ];
    const second = await answerOf(await ask(model, [COMPACT], { messages: next }));
    expect(second.content).toEqual([{ type: "text", text: "Well said." }]);
    const { text = "" } = upstream.received[0] ?? {};
    for (const said of ["fact-2 is v2x", "fact-11 is v11x", "And now?", "Well said.", "Go on."])
      expect(text).toContain(said);
    expect(summaries).toHaveLength(1);
  });

  test.each([false, true])("with a pause the record is the whole answer; stream: %p", async (stream) => {
    const messages = listOf(`pausing ${model} ${stream}`);
    const edit = { ...COMPACT, pause_after_compaction: true };
    const answer = await answerOf(await ask(model, [edit], { messages, stream }));
    expect(structuredClone(answer.content)).toMatchObject([
      { type: "compaction", content: expect.stringContaining("fact-11 is v11x") },
    ]);
    expect([answer.stop_reason, answer.usage.iterations]).toMatchObject([
      "compaction",
      [
        { type: "compaction", output_tokens: 5 },
        { type: "message", input_tokens: 0, output_tokens: 0 },
      ],
    ]);
    expect(upstream.received).toHaveLength(1);
    // A client that continues may add the messages again that it wants to keep.
    upstream.received.length = 0;
    const next = [...messages, { role: "assistant", content: answer.content }, messages.at(-1)];
    expect((await answerOf(await ask(model, [edit], { messages: next }))).content).toMatchObject([{ type: "text" }]);
    expect(upstream.received[0]?.text).toContain("fact-3 is v3x");
    // The messages added beside the record may be long. There are never two pauses in succession.
    const more = { type: "text", text: "more words ".repeat(20) };
    const after = await answerOf(
      await ask(model, [{ ...edit, trigger: { type: "input_tokens", value: 150 } }], {
        messages: [
          { role: "assistant", content: answer.content },
          { role: "user", content: [more] },
        ],
      }),
    );
    expect(after.stop_reason).toBe("end_turn");
    // Below the trigger there is no reason to pause.
    const short = await answerOf(await ask(model, [edit], { messages: messages.slice(-1) }));
    expect(short.stop_reason).toBe("end_turn");
  });

  test.each<[string, (received: Received) => Response]>([
    ["is down", () => new Response("{}", { status: 500 })],
    ["says all of it again", (received) => say(received, { text: LONG, usage: usageOf(received) })],
  ])("a summariser that %s loses nothing that still fits, and the block says so", async (name, summary) => {
    upstream.answer((received) =>
      received.text.includes("You keep the record")
        ? summary(received)
        : say(received, { text: "Well said.", usage: usageOf(received) }),
    );
    const messages = listOf(`${name} ${model}`);
    const answer = await answerOf(await ask(model, [COMPACT], { messages }));
    expect(answer.content).toEqual([
      { type: "compaction", content: null, encrypted_content: null },
      { type: "text", text: "Well said." },
    ]);
    expect(upstream.received.at(-1)?.text).toContain("noted 0");
    const next = [...messages, { role: "assistant", content: answer.content }, { role: "user", content: "Go on." }];
    expect((await ask(model, [], { messages: next })).status).toBe(200);
    expect(upstream.received.at(-1)?.text).toContain("noted 0");
  });
});

describe.each(["openai-chat", "anthropic-messages", "gemini", "plain-responses"])("responses over %s", (model) => {
  test.each([false, true])("the item comes first, in legal order; stream: %p", async (stream) => {
    const input = inputOf(`item ${model} ${stream}`);
    const context_management = [{ type: "compaction", compact_threshold: 1200 }];
    const response = await app.post("/v1/responses", { model, input, stream, context_management });
    expect(response.status).toBe(200);
    let output: Json[];
    if (stream) {
      const frames = (await framesOf(response)).filter((frame) => frame !== "[DONE]") as (Json & {
        type: string;
        response?: { output: Json[] };
      })[];
      const types = frames.map(({ type }) => type);
      expect(types.slice(0, 5)).toEqual([
        ...["response.created", "response.in_progress", "response.output_item.added", "response.output_item.done"],
        "response.output_item.added",
      ]);
      expect(frames.map(({ sequence_number }) => sequence_number)).toEqual(frames.map((_, at) => at));
      expect(frames.slice(2, 5).map(({ output_index }) => output_index)).toEqual([0, 0, 1]);
      output = frames.at(-1)?.response?.output ?? [];
      expect(output[0]).toEqual(frames[3]?.["item"] as Json);
    } else output = ((await response.json()) as { output: Json[] }).output;
    // This is a copy, because the matcher writes into the object that it checks.
    expect(structuredClone(output)).toMatchObject([
      { type: "compaction", id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
      { type: "message", content: [{ type: "output_text", text: "Well said." }] },
    ]);
    // The client may leave out what precedes the item. Stored answers contain it as well.
    upstream.received.length = 0;
    const next = [...output, { role: "user", content: "Go on." }];
    const short = await app.post("/v1/responses", { model, input: next, context_management });
    expect(short.status).toBe(200);
    const whole = await app.post("/v1/responses", { model, input: [...input, ...next], context_management });
    expect(((await whole.json()) as { output: Json[] }).output).toHaveLength(1);
    const [one, other] = upstream.received.map(({ text }) => text);
    expect(one).toContain("fact-2 is v2x");
    expect(other).toBe(one!);
    expect(summaries).toHaveLength(1);
  });
});

test("a conversation by previous_response_id continues from the record", async () => {
  const context_management = [{ type: "compaction", compact_threshold: 1200 }];
  const first = await app.post("/v1/responses", {
    model: "gemini",
    input: inputOf("stored"),
    store: true,
    context_management,
  });
  const { id, output } = (await first.json()) as { id: string; output: Json[] };
  expect(output.map(({ type }) => type)).toEqual(["compaction", "message"]);
  upstream.received.length = 0;
  const body = { model: "gemini", input: "Go on.", previous_response_id: id, context_management };
  expect((await app.post("/v1/responses", body)).status).toBe(200);
  const { text = "" } = upstream.received[0] ?? {};
  expect(text).toContain("fact-2 is v2x");
  expect(text).not.toContain("noted 0");
});
