import { expect, test } from "bun:test";
import { chatCompletionsFormat } from "../../src/wire/chat-completions/format.ts";
import { completionsFormat } from "../../src/wire/completions/format.ts";
import type { Json } from "./support.ts";

const OPENROUTER = "ai-sdk/openrouter/3.1.0";

test.each<[string, Json, string | undefined, boolean]>([
  ["nothing", {}, undefined, false],
  ["stream_options", { stream_options: { include_usage: true } }, undefined, true],
  ["stream_options that refuse it", { stream_options: { include_usage: false } }, OPENROUTER, false],
  ["other stream_options", { stream_options: { include_obfuscation: false } }, undefined, false],
  ["OpenRouter's own member", { usage: { include: true } }, undefined, true],
  ["the member that refuses it", { usage: { include: false } }, undefined, false],
  ["a member of another type", { usage: "include" }, undefined, false],
  ["a client that reads it without asking", {}, OPENROUTER, true],
  ["another client", {}, "OpenAI/JS 7.57.0", false],
])("usage at the end of a stream: %s", (_name, more, userAgent, wanted) => {
  const headers = userAgent === undefined ? {} : { userAgent };
  const chat = { model: "m", messages: [{ role: "user", content: "hi" }], stream: true, ...more };
  const read = chatCompletionsFormat.decode(chat, headers);
  expect(read.includeUsage).toBe(wanted);
  expect(read.extra).toEqual({});
  expect(completionsFormat.decode({ model: "m", prompt: "hi", stream: true, ...more }, headers).includeUsage).toBe(
    wanted,
  );
});
