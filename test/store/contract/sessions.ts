// Sessions.

import { expect } from "bun:test";
import { type Contract, TEXTS, type World } from "./world.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const newSession = ({ clock }: World, accountId: string, more = {}) => ({
  accountId,
  expiresAtMs: clock.now() + HOUR_MS,
  userAgent: "ua",
  address: "::1",
  ...more,
});

const rotation = ({ clock }: World, hash: string, nextHash: string, graceMs = 0) => ({
  hash,
  nextHash,
  nextExpiresAtMs: clock.now() + HOUR_MS,
  graceMs,
});

const sessions: Contract<"sessions"> = {
  createSession: {
    "concurrency: many at once are all there": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 ? world.verbs : other).sessions.createSession(newSession(world, accountId, { refreshHash: `r${n}` })),
        ),
      );
      expect(await world.verbs.sessions.listSessions(accountId)).toHaveLength(8);
    },
    "cascade: none for an account that is not there": async (world) => {
      await expect(world.verbs.sessions.createSession(newSession(world, "nobody"))).rejects.toThrow();
    },
  },
  rotateRefresh: {
    "concurrency: of two refreshes one wins, and the family ends": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      await world.verbs.sessions.createSession(newSession(world, accountId, { refreshHash: "r0" }));
      const all = await Promise.all([
        world.verbs.sessions.rotateRefresh(rotation(world, "r0", "a")),
        other.sessions.rotateRefresh(rotation(world, "r0", "b")),
      ]);
      expect(all.map(({ kind }) => kind).sort()).toEqual(["reused", "rotated"]);
      expect(await world.verbs.sessions.listSessions(accountId)).toEqual([]);
    },
    "time: a grace and a life end to the millisecond": async (world) => {
      const { verbs, clock } = world;
      const accountId = await world.account();
      await verbs.sessions.createSession(newSession(world, accountId, { refreshHash: "r0" }));
      await verbs.sessions.rotateRefresh(rotation(world, "r0", "r1", 10));
      clock.advance(9);
      expect(await verbs.sessions.rotateRefresh(rotation(world, "r0", "x", 10))).toMatchObject({ kind: "repeated" });
      clock.advance(HOUR_MS - 9);
      expect(await verbs.sessions.rotateRefresh(rotation(world, "r1", "r2"))).toEqual({ kind: "expired" });
      expect(await verbs.sessions.rotateRefresh(rotation(world, "R1", "r2"))).toEqual({ kind: "unknown" });
    },
  },
  useCookieSession: {
    "time: while it lives, and its use is noted": async (world) => {
      const { verbs, clock } = world;
      const accountId = await world.account();
      const { id } = await verbs.sessions.createSession(newSession(world, accountId, { cookieHash: "c" }));
      clock.advance(HOUR_MS - 1);
      expect(await verbs.sessions.useCookieSession("c")).toMatchObject({ id, lastUsedAtMs: clock.now() });
      clock.advance(1);
      expect(await verbs.sessions.useCookieSession("c")).toBeUndefined();
      expect(await verbs.sessions.useCookieSession("C")).toBeUndefined();
    },
  },
  listSessions: {
    "order: the one used last first, then the newest": async (world) => {
      const { verbs, clock } = world;
      const accountId = await world.account();
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) {
        ids.push((await verbs.sessions.createSession(newSession(world, accountId, { cookieHash: `c${n}` }))).id);
        if (n === 1) clock.advance(1);
      }
      expect((await verbs.sessions.listSessions(accountId)).map(({ id }) => id)).toEqual(ids.toReversed());
    },
    "text: what a browser calls itself comes back": async (world) => {
      const accountId = await world.account();
      for (const userAgent of TEXTS)
        await world.verbs.sessions.createSession(newSession(world, accountId, { userAgent }));
      const listed = (await world.verbs.sessions.listSessions(accountId)).map(({ userAgent }) => userAgent);
      expect(listed.sort()).toEqual([...TEXTS].sort());
    },
  },
  hasSession: {
    "basics: of this account, ended or not": async (world) => {
      const accountId = await world.account();
      const { id } = await world.verbs.sessions.createSession(newSession(world, accountId));
      await world.verbs.sessions.revokeSession(id, accountId);
      expect(await world.verbs.sessions.hasSession(id, accountId)).toBe(true);
      expect(await world.verbs.sessions.hasSession(id, "other")).toBe(false);
    },
  },
  revokeByRefresh: {
    "concurrency: once": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      await world.verbs.sessions.createSession(newSession(world, accountId, { refreshHash: "r" }));
      expect(await world.verbs.sessions.revokeByRefresh("r", "other")).toBe(false);
      const all = await Promise.all([world.verbs, other].map((own) => own.sessions.revokeByRefresh("r", accountId)));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  revokeSession: {
    "concurrency: once": async (world) => {
      const [accountId, other] = [await world.account(), await world.again()];
      const { id } = await world.verbs.sessions.createSession(newSession(world, accountId));
      const all = await Promise.all([world.verbs, other].map((own) => own.sessions.revokeSession(id, accountId)));
      expect(all.sort()).toEqual([false, true]);
    },
  },
  revokeAllSessions: {
    "basics: all but one; they leave no trace": async (world) => {
      const accountId = await world.account();
      const start = async () => (await world.verbs.sessions.createSession(newSession(world, accountId))).id;
      const [first, second, ended] = [await start(), await start(), await start()];
      await world.verbs.sessions.revokeSession(ended, accountId);
      expect(await world.verbs.sessions.revokeAllSessions(accountId, first)).toBe(1);
      expect(await world.verbs.sessions.hasSession(second, accountId)).toBe(false);
      expect(await world.verbs.sessions.revokeAllSessions(accountId)).toBe(1);
    },
  },
  deleteExpiredSessions: {
    "time: a week after their end": async (world) => {
      const accountId = await world.account();
      await world.verbs.sessions.createSession(newSession(world, accountId, { refreshHash: "r" }));
      world.clock.advance(HOUR_MS + 7 * DAY_MS);
      expect(await world.verbs.sessions.deleteExpiredSessions()).toBe(0);
      world.clock.advance(1);
      expect(await world.verbs.sessions.deleteExpiredSessions()).toBeGreaterThan(0);
      expect(await world.verbs.sessions.deleteExpiredSessions()).toBe(0);
    },
  },
};

/** The cases of the verbs over access. */
export const sessionContract = { sessions };
