import { expect, test } from "bun:test";
import { loadMetadata } from "../../src/catalog/metadata.ts";
import { knownCostMicros, withBilling } from "../../src/catalog/prices.ts";
import { CALLABLE } from "../../src/vendors/look-up.ts";

const lookUp = await loadMetadata();

const OPENAI = "https://api.openai.com/v1";
const ANTHROPIC = "https://api.anthropic.com/v1";

test.each([
  [OPENAI, "gpt-4o-mini", { contextLength: 128_000, maxOutputTokens: 16_384, supportsVision: true }],
  [OPENAI, "gpt-4o-mini-2024-07-18", { maxOutputTokens: 16_384, supportsReasoning: false }],
  [OPENAI, "GPT-4o-Mini", { maxOutputTokens: 16_384 }],
  [OPENAI, "o3-mini", { supportsVision: false, supportsReasoning: true }],
  [ANTHROPIC, "claude-sonnet-4-5", { maxOutputTokens: 64_000 }],
  [ANTHROPIC, "claude-sonnet-4-5-20250929", { maxOutputTokens: 64_000, supportsTools: true }],
  [ANTHROPIC, "claude-opus-4-1", { maxOutputTokens: 32_000 }],
  ["https://generativelanguage.googleapis.com/v1beta", "models/gemini-2.5-pro", { contextLength: 1_048_576 }],
  ["https://openrouter.ai/api/v1", "openai/gpt-4.1", { maxOutputTokens: 32_768 }],
])("public facts and prices of a model are found by its address and name: %s %s", (baseUrl, model, want) => {
  const facts = lookUp(baseUrl, model);
  expect(facts).toMatchObject(want);
  expect(facts?.prices?.output).toBeGreaterThan(facts?.prices?.input ?? Number.POSITIVE_INFINITY);
});

const GOOGLE = "https://generativelanguage.googleapis.com/v1beta";

test.each([
  [OPENAI, "gpt-6.1-terra", 1_050_000, 128_000],
  [OPENAI, "gpt-6-rosalind", 1_050_000, 128_000],
  [OPENAI, "gpt-6.2-astra-2026-11-17", 1_050_000, 128_000],
  [ANTHROPIC, "claude-haiku-5-5", 200_000, 64_000],
  [ANTHROPIC, "claude-fable-5-2", 1_000_000, 128_000],
  [GOOGLE, "models/gemini-4-carbon", 1_048_576, 65_536],
  ["https://openrouter.ai/api/v1", "anthropic/claude-opus-9", 1_000_000, 128_000],
])("%s %s: limits are inferred from the newest sibling, a price is not", (baseUrl, model, context, output) => {
  const facts = lookUp(baseUrl, model);
  expect(facts).toMatchObject({
    inferred: { contextLength: context, maxOutputTokens: output, supportsReasoning: true },
  });
  expect([facts?.prices, facts?.contextLength, facts?.maxOutputTokens]).toEqual([undefined, undefined, undefined]);
});

test("a model that is newer than the packages has the figures of its vendor's file", () => {
  expect(lookUp(OPENAI, "gpt-6.1-sol")).toMatchObject({
    contextLength: 1_050_000,
    maxOutputTokens: 128_000,
    prices: { input: 2, output: 10, cacheRead: 0.1 },
  });
  for (const { api } of CALLABLE) {
    for (const model of api.figures?.newer ?? []) {
      expect(model.source.length).toBeGreaterThan(10);
      expect(model.seen).toMatch(/^20\d\d-(?:0[1-9]|1[0-2])$/);
    }
  }
});

test.each([
  [OPENAI, "text-embedding-9"],
  [OPENAI, "gpt-image-9"],
  [GOOGLE, "gemini-embedding-9"],
  [OPENAI, "mine"],
])("%s %s: nothing is inferred", (baseUrl, model) => expect(lookUp(baseUrl, model)?.inferred).toBeUndefined());

test("a vendor with prices only says nothing about limits", () => {
  const facts = lookUp("https://api.groq.com/openai/v1", "llama-3.3-70b-versatile");
  expect(facts?.prices).toEqual({ input: 0.59, output: 0.79 });
  expect(facts?.maxOutputTokens).toBeUndefined();
  expect(facts?.supportsVision).toBeUndefined();
});

// The package's own names for these models are unknown to their vendors' servers.
test.each([
  ["https://api.fireworks.ai/inference/v1", "accounts/fireworks/models/deepseek-v3p2"],
  ["https://api.mistral.ai/v1", "codestral-latest"],
  ["https://api.mistral.ai/v1", "magistral-small-2509"],
])("%s %s has prices", (baseUrl, model) => {
  expect(lookUp(baseUrl, model)?.prices?.input).toBeGreaterThan(0);
});

