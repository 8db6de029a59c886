// Opening the signatures in a history of Gemini's API.

import { expect, test } from "bun:test";
import { openContents, toSignature } from "../../src/wire/gemini/seals.ts";

const reader = { protocol: "gemini", minter: "here", unsigned: false, minterOf: () => undefined };
const foreign = toSignature({ signature: "abcd", origin: "openai-responses", minter: "there" });
const part = { text: "Hm.", thoughtSignature: foreign };

test.each([
  ["lists", [{ role: "model", parts: [part] }], ["contents", 0, "parts", 0, "thoughtSignature"]],
  ["one part in place of a list", [{ role: "model", parts: part }], ["contents", 0, "parts", "thoughtSignature"]],
  ["one content in place of a list", { role: "model", parts: [part] }, ["contents", "parts", 0, "thoughtSignature"]],
] as const)("a foreign signature is removed from %s", (_, contents, path) => {
  expect(openContents({ contents }, reader)).toEqual({ edits: [{ path: [...path] }], removed: true });
});
