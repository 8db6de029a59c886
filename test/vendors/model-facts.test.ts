// Facts derived from a model's name, wherever it is served, and the handling of unknown names.

import { describe, expect, test } from "bun:test";
import { FAMILIES } from "../../src/vendors/index.ts";
import { factsOf, modelByName } from "../../src/vendors/model-facts.ts";
import { EFFORTS, type ModelTraits } from "../../src/vendors/model-family.ts";

describe("every rule", () => {
  const rules = FAMILIES.flatMap((family) => family.rules.map((rule, at) => [`${family.name} ${at}`, rule] as const));

  test.each(rules)("%s says where it is from and when it was looked up", (_name, rule) => {
    expect(rule.source.length).toBeGreaterThan(10);
    expect(rule.seen).toMatch(/^20\d\d-(?:0[1-9]|1[0-2])$/);
    expect(Object.keys(rule.facts)).not.toEqual([]);
    for (const words of [rule.facts.efforts, rule.facts.chatEfforts]) {
      const ranks = (words ?? []).map((word) => EFFORTS.indexOf(word));
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    }
  });

  test("families have names of their own, and patterns without memory", () => {
    expect(new Set(FAMILIES.map(({ name }) => name)).size).toBe(FAMILIES.length);
    for (const { pattern } of FAMILIES) expect(pattern.flags).toBe("");
  });
});

const NO_EFFORT = ["reasoning_effort", "reasoning"];
const PENALTIES = ["presence_penalty", "frequency_penalty"];

describe("families", () => {
  test.each([
    ["claude-3-5-haiku-latest", { thinking: "none", sampling: "always", structured: false, reasons: false }],
    ["claude-3-7-sonnet-20250219", { thinking: "budget", structured: false, bothSamplers: true, reasons: true }],
    ["claude-sonnet-4-20250514", { thinking: "budget", structured: false, prefill: true }],
    ["claude-opus-4-1-20250805", { thinking: "budget", structured: true, bothSamplers: false }],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", { thinking: "budget", sampling: "always", structured: true }],
    ["claude-opus-4-6", { thinking: "effort", sampling: "always", prefill: false, thinkingOff: "" }],
    ["anthropic/claude-opus-4.8", { thinking: "effort", sampling: "never", lateSystem: true, reasonsByDefault: false }],
    ["claude-sonnet-5", { lateSystem: false, thinkingOff: "disabled", forcedTool: true, reasonsByDefault: true }],
    ["claude-opus-5", { lateSystem: true, thinkingOff: "disabled", forcedTool: true, prefill: false }],
    ["claude-opus-5-5", { lateSystem: true, thinkingOff: "never", forcedTool: false }],
    ["claude-sonnet-5-5", { lateSystem: true, thinkingOff: "between_tools", forcedTool: false }],
    ["claude-fable-5-1", { lateSystem: true, thinkingOff: "never", forcedTool: false }],
    ["gpt-4o", { efforts: [], reasons: false, sampling: "always" }],
    ["chatgpt-4o-latest", { reasons: false }],
    ["gpt-5-chat-latest", { efforts: [], reasons: false, sampling: "always", refuses: [] }],
    ["openai/gpt-5-mini-2025-08-07", { efforts: ["minimal", "low", "medium", "high"], sampling: "never" }],
    ["gpt-5.1", { sampling: "unless-reasoning", reasonsByDefault: false, chatTools: "always" }],
    ["gpt-5.4-mini", { sampling: "unless-reasoning", reasonsByDefault: false, chatTools: "unless-reasoning" }],
    ["gpt-5.6-terra", { reasonsByDefault: true, chatTools: "unless-reasoning", responsesOnly: false }],
    ["gpt-5-codex", { responsesOnly: true, sampling: "never", efforts: ["low", "medium", "high"] }],
    ["gpt-5.1-codex-max", { responsesOnly: true, efforts: ["low", "medium", "high", "xhigh"] }],
    ["gpt-5.3-codex-spark", { responsesOnly: true, efforts: ["none", "low", "medium", "high", "xhigh"] }],
    ["codex-mini-latest", { responsesOnly: true, efforts: ["low", "medium", "high"] }],
    ["gpt-5.2-pro", { responsesOnly: true }],
    ["gpt-5-prod", { responsesOnly: false, efforts: ["minimal", "low", "medium", "high"] }],
    ["gpt-5-pro-2025-10-06", { responsesOnly: true, efforts: ["high"] }],
    ["o3-deep-research", { responsesOnly: true }],
    ["azure/prod-o4-mini", { reasons: true, sampling: "never", refuses: ["stop"] }],
    ["openai/gpt-oss-120b", { reasons: true, sampling: "always" }],
    ["gemini-2.0-flash", { thinking: "none", reasons: false }],
    ["models/gemini-2.5-pro", { thinking: "budget", budgetMin: 128 }],
    ["google/gemini-3-pro-preview", { thinking: "effort", efforts: ["low", "high"], callIds: true }],
    ["gpt-6.2-sol", { efforts: ["low", "medium", "high", "xhigh", "max"], sampling: "unless-reasoning" }],
    ["gpt-6.1-terra", { efforts: ["none", "low", "medium", "high", "xhigh", "max"] }],
    ["models/gemini-3.8-flash", { efforts: ["low", "medium", "high"] }],
    ["gemini-4-hydrogen", { efforts: ["low", "medium", "high", "xhigh"], callIds: true }],
    ["grok-4-0709", { reasons: true, efforts: [], refuses: [...NO_EFFORT, ...PENALTIES, "stop"] }],
    ["grok-4-1-fast-reasoning", { reasons: true, efforts: [], refuses: [...NO_EFFORT, ...PENALTIES, "stop"] }],
    ["grok-4-fast-non-reasoning", { reasons: false, efforts: [], refuses: [...NO_EFFORT, ...PENALTIES] }],
    ["grok-4.20-0309-non-reasoning", { reasons: false, efforts: [], refuses: [...NO_EFFORT, ...PENALTIES] }],
    ["grok-4.20-reasoning", { reasons: true, efforts: [] }],
    ["x-ai/grok-4.20-multi-agent", { reasons: true, efforts: ["low", "medium", "high", "xhigh"] }],
    ["grok-code-fast-1", { reasons: true, efforts: [], refuses: [...NO_EFFORT, ...PENALTIES, "stop"] }],
    ["grok-3-mini", { reasons: true, efforts: ["low", "high"], refuses: [...PENALTIES, "stop"] }],
    ["grok-4.3", { efforts: ["none", "low", "medium", "high"], refuses: [...PENALTIES, "stop"] }],
    ["grok-4.5", { efforts: ["low", "medium", "high"], refuses: [...PENALTIES, "stop"] }],
    ["mistralai/Mistral-Small-4-119B", { userAfterTool: false, reasons: true, efforts: ["none", "high"] }],
    ["mistral-small-2506", { reasons: false, efforts: [], refuses: NO_EFFORT }],
    ["Mistral-Small-3.2-24B-Instruct", { reasons: false, efforts: [] }],
    ["mistral-medium-3-5", { reasons: true, reasonsByDefault: false, efforts: ["none", "high"] }],
    ["mistral-medium-3.1", { reasons: false, efforts: [] }],
    ["mistral-large-latest", { reasons: false, efforts: [] }],
    ["open-mistral-7b", { reasons: false, efforts: [] }],
    ["magistral-medium-2509", { reasons: true, reasonsByDefault: true, efforts: [], refuses: NO_EFFORT }],
    ["zai-org/GLM-5.3-Flash", { reasons: true, efforts: ["low", "high", "max"] }],
    ["moonshotai/Kimi-K3", { reasons: true, efforts: ["low", "high", "max"], sampling: "always" }],
    ["minimax/minimax-m3.1-flash", { reasons: true, efforts: ["low", "medium", "high", "xhigh", "max"] }],
    ["deepseek-chat", { reasons: false }],
    ["deepseek-ai/DeepSeek-V4", { reasons: true }],
    ["deepseek-reasoner", { reasons: true, refuses: ["logprobs", "top_logprobs"] }],
    ["minimax-m2", { thinking: "budget", sampling: "always", structured: false, reasons: true }],
    ["qwen/qwen3-235b-a22b", { reasons: true }],
    ["qwen2.5-coder", { reasons: false }],
  ] satisfies [string, Partial<ModelTraits>][])("%s: %j", (model, facts) => {
    expect(factsOf(model)).toMatchObject(facts);
  });
});

