// What is known of models in clouds: prices are the cloud's own or, where it charges what the maker does, the maker's; limits are
// inferred from the maker's. Profiles, ARNs and versions are spellings of one model.

import { describe, expect, test } from "bun:test";
import { loadMetadata } from "../../src/catalog/metadata.ts";

const lookUp = await loadMetadata();

const RUNTIME = "https://bedrock-runtime.us-east-1.amazonaws.com";
const MANTLE = "https://bedrock-mantle.us-east-1.api.aws";
const GLOBAL = "https://aiplatform.googleapis.com";
const REGION = "https://us-east5-aiplatform.googleapis.com";
const EUROPE = "https://aiplatform.eu.rep.googleapis.com";
const MICROSOFT = "https://my-resource.openai.azure.com";
const [ANTHROPIC, OPENAI] = ["https://api.anthropic.com/v1", "https://api.openai.com/v1"];

describe("Claude on Bedrock has the prices of its profile and the limits of its maker", () => {
  const ARN = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/";
  const MODELS = [
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"],
    ["anthropic.claude-opus-5-5", "claude-opus-5-5"],
  ] as const;
  const PROFILES = ["", "us.", "eu.", "apac.", "jp.", "au.", "ca.", "us-gov.", `${ARN}us.`, `${ARN}apac.`];
  const rows = MODELS.flatMap(([model, maker]) => [
    ...PROFILES.map((profile) => [profile + model, maker, 1.1] as const),
    ...["global.", `${ARN}global.`].map((profile) => [profile + model, maker, 1] as const),
  ]);
  test.each(rows)("%s", (model, maker, factor) => {
    const [facts, made] = [lookUp(RUNTIME, model), lookUp(ANTHROPIC, maker)];
    expect(facts?.prices?.input).toBeCloseTo((made?.prices?.input ?? 0) * factor, 9);
    expect(facts?.prices?.output).toBeCloseTo((made?.prices?.output ?? 0) * factor, 9);
    expect(facts?.inferred).toMatchObject({ maxOutputTokens: made!.maxOutputTokens, supportsVision: true });
    expect(facts?.maxOutputTokens).toBeUndefined();
  });
});

test.each([
  [RUNTIME, "us.meta.llama3-3-70b-instruct-v1:0"],
  [RUNTIME, "eu.amazon.nova-lite-v1:0"],
  [RUNTIME, "qwen.qwen3-32b-v1:0"],
  [RUNTIME, "openai.gpt-5.4"],
  [RUNTIME, "openai.gpt-oss-120b-1:0"],
  [MANTLE, "openai.gpt-oss-120b"],
  [MANTLE, "openai.gpt-5.4"],
  [MANTLE, "anthropic.claude-opus-4-8"],
  [GLOBAL, "gemini-2.5-flash"],
  [REGION, "google/gemini-2.5-pro"],
  [MICROSOFT, "text-embedding-3-small"],
])("%s %s has a price", (address, model) => {
  expect(lookUp(address, model)?.prices?.input).toBeGreaterThan(0);
});

test.each([
  [GLOBAL, "claude-sonnet-4-5@20250929", "claude-sonnet-4-5", 1],
  [REGION, "claude-sonnet-4-5@20250929", "claude-sonnet-4-5", 1.1],
  [EUROPE, "claude-opus-5-5", "claude-opus-5-5", 1.1],
  [GLOBAL, "claude-sonnet-5", "claude-sonnet-5", 1],
  [REGION, "claude-haiku-4-5@20251001", "claude-haiku-4-5", 1.1],
  // Places cost more from the models of autumn 2025 on.
  [REGION, "claude-opus-4-1@20250805", "claude-opus-4-1", 1],
  [REGION, "claude-opus-4@20250514", "claude-opus-4", 1],
  [REGION, "claude-sonnet-4@20250514", "claude-sonnet-4", 1],
  [REGION, "claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet", 1],
  [MICROSOFT, "claude-sonnet-5", "claude-sonnet-5", 1],
])("%s %s costs what %s costs at its maker, times %p", (address, model, maker, factor) => {
  const [facts, made] = [lookUp(address, model), lookUp(ANTHROPIC, maker)];
  expect(facts?.prices?.input).toBeCloseTo((made?.prices?.input ?? 0) * factor, 9);
  expect(facts?.prices?.cacheRead).toBeCloseTo((made?.prices?.cacheRead ?? 0) * factor, 9);
  expect(facts?.prices?.tiers?.[0]?.input ?? 0).toBeCloseTo((made?.prices?.tiers?.[0]?.input ?? 0) * factor, 9);
  // A search costs what it costs at the maker, not at the cloud.
  expect(facts?.billing).toEqual(made?.billing);
});

test.each(["gpt-4o", "gpt-5", "gpt-6.1-sol"])("a deployment that is called %s costs what the model costs", (name) => {
  const [facts, made] = [lookUp(MICROSOFT, name), lookUp(OPENAI, name)];
  expect(facts?.prices).toEqual(made!.prices!);
  expect(facts?.inferred).toMatchObject({ maxOutputTokens: made!.maxOutputTokens });
});

test.each([
  // It is no `gpt-5-pro`, which costs twelve times as much.
  [MICROSOFT, "gpt-5-prod"],
  [MICROSOFT, "my-deployment"],
  [MICROSOFT, "claude-for-support"],
  [RUNTIME, "arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/abc"],
  [RUNTIME, "anthropic.claude-opus-9-v1:0"],
  ["https://bedrock-runtime.us-east-1.amazonaws.com.elsewhere.example", "us.anthropic.claude-opus-5-5"],
])("%s %s has no price", (address, model) => {
  expect(lookUp(address, model)?.prices).toBeUndefined();
});
