// Usage in the format of Anthropic's Messages API. A stream reports it in two frames, and compatible servers leave figures out of
// one of them or repeat them as zeros.

import type { Usage } from "../../../chat/event.ts";
import type { UsageFormat } from "../../../chat/shown-usage.ts";
import { reportedUsage, tokenCount, tokenSum } from "../../../chat/usage.ts";
import { asList, asRecord, type Loose } from "../loose.ts";

/** Combines the usage objects of one answer. */
export class AnthropicFigures {
  #merged: Loose = {};

  /** All figures so far. */
  get merged(): Loose {
    return this.#merged;
  }

  /** Adds the usage of a stream's first frame. Its output is a placeholder, which is only returned. */
  addFirst(raw: unknown): Usage | undefined {
    const { output_tokens: placeholder, ...input } = asRecord(raw);
    this.add(input);
    return anthropicUsage(merge(this.#merged, { output_tokens: placeholder ?? null }));
  }

  /** Adds a usage object, and returns all that is reported so far. */
  add(raw: unknown): Usage | undefined {
    this.#merged = merge(this.#merged, asRecord(raw));
    return anthropicUsage(this.#merged);
  }
}

/** Figures of the later object take precedence, but an invalid one or a zero replaces nothing. */
function merge(known: Loose, later: Loose): Loose {
  const merged: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(later)) {
    if (value === null) continue;
    if (name.endsWith("_tokens")) {
      const count = tokenCount(value);
      if (count === undefined || (count === 0 && merged[name] !== undefined)) continue;
    }
    merged[name] = value;
  }
  return merged;
}

/** Reads Anthropic's usage. It counts cached input separately; in the neutral form, the input includes it. */
export function anthropicUsage(raw: Loose): Usage | undefined {
  const parts = [raw, ...compactions(raw)];
  const sum = (name: string) => tokenSum(...parts.map((part) => part[name]));
  const cached = sum("cache_read_input_tokens");
  const cacheWrite = sum("cache_creation_input_tokens");
  return reportedUsage({
    input: tokenSum(sum("input_tokens"), cached, cacheWrite),
    output: sum("output_tokens"),
    cached,
    cacheWrite,
    cacheWriteHour: tokenSum(...parts.map((part) => asRecord(part["cache_creation"])["ephemeral_1h_input_tokens"])),
    reasoning: asRecord(raw["output_tokens_details"])["thinking_tokens"],
    searches: asRecord(raw["server_tool_use"])["web_search_requests"],
    // Its service tiers are bought in advance, so that only the speed changes the price.
    service: raw["speed"],
  });
}

/** The cost of compactions within the call, which is reported beside the call's own figures and not included in them. */
function compactions(raw: Loose): Loose[] {
  return asList(raw["iterations"])
    .map(asRecord)
    .filter(({ type }) => type === "compaction");
}

/** Usage in Anthropic's format. */
export function plainAnthropicUsage(usage: Usage): Loose {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage;
  return {
    input_tokens: inputTokens - (cachedTokens ?? 0) - (cacheWriteTokens ?? 0),
    ...(cacheWriteTokens === undefined ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
    ...(cachedTokens === undefined ? {} : { cache_read_input_tokens: cachedTokens }),
    output_tokens: outputTokens,
    ...(usage.costUsd === undefined ? {} : { cost: usage.costUsd }),
  };
}

/** The members of the input, which are counted separately in this format. */
const INPUTS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

const FORMAT = {
  read: anthropicUsage,
  write: plainAnthropicUsage,
  inputParts: ["cache_creation"],
  outputParts: ["output_tokens_details"],
};

/** The format of usage in a message. */
export const MESSAGE_USAGE: UsageFormat = { ...FORMAT, totals: ["input_tokens", "output_tokens"], figures: INPUTS };

/** The format of usage in the last frame of a stream, which need not repeat the input. */
export const FINAL_USAGE: UsageFormat = { ...FORMAT, totals: ["output_tokens"], figures: INPUTS };

/** The usage without the compactions, which the object reports on their own. */
export function withoutCompactions(usage: Usage, raw: unknown): Usage {
  const apart = anthropicUsage({ iterations: compactions(asRecord(raw)) });
  if (apart === undefined) return usage;
  const { cachedTokens = 0, cacheWriteTokens = 0 } = apart;
  return {
    ...usage,
    inputTokens: usage.inputTokens - apart.inputTokens,
    outputTokens: usage.outputTokens - apart.outputTokens,
    ...(usage.cachedTokens === undefined ? {} : { cachedTokens: usage.cachedTokens - cachedTokens }),
    ...(usage.cacheWriteTokens === undefined ? {} : { cacheWriteTokens: usage.cacheWriteTokens - cacheWriteTokens }),
  };
}
