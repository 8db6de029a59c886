// What is recorded of an answer: all that it says, while that is short enough, and nothing of a longer one.

import { expect, test } from "bun:test";
import type { ChatEvent } from "../../../../src/chat/event.ts";
import { CACHED_CHARS_MAX, Recording } from "../../../../src/gateway/stages/cache/recording.ts";

const USAGE = { inputTokens: 1, outputTokens: 1 };
const FINISH: ChatEvent = { type: "finish", choice: 0, reason: "stop" };
const long = "x".repeat(CACHED_CHARS_MAX);
const at = { choice: 0, id: "b" } as const;
const deltas = (type: "text-delta" | "reasoning-delta" | "tool-delta", count: number): ChatEvent[] =>
  Array.from({ length: count }, () => ({ type, ...at, text: long.slice(0, CACHED_CHARS_MAX / 4) }));

function recorded(events: readonly ChatEvent[]) {
  const recording = new Recording();
  for (const event of events) recording.push(event);
  return recording.answer(USAGE);
}

const LONG: readonly (readonly [what: string, events: readonly ChatEvent[]])[] = [
  ["a text", deltas("text-delta", 5)],
  ["reasoning", deltas("reasoning-delta", 5)],
  ["arguments of a tool", deltas("tool-delta", 5)],
  ["a picture", [{ type: "image", ...at, source: { kind: "base64", mediaType: "image/png", data: `${long}x` } }]],
  [
    "an opaque item",
    [{ type: "opaque", ...at, origin: "responses", value: { type: "x", items: [{ content: `${long}x` }] } }],
  ],
];

test.each(LONG)("an answer with too much of %s is not kept", (_what, events) => {
  expect(recorded([...events, FINISH])).toBeUndefined();
});

test("a shorter one is, with its pieces of text as one", () => {
  const events = recorded([
    { type: "text-start", ...at },
    ...deltas("text-delta", 3),
    { type: "text-end", ...at },
    FINISH,
  ]);
  expect(events?.map(({ type }) => type)).toEqual(["text-start", "text-delta", "text-end", "finish"]);
});
