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
/** The roles and texts of messages in short form. */
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
      "a result that comes after another call",
      [calls("1"), user("x"), calls("2"), results("2", "1")],
      ["assistant", "tool 1", "user", "assistant", "tool 2"],
    ],
    [
      "a missing result of an id that is used again",
      [calls("1"), user("x"), calls("1"), results("1")],
      ["assistant", "tool 1!", "user", "assistant", "tool 1"],
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
    const id = fc.constantFrom("1", "2", "3", "__proto__");
    // Repeated ids in one turn are invalid, but occur in practice.
    const ids = fc.oneof(
      { weight: 3, arbitrary: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }) },
      { weight: 1, arbitrary: fc.array(id, { maxLength: 3 }) },
    );
    const message = fc.oneof(
      fc.constant(user("x")),
      ids.map((some) => calls(...some)),
      ids.map((some) => results(...some)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const paired = pairResults(messages);
        const again = pairResults(paired);
        expect(again).toEqual(paired);
        const asks = paired.map((one) =>
          one.role === "assistant" ? one.content.flatMap((part) => ("callId" in part ? [part.callId] : [])) : [],
        );
        if (asks.every((some) => new Set(some).size === some.length)) expect(again).toBe(paired);
        // The results after a turn, in one or several messages, answer only that turn's calls.
        const answers = new Map<number, string[]>();
        let turn = -1;
        paired.forEach((one, at) => {
          if (one.role !== "tool") turn = at;
          else answers.set(turn, [...(answers.get(turn) ?? []), ...one.content.map((part) => part.callId)]);
        });
        asks.forEach((asked, at) => {
          expect([...(answers.get(at) ?? [])].sort()).toEqual([...asked].sort());
        });
        const words = (list: readonly ChatMessage[]) =>
          JSON.stringify(list)
            .match(/"r \w+"/g)
            ?.sort() ?? [];
        expect(words(paired)).toEqual(words(messages));
      }),
      { numRuns: 500 },
    );
  });
});
