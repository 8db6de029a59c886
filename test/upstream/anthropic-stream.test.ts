import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatEvent, ErrorEvent, FinishEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { goldenEvents, readStream, transcript, transcripts } from "../support/transcripts.ts";

const DIALECT = "anthropic-messages";
const names = transcripts(DIALECT);
const read = (bytes: Uint8Array, cuts?: number[]) => readStream(anthropicMessages.reader(), bytes, cuts);
const sse = (...events: unknown[]) =>
  new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
const ofType = <T extends ChatEvent["type"]>(events: ChatEvent[], type: T) =>
  events.filter((event): event is Extract<ChatEvent, { type: T }> => event.type === type);

describe("transcripts", () => {
  test.each(names)("%s is read into its golden events, in legal order", (name) => {
    const events = read(transcript(DIALECT, name));
    expect(events as unknown[]).toEqual(goldenEvents(name, events));
    expect(grammarFaults(events)).toEqual([]);
  });

  test("any byte split gives the same events", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(4000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript(DIALECT, name);
        expect(read(bytes, cuts)).toEqual(read(bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("any truncation ends in a finish or an error, in legal order", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(4000), (name, length) => {
        const events = read(transcript(DIALECT, name).subarray(0, length));
        expect(grammarFaults(events)).toEqual([]);
        expect(["finish", "error"]).toContain(events.at(-1)?.type as string);
      }),
      { numRuns: 150 },
    );
  });

  test("rubbish never throws", () => {
    const rubbish = fc.array(fc.oneof(fc.jsonValue(), fc.record({ type: fc.string(), index: fc.jsonValue() })));
    const typed = fc.array(
      fc.record(
        {
          type: fc.constantFrom(
            "message_start",
            "content_block_start",
            "content_block_delta",
            "message_delta",
            "error",
          ),
          index: fc.oneof(fc.nat(2), fc.jsonValue()),
          content_block: fc.oneof(fc.record({ type: fc.constantFrom("text", "tool_use", "thinking") }), fc.jsonValue()),
          delta: fc.oneof(
            fc.record({
              type: fc.constantFrom("text_delta", "input_json_delta", "signature_delta"),
              text: fc.string(),
            }),
            fc.jsonValue(),
          ),
          message: fc.jsonValue(),
          error: fc.jsonValue(),
        },
        { requiredKeys: ["type"] },
      ),
    );
    fc.assert(
      fc.property(fc.oneof(rubbish, typed), (frames) => {
        expect(grammarFaults(read(sse(...frames)))).toEqual([]);
        expect(grammarFaults(anthropicMessages.events(frames[0])).length).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

/** A whole answer with random blocks. */
const message = fc.record({
  id: fc.constant("msg_1"),
  type: fc.constant("message"),
  role: fc.constant("assistant"),
  model: fc.constant("claude"),
  content: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string({ minLength: 1, unit: "grapheme" }) }),
      fc.record({ type: fc.constant("thinking"), thinking: fc.string(), signature: fc.base64String({ minLength: 4 }) }),
      fc.record({ type: fc.constant("redacted_thinking"), data: fc.base64String({ minLength: 4 }) }),
      fc.record({
        type: fc.constant("tool_use"),
        id: fc.stringMatching(/^toolu_[a-z]{6}$/),
        name: fc.constantFrom("a", "b"),
        input: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      }),
      fc.record({
        type: fc.constant("server_tool_use"),
        id: fc.constant("s"),
        name: fc.constant("web_search"),
        input: fc.dictionary(fc.stringMatching(/^[a-z]+$/), fc.string(), { noNullPrototype: true }),
      }),
    ),
    { maxLength: 5 },
  ),
  stop_reason: fc.constantFrom("end_turn", "max_tokens", "tool_use", "refusal", "pause_turn"),
  stop_sequence: fc.constant(null),
  usage: fc.record({
    input_tokens: fc.nat(),
    cache_read_input_tokens: fc.nat(),
    cache_creation_input_tokens: fc.nat(),
    output_tokens: fc.nat(),
  }),
});

type Message = typeof message extends fc.Arbitrary<infer T> ? T : never;

/** Writes an answer as a stream in the way that the public documentation describes. */
function streamed(answer: Message, size: number): unknown[] {
  const cut = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  const frames: unknown[] = [
    {
      type: "message_start",
      message: { ...answer, content: [], stop_reason: null, usage: { ...answer.usage, output_tokens: 1 } },
    },
  ];
  answer.content.forEach((block, index) => {
    const delta = (fields: Record<string, string>) => ({ type: "content_block_delta", index, delta: fields });
    const start = (content_block: unknown) => frames.push({ type: "content_block_start", index, content_block });
    switch (block.type) {
      case "text":
        start({ type: "text", text: "" });
        frames.push(...cut(block.text).map((text) => delta({ type: "text_delta", text })));
        break;
      case "thinking":
        start({ type: "thinking", thinking: "", signature: "" });
        frames.push(...cut(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })));
        frames.push(delta({ type: "signature_delta", signature: block.signature }));
        break;
      case "redacted_thinking":
        start(block);
        break;
      default:
        start({ ...block, input: {} });
        for (const partial_json of cut(JSON.stringify(block.input))) {
          frames.push(delta({ type: "input_json_delta", partial_json }));
        }
    }
    frames.push({ type: "content_block_stop", index });
  });
  frames.push({
    type: "message_delta",
    delta: { stop_reason: answer.stop_reason, stop_sequence: null },
    usage: { output_tokens: answer.usage.output_tokens },
  });
  return [...frames, { type: "message_stop" }];
}

describe("stream and whole answer", () => {
  test("fold to the same result", () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 1, max: 9 }), (answer, size) => {
        const live = read(sse(...streamed(answer, size)));
        expect(grammarFaults(live)).toEqual([]);
        const { rawUsage: _live, ...folded } = fold(live);
        const { rawUsage: _whole, ...whole } = fold(anthropicMessages.events(answer));
        expect(folded).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  test("a body that is not a message is a failure", () => {
    for (const body of [undefined, null, [], "x", {}, { content: "text" }]) {
      expect(anthropicMessages.events(body)).toMatchObject([{ type: "error", code: "provider_unavailable" }]);
    }
  });
});

describe("public failures", () => {
  const start = {
    type: "message_start",
    message: { id: "m", model: "c", usage: { input_tokens: 3, output_tokens: 1 } },
  };
  const stop = (stop_reason: string) => [
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ];

  test("1: complete arguments in the start frame are not lost", () => {
    const tools = fold(read(transcript(DIALECT, "anthropic-tools-whole-input"))).choices[0]?.blocks;
    expect(tools).toMatchObject([
      { name: "edit", arguments: '{"path":"a.txt","lines":[1,2],"deep":{"x":null}}' },
      { name: "noargs", arguments: "{}" },
      { name: "as_text", arguments: '{"q": "kept as sent"}' },
    ]);
  });

  test("3: interleaved fragments are added to the call of their index", () => {
    const blocks = fold(read(transcript(DIALECT, "anthropic-tools-interleaved"))).choices[0]?.blocks;
    expect(blocks).toMatchObject([
      { callId: "toolu_A", arguments: '{"a":1}' },
      { callId: "toolu_B", arguments: '{"b":2}' },
      { type: "text", text: "meanwhile" },
    ]);
  });

  test.each(["end_turn", "something_new", "tool_use"])(
    "5: text and a call end tool_calls, though told %s",
    (reason) => {
      const events = read(
        sse(
          start,
          { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "x", input: {} } },
          { type: "content_block_stop", index: 0 },
          { type: "content_block_start", index: 1, content_block: { type: "text", text: "after" } },
          { type: "content_block_stop", index: 1 },
          ...stop(reason),
        ),
      );
      expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls", rawReason: reason });
    },
  );

  test("6: a repeated message_start gives one start", () => {
    expect(ofType(read(sse(start, start, ...stop("end_turn"))), "start")).toHaveLength(1);
  });

  test("7: argument fragments are passed on as they arrive", () => {
    const deltas = ofType(read(transcript(DIALECT, "anthropic-tools-parallel")), "tool-delta");
    expect(deltas.map((delta) => delta.text)).toEqual([
      '{"path"',
      ': "a.t',
      'xt"}',
      '{"city":"S\\u00',
      'e3o Paulo","days":3}',
    ]);
  });

  test("9: signatures are kept byte for byte, also in signature-only and redacted blocks", () => {
    expect(fold(read(transcript(DIALECT, "anthropic-thinking"))).choices[0]?.blocks.slice(0, 3)).toEqual([
      { type: "reasoning", text: "First, weigh it.", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h+/==", origin: DIALECT },
      {
        type: "reasoning",
        text: "",
        redacted: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP",
        origin: DIALECT,
      },
      { type: "reasoning", text: "", signature: "EsignatureOnly+/ab==", origin: DIALECT },
    ]);
  });

  test("13: cached and cache-write tokens are counted as part of the input", () => {
    expect(fold(read(transcript(DIALECT, "anthropic-text"))).usage).toEqual({
      inputTokens: 12 + 248 + 1800,
      outputTokens: 17,
      cachedTokens: 1800,
      cacheWriteTokens: 248,
    });
  });

  test("17: usage that arrives only at the end is used", () => {
    const finish = read(transcript(DIALECT, "anthropic-usage-late")).at(-1) as FinishEvent;
    expect(finish).toMatchObject({ reason: "length", usage: { inputTokens: 107, outputTokens: 4, cachedTokens: 100 } });
  });

  test("18: a broken answer keeps the usage it cost", () => {
    const error = read(transcript(DIALECT, "anthropic-cut-in-tool")).at(-1) as ErrorEvent;
    expect(error).toMatchObject({ code: "provider_stream_interrupted", usage: { inputTokens: 12, outputTokens: 0 } });
  });

  test.each([
    ["overloaded_error", "provider_unavailable"],
    ["rate_limit_error", "provider_rate_limited"],
    ["authentication_error", "provider_auth_failed"],
    ["api_error", "provider_unavailable"],
  ] as const)("21: %s in the stream becomes %s and nothing follows", (type, code) => {
    const events = read(sse(start, { type: "error", error: { type, message: "M" } }, ...stop("end_turn")));
    expect(events.map((event) => event.type)).toEqual(["start", "error"]);
    expect(events.at(-1)).toMatchObject({ code, message: "M" });
  });

  test.each([
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["stop_sequence", "stop_sequence"],
    ["pause_turn", "pause"],
    ["refusal", "refusal"],
    ["model_context_window_exceeded", "context_window"],
    ["later_word", "unknown"],
    ["constructor", "unknown"],
  ] as const)("stop reason %s is %s, the raw word kept", (rawReason, reason) => {
    expect(read(sse(start, ...stop(rawReason))).at(-1)).toMatchObject({ type: "finish", reason, rawReason });
  });
});
