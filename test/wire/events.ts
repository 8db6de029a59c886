// Random legal answers as neutral events: interleaved blocks of every kind, with fragments of any size.

import fc from "fast-check";
import type { ChatEvent, FinishReason } from "../../src/chat/event.ts";
import { anyText } from "../support/any-text.ts";

const piece = fc.oneof(fc.string({ maxLength: 6 }), anyText({ maxLength: 4 }), fc.constant('"\\\n\u2028'));
const pieces = fc.array(piece, { maxLength: 4 });
const choice = 0;

type Make = (id: string) => ChatEvent[];

const text = fc.tuple(pieces, fc.boolean()).map(
  ([parts, refusal]): Make =>
    (id) => [
      { type: "text-start", choice, id, ...(refusal ? { refusal } : {}) },
      ...parts.map((text): ChatEvent => ({ type: "text-delta", choice, id, text })),
      { type: "text-end", choice, id },
    ],
);

const seals = fc.constantFrom<Record<string, string>>(
  {},
  { signature: "sig+/=", origin: "anthropic-messages" },
  { redacted: "cmVk", origin: "anthropic-messages" },
  { encrypted: "gAAA==", origin: "openai-responses" },
  { signature: "Z2Vt", origin: "gemini" },
);

const reasoning = fc.tuple(pieces, fc.boolean(), seals).map(
  ([parts, summary, sealed]): Make =>
    (id) => [
      { type: "reasoning-start", choice, id },
      ...parts.map(
        (text, i): ChatEvent => ({
          type: "reasoning-delta",
          choice,
          id,
          text,
          ...(summary ? { summaryIndex: i >> 1 } : {}),
        }),
      ),
      { type: "reasoning-end", choice, id, ...sealed },
    ],
);

const tool = fc
  .tuple(
    fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
    fc.integer({ min: 1, max: 5 }),
    fc.constantFrom(undefined, "Z2Vt"),
    fc.boolean(),
  )
  .map(([input, size, signature, custom]): Make => {
    const json = JSON.stringify(input);
    const parts = json.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    return (id) => [
      {
        type: "tool-start",
        choice,
        id,
        callId: `call_${id}`,
        name: "f",
        kind: custom ? "custom" : "function",
        ...(signature === undefined ? {} : { signature }),
      },
      ...parts.map((text): ChatEvent => ({ type: "tool-delta", choice, id, text })),
      { type: "tool-end", choice, id },
    ];
  });

const opaque = fc.constantFrom("anthropic-messages", "openai-responses").map(
  (origin): Make =>
    (id) => [{ type: "opaque", choice, origin, value: { type: "server_thing", id: `x_${id}` } }],
);

const REASONS: FinishReason[] = [
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "refusal",
  "stop_sequence",
  "pause",
  "context_window",
  "unknown",
];

/** Legal answers with one choice. `mix` repeatedly picks the open block that continues. */
function answers(mix: fc.Arbitrary<number[]>): fc.Arbitrary<ChatEvent[]> {
  return fc
    .record({
      start: fc.boolean(),
      makes: fc.array(fc.oneof(text, reasoning, tool, opaque), { maxLength: 6 }),
      mix,
      reason: fc.constantFrom(...REASONS),
      usage: fc.boolean(),
    })
    .map(({ start, makes, mix, reason, usage }) => {
      const events: ChatEvent[] = start ? [{ type: "start", id: "up", model: "up-model" }] : [];
      const queues = makes.map((make, i) => make(`b${i}`));
      let turn = 0;
      while (queues.some((queue) => queue.length > 0)) {
        const live = queues.filter((queue) => queue.length > 0);
        const queue = live[(mix[turn++] ?? 0) % live.length] as ChatEvent[];
        events.push(queue.shift() as ChatEvent);
      }
      events.push({
        type: "finish",
        choice,
        reason,
        ...(reason === "stop_sequence" ? { stopSequence: "END" } : {}),
        ...(usage ? { usage: { inputTokens: 9, outputTokens: 4, cachedTokens: 2, reasoningTokens: 1 } } : {}),
      });
      return events;
    });
}

/** Answers whose blocks may interleave. */
export const legalAnswer = answers(fc.array(fc.nat(7), { maxLength: 40 }));

/** Answers whose blocks follow each other, as all known upstreams send them. */
export const orderlyAnswer = answers(fc.constant([]));
