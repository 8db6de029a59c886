import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";
import { messagesFormat } from "../../src/wire/messages/format.ts";
import { legalAnswer } from "./events.ts";
import { gatherMessage } from "./messages-order.ts";
import { exchangeFor, interruption, type Json, readStream, streamOf } from "./support.ts";

const exchange = exchangeFor(messagesFormat, {
  model: "m",
  max_tokens: 100,
  messages: [{ role: "user", content: "hi" }],
});
const loose = { numRuns: 300 };

describe("streams", () => {
  test("any legal answer gives a stream in the protocol's order that says what the whole answer says", () => {
    fc.assert(
      fc.property(legalAnswer, (events) => {
        expect(grammarFaults(events)).toEqual([]);
        const { frames, done } = readStream(streamOf(messagesFormat.writer(exchange), events));
        expect(done).toBe(false);
        const { usage, ...streamed } = gatherMessage(frames);
        const { usage: wholeUsage, ...whole } = messagesFormat.encode(fold(events), exchange);
        expect(streamed).toEqual(whole);
        expect(usage).toEqual(wholeUsage);
      }),
      loose,
    );
  });

  test("blocks that interleave upstream are held back and written one after the other", () => {
    const writer = messagesFormat.writer(exchange);
    const text = streamOf(writer, [
      { type: "tool-start", choice: 0, id: "a", callId: "a", name: "f", kind: "function" },
      { type: "tool-start", choice: 0, id: "b", callId: "b", name: "g", kind: "function" },
      { type: "tool-delta", choice: 0, id: "b", text: '{"b"' },
      { type: "tool-delta", choice: 0, id: "a", text: "{}" },
      { type: "tool-end", choice: 0, id: "a" },
      { type: "tool-delta", choice: 0, id: "b", text: ":1}" },
      { type: "tool-end", choice: 0, id: "b" },
      { type: "finish", choice: 0, reason: "stop" },
    ]);
    const { frames } = readStream(text);
    expect(frames.map(({ event, data }) => `${event} ${data["index"] ?? ""}`.trim())).toEqual([
      "message_start",
      "content_block_start 0",
      "content_block_delta 0",
      "content_block_stop 0",
      "content_block_start 1",
      "content_block_delta 1",
      "content_block_delta 1",
      "content_block_stop 1",
      "message_delta",
      "message_stop",
    ]);
    expect(gatherMessage(frames)["stop_reason"]).toBe("tool_use");
  });

  test("argument fragments are written at once, not at the end of the call", () => {
    const writer = messagesFormat.writer(exchange);
    writer.push({ type: "tool-start", choice: 0, id: "a", callId: "a", name: "f", kind: "function" });
    expect(writer.push({ type: "tool-delta", choice: 0, id: "a", text: '{"x":' })).toContain("input_json_delta");
  });

  test("a failure is an error event with a top-level error and nothing follows", () => {
    const writer = messagesFormat.writer(exchange);
    writer.push({ type: "start" });
    const { frames } = readStream(writer.fail(interruption));
    expect(frames).toEqual([
      { event: "error", data: { type: "error", error: { ...interruption }, request_id: "req-1" } },
    ]);
    expect(writer.push({ type: "finish", choice: 0, reason: "stop" }) + writer.end()).toBe("");
  });
});

describe("stop reasons", () => {
  const reasonOf = (reason: Parameters<typeof whole>[0], call = false) => whole(reason, call)["stop_reason"];
  function whole(reason: import("../../src/chat/event.ts").FinishReason, call: boolean): Json {
    const blocks = call
      ? [{ type: "tool-call" as const, callId: "c", name: "f", kind: "function" as const, arguments: "{}" }]
      : [{ type: "text" as const, text: "x" }];
    return messagesFormat.encode({ choices: [{ index: 0, blocks, reason, stopSequence: "END" }] }, exchange);
  }
  test("each neutral stop reason has its value", () => {
    expect(reasonOf("stop")).toBe("end_turn");
    expect(reasonOf("length")).toBe("max_tokens");
    expect(reasonOf("content_filter")).toBe("refusal");
    expect(reasonOf("refusal")).toBe("refusal");
    expect(reasonOf("pause")).toBe("pause_turn");
    expect(reasonOf("context_window")).toBe("model_context_window_exceeded");
    expect(reasonOf("unknown")).toBe("end_turn");
    expect(whole("stop_sequence", false)).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "END" });
  });
  test("the stop reason is tool_use if there is a tool call, unless it was cut off or refused", () => {
    expect(reasonOf("stop", true)).toBe("tool_use");
    expect(reasonOf("unknown", true)).toBe("tool_use");
    expect(reasonOf("tool_calls", true)).toBe("tool_use");
    expect(reasonOf("length", true)).toBe("max_tokens");
    expect(reasonOf("tool_calls", false)).toBe("end_turn");
  });
});