describe("names that no rule knows yet", () => {
  test.each([
    ["gpt-6", "gpt-5.6"],
    ["openai/gpt-7.2-nova", "gpt-6.2-sol"],
    ["gpt-6.1-luna", "gpt-6-luna"],
    ["gpt-6.1-astra", "gpt-6-astra"],
    ["claude-haiku-5-6", "claude-haiku-5-5"],
    ["claude-opus-6", "claude-opus-5-5"],
    ["claude-saga-7-2", "claude-opus-5-5"],
    ["claude-opus-latest", "claude-opus-5-5"],
    ["gemini-4-flash", "gemini-4-hydrogen"],
    ["gemini-flash-latest", "gemini-3.8-flash"],
    ["grok-6", "grok-4.6"],
    ["o7", "o4"],
    ["kimi-k4.2", "kimi-k3"],
    ["glm-6", "glm-5.3"],
    ["minimax-m4", "minimax-m3.1-flash"],
    ["qwen4-max", "qwen3.8-max"],
    ["mistral-small-5", "mistral-small-4"],
    ["mistral-medium-latest", "mistral-medium-3-5"],
    ["deepseek-v9", "deepseek-v4"],
  ])("%s is read as %s", (unknown, newest) => {
    expect(factsOf(unknown)).toEqual(factsOf(newest));
    expect(factsOf(unknown).reasons).toBe(true);
  });

  test("a name of no family takes everything, and reasons only when it says so", () => {
    expect(modelByName("prod-chat")).toMatchObject({
      family: undefined,
      facts: { reasons: false, sampling: "always" },
    });
    expect(factsOf("acme-thinker-reasoning").reasons).toBe(true);
    for (const name of ["constructor", "", "__proto__", "gpt", "piano1", "solo3d"]) {
      expect(modelByName(name).family).toBeUndefined();
    }
  });
});
