import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { type NewSession, sessionStore } from "../../src/store/access/sessions.ts";
import type { SqliteStore as Store } from "../../src/store/engine/open.ts";
import { freshStore } from "./support.ts";

const HOUR_MS = 3_600_000;

async function anAccount(store: Store, name = "ann"): Promise<string> {
  const made = await accountStore(store).createAccount({ username: name, email: `${name}@x.example`, tier: "free" });
  return (made as Account).id;
}

async function setUp() {
  const fresh = freshStore();
  const accountId = await anAccount(fresh.store);
  const sessions = sessionStore(fresh.store);
  const start = (change: Partial<NewSession> = {}) =>
    sessions.createSession({
      accountId,
      expiresAtMs: fresh.clock.now() + HOUR_MS,
      userAgent: "ua",
      address: "::1",
      ...change,
    });
  const rotate = (hash: string, nextHash: string, graceMs = 0) =>
    sessions.rotateRefresh({ hash, nextHash, nextExpiresAtMs: fresh.clock.now() + HOUR_MS, graceMs });
  return { ...fresh, accountId, sessions, start, rotate };
}

test("a refresh token works once; the second use ends its family", async () => {
  const { accountId, sessions, start, rotate } = await setUp();
  const { id } = await start({ refreshHash: "r0" });
  const other = await start({ refreshHash: "other" });
  expect(await rotate("r0", "r1")).toEqual({ kind: "rotated", sessionId: id, accountId });
  expect(await rotate("r0", "x")).toEqual({ kind: "reused", sessionId: id, accountId });
  expect(await rotate("r1", "r2")).toEqual({ kind: "revoked" });
  expect(await rotate("r0", "x")).toMatchObject({ kind: "reused" });
  expect(await rotate("nothing", "x")).toEqual({ kind: "unknown" });
  expect((await sessions.listSessions(accountId)).map((session) => session.id)).toEqual([other.id]);
  expect(await rotate("other", "o1")).toMatchObject({ kind: "rotated", sessionId: other.id });
});

test("of two concurrent refreshes one wins", async () => {
  const { start, rotate } = await setUp();
  await start({ refreshHash: "r0" });
  const kinds = (await Promise.all([rotate("r0", "a"), rotate("r0", "b")])).map((r) => r.kind);
  expect(kinds.sort()).toEqual(["reused", "rotated"]);
});

test("within the grace a used token is repeated, until its successor is used or the grace ends", async () => {
  const { clock, start, rotate } = await setUp();
  await start({ refreshHash: "r0" });
  await rotate("r0", "r1", 1000);
  clock.advance(999);
  expect(await rotate("r0", "x", 1000)).toMatchObject({ kind: "repeated", nextHash: "r1" });
  clock.advance(1);
  expect(await rotate("r0", "x", 1000)).toMatchObject({ kind: "reused" });

  await start({ refreshHash: "s0" });
  await rotate("s0", "s1", 1000);
  await rotate("s1", "s2", 1000);
  expect(await rotate("s0", "x", 1000)).toMatchObject({ kind: "reused" });
});

test("an expired token is expired for a week, then unknown", async () => {
  const { store, clock, start, sessions, rotate } = await setUp();
  await start({ refreshHash: "r0" });
  clock.advance(HOUR_MS);
  expect(await rotate("r0", "r1")).toEqual({ kind: "expired" });
  expect(await sessions.deleteExpiredSessions()).toBe(0);
  clock.advance(7 * 24 * HOUR_MS + 1);
  expect(await sessions.deleteExpiredSessions()).toBeGreaterThan(0);
  expect(await rotate("r0", "r1")).toEqual({ kind: "unknown" });
  expect(store.sqlite.query("SELECT count(*) AS n FROM refresh_tokens").get()).toEqual({ n: 0 });
});

test("whatever is presented in whatever order, a family has at most one usable token", async () => {
  // The expected state: which token is the newest, and whether the family is still valid.
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(6), { maxLength: 12 }), async (picks) => {
      const { start, rotate, store } = await setUp();
      await start({ refreshHash: "t0" });
      let newest = 0;
      let alive = true;
      for (const pick of picks) {
        const { kind } = await rotate(`t${pick}`, `t${newest + 1}`);
        if (pick > newest) expect(kind).toBe("unknown");
        else if (pick < newest) {
          expect(kind).toBe("reused");
          alive = false;
        } else if (alive) {
          expect(kind).toBe("rotated");
          newest += 1;
        } else expect(kind).toBe("revoked");
      }
      store.close();
    }),
    { numRuns: 30 },
  );
});

test("sessions are listed, ended one by one and all at once, each account's own only", async () => {
  const { store, clock, accountId, sessions, start, rotate } = await setUp();
  const bob = await anAccount(store, "bob");
  const a = await start({ refreshHash: "a", userAgent: "u".repeat(999) });
  clock.advance(1);
  const b = await start({ refreshHash: "b" });
  clock.advance(1);
  const c = await start({ cookieHash: "c" });
  expect((await sessions.listSessions(accountId)).map((s) => s.id)).toEqual([c.id, b.id, a.id]);
  expect(a.userAgent).toHaveLength(300);
  expect(JSON.stringify(await sessions.listSessions(accountId))).not.toContain("cookie");

  expect(await sessions.revokeSession(a.id, bob)).toBe(false);
  expect(await sessions.revokeByRefresh("a", bob)).toBe(false);
  expect(await sessions.revokeByRefresh("a", accountId)).toBe(true);
  expect(await sessions.revokeByRefresh("a", accountId)).toBe(false);
  expect(await rotate("a", "a1")).toEqual({ kind: "revoked" });
  expect(await sessions.revokeAllSessions(accountId, c.id)).toBe(1);
  expect((await sessions.listSessions(accountId)).map((s) => s.id)).toEqual([c.id]);
  expect(await sessions.revokeSession(c.id, accountId)).toBe(true);
  expect(await sessions.listSessions(accountId)).toEqual([]);
});

test("a cookie opens its session while it lives, and its use is noted", async () => {
  const { clock, sessions, start } = await setUp();
  const { id } = await start({ cookieHash: "c" });
  clock.advance(5);
  expect(await sessions.useCookieSession("c")).toMatchObject({ id, lastUsedAtMs: clock.now() });
  expect(await sessions.useCookieSession("d")).toBeUndefined();
  clock.advance(HOUR_MS);
  expect(await sessions.useCookieSession("c")).toBeUndefined();
});

test("an account keeps a bounded number of sessions, the ones used last", async () => {
  const { clock, accountId, sessions, start } = await setUp();
  const first = await start();
  clock.advance(1);
  for (let i = 0; i < 1000; i++) await start();
  expect(await sessions.listSessions(accountId)).toHaveLength(1000);
  expect(await sessions.hasSession(first.id, accountId)).toBe(false);
});
