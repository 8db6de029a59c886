import { describe, expect, test } from "bun:test";
import type { AssistantContent, ChatRequest } from "../../src/chat/request.ts";
import { canRead, type SealReader, withoutForeignSeals } from "../../src/chat/seals.ts";

const holding = (...content: AssistantContent[]): ChatRequest => ({
  model: "m",
  messages: [
    { role: "user", content: [] },
    { role: "assistant", content },
  ],
  stream: false,
  includeUsage: true,
  tools: [],
  extra: {},
});
const call = { type: "tool-call", callId: "c", name: "f", kind: "function", arguments: "{}" } as const;
const claude: SealReader = {
  protocol: "anthropic-messages",
  minter: "claude",
  unsigned: false,
  minterOf: (value) => ({ mine: "claude", theirs: "other" })[value],
};
const partsFor = (reader: SealReader, ...content: AssistantContent[]) =>
  withoutForeignSeals(holding(...content), reader).messages[1]?.content;

describe("a seal is read by who minted it", () => {
  const origin = "anthropic-messages";
  test.each([
    ["its own", { origin, minter: "claude", value: "s" }, true],
    ["another provider's of the protocol", { origin, minter: "other", value: "s" }, false],
    ["another protocol's", { origin: "gemini", minter: "claude", value: "s" }, false],
    ["without a provider, remembered as its own", { origin, value: "mine" }, true],
    ["without a provider, remembered as another's", { origin, value: "theirs" }, false],
    ["without a provider, never seen", { origin, value: "s" }, true],
  ])("%s", (_name, seal, readable) => expect(canRead(seal, claude)).toBe(readable));
});

test("what it minted stays, and a request without anything foreign is not copied", () => {
  const own: AssistantContent = {
    type: "reasoning",
    text: "x",
    signature: "s",
    origin: "anthropic-messages",
    minter: "claude",
  };
  const chat = holding(own, { type: "reasoning", text: "plain" }, call);
  expect(withoutForeignSeals(chat, claude)).toBe(chat);
});

test("of what another one minted the text stays, and nothing that is sealed", () => {
  const foreign = { origin: "openai-responses", minter: "other" };
  const parts = partsFor(
    claude,
    { type: "reasoning", text: "", summary: ["why"], encrypted: "e", itemId: "rs_1", ...foreign },
    { type: "reasoning", text: "", redacted: "r", origin: "anthropic-messages", minter: "other" },
    { type: "reasoning", text: "t", details: [{ type: "reasoning.text", text: "t" }], ...foreign },
    { ...call, signature: "s" },
  );
  expect(parts).toEqual([
    { type: "reasoning", text: "", summary: ["why"] },
    { type: "reasoning", text: "" },
    { type: "reasoning", text: "t" },
    call,
  ]);
});
