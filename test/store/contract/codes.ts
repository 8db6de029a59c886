// One-time secrets: verification codes, tickets and invitations.

import { expect } from "bun:test";
import { type Contract, made, TEXTS, UNSTORABLE, type World } from "./world.ts";

const ticket = ({ clock }: World, hash: string, more = {}) => ({
  kind: "oauth_code" as const,
  hash,
  payload: { "a\u0000b": TEXTS },
  expiresAtMs: clock.now() + 10,
  ...more,
});

const codes: Contract<"codes"> = {
  putVerificationCode: {
    "concurrency: one within the gap": async ({ verbs, account, again, clock }) => {
      const [accountId, other] = [await account(), await again()];
      const put = { accountId, expiresAtMs: clock.now() + 10, gapMs: 5 };
      const all = await Promise.all(
        [verbs, other].map((own, n) => own.codes.putVerificationCode({ ...put, codeHash: `c${n}` })),
      );
      expect(all.filter(({ stored }) => stored)).toHaveLength(1);
      clock.advance(5);
      expect(await verbs.codes.putVerificationCode({ ...put, codeHash: "c" })).toEqual({ stored: true });
    },
  },
  tryVerificationCode: {
    "concurrency: at most the limit is judged": async ({ verbs, account, again, clock }) => {
      const [accountId, other] = [await account(), await again()];
      await verbs.codes.putVerificationCode({ accountId, codeHash: "r", expiresAtMs: clock.now() + 10, gapMs: 0 });
      const guess = (n: number) =>
        (n % 2 ? verbs : other).codes.tryVerificationCode({ accountId, codeHash: `g${n}`, triesMax: 3 });
      const all = await Promise.all([1, 2, 3, 4, 5, 6].map(guess));
      expect(all.filter((one) => one === "wrong")).toHaveLength(3);
    },
    "time: not from its end on": async ({ verbs, account, clock }) => {
      const accountId = await account();
      await verbs.codes.putVerificationCode({ accountId, codeHash: "r", expiresAtMs: clock.now() + 10, gapMs: 0 });
      clock.advance(10);
      expect(await verbs.codes.tryVerificationCode({ accountId, codeHash: "r", triesMax: 3 })).toBe("wrong");
    },
  },
  issueTicket: {
    "concurrency: a hash is issued once": async (world) => {
      const other = await world.again();
      const all = await Promise.allSettled(
        [world.verbs, other].map((own) => own.codes.issueTicket(ticket(world, "t"))),
      );
      expect(all.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    },
  },
  takeTicket: {
    "concurrency: one gets it": async (world) => {
      const other = await world.again();
      await world.verbs.codes.issueTicket(ticket(world, "t"));
      expect(await other.codes.takeTicket("oauth_state", "t")).toBeUndefined();
      const all = await Promise.all([world.verbs, other].map((own) => own.codes.takeTicket("oauth_code", "t")));
      expect(all.filter((one) => one !== undefined)).toHaveLength(1);
    },
    "order: which one is taken is told by its hash": async (world) => {
      for (const hash of ["b", "B", "a"])
        await world.verbs.codes.issueTicket(ticket(world, hash, { payload: { hash } }));
      expect((await world.verbs.codes.takeTicket("oauth_code", "B"))?.payload).toEqual({ hash: "B" });
    },
    "text: what it carries comes back, NUL too": async (world) => {
      await world.verbs.codes.issueTicket(ticket(world, "t"));
      expect((await world.verbs.codes.takeTicket("oauth_code", "t"))?.payload).toEqual({ "a\u0000b": TEXTS });
    },
  },
  dropTickets: {
    "basics: an account's of some kinds, or all": async (world) => {
      const accountId = await world.account();
      await world.verbs.codes.issueTicket(ticket(world, "a", { accountId }));
      await world.verbs.codes.issueTicket(ticket(world, "b", { accountId, kind: "password_reset" }));
      await world.verbs.codes.dropTickets(accountId, ["password_reset"]);
      expect(await world.verbs.codes.peekTicket("oauth_code", "a")).toBeDefined();
      await world.verbs.codes.dropTickets(accountId);
      expect(await world.verbs.codes.peekTicket("oauth_code", "a")).toBeUndefined();
    },
  },
  peekTicket: {
    "time: until its end": async (world) => {
      await world.verbs.codes.issueTicket(ticket(world, "t"));
      world.clock.advance(9);
      expect(await world.verbs.codes.peekTicket("oauth_code", "t")).toBeDefined();
      world.clock.advance(1);
      expect(await world.verbs.codes.peekTicket("oauth_code", "t")).toBeUndefined();
    },
  },
  createInvite: {
    "concurrency: one account uses it up": async ({ verbs, again }) => {
      const other = await again();
      await verbs.codes.createInvite({ hash: "i", createdBy: null, note: "日本" });
      const all = await Promise.all(
        [verbs, other].map((own, n) =>
          own.accounts.createAccount({ username: `u${n}`, email: `u${n}@x`, tier: "free", inviteHash: "i" }),
        ),
      );
      expect(all.filter((one) => "id" in one)).toHaveLength(1);
      expect((await verbs.codes.listInvites())[0]?.note).toBe("日本");
    },
    "text: a note that not every database can keep is refused": async ({ verbs }) => {
      for (const note of UNSTORABLE)
        await expect(verbs.codes.createInvite({ hash: "i", createdBy: null, note })).rejects.toThrow("note");
    },
    "time: whole milliseconds only": async ({ verbs }) => {
      await expect(verbs.codes.createInvite({ hash: "i", createdBy: null, expiresAtMs: 0.5 })).rejects.toThrow("whole");
    },
  },
  isInviteOpen: {
    "time: until it ends": async ({ verbs, clock }) => {
      await verbs.codes.createInvite({ hash: "i", createdBy: null, expiresAtMs: clock.now() + 1 });
      expect(await verbs.codes.isInviteOpen("i")).toBe(true);
      expect(await verbs.codes.isInviteOpen("I")).toBe(false);
      clock.advance(1);
      expect(await verbs.codes.isInviteOpen("i")).toBe(false);
    },
  },
  listInvites: {
    "order: the newest first": async ({ verbs }) => {
      for (const hash of ["z", "A", "m"]) await verbs.codes.createInvite({ hash, createdBy: null, note: hash });
      expect((await verbs.codes.listInvites()).map(({ note }) => note)).toEqual(["m", "A", "z"]);
    },
    "cascade: it outlives who made it": async ({ verbs, account }) => {
      const createdBy = await account();
      await verbs.codes.createInvite({ hash: "i", createdBy });
      await verbs.accounts.deleteAccount(createdBy);
      expect(await verbs.codes.listInvites()).toMatchObject([{ createdBy: null }]);
    },
  },
  deleteInvite: {
    "basics: while nobody has used it": async ({ verbs }) => {
      const { id } = await verbs.codes.createInvite({ hash: "i", createdBy: null });
      made(await verbs.accounts.createAccount({ username: "u", email: "u@x", tier: "free", inviteHash: "i" }));
      expect(await verbs.codes.deleteInvite(id)).toBe(false);
      expect(await verbs.codes.deleteInvite((await verbs.codes.createInvite({ hash: "j", createdBy: null })).id)).toBe(
        true,
      );
    },
  },
  deleteExpiredCodes: {
    "time: from their end on": async (world) => {
      await world.verbs.codes.issueTicket(ticket(world, "t"));
      world.clock.advance(10);
      expect(await world.verbs.codes.deleteExpiredCodes()).toBe(0);
      world.clock.advance(1);
      expect(await world.verbs.codes.deleteExpiredCodes()).toBe(1);
    },
  },
};

/** The cases of the verbs over codes. */
export const codesContract = { codes };
