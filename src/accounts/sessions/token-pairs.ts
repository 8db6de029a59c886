// Token pairs: a short-lived access token and a refresh token that works once. Reuse of a refresh token ends its session,
// unless it is within the configured grace period: then it returns the same new pair.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { randomText, sha256Hex } from "../../base/ids.ts";
import type { AccessTokens } from "../../http/jwt.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { SessionStore } from "../../store/access/sessions.ts";
import type { Client } from "../client.ts";

/** The tokens of docs/reference/http-api.md#post-v1authtoken, and when the access token expires. */
export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: "bearer";
  /** Seconds. */
  readonly expires_in: number;
}

/** What creating pairs needs. */
export interface PairDeps {
  readonly clock: Clock;
  readonly tokens: AccessTokens;
  readonly sessions: Pick<SessionStore, "createSession" | "rotateRefresh" | "revokeSession">;
  readonly audit: Pick<AuditStore, "addAudit">;
  /** Never shown and never changed: successors of refresh tokens are derived with it. */
  readonly secret: string;
  settings(): {
    readonly accessTokenTtlMs: number;
    readonly refreshTokenTtlMs: number;
    readonly refreshReuseGraceMs: number;
  };
}

/** Starts sessions and rotates their tokens. */
export interface TokenPairs {
  start(accountId: string, client: Client): Promise<TokenPair>;
  /** Throws `ApiError` 401 `invalid_refresh_token`, `expired_refresh_token` or `refresh_token_reused`. */
  refresh(token: string, client: Client): Promise<TokenPair>;
}

const PREFIX = "rt_";
/** 62^43 is more than 2^256. */
const RANDOM_CHARS = 43;
const TOKEN = /^rt_[\w-]{43}$/;
/** Pairs that are cached for repeated tokens; beyond this number a repeated one gets a different access token. */
const REPEATS_MAX = 2000;

/** Builds the verbs. */
export function tokenPairs(deps: PairDeps): TokenPairs {
  const { clock, tokens, sessions, audit } = deps;
  /** Successor's hash → its pair. */
  const given = new Map<string, Promise<TokenPair>>();

  const pairOf = async (refreshToken: string, ids: { accountId: string; sessionId: string }): Promise<TokenPair> => {
    const ttlMs = deps.settings().accessTokenTtlMs;
    return {
      access_token: await tokens.issue(ids, ttlMs),
      refresh_token: refreshToken,
      token_type: "bearer",
      expires_in: Math.floor(ttlMs / 1000),
    };
  };

  const remember = (hash: string, pair: Promise<TokenPair>): Promise<TokenPair> => {
    if (given.size >= REPEATS_MAX) given.delete(given.keys().next().value as string);
    given.set(hash, pair);
    return pair;
  };

  return {
    async start(accountId, client) {
      const refreshToken = PREFIX + randomText(RANDOM_CHARS);
      const expiresAtMs = clock.now() + deps.settings().refreshTokenTtlMs;
      const refreshHash = sha256Hex(refreshToken);
      const { id } = await sessions.createSession({ accountId, refreshHash, expiresAtMs, ...client });
      return pairOf(refreshToken, { accountId, sessionId: id });
    },

    async refresh(token, client) {
      if (!TOKEN.test(token)) throw invalidToken();
      const { refreshTokenTtlMs, refreshReuseGraceMs: graceMs } = deps.settings();
      // Derived if there is a grace period, so that the same successor can be returned again although only its hash is
      // stored.
      const next = graceMs > 0 ? successor(token, deps.secret) : PREFIX + randomText(RANDOM_CHARS);
      const nextHash = sha256Hex(next);
      const nextExpiresAtMs = clock.now() + refreshTokenTtlMs;
      const result = await sessions.rotateRefresh({ hash: sha256Hex(token), nextHash, nextExpiresAtMs, graceMs });
      switch (result.kind) {
        case "rotated": {
          const pair = pairOf(next, result);
          return graceMs > 0 ? remember(nextHash, pair) : pair;
        }
        case "repeated":
          if (result.nextHash === nextHash) return given.get(nextHash) ?? remember(nextHash, pairOf(next, result));
          // Rotated before the grace period existed: only its receiver knows the successor.
          await sessions.revokeSession(result.sessionId, result.accountId);
          return reused(audit, result, client);
        case "reused":
          return reused(audit, result, client);
        case "expired":
          throw new ApiError("expired_refresh_token", "The refresh token has expired. Sign in again.");
        default:
          throw invalidToken();
      }
    },
  };
}

async function reused(
  audit: PairDeps["audit"],
  ids: { accountId: string; sessionId: string },
  client: Client,
): Promise<never> {
  await audit.addAudit({
    accountId: ids.accountId,
    event: "refresh_reused",
    ...client,
    detail: { session_id: ids.sessionId },
  });
  throw new ApiError(
    "refresh_token_reused",
    "The refresh token was already used, so it may have been stolen: its session was ended. Sign in again.",
  );
}

function successor(token: string, secret: string): string {
  return PREFIX + new Bun.CryptoHasher("sha256", secret).update(`refresh token:${token}`).digest("base64url");
}

function invalidToken(): ApiError {
  return new ApiError("invalid_refresh_token", "The refresh token is not valid. Sign in again.");
}
