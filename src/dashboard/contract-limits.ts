// The limits of keys and plans, as both sides of the dashboard know them.

/** What the plan allows each key. */
export interface PlanLimits {
  readonly tier_rpm: number;
  /** Tokens a minute; null: no limit. */
  readonly tier_tpm: number | null;
  /** Requests at once; null: no limit. */
  readonly tier_parallel: number | null;
}

/** A key's own limits; null: the plan's. */
export interface KeyLimits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly parallel: number | null;
}

/** The limits of one agent run with a key; null: the plan's. */
export interface RunLimitValues {
  readonly usd: number | null;
  readonly requests: number | null;
  readonly repeats: number | null;
}

/** The limits that a form of a key gives; absent: the plan's. */
export interface KeyLimitForm {
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  readonly parallel?: number | undefined;
  /** The addresses or ranges from which it may be used; absent or empty: any. */
  readonly addresses?: readonly string[] | undefined;
  readonly runs?: { readonly [Name in keyof RunLimitValues]?: number | undefined };
}
