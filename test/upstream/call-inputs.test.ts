// Protocols that write the inputs of calls as objects have them parsed before, in steps.

import { expect, test } from "bun:test";
import type { ChatMessage, ToolCallPart } from "../../src/chat/request.ts";
import { callInput, parseCallInputs } from "../../src/upstream/call-inputs.ts";
import { DIALECTS } from "../../src/upstream/dialects/index.ts";
import { context } from "./support.ts";

const call = (callId: string, text: string): ToolCallPart => ({
  type: "tool-call",
  callId,
  name: "read",
  kind: "function",
  arguments: text,
});
const history = (): ChatMessage[] => [
  { role: "user", content: [{ type: "text", text: "Look." }] },
  { role: "assistant", content: [call("c1", '{"path":"a"}'), call("c2", '{"path":"b",}'), call("c3", "no object")] },
  { role: "user", content: [{ type: "text", text: "Go on." }] },
];

test("an input that was parsed before is the same, and is taken once", async () => {
  const messages = history();
  let pauses = 0;
  await parseCallInputs(messages, () => {
    pauses++;
    return pauses === 2 ? Promise.resolve() : undefined;
  });
  expect(pauses).toBe(3);
  const parts = messages.flatMap(({ content }) => content as ToolCallPart[]).filter(({ type }) => type === "tool-call");
  const [path] = parts.map((part) => callInput(part));
  expect(path).toEqual({ path: "a" });
  expect(parts.map((part) => callInput(part))).toEqual([{ path: "a" }, { path: "b" }, { arguments: "no object" }]);
  expect(callInput(parts[0] as ToolCallPart)).not.toBe(path as object);
});

test.each(DIALECTS.map((dialect) => [dialect.name, dialect] as const))(
  "%s says whether it writes inputs as objects, and writes the same of those that were parsed before",
  async (_name, dialect) => {
    const chat = () => ({ model: "m", messages: history(), tools: [], stream: false, includeUsage: true, extra: {} });
    const asked = chat();
    await parseCallInputs(asked.messages, () => undefined);
    const { body } = dialect.request(asked, context());
    expect(body).toBe(dialect.request(chat(), context()).body);
    expect(String(body).includes('{"path":"b"}')).toBe(dialect.parsesInputs === true);
  },
);
