// What is known of a model by the family its name belongs to, wherever it is served: the words for it, and the rows that
// a vendor's file is made of. Data only; who asks is upstream and gateway.

/** Efforts in the words of the protocols, least first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** One of them. */
export type Effort = (typeof EFFORTS)[number];

/** When a model takes something that reasoning may exclude. */
export type Taken = "always" | "unless-reasoning" | "never";

/** What one model takes and does. */
export interface ModelTraits {
  /** It may think before it answers: no default of ours is sent to it. */
  reasons: boolean;
  /** It thinks when the request does not say. */
  reasonsByDefault: boolean;
  /** The efforts it takes in its vendor's newest protocol. Empty: it takes none. */
  efforts: readonly Effort[];
  /** The same for chat completions. */
  chatEfforts: readonly Effort[];
  /** Top-level parameters (in the words of chat completions) that it refuses. */
  refuses: readonly string[];
  /** When it takes the parameters that steer the choice of tokens, and which those are. */
  sampling: Taken;
  samplers: readonly string[];
  /** Function tools over chat completions; where not, they go by the Responses API. */
  chatTools: Taken;
  /** Nothing but the Responses API serves it. */
  responsesOnly: boolean;
  /** A user turn may stand right after tool results; else an assistant turn must stand between. */
  userAfterTool: boolean;
  /** How thinking is asked for in the vendor's own protocol: not at all, by a token budget, or by an effort. */
  thinking: "none" | "budget" | "effort";
  /** The `thinking.type` that turns it off: "" when it is off unless asked for, "never" when it cannot be. */
  thinkingOff: "" | "disabled" | "between_tools" | "never";
  /** The least thinking budget that it takes, where it cannot stop thinking. */
  budgetMin: number;
  /** `thinking.display` is known, and thinking text is left out unless it is asked for. */
  display: boolean;
  /** temperature and top_p may be sent together. */
  bothSamplers: boolean;
  /** A schema for the answer, and `strict` tools. */
  structured: boolean;
  /** A tool choice that forces a call. */
  forcedTool: boolean;
  /** A final assistant turn is continued. */
  prefill: boolean;
  /** System text may stand between the turns. */
  lateSystem: boolean;
  /** All thinking is signed, and thinking without a signature is refused, whoever serves the model. */
  signsThinking: boolean;
  /** Calls and results carry ids and signatures, and structured output may stand beside tools (Gemini from the third on). */
  callIds: boolean;
}

/** A rule: for which models of the family, what holds, who says so and when that was looked up. */
export interface ModelRule {
  /** Words, or several in a row, of which one must stand in the name; absent: any name. */
  lines?: readonly string[];
  /** Words of which none may. */
  not?: readonly string[];
  /** First version it holds for; absent: from the first. */
  from?: number;
  /** First version that it no longer holds for; absent: it holds for what comes, too. */
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
   * Finds the family in an id, which is in small letters; the groups `major` and `minor` are its version, where the id says
   * one. A name without a version is read as the newest.
   */
  pattern: RegExp;
  /** Looked for before the families of all other vendors: its models are called after theirs too. */
  leads?: boolean;
  /** Later rules win, so the oldest models' come first. */
  rules: readonly ModelRule[];
}

/** A version as a number that compares: 4.7 is 407. */
export function version(major: number, minor = 0): number {
  return major * 100 + minor;
}