test.each([
  [OPENAI, "text-embedding-3-small"],
  ["https://generativelanguage.googleapis.com/v1beta", "gemini-embedding-001"],
])("%s %s costs by its input alone", (baseUrl, model) => {
  expect(lookUp(baseUrl, model)?.prices).toEqual({ input: expect.any(Number), output: 0 });
});

test("long prompts have their own row", () => {
  const prices = lookUp("https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-pro")?.prices;
  expect(prices).toEqual({
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    tiers: [{ above: 200_000, input: 2.5, output: 15, cacheRead: 0.25 }],
  });
});

test.each([
  ["another server with the same id", "http://127.0.0.1:9100/v1", "gpt-4o-mini"],
  ["the vendor's name elsewhere in the address", "https://proxy.example/?to=https://api.openai.com/v1", "gpt-4o-mini"],
  ["no such model of a vendor that bills nothing beside tokens", "https://api.deepseek.com/v1", "no-such-model"],
  ["empty", "", ""],
])("nothing is known of %s", (_name, baseUrl, model) => expect(lookUp(baseUrl, model)).toBeUndefined());

const MILLION = { inputTokens: 1_000_000, outputTokens: 0 };

test.each([
  ["a grounded prompt once", GOOGLE, "models/gemini-2.5-flash", { searches: 3 }, 35_000],
  ["a grounded prompt once", GOOGLE, "gemini-2.0-flash-001", { searches: 1 }, 35_000],
  ["nothing without a search", GOOGLE, "gemini-2.5-pro", {}, 0],
  ["each search", GOOGLE, "gemini-3.8-flash", { searches: 3 }, 42_000],
  ["each search", GOOGLE, "gemini-flash-latest", { searches: 1 }, 14_000],
  ["six times the price when fast", ANTHROPIC, "claude-opus-4-6", { ...MILLION, service: "fast" }, 6_000_000],
  ["six times the price when fast", ANTHROPIC, "claude-opus-4.7", { ...MILLION, service: "fast" }, 6_000_000],
  ["twice the price when fast", ANTHROPIC, "claude-opus-4-8", { ...MILLION, service: "fast" }, 2_000_000],
  ["twice the price when fast", ANTHROPIC, "claude-opus-5-5", { ...MILLION, service: "fast" }, 2_000_000],
  ["each search", ANTHROPIC, "claude-opus-4-6", { searches: 2 }, 20_000],
  ["each request", OPENAI, "gpt-4o-search-preview", {}, 25_000],
  ["each request", OPENAI, "gpt-4o-mini-search-preview-2025-03-11", {}, 25_000],
  ["each search", OPENAI, "gpt-4o-mini", { searches: 2 }, 20_000],
  ["the tier", OPENAI, "gpt-4o-search-preview", { ...MILLION, service: "priority" }, 2_025_000],
] as const)("%s is billed: %s %s", (_what, baseUrl, model, usage, want) => {
  // One dollar for a million tokens, whatever the package says of the model.
  const prices = withBilling({ input: 1, output: 1 }, lookUp(baseUrl, model)?.billing);
  expect(knownCostMicros(prices, { inputTokens: 0, outputTokens: 0, ...usage })).toBe(want);
});

test("the operator's price of a search replaces the one of a grounded prompt", () => {
  const prices = withBilling({ input: 1, perSearch: 0.001 }, lookUp(GOOGLE, "gemini-2.5-flash")?.billing);
  expect(knownCostMicros(prices, { inputTokens: 0, outputTokens: 0, searches: 2 })).toBe(2000);
});

test("a model that nobody knows is billed by what its vendor bills beside tokens", () => {
  expect(lookUp(OPENAI, "no-such-model")).toEqual({ billing: lookUp(OPENAI, "gpt-4o-mini")?.billing });
  expect(lookUp(OPENAI, "no-such-model")?.billing?.services?.["priority"]).toBeGreaterThan(1);
});

test.each([
  [OPENAI, "gpt-5"],
  [OPENAI, "gpt-4.1"],
  [ANTHROPIC, "claude-sonnet-4-5"],
  [ANTHROPIC, "claude-haiku-4-5"],
  ["https://api.deepseek.com/v1", "deepseek-chat"],
])("%s %s: every figure is known and of the right order", (baseUrl, id) => {
  const facts = lookUp(baseUrl, id);
  expect(facts?.contextLength).toBeGreaterThan(30_000);
  expect(facts?.maxOutputTokens).toBeGreaterThan(4_000);
  // A price for one token instead of a million would be a millionth of this.
  expect(facts?.prices?.input).toBeGreaterThan(0.01);
  expect(facts?.prices?.output).toBeLessThan(1000);
});
