import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pairResults } from "../../src/chat/pair.ts";
import type { ChatMessage, ToolResultPart } from "../../src/chat/request.ts";

const text = (words: string) => ({ type: "text" as const, text: words });
const user = (words: string): ChatMessage => ({ role: "user", content: [text(words)] });
const calls = (...ids: string[]): ChatMessage => ({
  role: "assistant",
  content: ids.map((callId) => ({ type: "tool-call", callId, name: "f", kind: "function", arguments: "{}" })),
});
const results = (...ids: string[]): ChatMessage => ({
  role: "tool",
  content: ids.map((callId): ToolResultPart => ({ type: "tool-result", callId, content: [text(`r ${callId}`)] })),
});
/** Who said what, in short. */
const short = (messages: readonly ChatMessage[]) =>
  messages.map((message) =>
    message.role === "tool"
      ? `tool ${message.content.map((part) => part.callId + (part.isError ? "!" : "")).join(",")}`
      : message.role,
  );

describe("pairResults", () => {
  test("a history in order is left alone", () => {
    const messages = [user("a"), calls("1", "2"), results("2"), results("1"), user("b"), calls("3"), results("3")];
    expect(pairResults(messages)).toBe(messages);
  });

  test.each([
    ["text before the results", [calls("1"), user("x"), results("1")], ["assistant", "tool 1", "user"]],
    ["a missing result", [calls("1", "2"), results("1"), user("x")], ["assistant", "tool 1,2!", "user"]],
    ["calls at the end", [user("x"), calls("1")], ["user", "assistant", "tool 1!"]],
    ["a stray result", [user("x"), results("9")], ["user", "user"]],
    [
      "a result that comes too late",
      [calls("1"), user("x"), calls("2"), results("2", "1")],
      ["assistant", "tool 1!", "user", "assistant", "tool 2", "user"],
    ],
    [
      "an id used again",
      [calls("1"), results("1"), calls("1"), results("1")],
      ["assistant", "tool 1", "assistant", "tool 1"],
    ],
  ] as const)("%s", (_name, messages, expected) => {
    expect(short(pairResults(messages))).toEqual([...expected]);
  });

  test("whatever the history, it is paired afterwards, and no words are lost", () => {
    const id = fc.constantFrom("1", "2", "3");
    const message = fc.oneof(
      fc.constant(user("x")),
      fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)),
      fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => results(...ids)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const paired = pairResults(messages);
        expect(pairResults(paired)).toBe(paired);
        const words = (list: readonly ChatMessage[]) => JSON.stringify(list).match(/"r \d"/g)?.length ?? 0;
        expect(words(paired)).toBe(words(messages));
      }),
      { numRuns: 500 },
    );
  });
});
