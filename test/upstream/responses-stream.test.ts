import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import type { ErrorEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import { goldenEvents, readStream, transcript, transcripts } from "../support/transcripts.ts";

const DIALECT = "openai-responses";
const names = transcripts(DIALECT);
const read = (bytes: Uint8Array, cuts?: number[]) => readStream(openaiResponses.reader(), bytes, cuts);
const sse = (...events: unknown[]) =>
  new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
/** The final response object inside a transcript. */
const finalOf = (name: string) => {
  const frames = parseFrames(new TextDecoder().decode(transcript(DIALECT, name))).filter(
    (frame) => frame.data !== "[DONE]",
  );
  return JSON.parse(frames.at(-1)?.data ?? "").response;
};

describe("transcripts", () => {
  test.each(names)("%s is read into its golden events, in legal order", (name) => {
    const events = read(transcript(DIALECT, name));
    expect(events as unknown[]).toEqual(goldenEvents(name, events));
    expect(grammarFaults(events)).toEqual([]);
  });

  test("any byte split gives the same events", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(6000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript(DIALECT, name);
        expect(read(bytes, cuts)).toEqual(read(bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("any truncation ends in a finish or an error, in legal order", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(6000), (name, length) => {
        const events = read(transcript(DIALECT, name).subarray(0, length));
        expect(grammarFaults(events)).toEqual([]);
        expect(["finish", "error"]).toContain(events.at(-1)?.type as string);
      }),
      { numRuns: 150 },
    );
  });

  test("rubbish never throws", () => {
    const kinds = [
      "output_item.added",
      "output_item.done",
      "output_text.delta",
      "output_text.done",
      "completed",
      "created",
    ];
    const calls = [
      "function_call_arguments.delta",
      "reasoning_summary_text.delta",
      "custom_tool_call_input.done",
      "failed",
    ];
    const typed = fc.record(
      {
        type: fc.constantFrom("error", ...[...kinds, ...calls].map((kind) => `response.${kind}`)),
        item_id: fc.constantFrom("a", "b", 3, null),
        output_index: fc.oneof(fc.nat(2), fc.jsonValue()),
        content_index: fc.oneof(fc.integer(), fc.jsonValue()),
        summary_index: fc.oneof(fc.integer(), fc.jsonValue()),
        delta: fc.oneof(fc.string(), fc.jsonValue()),
        item: fc.oneof(
          fc.record({
            type: fc.constantFrom("message", "function_call", "reasoning", "custom_tool_call", "x"),
            id: fc.constantFrom("a", "b"),
            call_id: fc.constantFrom("c", "d"),
            content: fc.jsonValue(),
            arguments: fc.jsonValue(),
          }),
          fc.jsonValue(),
        ),
        response: fc.jsonValue(),
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(typed, fc.jsonValue())), (frames) => {
        expect(grammarFaults(read(sse(...frames)))).toEqual([]);
        expect(grammarFaults(openaiResponses.events(frames[0]))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  const whole = names.filter((name) => !/failed|error|cut|broken|unstable/.test(name));
  test.each(whole)("%s: the whole answer folds to the same result as its stream", (name) => {
    const { rawUsage: _live, ...streamed } = fold(read(transcript(DIALECT, name)));
    const { rawUsage: _whole, ...folded } = fold(openaiResponses.events(finalOf(name)));
    expect(folded).toEqual(streamed);
  });
});

describe("public failures", () => {
  test("1: arguments that arrive only with done, or only at the end, are not lost", () => {
    expect(fold(read(transcript(DIALECT, "responses-arguments-only-done"))).choices[0]?.blocks).toMatchObject([
      { name: "edit", arguments: '{"path":"a.txt"}' },
    ]);
    expect(fold(read(transcript(DIALECT, "responses-only-completed"))).choices[0]?.blocks).toMatchObject([
      { text: "all at once", annotations: [{ type: "url_citation" }] },
      { callId: "call_z", arguments: '{"x":1}' },
    ]);
  });

  test("3: interleaved fragments are added to the call of their item", () => {
    expect(fold(read(transcript(DIALECT, "responses-tools-interleaved"))).choices[0]?.blocks).toMatchObject([
      { callId: "call_a", arguments: '{"a":1}' },
      { callId: "call_b", arguments: '{"b":2}' },
    ]);
  });

  test("8: ids that change with every event, and an index shared by text and call, are handled", () => {
    expect(fold(read(transcript(DIALECT, "responses-unstable-ids"))).choices[0]).toMatchObject({
      reason: "tool_calls",
      blocks: [
        { type: "text", text: "no added text" },
        { callId: "call_1", arguments: '{"k":1}' },
      ],
    });
  });

  test("9, 10: encrypted reasoning is kept byte for byte, summaries part by part", () => {
    expect(fold(read(transcript(DIALECT, "responses-reasoning"))).choices[0]?.blocks[0]).toEqual({
      type: "reasoning",
      text: "",
      summary: ["**Plan**\n\nFirst step.", "Second."],
      itemId: "rs_68",
      encrypted: "gAAAAABo+/xyz==",
      origin: DIALECT,
    });
  });

  test("13: cached and reasoning tokens are counted", () => {
    expect(fold(read(transcript(DIALECT, "responses-text"))).usage).toEqual({
      inputTokens: 37,
      outputTokens: 110,
      cachedTokens: 12,
      reasoningTokens: 64,
    });
  });

  test.each([
    ["responses-failed", "provider_unavailable", "The model failed to generate a response."],
    ["responses-error-event", "provider_rate_limited", "Slow down"],
    ["responses-cut-in-tool", "provider_stream_interrupted", "The provider ended the answer early."],
    ["responses-broken-frame", "provider_stream_interrupted", "The provider sent a broken event."],
  ] as const)("21: %s ends in an error and nothing follows", (name, code, message) => {
    const events = read(transcript(DIALECT, name));
    expect(events.filter((event) => event.type === "error")).toHaveLength(1);
    expect(events.at(-1) as ErrorEvent).toMatchObject({ type: "error", code, message });
  });

  test.each([
    ["max_output_tokens", "length"],
    ["max_messages", "length"],
    ["steered", "length"],
    ["content_filter", "content_filter"],
    ["later_word", "unknown"],
  ] as const)("incomplete for %s is %s", (reason, expected) => {
    const response = { status: "incomplete", incomplete_details: { reason }, output: [] };
    expect(openaiResponses.events(response).at(-1)).toMatchObject({ reason: expected, rawReason: reason });
  });

  test("an event with the name of a built-in object member is an unknown event", () => {
    const done = { type: "response.completed", response: { status: "completed", output: [] } };
    const events = read(sse({ type: "constructor.delta", delta: "x" }, { type: "__proto__.done", text: "x" }, done));
    expect(events.map(({ type }) => type)).toEqual(["start", "finish"]);
  });

  test("a body that is not a response is a failure", () => {
    for (const body of [undefined, null, [], "x", {}, { output: "text" }]) {
      expect(openaiResponses.events(body)).toMatchObject([{ type: "error", code: "provider_unavailable" }]);
    }
    const failed = { status: "failed", error: { code: "context_length_exceeded", message: "too long" }, output: [] };
    expect(openaiResponses.events(failed).at(-1)).toMatchObject({ type: "error", code: "context_length_exceeded" });
  });
});
