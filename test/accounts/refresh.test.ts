// Compares the rotation of refresh tokens with a model: any sequence of refreshes, logouts, waits and thefts, with and
// without a grace period.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type TokenPair, tokenPairs } from "../../src/accounts/sessions/token-pairs.ts";
import { FakeClock } from "../../src/base/clock.ts";
import { sha256Hex } from "../../src/base/ids.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { openStore, type SqliteStore as Store } from "../../src/store/engine/open.ts";
import { type AccountsApp, startAccountsApp } from "./support.ts";

const TTL_MS = 1000;
const CLIENT = { address: "192.0.2.1", userAgent: "test" };

const dataDir = mkdtempSync(join(tmpdir(), "sallyport-refresh-"));
const clock = new FakeClock();
let store: Store;
let accountId: string;
beforeAll(async () => {
  store = openStore({ dataDir, clock });
  const account = await accountStore(store).createAccount({ username: "m", email: "m@example.com", tier: "free" });
  if ("refused" in account) throw new Error(account.refused);
  accountId = account.id;
});
afterAll(() => {
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The state of a token in the model. */
interface Token {
  family: number;
  expiresAtMs: number;
  used?: { atMs: number; next: string };
}

type Step =
  | { do: "start" }
  | { do: "refresh"; pick: number; times: number }
  | { do: "logout"; pick: number }
  | { do: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ do: "start" as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("refresh" as const),
      pick: fc.nat(),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("logout" as const), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 700 }) }) },
);

async function follows(steps: readonly Step[], graceMs: number): Promise<void> {
  const sessions = sessionStore(store);
  let issued = 0;
  const pairs = tokenPairs({
    clock,
    sessions,
    audit: { addAudit: async () => {} },
    tokens: { issue: async () => `access ${++issued}`, authenticate: () => Promise.reject(new Error("unused")) },
    secret: "a secret",
    settings: () => ({ accessTokenTtlMs: 60_000, refreshTokenTtlMs: TTL_MS, refreshReuseGraceMs: graceMs }),
  });
  const tokens = new Map<string, Token>();
  const given = new Map<string, TokenPair>();
  const ended = new Set<number>();
  let families = 0;

  const expected = (text: string): string => {
    const token = tokens.get(text)!;
    if (token.used !== undefined) {
      const inGrace = clock.now() < token.used.atMs + graceMs && !ended.has(token.family);
      if (inGrace && tokens.get(token.used.next)!.used === undefined) return "repeated";
      return "refresh_token_reused";
    }
    if (ended.has(token.family)) return "invalid_refresh_token";
    return token.expiresAtMs <= clock.now() ? "expired_refresh_token" : "rotated";
  };

  for (const one of steps) {
    const known = [...tokens.keys()];
    if (one.do === "wait") clock.advance(one.ms);
    else if (one.do === "start") {
      const pair = await pairs.start(accountId, CLIENT);
      tokens.set(pair.refresh_token, { family: families++, expiresAtMs: clock.now() + TTL_MS });
    } else if (known.length > 0 && one.do === "logout") {
      const text = known[one.pick % known.length]!;
      await sessions.revokeByRefresh(sha256Hex(text), accountId);
      ended.add(tokens.get(text)!.family);
    } else if (known.length > 0 && one.do === "refresh") {
      const text = known[one.pick % known.length]!;
      // Several requests at once. They are processed one after the other, in any order of answers.
      const answers = await Promise.all(
        Array.from({ length: one.times }, () =>
          pairs.refresh(text, CLIENT).then(
            (pair) => ({ pair }),
            (error) => ({ code: error.apiCode as string }),
          ),
        ),
      );
      for (const answer of answers) {
        const outcome = expected(text);
        const token = tokens.get(text)!;
        if (outcome === "rotated" || outcome === "repeated") {
          if (!("pair" in answer)) throw new Error(`${outcome} was expected, not ${answer.code}`);
          const next = answer.pair.refresh_token;
          if (outcome === "rotated") {
            expect(tokens.has(next)).toBe(false);
            token.used = { atMs: clock.now(), next };
            tokens.set(next, { family: token.family, expiresAtMs: clock.now() + TTL_MS });
            given.set(next, answer.pair);
          } else {
            expect(next).toBe(token.used!.next);
            expect(answer.pair).toEqual(given.get(next)!);
          }
        } else {
          expect("code" in answer ? answer.code : "a pair").toBe(outcome);
          if (outcome === "refresh_token_reused") ended.add(token.family);
        }
      }
    }
  }
  await sessions.revokeAllSessions(accountId);
}

for (const graceMs of [0, 300]) {
  test(`any history with a grace of ${graceMs} ms goes as the model says`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) =>
        follows([{ do: "start" }, ...steps], graceMs),
      ),
      { numRuns: 150 },
    );
  });
}

describe("the grace through the edge", () => {
  let app: AccountsApp;
  beforeAll(async () => {
    app = await startAccountsApp({ config: { auth: { refresh_reuse_grace: "10s" } } });
    await app.addAccount("gina");
  });
  afterAll(() => app.stop());
  const refresh = (refresh_token: string) => app.ask("POST", "/v1/auth/refresh", { body: { refresh_token } });

  test("gives everybody the same pair, of many at once too, until it has passed", async () => {
    const { refresh_token } = await app.signIn("gina");
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(refresh_token)));
    for (const { status, json } of answers) {
      expect(status).toBe(200);
      expect(json).toEqual(answers[0]!.json);
    }
    app.clock.advance(10_000);
    expect((await refresh(refresh_token)).json.error.code).toBe("refresh_token_reused");
    expect((await refresh(answers[0]!.json.refresh_token)).json.error.code).toBe("invalid_refresh_token");
  });

  test("ends when the successor is used", async () => {
    const { refresh_token } = await app.signIn("gina");
    const next = (await refresh(refresh_token)).json.refresh_token;
    expect((await refresh(next)).status).toBe(200);
    expect((await refresh(refresh_token)).json.error.code).toBe("refresh_token_reused");
  });

  test("outlives a restart", async () => {
    const { refresh_token } = await app.signIn("gina");
    const next = (await refresh(refresh_token)).json.refresh_token;
    await app.app.restart();
    const again = await refresh(refresh_token);
    expect([again.status, again.json.refresh_token]).toEqual([200, next]);
  });

  test("does not help a token that was rotated before there was one", async () => {
    await app.app.reconfigure({ auth: { refresh_reuse_grace: "0s" } });
    const { refresh_token } = await app.signIn("gina");
    const next = (await refresh(refresh_token)).json.refresh_token;
    await app.app.reconfigure({ auth: { refresh_reuse_grace: "10s" } });
    expect((await refresh(refresh_token)).json.error.code).toBe("refresh_token_reused");
    expect((await refresh(next)).json.error.code).toBe("invalid_refresh_token");
  });
});
