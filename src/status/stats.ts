// Public token totals and the leaderboard. Users have stable pseudonyms that cannot be reversed; models are named only while
// they are publicly listed.

import { isoTime } from "../base/iso-time.ts";
import type { TokenTotals } from "../store/usage/usage.ts";

export interface StatsDeps {
  tokenTotals(): Promise<TokenTotals>;
  /** In descending order. */
  totalsByModel(limit: number): Promise<readonly { model: string; totalTokens: number; requests: number }[]>;
  /** In descending order. */
  topAccounts(limit: number): Promise<readonly { accountId: string; totalTokens: number }[]>;
  /** Whether the model is public. */
  isPublicModel(id: string): boolean;
  /** The secret from which pseudonyms are derived: at least 32 random characters that are kept as long as the data. */
  readonly pseudonymSecret: string;
}

const MODELS_MAX = 100;
const USERS_MAX = 10;
/** 50 bits, so that collisions among a million accounts are unlikely. The pseudonym identifies nobody. */
const PSEUDONYM_CHARS = 10;
const PSEUDONYM_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The body of `GET /v1/stats/tokens`. */
export async function tokenStats(deps: Pick<StatsDeps, "tokenTotals">) {
  const totals = await deps.tokenTotals();
  return {
    total_tokens: totals.inputTokens + totals.outputTokens,
    input_tokens: totals.inputTokens,
    output_tokens: totals.outputTokens,
    requests: totals.requests,
    since: isoTime(totals.sinceMs),
    updated_at: isoTime(totals.updatedAtMs),
  };
}

/** The body of `GET /v1/stats/tokens/leaderboard`. */
export async function leaderboard(deps: StatsDeps) {
  const [totals, models, users] = await Promise.all([
    deps.tokenTotals(),
    deps.totalsByModel(MODELS_MAX),
    deps.topAccounts(USERS_MAX),
  ]);
  return {
    models: models
      .filter(({ model }) => deps.isPublicModel(model))
      .map(({ model, totalTokens, requests }) => ({ model_id: model, total_tokens: totalTokens, requests })),
    users: users.map(({ accountId, totalTokens }, at) => ({
      rank: at + 1,
      user: pseudonym(accountId, deps.pseudonymSecret),
      total_tokens: totalTokens,
    })),
    total_tokens: totals.inputTokens + totals.outputTokens,
    updated_at: isoTime(totals.updatedAtMs),
  };
}

/** An account's public name. */
export function pseudonym(accountId: string, secret: string): string {
  const digest = new Bun.CryptoHasher("sha256", secret).update(accountId).digest();
  let name = "user-";
  // 256 is a multiple of 32, so every letter is equally likely.
  for (const byte of digest.subarray(0, PSEUDONYM_CHARS)) name += PSEUDONYM_ALPHABET[byte % 32];
  return name;
}
