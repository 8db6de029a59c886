// A long body of the messages format is read in steps, with the same result and the same refusals.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeMessages, decodeMessagesInSteps } from "../../src/wire/messages/decode.ts";

const content = fc.oneof(
  fc.constantFrom("text", "", undefined, 7),
  fc.array(
    fc.constantFrom<unknown>(
      { type: "text", text: "words" },
      { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
      { type: "tool_result", tool_use_id: "call_1", content: "found" },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      { type: "text" },
    ),
    { maxLength: 3 },
  ),
);
const message = fc.oneof(
  { weight: 20, arbitrary: fc.record({ role: fc.constantFrom("user", "assistant"), content }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>({ role: "system", content: "now" }, { role: "other" }, null, "text"),
  },
);
const body = fc.record(
  {
    model: fc.constantFrom<unknown>("m", "m", "m", 1),
    max_tokens: fc.constantFrom<unknown>(10, 10, 10, "many"),
    messages: fc.array(message, { maxLength: 6 }),
    system: fc.constantFrom("You help."),
    tools: fc.constantFrom<unknown[]>([{ name: "read", input_schema: { type: "object" } }], [{}]),
    tool_choice: fc.constantFrom<unknown>({ type: "auto" }, "auto"),
    metadata: fc.constantFrom({ user_id: "u" }),
  },
  { requiredKeys: ["model", "max_tokens", "messages"] },
);

test("a body read in steps gives what it gives at once, or is refused in the same way", async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (one, waits) => {
      const options = { userAgent: "" };
      const settled = (read: () => unknown) => Promise.try(read).catch((error: unknown) => ({ error }));
      let pauses = 0;
      const pause = () => {
        pauses++;
        return waits ? Promise.resolve() : undefined;
      };
      const atOnce = await settled(() => decodeMessages(one, options));
      const inSteps = await settled(() => decodeMessagesInSteps(one, options, pause));
      expect(inSteps).toEqual(atOnce);
      if ("error" in (inSteps as object)) return;
      read++;
      expect(pauses).toBe(one.messages.length);
    }),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(0);
});
