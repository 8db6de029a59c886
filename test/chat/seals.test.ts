import { expect, test } from "bun:test";
import type { AssistantContent, ChatRequest } from "../../src/chat/request.ts";
import { hasForeignSeals } from "../../src/chat/seals.ts";

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

test("reasoning of the protocol itself and unsealed reasoning are at home anywhere they came from", () => {
  const own = holding({ type: "reasoning", text: "x", signature: "s", origin: "anthropic-messages" });
  expect(hasForeignSeals(own, "anthropic-messages")).toBe(false);
  expect(hasForeignSeals(holding({ type: "reasoning", text: "x" }, call), "anthropic-messages")).toBe(false);
});

test("values that another protocol sealed are foreign", () => {
  const other = holding({ type: "reasoning", text: "", encrypted: "e", origin: "openai-responses" });
  expect(hasForeignSeals(other, "anthropic-messages")).toBe(true);
  expect(hasForeignSeals(other, "openai-responses")).toBe(false);
  const signed = holding({ ...call, signature: "s" });
  expect(hasForeignSeals(signed, "openai-responses")).toBe(true);
  expect(hasForeignSeals(signed, "openai-chat")).toBe(false);
});
