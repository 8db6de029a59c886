// A format and the dialect of the same protocol are each other's inverse: what one writes, the other reads.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import type { Dialect, RequestContext } from "../../src/upstream/dialect.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses.ts";
import type { WireFormat } from "../../src/wire/format.ts";
import { messages } from "../../src/wire/messages.ts";
import { responses } from "../../src/wire/responses.ts";
import { orderlyAnswer } from "./events.ts";
import { exchangeFor, type Json, streamOf } from "./support.ts";

const PAIRS: [string, WireFormat, Dialect, Json][] = [
  [
    "messages",
    messages,
    anthropicMessages,
    { model: "m", max_tokens: 10, messages: [{ role: "user", content: "hi" }] },
  ],
  ["responses", responses, openaiResponses, { model: "m", input: "hi" }],
];

const context: RequestContext = {
  model: "m",
  stream: false,
  quirks: {},
  supportsReasoning: true,
  maxOutputTokens: 4096,
  clientHeaders: {},
};

describe.each(PAIRS)("%s", (_name, format, dialect, body) => {
  const exchange = exchangeFor(format, body);
  const once = (events: readonly ChatEvent[]) => format.encode(fold(events), exchange);

  test("a stream that is read back says the same", () => {
    fc.assert(
      fc.property(orderlyAnswer, (events) => {
        const answer = withoutEmptyText(events);
        const reader = dialect.reader();
        const read: ChatEvent[] = [];
        for (const frame of parseFrames(streamOf(format.writer(exchange), answer))) reader.push(frame, read);
        reader.end(read);
        expect(once(read)).toEqual(once(answer));
      }),
      { numRuns: 200 },
    );
  });

  test("a whole answer that is read back says the same", () => {
    fc.assert(
      fc.property(orderlyAnswer, (events) => {
        const whole = once(withoutEmptyText(events));
        expect(once(dialect.events(JSON.parse(JSON.stringify(whole))))).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });
});

/** Texts that say nothing are left out by readers. */
function withoutEmptyText(events: readonly ChatEvent[]): ChatEvent[] {
  const said = new Set(events.flatMap((event) => (event.type === "text-delta" && event.text !== "" ? [event.id] : [])));
  return events.filter((event) => !event.type.startsWith("text-") || ("id" in event && said.has(String(event.id))));
}

const schema = { type: "object", properties: { a: { type: "string" } } };

const REQUESTS: [string, WireFormat, Dialect, Json][] = [
  [
    "messages",
    messages,
    anthropicMessages,
    {
      model: "claude-sonnet-4-5",
      max_tokens: 9000,
      system: [{ type: "text", text: "A", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "hi" },
            { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm\u2028", signature: "Eq+/==" },
            { type: "redacted_thinking", data: "cmVk" },
            { type: "text", text: "Both." },
            { type: "tool_use", id: "toolu_a", name: "f", input: { a: "ü" } },
            { type: "tool_use", id: "toolu_b", name: "f", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_a", content: [{ type: "text", text: "ok" }] },
            {
              type: "tool_result",
              tool_use_id: "toolu_b",
              is_error: true,
              content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
            },
            { type: "text", text: "go on", cache_control: { type: "ephemeral" } },
          ],
        },
      ],
      tools: [{ name: "f", description: "d", input_schema: schema, cache_control: { type: "ephemeral" } }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2048 },
      stop_sequences: ["END"],
      metadata: { user_id: "u" },
    },
  ],
  [
    "responses",
    responses,
    openaiResponses,
    {
      model: "gpt-5",
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "hi" },
            { type: "input_image", image_url: "https://example.org/a.png", detail: "low" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
          ],
        },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "S" }], encrypted_content: "gA==" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Both." }] },
        { type: "function_call", call_id: "a", name: "f", arguments: '{"a": 1}' },
        { type: "custom_tool_call", call_id: "b", name: "patch", input: "free" },
        { type: "function_call_output", call_id: "a", output: "ok" },
        { type: "custom_tool_call_output", call_id: "b", output: "ok" },
        { role: "user", content: [{ type: "input_text", text: "go on" }] },
      ],
      tools: [
        { type: "function", name: "f", description: "d", parameters: schema, strict: false },
        { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
        {
          type: "namespace",
          name: "n",
          description: "n",
          tools: [{ type: "function", name: "g", parameters: schema, strict: false }],
        },
        { type: "web_search", external_web_access: false },
      ],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
      parallel_tool_calls: false,
      max_output_tokens: 500,
      reasoning: { effort: "high", summary: "auto" },
      text: { verbosity: "low", format: { type: "json_schema", name: "n", schema, strict: true } },
      metadata: { a: "b" },
      user: "u",
      store: false,
    },
  ],
];

test.each(REQUESTS)("a request of %s that is written and read again asks the same", (_name, format, dialect, body) => {
  const chat = format.decode(body, {});
  const written = dialect.request(chat, { ...context, model: chat.model });
  expect(written.dropped).toEqual([]);
  const again = format.decode(JSON.parse(written.body), {});
  // What a dialect asks for of its own accord, as the sealed form of reasoning.
  const { include: _include, ...extra } = again.extra;
  expect({ ...again, extra }).toEqual(chat);
});
