// The keys that sign access tokens. When the secret changes, by a reload or a restart, the old one still verifies until the
// last token it signed has expired.

import type { Clock } from "../base/clock.ts";
import { sha256Hex } from "../base/ids.ts";
import type { SigningKey, SigningKeys } from "../http/jwt.ts";

/** The store of secrets. */
export interface RingSecrets {
  secret(name: "jwt_secret"): Promise<string>;
  findSecret(name: "jwt_ring"): Promise<string | undefined>;
  putSecret(name: "jwt_ring", value: string): Promise<void>;
}

/** What a ring needs. */
export interface RingDeps {
  readonly secrets: RingSecrets;
  readonly clock: Clock;
  /** `auth.jwt_secret`; empty: a generated and stored one. */
  configured(): string;
  /** `auth.access_token_ttl` */
  ttlMs(): number;
}

/** A ring that can be reloaded. */
export interface LiveKeyRing extends SigningKeys {
  /** Applies the configured secret. */
  reload(): Promise<void>;
}

/** What is stored between runs. */
interface Ring {
  readonly secret: string;
  /** The longest remaining lifetime of a token signed with it. */
  readonly ttlMs: number;
  readonly retired: readonly { readonly secret: string; readonly untilMs: number }[];
}

/** If the secret is changed more often than this within a token's lifetime, the oldest tokens become invalid. */
const RETIRED_MAX = 20;

/** Loads the ring, and keeps it up to date. */
export async function openKeyRing(deps: RingDeps): Promise<LiveKeyRing> {
  let current: SigningKey;
  let retired: readonly (SigningKey & { readonly untilMs: number })[] = [];

  const reload = async () => {
    const wanted = deps.configured() || (await deps.secrets.secret("jwt_secret"));
    const text = await deps.secrets.findSecret("jwt_ring");
    const kept = text === undefined ? undefined : (JSON.parse(text) as Ring);
    const next = turn(kept, { secret: wanted, ttlMs: deps.ttlMs(), nowMs: deps.clock.now() });
    const written = JSON.stringify(next);
    if (written !== text) await deps.secrets.putSecret("jwt_ring", written);
    current = keyOf(next.secret);
    retired = next.retired.map(({ secret, untilMs }) => ({ ...keyOf(secret), untilMs }));
  };
  await reload();

  return {
    current: () => current,
    find: (kid) =>
      kid === current.kid ? current : retired.find((key) => key.kid === kid && key.untilMs > deps.clock.now()),
    reload,
  };
}

function turn(kept: Ring | undefined, now: { secret: string; ttlMs: number; nowMs: number }): Ring {
  const { secret, ttlMs, nowMs } = now;
  if (kept === undefined) return { secret, ttlMs, retired: [] };
  const longest = Math.max(kept.ttlMs, ttlMs);
  const retired = kept.retired.filter((old) => old.untilMs > nowMs && old.secret !== secret);
  if (kept.secret === secret) return { secret, ttlMs: longest, retired };
  const left = { secret: kept.secret, untilMs: nowMs + longest };
  return { secret, ttlMs, retired: [left, ...retired].slice(0, RETIRED_MAX) };
}

/** Derived, so that a secret of any length gives a key of the right length, and the id reveals nothing about it. */
function keyOf(secret: string): SigningKey {
  const bytes = new Uint8Array(new Bun.CryptoHasher("sha256", secret).update("access token").digest());
  return { bytes, kid: sha256Hex(`kid:${Buffer.from(bytes).toString("hex")}`).slice(0, 12) };
}
