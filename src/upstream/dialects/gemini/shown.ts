// The usage that clients of the protocol see in a relayed answer.

import { isRecord } from "../../../base/json-object.ts";
import type { Usage } from "../../../chat/event.ts";
import { geminiUsageMetadata } from "../../../chat/gemini-shapes.ts";
import { shownUsage, type UsageFormat } from "../../../chat/shown-usage.ts";
import { isSaneUsage, tokenCount } from "../../../chat/usage.ts";
import { asRecord, type Loose } from "../loose.ts";
import { geminiUsage } from "./usage.ts";

const FORMAT: UsageFormat = {
  read: geminiUsage,
  write: geminiUsageMetadata,
  totals: [],
  inputParts: ["cachedContentTokenCount", "toolUsePromptTokenCount"],
  outputParts: ["thoughtsTokenCount"],
};

const FIGURES = [
  "promptTokenCount",
  "candidatesTokenCount",
  "totalTokenCount",
  "cachedContentTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
];

/** The object for the client: the provider's own if it says what was settled. */
export function shownGeminiUsage(raw: unknown, usage: Usage): unknown {
  if (isRecord(raw) && saysExactly(raw, usage) && isSaneUsage(raw)) return raw;
  const sound = withoutInvalid(raw);
  if (sound !== raw) return shownGeminiUsage(sound, usage);
  const told = geminiUsage(asRecord(raw));
  const isSame = told?.inputTokens === usage.inputTokens && told.outputTokens === usage.outputTokens;
  // The sum of a provider may include what it does not list, so nothing is compared but what was read.
  const shown = shownUsage(raw, usage, FORMAT);
  return isSame || shown !== raw ? shown : { ...asRecord(raw), ...geminiUsageMetadata(usage) };
}

/** Whether all its figures are the settled ones, as in nearly all answers. */
function saysExactly(raw: Loose, usage: Usage): boolean {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens, costUsd } = usage;
  return (
    costUsd === undefined &&
    raw["toolUsePromptTokenCount"] === undefined &&
    raw["promptTokenCount"] === inputTokens &&
    raw["candidatesTokenCount"] === outputTokens - (reasoningTokens ?? 0) &&
    raw["totalTokenCount"] === inputTokens + outputTokens &&
    raw["cachedContentTokenCount"] === cachedTokens &&
    raw["thoughtsTokenCount"] === reasoningTokens
  );
}

/** The object without figures that are no counts of tokens. */
function withoutInvalid(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const names = FIGURES.filter((name) => raw[name] != null && tokenCount(raw[name]) === undefined);
  return names.length === 0 ? raw : Object.fromEntries(Object.entries(raw).filter(([name]) => !names.includes(name)));
}
