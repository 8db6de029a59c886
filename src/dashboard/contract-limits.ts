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
