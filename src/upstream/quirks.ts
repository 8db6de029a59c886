// Questions about a provider's quirks that several dialects ask.

import type { ReasoningOptions } from "../chat/request.ts";
import type { RequestContext } from "./dialect.ts";

/** The top-level parameters that this provider refuses for this model. */
export function refusedFor(ctx: Pick<RequestContext, "model" | "quirks">): readonly string[] {
  const always = ctx.quirks.refuses ?? [];
  const byModel = ctx.quirks.refuses_by_model;
  if (byModel === undefined) return always;
  const refused = new Set(always);
  for (const [glob, names] of Object.entries(byModel)) {
    if (matches(glob, ctx.model)) for (const name of names) refused.add(name);
  }
  return [...refused];
}

/** Models that are known to reason by their names, where the catalog does not say. */
const REASONS =
  /(?:^|\/)(?:o[1-9]|gpt-[5-9]|codex|gpt-oss)|reason|think|magistral|deepseek-(?:r\d|v[4-9]|flash)|grok-(?:3-mini|4\.[3-9]|[5-9])|qwen-?3/i;
/** Models that know the effort `xhigh`. */
const XHIGH = /gpt-5\.[2-9]|gpt-[6-9]|codex-max|grok-4\.[6-9]/i;

/** Whether the model takes an effort at all: OpenAI's others, and many servers, answer 400 to it. */
export function mayReason(ctx: Pick<RequestContext, "model" | "supportsReasoning">): boolean {
  return ctx.supportsReasoning || REASONS.test(ctx.model);
}

/** OpenAI's word for the effort that was asked for, in words of any protocol or as a token budget. */
export function effortFor(wanted: ReasoningOptions, model: string): string | undefined {
  const { effort, budgetTokens, enabled } = wanted;
  if (effort === "xhigh" || effort === "max") {
    if (XHIGH.test(model)) return "xhigh";
    return /deepseek/i.test(model) ? effort : "high";
  }
  if (effort !== undefined) return effort;
  if (enabled === false || budgetTokens === undefined) return undefined;
  if (budgetTokens <= 4096) return "low";
  return budgetTokens <= 16_384 ? "medium" : "high";
}

/** True when `*` in the glob stands for anything and all else for itself; letter case is ignored. */
function matches(glob: string, model: string): boolean {
  const [first = "", ...rest] = glob.toLowerCase().split("*");
  const name = model.toLowerCase();
  if (rest.length === 0) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
