// What Google refuses in the contents of a request is refused by name.

import { expect, test } from "bun:test";
import { geminiFormat } from "../../src/wire/gemini/format.ts";

const decode = (contents: unknown) => geminiFormat.decode({ model: "m", contents }, {});

test("a content of the user without parts is refused, one of the model is left out", () => {
  const hi = { role: "user", parts: [{ text: "hi" }] };
  for (const empty of [{ role: "user", parts: [] }, { parts: [] }, { role: "user" }, { role: "function", parts: [] }]) {
    expect(() => decode([hi, empty])).toThrow("Invalid 'contents[1].parts': expected at least one part.");
  }
  expect(decode([hi, { role: "model", parts: [] }, hi]).messages.map(({ role }) => role)).toEqual(["user"]);
});
