import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJson, JsonPrefix } from "../../src/base/json-repair.ts";
import { ArgumentGuard } from "../../src/chat/argument-guard.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import { ToolGuard } from "../../src/chat/tool-guard.ts";
import { damagedText, objectText } from "../support/json-text.ts";

function guarded(kind: "function" | "custom", ...fragments: string[]): ChatEvent[] {
  const guard = new ToolGuard();
  const out: ChatEvent[] = [];
  guard.push({ type: "tool-start", choice: 0, id: "b", callId: "c", name: "f", kind }, out);
  for (const text of fragments) guard.push({ type: "tool-delta", choice: 0, id: "b", text }, out);
  guard.push({ type: "tool-end", choice: 0, id: "b" }, out);
  return out;
}

const sent = (events: ChatEvent[]) => events.map((event) => (event.type === "tool-delta" ? event.text : "")).join("");

describe("ToolGuard", () => {
  test("valid fragments flow as they come", () => {
    expect(guarded("function", '{"a"', ":1}").map((event) => event.type)).toEqual([
      "tool-start",
      "tool-delta",
      "tool-delta",
      "tool-end",
    ]);
  });

  test.each([
    ["nothing", [], "{}"],
    ["a trailing comma", ['{"a":1', ",}"], '{"a":1}'],
    ["cut off in a string", ['{"a":"x'], '{"a":"x"}'],
    ["cut off after a comma", ['{"a":1,'], '{"a":1,"":null}'],
    ["cut off in a key", ['{"a":1,"b'], '{"a":1,"b":null}'],
    ["rubbish after the whole", ['{"a":1}', "}"], '{"a":1}'],
    ["single quotes from the start", ["{'a':", "'b'}"], '{"a":"b"}'],
  ])("%s is made whole without unsaying anything", (_name, fragments, whole) => {
    expect(sent(guarded("function", ...fragments))).toBe(whole);
  });

  test("what cannot be made whole ends the answer", () => {
    const events = guarded("function", '{"a":', "<>");
    expect(events.at(-1)).toMatchObject({ type: "error", code: "tool_arguments_invalid" });
    expect(events.filter((event) => event.type === "tool-end")).toEqual([]);
  });

  test("free text of custom tools is nobody's JSON", () => {
    expect(sent(guarded("custom", "*** Begin", "\n+x"))).toBe("*** Begin\n+x");
  });
});

test("what an ArgumentGuard lets through, with its ending, is valid JSON or declared broken, however it is cut and split", () => {
  fc.assert(
    fc.property(fc.oneof(objectText, damagedText), fc.integer({ min: 1, max: 7 }), (text, size) => {
      const guard = new ArgumentGuard();
      let out = "";
      for (let at = 0; at < text.length; at += size) {
        const fragment = text.slice(at, at + size);
        if (guard.push(fragment)) out += fragment;
      }
      expect(guard.sent).toBe(out);
      const rest = guard.end();
      if (rest !== undefined) expect([text, isJson(out + rest)]).toEqual([text, true]);
      // Valid arguments are neither held nor changed.
      if (isJson(text)) expect(out + rest).toBe(text);
      // Arguments that are only truncated are always completed.
      if (new JsonPrefix().push(text)) expect(rest).toBeDefined();
    }),
    { numRuns: 1000 },
  );
});
