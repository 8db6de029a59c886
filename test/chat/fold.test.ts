import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";

const finish = (choice = 0): ChatEvent => ({ type: "finish", choice, reason: "stop" });

describe("fold", () => {
  test("gathers interleaved blocks of several choices in the order they started", () => {
    const events: ChatEvent[] = [
      { type: "start", id: "up-1", model: "m" },
      { type: "reasoning-start", choice: 0, id: "r" },
      { type: "reasoning-delta", choice: 0, id: "r", text: "hm" },
      { type: "text-start", choice: 1, id: "t1" },
      { type: "reasoning-end", choice: 0, id: "r", signature: "sig==", origin: "anthropic-messages" },
      { type: "tool-start", choice: 0, id: "a", callId: "c1", name: "f", kind: "function" },
      { type: "tool-start", choice: 0, id: "b", callId: "c2", name: "g", kind: "custom" },
      { type: "tool-delta", choice: 0, id: "b", text: "free {text" },
      { type: "tool-delta", choice: 0, id: "a", text: '{"x":' },
      { type: "text-delta", choice: 1, id: "t1", text: "hi" },
      { type: "tool-delta", choice: 0, id: "a", text: "1," },
      { type: "tool-end", choice: 0, id: "a" },
      { type: "tool-end", choice: 0, id: "b" },
      { type: "text-end", choice: 1, id: "t1" },
      finish(1),
      {
        type: "finish",
        choice: 0,
        reason: "tool_calls",
        rawReason: "tool_use",
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    ];
    expect(grammarFaults(events)).toEqual([]);
    expect(fold(events)).toEqual({
      upstreamId: "up-1",
      upstreamModel: "m",
      usage: { inputTokens: 1, outputTokens: 2 },
      choices: [
        {
          index: 0,
          reason: "tool_calls",
          rawReason: "tool_use",
          blocks: [
            { type: "reasoning", text: "hm", signature: "sig==", origin: "anthropic-messages" },
            { type: "tool-call", callId: "c1", name: "f", kind: "function", arguments: '{"x":1}' },
            { type: "tool-call", callId: "c2", name: "g", kind: "custom", arguments: "free {text" },
          ],
        },
        { index: 1, reason: "stop", blocks: [{ type: "text", text: "hi" }] },
      ],
    });
  });

  test.each<[string, ChatEvent[], string]>([
    [
      "an error inside the answer",
      [{ type: "error", code: "provider_unavailable", message: "down" }],
      "provider_unavailable",
    ],
    ["nothing", [], "provider_unavailable"],
    [
      "arguments beyond repair",
      [
        { type: "tool-start", choice: 0, id: "a", callId: "c", name: "f", kind: "function" },
        { type: "tool-delta", choice: 0, id: "a", text: "{]" },
        { type: "tool-end", choice: 0, id: "a" },
        finish(),
      ],
      "tool_arguments_invalid",
    ],
  ])("throws for %s", (_name, events, code) => {
    expect(() => fold(events)).toThrow(expect.objectContaining({ apiCode: code }));
  });
});

describe("grammar", () => {
  const start: ChatEvent = { type: "text-start", choice: 0, id: "t" };
  const delta: ChatEvent = { type: "text-delta", choice: 0, id: "t", text: "x" };
  const end: ChatEvent = { type: "text-end", choice: 0, id: "t" };
  test.each<[string, ChatEvent[], string]>([
    ["a delta before its start", [delta, finish()], "not open"],
    ["a delta after its end", [start, end, delta, finish()], "not open"],
    ["an id used twice", [start, end, start, end, finish()], "used before"],
    [
      "a block that never ends",
      [start, { type: "error", code: "provider_unavailable", message: "" }, finish()],
      "after the error",
    ],
    ["an open block at the finish", [start, finish()], "still open"],
    ["no finish", [start, end], "neither finishes nor fails"],
    ["a late start", [start, end, { type: "start" }, finish()], "not the first"],
    ["content after the finish", [finish(), start, end], "has finished"],
    ["a block that changes kind", [start, { type: "tool-end", choice: 0, id: "t" }, finish()], "is a text block"],
    ["a block that changes choice", [start, { ...delta, choice: 1 }, end, finish()], "belongs to choice 0"],
  ])("names %s", (_name, events, fault) => expect(grammarFaults(events).join("\n")).toContain(fault));
});
