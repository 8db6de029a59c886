// Reads the usage that Gemini reports.

import type { Usage } from "../../../chat/event.ts";
import { reportedUsage, tokenSum } from "../../../chat/usage.ts";
import { asList, asRecord, type Loose } from "../loose.ts";

/** The searches on which the candidates of a chunk are grounded. */
function searchesIn(candidates: unknown): number {
  let count = 0;
  for (const candidate of asList(candidates))
    count += asList(asRecord(asRecord(candidate)["groundingMetadata"])["webSearchQueries"]).length;
  return count;
}

/**
 * Reads Gemini's usage. It counts thoughts apart from the answer; in the neutral form, the output includes both. `candidates`: those of
 * the same chunk, which list searches.
 */
export function geminiUsage(raw: Loose, candidates?: unknown): Usage | undefined {
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount, totalTokenCount } = raw;
  const input = tokenSum(promptTokenCount, toolUsePromptTokenCount);
  // A total that excludes the thoughts says that there were none, or that the candidates include them.
  const isInside = totalTokenCount !== undefined && totalTokenCount === tokenSum(input, candidatesTokenCount);
  return reportedUsage({
    input,
    output: isInside ? candidatesTokenCount : tokenSum(candidatesTokenCount, thoughtsTokenCount),
    cached: raw["cachedContentTokenCount"],
    reasoning: thoughtsTokenCount,
    searches: searchesIn(candidates),
    service: raw["serviceTier"] ?? raw["trafficType"],
  });
}
