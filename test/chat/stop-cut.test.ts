import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { cutEvents, StopCut } from "../../src/chat/stop-cut.ts";
import { leastMs, STEP_MS_MAX } from "../support/least-ms.ts";

const said = (pieces: readonly string[], choice = 0): ChatEvent[] => [
  { type: "text-start", choice, id: `t${choice}` },
  ...pieces.map((text): ChatEvent => ({ type: "text-delta", choice, id: `t${choice}`, text })),
  { type: "text-end", choice, id: `t${choice}` },
];
const finish = (choice = 0): ChatEvent => ({
  type: "finish",
  choice,
  reason: "length",
  usage: { inputTokens: 1, outputTokens: 2 },
});

function cut(events: readonly ChatEvent[], stops: readonly string[], choices = 1) {
  const cutter = new StopCut(stops, choices);
  const out: ChatEvent[] = [];
  for (const event of events) cutter.push(event, out);
  return { out, cutter };
}

const textOf = (events: readonly ChatEvent[], choice = 0) =>
  events.map((event) => (event.type === "text-delta" && event.choice === choice ? event.text : "")).join("");

describe("stop sequences that are cut here", () => {
  test("the text ends before the sequence, also when it came in pieces", () => {
    const { out, cutter } = cut([...said(["one E", "N", "D two"]), finish()], ["END"]);
    expect(textOf(out)).toBe("one ");
    expect(out.at(-2)).toEqual({ type: "text-end", choice: 0, id: "t0" });
    expect(out.at(-1)).toEqual({ type: "finish", choice: 0, reason: "stop_sequence", stopSequence: "END" });
    expect(cutter.over).toBe(true);
  });

  test("what only began like one is said in the end", () => {
    const { out, cutter } = cut([...said(["one EN", "d EN"]), finish()], ["END"]);
    expect(textOf(out)).toBe("one ENd EN");
    expect(out.at(-1)).toEqual(finish());
    expect(cutter.over).toBe(false);
  });

  test("the sequence that is complete first counts; empty ones are none", () => {
    expect(cut(said(["a|b#c"]), ["", "#", "|"]).out.at(-1)).toMatchObject({ stopSequence: "|" });
  });

  test("reasoning and arguments are not looked at", () => {
    const events: ChatEvent[] = [
      { type: "reasoning-start", choice: 0, id: "r" },
      { type: "reasoning-delta", choice: 0, id: "r", text: "END" },
      { type: "reasoning-end", choice: 0, id: "r" },
      { type: "tool-start", choice: 0, id: "c", callId: "c", name: "f", kind: "function" },
      { type: "tool-delta", choice: 0, id: "c", text: '{"END":1}' },
      { type: "tool-end", choice: 0, id: "c" },
      finish(),
    ];
    expect(cut(events, ["END"]).out).toEqual(events);
  });

  test("of several answers each is cut for itself, and the last one's end still says what they cost", () => {
    const events = [...said(["a END b"], 0), ...said(["c d"], 1), finish(0), finish(1)];
    const { out, cutter } = cut(events, ["END"], 2);
    expect(textOf(out, 0)).toBe("a ");
    expect(textOf(out, 1)).toBe("c d");
    expect(out.at(-2)).toMatchObject({ reason: "stop_sequence", stopSequence: "END", usage: { outputTokens: 2 } });
    expect(out.at(-1)).toEqual(finish(1));
    expect(cutter.over).toBe(false);
  });

  test("a whole answer keeps what the upstream said it cost", () => {
    const result = fold([{ type: "start" }, ...cutEvents([...said(["a END b"]), finish()], ["END"])]);
    expect(result.usage).toMatchObject({ outputTokens: 2 });
    expect(result.choices[0]).toMatchObject({ reason: "stop_sequence", stopSequence: "END" });
  });

  test("any text in any pieces ends where one character at a time would end it", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const stop = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 8 }),
        fc.array(stop, { minLength: 1, maxLength: 3 }),
        (pieces, stops) => {
          const text = pieces.join("");
          const { out } = cut([...said(pieces), finish()], stops);
          const { out: slow } = cut([...said([...text]), finish()], stops);
          expect(textOf(out)).toBe(textOf(slow));
          const met = stops.some((one) => text.includes(one));
          expect(out.at(-1)).toMatchObject({ reason: met ? "stop_sequence" : "length" });
          for (const one of stops) expect(textOf(out)).not.toContain(one);
          expect(out.filter(({ type }) => type === "finish")).toHaveLength(1);
        },
      ),
    );
  });
});

test("a thousand long sequences that begin alike hold no piece up", () => {
  const rest = "c".repeat(1000);
  const stops = Array.from({ length: 1000 }, (_, at) => `${"a".repeat(at + 1)}b${rest}`);
  const pieces = ["a".repeat(1000), ...Array.from({ length: 20 }, () => "aaaa")];
  expect(leastMs(() => cut(said(pieces), stops))).toBeLessThan(STEP_MS_MAX);
  expect(textOf(cut(said([...pieces, `b${rest}`]), stops).out)).toBe("a".repeat(80));
});
