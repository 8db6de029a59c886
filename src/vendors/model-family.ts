// The types for the facts about a family of models, which apply wherever it is served, and for the rules in a vendor's
// file. Data only; upstream and gateway use it.

/** Effort levels of the protocols, in ascending order. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** One effort level. */
export type Effort = (typeof EFFORTS)[number];

/** When a model accepts something that reasoning may exclude. */
export type Taken = "always" | "unless-reasoning" | "never";

/** The facts of one model. */
export interface ModelTraits {
  /** It may reason before it answers: it gets none of our defaults. */
  reasons: boolean;
  /** It reasons by default. */
  reasonsByDefault: boolean;
  /** The efforts it accepts in its vendor's newest protocol. Empty: none. */
  efforts: readonly Effort[];
  /** The same for chat completions. */
  chatEfforts: readonly Effort[];
  /** Top-level parameters (with the names of chat completions) that it refuses. */
  refuses: readonly string[];
  /** When it accepts sampling parameters, and which those are. */
  sampling: Taken;
  samplers: readonly string[];
  /** Whether it supports function tools over chat completions; otherwise the Responses API is used. */
  chatTools: Taken;
  /** Only the Responses API serves it. */
  responsesOnly: boolean;
  /** A user turn may directly follow tool results; otherwise an assistant turn must be between them. */
  userAfterTool: boolean;
  /** How thinking is requested in the vendor's own protocol: not at all, by a token budget, or by an effort. */
  thinking: "none" | "budget" | "effort";
  /** The `thinking.type` that turns it off: "" if it is off by default, "never" if it cannot be turned off. */
  thinkingOff: "" | "disabled" | "between_tools" | "never";
  /** The minimum thinking budget, if thinking cannot be turned off. */
  budgetMin: number;
  /** `thinking.display` is supported, and thinking text is only returned if requested. */
  display: boolean;
  /** temperature and top_p can be combined. */
  bothSamplers: boolean;
  /** It supports an answer schema and `strict` tools. */
  structured: boolean;
  /** It supports a tool choice that forces a call. */
  forcedTool: boolean;
  /** It caches the prompt up to OpenAI's `prompt_cache_breakpoint`. */
  cacheBreakpoints: boolean;
  /** It continues a final assistant turn. */
  prefill: boolean;
  /** System text is allowed between the turns. */
  lateSystem: boolean;
  /** All thinking is signed, and unsigned thinking is refused, wherever the model is served. */
  signsThinking: boolean;
  /**
   * Calls and results have ids and signatures, and structured output can be combined with tools (Gemini from the third
   * generation on).
   */
  callIds: boolean;
}

/** A rule: the models of the family it applies to, their facts, the source and its date. */
export interface ModelRule {
  /** Words (or several in a row), one of which must occur in the name; absent: any name. */
  lines?: readonly string[];
  /** Words that must not occur. */
  not?: readonly string[];
  /** First version it applies to; absent: from the first. */
  from?: number;
  /** First version it no longer applies to; absent: it also applies to future ones. */
  before?: number;
  facts: Partial<ModelTraits>;
  source: string;
  /** Year and month. */
  seen: string;
}

/** Models that share a name. */
export interface ModelFamily {
  name: string;
  /**
   * Matches the family in a lower-case id; the groups `major` and `minor` are its version, if the id has one. A name without
   * a version is treated as the newest.
   */
  pattern: RegExp;
  /** Checked before the families of all other vendors: its models may be named after theirs too. */
  leads?: boolean;
  /** Later rules take precedence, so those of the oldest models come first. */
  rules: readonly ModelRule[];
}

/** A version as a comparable number: 4.7 is 407. */
export function version(major: number, minor = 0): number {
  return major * 100 + minor;
}