test("signatures of other providers are returned to them", () => {
  const events = [
    { type: "reasoning-start", choice: 0, id: "r", itemId: "rs_1" },
    { type: "reasoning-delta", choice: 0, id: "r", text: "Sum", summaryIndex: 0 },
    { type: "reasoning-end", choice: 0, id: "r", encrypted: "gAA==", origin: "openai-responses" },
    { type: "tool-start", choice: 0, id: "c", callId: "call_1", name: "f", kind: "function", signature: "Z2Vt" },
    { type: "tool-end", choice: 0, id: "c" },
    { type: "finish", choice: 0, reason: "tool_calls" },
  ] as const;
  const whole = messagesFormat.encode(fold(events), exchange);
  const replay = messagesFormat.decode(
    { model: "m", max_tokens: 1, messages: [{ role: "assistant", content: whole["content"] }] },
    {},
  );
  expect(replay.messages).toEqual([
    {
      role: "assistant",
      content: [
        {
          type: "reasoning",
          text: "",
          summary: ["Sum"],
          origin: "openai-responses",
          encrypted: "gAA==",
          itemId: "rs_1",
        },
        { type: "tool-call", callId: "call_1", name: "f", kind: "function", arguments: "{}", signature: "Z2Vt" },
      ],
    },
  ]);
});

test("the official SDK reads whole answers, streams and errors", async () => {
  const events = [
    { type: "reasoning-start", choice: 0, id: "r" },
    { type: "reasoning-delta", choice: 0, id: "r", text: "Hm" },
    { type: "reasoning-end", choice: 0, id: "r", signature: "s==", origin: "anthropic-messages" },
    { type: "text-start", choice: 0, id: "t" },
    { type: "text-delta", choice: 0, id: "t", text: "Wörld" },
    { type: "text-end", choice: 0, id: "t" },
    { type: "tool-start", choice: 0, id: "c", callId: "toolu_1", name: "f", kind: "function" },
    { type: "tool-delta", choice: 0, id: "c", text: '{"a":' },
    { type: "tool-delta", choice: 0, id: "c", text: "[1]}" },
    { type: "tool-end", choice: 0, id: "c" },
    { type: "finish", choice: 0, reason: "stop", usage: { inputTokens: 7, outputTokens: 3, cachedTokens: 2 } },
  ] as const;
  const whole = messagesFormat.encode(fold(events), exchange);
  const writer = messagesFormat.writer(exchange);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as Json;
      if (body["model"] === "broken") {
        const failing = messagesFormat.writer(exchange);
        return sse(failing.push({ type: "start" }) + failing.fail(interruption));
      }
      return body["stream"] === true ? sse(streamOf(writer, events)) : Response.json(whole);
    },
  });
  try {
    const client = new Anthropic({ apiKey: "k", baseURL: `http://127.0.0.1:${server.port}`, maxRetries: 0 });
    const ask = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "x" }] };
    expect(JSON.parse(JSON.stringify(await client.messages.create(ask)))).toMatchObject(whole);
    const final = await client.messages.stream(ask).finalMessage();
    expect(final).toMatchObject(whole);
    const failed = client.messages.stream({ ...ask, model: "broken" }).finalMessage();
    await expect(failed).rejects.toThrow("The provider ended the answer early.");
  } finally {
    await server.stop(true);
  }
});

function sse(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}
