import { expect, test } from "bun:test";
import { addDetails } from "../../src/upstream/dialects/openai-chat/details.ts";

const piece = (text: string, more = {}) => ({ type: "reasoning.text", text, index: 0, ...more });

test("pieces of a text are one entry up to its signature, and what follows is another", () => {
  const details: Record<string, unknown>[] = [];
  addDetails(details, [piece("Fir"), piece("st.")]);
  addDetails(details, [{ type: "reasoning.text", signature: "s1", index: 0 }]);
  addDetails(details, [piece("Second.", { signature: "s2" })]);
  expect(details).toEqual([piece("First.", { signature: "s1" }), piece("Second.", { signature: "s2" })]);
});
