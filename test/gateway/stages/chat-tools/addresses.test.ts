// The addresses that a conversation names.

import { expect, test } from "bun:test";
import { knownAddresses } from "../../../../src/gateway/stages/chat-tools/addresses.ts";

const said = (text: string) => [...knownAddresses([{ role: "user", content: [{ type: "text", text }] }])];

test("marks that end a sentence are not a part of an address", () => {
  expect(said("See (https://a.example/b_c).")).toEqual(["https://a.example/b_c).", "https://a.example/b_c"]);
});

test("a long run of such marks takes no more time than other text", () => {
  const address = `https://a.example/${")".repeat(200_000)}a`;
  expect(said(address)).toEqual([address]);
}, 5000);
