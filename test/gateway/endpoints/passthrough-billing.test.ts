// What a forwarded answer is billed by, in every protocol that names it: tiers, speeds, searches and hourly cache writes.

import { expect, test } from "bun:test";
import { loadMetadata } from "../../../src/catalog/metadata.ts";
import { reportReader } from "../../../src/gateway/endpoints/passthrough/reported.ts";

const CHAT = { prompt_tokens: 10, completion_tokens: 2 };
const INPUT = { input_tokens: 10, output_tokens: 2 };

test.each([
  ["chat completions", { service_tier: "priority", usage: CHAT }, { service: "priority" }],
  ["an ordinary tier", { service_tier: "default", usage: CHAT }, {}],
  [
    "cache writes of chat completions",
    { usage: { ...CHAT, prompt_tokens_details: { cache_write_tokens: 4 } } },
    { cacheWriteTokens: 4 },
  ],
  ["responses", { response: { service_tier: "flex", usage: INPUT } }, { service: "flex" }],
  [
    "messages",
    {
      usage: {
        ...{
          input_tokens: 4,
          output_tokens: 2,
          cache_creation_input_tokens: 6,
          service_tier: "priority",
          speed: "fast",
        },
        cache_creation: { ephemeral_1h_input_tokens: 5 },
        server_tool_use: { web_search_requests: 3 },
      },
    },
    { service: "fast", searches: 3, cacheWriteTokens: 6, cacheWriteHourTokens: 5 },
  ],
  [
    "Gemini",
    { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, trafficType: "ON_DEMAND_PRIORITY" } },
    { service: "priority" },
  ],
])("a forwarded answer says what it is billed by: %s", (_name, answer, more) => {
  const reader = reportReader("application/json")!;
  reader.push(new TextEncoder().encode(JSON.stringify(answer)));
  expect(reader.end()?.usage).toEqual({ inputTokens: 10, outputTokens: 2, ...more });
});

test.each([
  ["https://api.openai.com/v1", "gpt-4o", { priority: 2, flex: 0.5 }],
  ["https://api.anthropic.com/v1", "claude-opus-4-5", { fast: 2 }],
  ["https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash", { priority: 2, flex: 0.5 }],
])("the factors of %s are known for %s", async (baseUrl, model, services) => {
  const facts = (await loadMetadata())(baseUrl, model);
  expect(facts?.billing).toMatchObject({ services, perSearch: expect.any(Number) });
});
