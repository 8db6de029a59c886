import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import type { ChatEvent, FinishReason } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { responsesFormat } from "../../src/wire/responses/format.ts";
import { replayResponse } from "../../src/wire/responses/replay.ts";
import { legalAnswer } from "./events.ts";
import { gatherResponse } from "./responses-order.ts";
import { exchangeFor, interruption, type Json, readStream, streamOf } from "./support.ts";

const exchange = exchangeFor(responsesFormat, { model: "m", input: "hi" });

describe("streams", () => {
  test("any legal answer gives a stream in the protocol's order that says what the whole answer says", () => {
    fc.assert(
      fc.property(legalAnswer, (events) => {
        const { frames, done } = readStream(streamOf(responsesFormat.writer(exchange), events));
        expect(done).toBe(true);
        expect(gatherResponse(frames)).toEqual(responsesFormat.encode(fold(events), exchange));
      }),
      { numRuns: 300 },
    );
  });

  test("a finished answer can be streamed again", () => {
    fc.assert(
      fc.property(legalAnswer, (events) => {
        const whole = responsesFormat.encode(fold(events), exchange);
        const { frames, done } = readStream(replayResponse(whole));
        expect(done).toBe(true);
        expect(gatherResponse(frames)).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  test("a resumed stream continues after the number, and always ends with the whole answer", () => {
    const block = { type: "text" as const, text: "x" };
    const whole = responsesFormat.encode({ choices: [{ index: 0, blocks: [block], reason: "stop" }] }, exchange);
    const numbers = (after?: number) =>
      readStream(replayResponse(whole, after === undefined ? {} : { after })).frames.map(({ event, data }) => [
        event,
        data["sequence_number"],
      ]);
    const all = numbers();
    expect(all.map(([, number]) => number)).toEqual(all.map((_, i) => i));
    expect(numbers(3)).toEqual(all.slice(4));
    expect(numbers(100)).toEqual([["response.completed", 101]]);
  });

  test("text and calls never share an output index, and ids do not change", () => {
    const events: ChatEvent[] = [
      { type: "text-start", choice: 0, id: "t" },
      { type: "text-delta", choice: 0, id: "t", text: "So:" },
      { type: "tool-start", choice: 0, id: "c", callId: "call_1", name: "f", kind: "function", itemId: "fc_up" },
      { type: "tool-delta", choice: 0, id: "c", text: "{}" },
      { type: "text-delta", choice: 0, id: "t", text: " go" },
      { type: "text-end", choice: 0, id: "t" },
      { type: "tool-end", choice: 0, id: "c" },
      { type: "finish", choice: 0, reason: "tool_calls" },
    ];
    const { frames } = readStream(streamOf(responsesFormat.writer(exchange), events));
    const indexes = (name: string) =>
      frames.filter(({ event }) => event === name).map(({ data }) => data["output_index"]);
    expect(new Set(indexes("response.output_text.delta"))).toEqual(new Set([0]));
    expect(indexes("response.function_call_arguments.delta")).toEqual([1]);
    expect((gatherResponse(frames)["output"] as Json[]).map((item) => item["id"])).toEqual([
      "msg_sallyport_0123456789abcdef0123456789abcdef0000",
      "fc_up",
    ]);
  });

  test("texts that follow each other are parts of one message", () => {
    const text = (id: string): ChatEvent[] => [
      { type: "text-start", choice: 0, id },
      { type: "text-delta", choice: 0, id, text: id },
      { type: "text-end", choice: 0, id },
    ];
    const events: ChatEvent[] = [...text("a"), ...text("b"), { type: "finish", choice: 0, reason: "stop" }];
    const { frames } = readStream(streamOf(responsesFormat.writer(exchange), events));
    expect(gatherResponse(frames)["output"]).toMatchObject([{ content: [{ text: "a" }, { text: "b" }] }]);
  });

  test("the order of the specification's table", () => {
    const events: ChatEvent[] = [
      { type: "text-start", choice: 0, id: "t" },
      { type: "text-delta", choice: 0, id: "t", text: "Hi" },
      { type: "text-end", choice: 0, id: "t" },
      { type: "finish", choice: 0, reason: "stop", usage: { inputTokens: 3, outputTokens: 1 } },
    ];
    const { frames } = readStream(streamOf(responsesFormat.writer(exchange), events));
    expect(frames.map(({ event }) => event)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(frames[4]?.data).toMatchObject({ output_index: 0, content_index: 0, delta: "Hi" });
    expect(frames.at(-1)?.data["response"]).toMatchObject({
      usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    });
    const short = responsesFormat.writer({ ...exchange, shortEventTypes: true });
    const shortFrames = readStream(streamOf(short, events)).frames;
    expect(shortFrames.map(({ event }) => event)).toEqual(frames.map(({ event }) => event));
    expect(shortFrames.map(({ data }) => data["type"])).toEqual([
      "response.created",
      "response.in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "response.completed",
    ]);
  });

  test("a failure is response.failed with the error inside and at the top, and no terminator", () => {
    const writer = responsesFormat.writer(exchange);
    writer.push({ type: "start" });
    const { frames, done } = readStream(writer.fail(interruption) + writer.end());
    expect(done).toBe(false);
    expect(frames).toHaveLength(1);
    expect(frames[0]).toMatchObject({
      event: "response.failed",
      data: { type: "response.failed", error: interruption, response: { status: "failed", error: interruption } },
    });
  });
});

test("the whole object has the public fields and echoes the request", () => {
  const body = {
    model: "m",
    input: "hi",
    instructions: "Be brief.",
    max_output_tokens: 50,
    metadata: { a: "b" },
    tools: [{ type: "function", name: "f", parameters: {} }],
    tool_choice: "required",
    reasoning: { effort: "low" },
    text: { verbosity: "low" },
    previous_response_id: "resp_0",
    temperature: 0.3,
    store: false,
  };
  const result = { choices: [{ index: 0, blocks: [{ type: "text" as const, text: "x" }], reason: "stop" as const }] };
  expect(responsesFormat.encode(result, exchangeFor(responsesFormat, body))).toEqual({
    id: "resp_0123456789abcdef0123456789abcdef",
    object: "response",
    created_at: 1_700_000_000,
    completed_at: 1_700_000_002,
    status: "completed",
    background: false,
    frequency_penalty: 0,
    presence_penalty: 0,
    error: null,
    incomplete_details: null,
    instructions: "Be brief.",
    max_output_tokens: 50,
    max_tool_calls: null,
    metadata: { a: "b" },
    model: "catalog-model",
    output: [
      {
        id: "msg_sallyport_0123456789abcdef0123456789abcdef0000",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "x", annotations: [], logprobs: [] }],
      },
    ],
    parallel_tool_calls: true,
    previous_response_id: "resp_0",
    prompt_cache_key: null,
    reasoning: { effort: "low", summary: null },
    safety_identifier: null,
    service_tier: "auto",
    store: false,
    temperature: 0.3,
    text: { format: { type: "text" }, verbosity: "low" },
    tool_choice: "required",
    tools: [{ type: "function", name: "f", description: null, parameters: {}, strict: null }],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
  });
});

test.each<[FinishReason, string, unknown]>([
  ["stop", "completed", null],
  ["tool_calls", "completed", null],
  ["stop_sequence", "completed", null],
  ["pause", "completed", null],
  ["unknown", "completed", null],
  ["length", "incomplete", { reason: "max_output_tokens" }],
  ["context_window", "incomplete", { reason: "max_output_tokens" }],
  ["content_filter", "incomplete", { reason: "content_filter" }],
  ["refusal", "incomplete", { reason: "content_filter" }],
])("finish reason %s is %s", (reason, status, incomplete_details) => {
  const blocks = [{ type: "text" as const, text: "x" }];
  expect(responsesFormat.encode({ choices: [{ index: 0, blocks, reason }] }, exchange)).toMatchObject({
    status,
    incomplete_details,
  });
});

test("a refusal as text is a complete answer", () => {
  const blocks = [{ type: "text" as const, text: "no", refusal: true }];
  expect(responsesFormat.encode({ choices: [{ index: 0, blocks, reason: "refusal" }] }, exchange)).toMatchObject({
    status: "completed",
    output: [{ content: [{ type: "refusal", refusal: "no" }] }],
  });
});

test("the content of an answer is unchanged when the client sends its items back", () => {
  const events: ChatEvent[] = [
    { type: "reasoning-start", choice: 0, id: "r" },
    { type: "reasoning-delta", choice: 0, id: "r", text: "Hm" },
    { type: "reasoning-end", choice: 0, id: "r", signature: "Eq+/==", origin: "anthropic-messages" },
    { type: "tool-start", choice: 0, id: "c", callId: "call_1", name: "f", kind: "function", signature: "Z2Vt" },
    { type: "tool-delta", choice: 0, id: "c", text: '{"a":1}' },
    { type: "tool-end", choice: 0, id: "c" },
    { type: "tool-start", choice: 0, id: "d", callId: "call_2", name: "patch", kind: "custom", namespace: "n" },
    { type: "tool-delta", choice: 0, id: "d", text: "free" },
    { type: "tool-end", choice: 0, id: "d" },
    { type: "finish", choice: 0, reason: "tool_calls" },
  ];
  const output = responsesFormat.encode(fold(events), exchange)["output"];
  const [turn] = responsesFormat.decode({ model: "m", input: output }, {}).messages;
  expect(turn).toMatchObject({
    role: "assistant",
    content: [
      { type: "reasoning", text: "Hm", signature: "Eq+/==", origin: "anthropic-messages" },
      { type: "tool-call", callId: "call_1", arguments: '{"a":1}', signature: "Z2Vt" },
      { type: "tool-call", callId: "call_2", kind: "custom", arguments: "free", namespace: "n" },
    ],
  });
});

test("the official SDK reads whole answers, streams and errors", async () => {
  const events: ChatEvent[] = [
    { type: "reasoning-start", choice: 0, id: "r" },
    { type: "reasoning-delta", choice: 0, id: "r", text: "Hm", summaryIndex: 0 },
    { type: "reasoning-end", choice: 0, id: "r", encrypted: "gA==", origin: "openai-responses" },
    { type: "text-start", choice: 0, id: "t" },
    { type: "text-delta", choice: 0, id: "t", text: "Wörld" },
    { type: "text-end", choice: 0, id: "t" },
    { type: "tool-start", choice: 0, id: "c", callId: "call_1", name: "f", kind: "function" },
    { type: "tool-delta", choice: 0, id: "c", text: '{"a":' },
    { type: "tool-delta", choice: 0, id: "c", text: "[1]}" },
    { type: "tool-end", choice: 0, id: "c" },
    { type: "finish", choice: 0, reason: "stop", usage: { inputTokens: 7, outputTokens: 3, cachedTokens: 2 } },
  ];
  const whole = responsesFormat.encode(fold(events), exchange);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as Json;
      if (body["model"] === "broken") {
        const failing = responsesFormat.writer(exchange);
        return sse(failing.push({ type: "start" }) + failing.fail(interruption));
      }
      return body["stream"] === true ? sse(streamOf(responsesFormat.writer(exchange), events)) : Response.json(whole);
    },
  });
  try {
    const client = new OpenAI({ apiKey: "k", baseURL: `http://127.0.0.1:${server.port}`, maxRetries: 0 });
    const created = await client.responses.create({ model: "m", input: "x" });
    expect(created.output_text).toBe("Wörld");
    expect(JSON.parse(JSON.stringify(created))).toMatchObject(whole);
    const final = await client.responses.stream({ model: "m", input: "x" }).finalResponse();
    expect(final.output_text).toBe("Wörld");
    expect(final.output).toMatchObject(whole["output"] as Json[]);
    expect(final.usage?.total_tokens).toBe(10);
    const failed = client.responses.stream({ model: "broken", input: "x" }).finalResponse();
    await expect(failed).rejects.toThrow("The provider ended the answer early.");
  } finally {
    await server.stop(true);
  }
});

function sse(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}
