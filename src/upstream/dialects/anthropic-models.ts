// What Claude models of different ages accept, read from the model's name, because the API refuses with 400 what an
// older or newer sibling takes. Names that are not Claude's (compatible upstreams) get the oldest form.
// Sources: platform.claude.com/docs build-with-claude/{extended-thinking,adaptive-thinking,effort,structured-outputs};
// anthropics/skills claude-api/shared/error-codes.md (4.7 and later refuse sampling parameters and budgets);
// BerriAI/litellm#15097 and open-webui/pipelines#546 (temperature and top_p together are refused from 4.1 on).

import { lookUp } from "../../base/look-up.ts";

/** What one model takes. */
export interface ClaudeTraits {
  /** How thinking is asked for: not at all, by a token budget, or left to the model with an effort. */
  thinking: "none" | "budget" | "adaptive";
  /** temperature, top_p and top_k may be sent. */
  sampling: boolean;
  /** temperature and top_p may be sent together. */
  bothSamplers: boolean;
  /** `output_config.format` and `strict` tools. */
  structured: boolean;
  /** `thinking.display` is known, and thinking text is left out unless it is asked for. */
  display: boolean;
  /** The highest effort words. */
  xhigh: boolean;
  max: boolean;
}

const PLAIN: ClaudeTraits = {
  thinking: "budget",
  sampling: true,
  bothSamplers: true,
  structured: false,
  display: false,
  xhigh: false,
  max: false,
};

/** The traits of a model id such as `claude-opus-4-1-20250805`, `claude-3-7-sonnet-latest` or `anthropic/claude-opus-4.7`. */
export function claudeTraits(model: string): ClaudeTraits {
  // A version part has one or two digits; the eight of a date are not one.
  const match = /claude-(?:([a-z]+)-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(model.toLowerCase());
  if (match === null) return PLAIN;
  const version = Number(match[2]) * 100 + Number(match[3] ?? 0);
  return {
    thinking: version < 307 ? "none" : version < 406 ? "budget" : "adaptive",
    sampling: version < 407,
    bothSamplers: version < 401,
    structured: version >= 405 || (version === 401 && match[1] === "opus"),
    display: version >= 407,
    xhigh: version >= 407,
    max: version >= 407 || (version === 406 && match[1] === "opus"),
  };
}

/** Thinking budgets for the effort words; the middle one is what Anthropic's guide starts from for hard tasks. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 63_999,
};

/** Tokens to think with, for models that take a budget. */
export function budgetOf(effort: string | undefined): number {
  return lookUp(BUDGETS, effort ?? "medium") ?? BUDGETS["medium"]!;
}

/** The word Anthropic has for an effort. */
export function effortOf(effort: string, traits: ClaudeTraits): string {
  if (effort === "minimal") return "low";
  if (effort === "xhigh") return traits.xhigh ? "xhigh" : "high";
  if (effort === "max") return traits.max ? "max" : "high";
  return effort;
}
