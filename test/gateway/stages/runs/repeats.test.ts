// What counts as a loop: the same calls in a row, or the same round of two or three.

import { expect, test } from "bun:test";
import type { ChatMessage } from "../../../../src/chat/request.ts";
import { repeatsOf } from "../../../../src/gateway/stages/runs/repeats.ts";

type Step = string | { person: string } | { reminder: string };

/** Steps: `name arguments`, or what is said. Every call has its result. */
function history(steps: readonly Step[]): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: "user", content: [{ type: "text", text: "Do it." }] }];
  for (const [at, step] of steps.entries()) {
    if (typeof step !== "string") {
      const text = "person" in step ? step.person : step.reminder;
      if ("person" in step) messages.push({ role: "assistant", content: [{ type: "text", text: "Well." }] });
      messages.push({ role: "user", content: [{ type: "text", text }] });
      continue;
    }
    const content = step.split(" & ").map((call, place) => {
      const [name = "", ...rest] = call.split(" ");
      return {
        type: "tool-call" as const,
        callId: `c${at}.${place}`,
        name,
        kind: "function" as const,
        arguments: rest.join(" "),
      };
    });
    messages.push({ role: "assistant", content });
    messages.push({
      role: "tool",
      content: content.map(({ callId }) => ({ type: "tool-result", callId, content: [] })),
    });
  }
  return messages;
}

const CASES: readonly (readonly [what: string, steps: readonly Step[], repeats: number])[] = [
  ["no calls", [], 0],
  ["one call", ["read {}"], 1],
  ["different calls", ["read {}", "write {}", "list {}"], 1],
  ["the same call", ["read {}", "read {}", "read {}"], 3],
  ["the same call after others", ["write {}", "read {}", "read {}"], 2],
  ["the same name with other arguments", ['read {"a":1}', 'read {"a":2}'], 1],
  ["arguments in another order", ['read {"a":1,"b":{"c":2,"d":3}}', 'read { "b": {"d":3,"c":2}, "a":1 }'], 2],
  ["a list in another order", ['read {"a":[1,2]}', 'read {"a":[2,1]}'], 1],
  ["free text", ["sh ls -l", "sh ls -l"], 2],
  ["two in turn", ["a {}", "b {}", "a {}", "b {}", "a {}", "b {}"], 3],
  ["two in turn, the third round begun", ["a {}", "b {}", "a {}", "b {}", "a {}"], 2],
  ["three in turn", ["a {}", "b {}", "c {}", "a {}", "b {}", "c {}"], 2],
  ["four in turn", ["a {}", "b {}", "c {}", "d {}", "a {}", "b {}", "c {}", "d {}"], 1],
  ["rounds of calls made together", ["a {} & b {}", "a {} & b {}", "a {} & b {}"], 3],
  ["more than are asked for", Array.from({ length: 50 }, () => "a {}"), 9],
  ["a person says something", ["a {}", "a {}", { person: "Go on." }, "a {}"], 1],
  ["a person has just said something", ["a {}", "a {}", { person: "Go on." }], 0],
  ["the agent's own reminder", ["a {}", { reminder: "Remember." }, "a {}", { reminder: "Remember!" }, "a {}"], 3],
  [
    "the agent says the same each time",
    [{ person: "Go on." }, "a {}", { person: "Go on." }, "a {}", { person: "Go on." }, "a {}"],
    3,
  ],
];

test.each(CASES)("the last calls of a history are counted: %s", (_what, steps, repeats) => {
  expect(repeatsOf(history(steps), 9)).toBe(repeats);
});

test("deep and long arguments are compared in bounded time", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const long = (at: number) => `{"text":"${"x".repeat(400_000)}","a":${at % 2}}`;
  expect(repeatsOf(history([`a ${deep}`, `a ${deep} `]), 5)).toBe(2);
  expect(repeatsOf(history([0, 1, 2, 3, 4, 5].map((at) => `a ${long(at)}`)), 5)).toBe(3);
});
