// A long body of Gemini's format is read in steps, with the same result and the same refusals.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeGemini, decodeGeminiInSteps } from "../../src/wire/gemini/decode.ts";

const part = fc.constantFrom<unknown>(
  { text: "words" },
  { text: "I think.", thought: true, thoughtSignature: "c2ln" },
  { functionCall: { name: "read", args: { path: "a" } } },
  { functionCall: { id: "call_7", name: "read" } },
  { functionResponse: { name: "read", response: { output: "found" } } },
  { inlineData: { mimeType: "image/png", data: "aGk=" } },
);
const parts = fc.oneof(
  { weight: 20, arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>({}, "text", [{}]) },
);
const content = fc.oneof(
  { weight: 20, arbitrary: fc.record({ role: fc.constantFrom("user", "model", "function"), parts }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>({ role: "other" }, { parts: { text: "no role" } }, null) },
);
const body = fc.record(
  {
    model: fc.constantFrom<unknown>("m", "m", "m", 1),
    contents: fc.array(content, { maxLength: 4 }),
    systemInstruction: fc.constantFrom<unknown>({ parts: [{ text: "You help." }] }, "You help."),
    tools: fc.constantFrom<unknown[]>([{ functionDeclarations: [{ name: "read" }] }], [{ googleSearch: {} }]),
    stream: fc.constantFrom<unknown>(true, true, "yes"),
    generationConfig: fc.constantFrom<unknown>({ temperature: 0 }, { temperature: 0 }, { temperature: "hot" }),
  },
  { requiredKeys: ["model", "contents"] },
);

test("a body read in steps gives what it gives at once, or is refused in the same way", async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (one, waits) => {
      const settled = (act: () => unknown) => Promise.try(act).catch((error: unknown) => ({ error }));
      let pauses = 0;
      const pause = () => {
        pauses++;
        return waits ? Promise.resolve() : undefined;
      };
      const atOnce = await settled(() => decodeGemini(one));
      const inSteps = await settled(() => decodeGeminiInSteps(one, undefined, pause));
      expect(inSteps).toEqual(atOnce);
      if ("error" in (inSteps as object)) return;
      read++;
      expect(pauses).toBe(one.contents.length);
    }),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(30);
});
