// The limits of a key whose chats use tools: a tool's call has the place of its chat, and all rounds count their tokens.

import { afterAll, expect, test } from "bun:test";
import { startToolsApp } from "./fixture.ts";

const { app, plays, stop } = await startToolsApp({ tiers: { premium: { parallel: 1, tpm: 10_000 } } });
afterAll(stop);

const TOOL = { type: "web_search_20250305", name: "web_search" };
const SEARCH = { calls: [{ name: "web_search", input: { query: "what is rye" } }] };
const ask = async (stream: boolean, more: object = {}) => {
  const messages = [{ role: "user", content: "What is rye?" }];
  const body = { model: "m", max_tokens: 100, messages, tools: [TOOL], stream, ...more };
  const response = await app.post("/v1/messages", body);
  const remaining = Number(response.headers.get("x-ratelimit-remaining-tokens"));
  return { status: response.status, text: await response.text(), remaining };
};

test.each([false, true])("a chat that may be the only one at once searches, stream %p", async (stream) => {
  plays({ say: "Nothing." });
  const before = await ask(stream);
  plays(SEARCH, { say: "Rye is a grain." });
  const searched = await ask(stream);
  expect(searched.status).toBe(200);
  expect(searched.text).toContain("web_search_tool_result");
  expect(searched.text).not.toContain("rate_limit");
  plays({ say: "Nothing." });
  const after = await ask(stream);
  // Each round used 14 tokens; the one before used as many.
  expect(before.remaining - after.remaining).toBe(3 * 14);
});
