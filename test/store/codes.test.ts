import { expect, test } from "bun:test";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { codeStore } from "../../src/store/access/codes.ts";
import { identityStore } from "../../src/store/access/identities.ts";
import { freshStore } from "./support.ts";

const MINUTE_MS = 60_000;

async function setUp() {
  const fresh = freshStore();
  const accounts = accountStore(fresh.store);
  const make = async (username: string, more = {}) =>
    (await accounts.createAccount({ username, email: `${username}@x.example`, tier: "free", ...more })) as Account;
  const { id } = await make("ann");
  return { ...fresh, accounts, make, id, codes: codeStore(fresh.store) };
}

test("the right code verifies the address and is used up", async () => {
  const { codes, accounts, id, clock } = await setUp();
  const put = { accountId: id, codeHash: "right", expiresAtMs: clock.now() + 10 * MINUTE_MS, gapMs: MINUTE_MS };
  expect(await codes.putVerificationCode(put)).toEqual({ stored: true });
  expect(await codes.tryVerificationCode({ accountId: id, codeHash: "wrong", triesMax: 5 })).toBe("wrong");
  expect((await accounts.findAccount(id))?.emailVerified).toBe(false);
  expect(await codes.tryVerificationCode({ accountId: id, codeHash: "right", triesMax: 5 })).toBe("verified");
  expect((await accounts.findAccount(id))?.emailVerified).toBe(true);
  expect(await codes.tryVerificationCode({ accountId: id, codeHash: "right", triesMax: 5 })).toBe("wrong");
});

test("of any number of parallel guesses at most the limit is judged", async () => {
  const { codes, id, clock } = await setUp();
  await codes.putVerificationCode({ accountId: id, codeHash: "right", expiresAtMs: clock.now() + 1, gapMs: 0 });
  const guess = (codeHash: string) => codes.tryVerificationCode({ accountId: id, codeHash, triesMax: 5 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => guess(`guess-${i}`)));
  expect(answers.filter((answer) => answer === "wrong")).toHaveLength(5);
  expect(await guess("right")).toBe("too_many_tries");
});

test("a code expires, a new one comes after the gap and starts its own count", async () => {
  const { codes, id, clock } = await setUp();
  const put = (codeHash: string) =>
    codes.putVerificationCode({ accountId: id, codeHash, expiresAtMs: clock.now() + 10 * MINUTE_MS, gapMs: MINUTE_MS });
  const sentAtMs = clock.now();
  await put("one");
  for (let i = 0; i < 6; i++) await codes.tryVerificationCode({ accountId: id, codeHash: "x", triesMax: 5 });
  clock.advance(MINUTE_MS - 1);
  expect(await put("two")).toEqual({ stored: false, againAtMs: sentAtMs + MINUTE_MS });
  clock.advance(1);
  expect(await put("two")).toEqual({ stored: true });
  expect(await codes.tryVerificationCode({ accountId: id, codeHash: "one", triesMax: 5 })).toBe("wrong");
  clock.advance(10 * MINUTE_MS);
  expect(await codes.tryVerificationCode({ accountId: id, codeHash: "two", triesMax: 5 })).toBe("wrong");
  clock.advance(1);
  expect(await codes.deleteExpiredCodes()).toBe(1);
});

test("a ticket is taken once, by its kind, before it expires", async () => {
  const { codes, id, clock } = await setUp();
  const issue = (hash: string) =>
    codes.issueTicket({ kind: "oauth_code", hash, accountId: id, payload: { a: 1 }, expiresAtMs: clock.now() + 10 });
  await issue("t");
  expect(await codes.takeTicket("oauth_state", "t")).toBeUndefined();
  expect(await codes.peekTicket("oauth_code", "t")).toMatchObject({ accountId: id, payload: { a: 1 } });
  const takes = await Promise.all([codes.takeTicket("oauth_code", "t"), codes.takeTicket("oauth_code", "t")]);
  expect(takes.filter((ticket) => ticket !== undefined)).toEqual([
    { accountId: id, payload: { a: 1 }, createdAtMs: clock.now() },
  ]);
  await issue("late");
  clock.advance(10);
  expect(await codes.peekTicket("oauth_code", "late")).toBeUndefined();
  expect(await codes.takeTicket("oauth_code", "late")).toBeUndefined();
  await issue("swept");
  clock.advance(11);
  expect(await codes.deleteExpiredCodes()).toBe(1);
});

test("a newer ticket of a kind voids the older ones where that is asked", async () => {
  const { codes, id, clock } = await setUp();
  const issue = (hash: string) =>
    codes.issueTicket({ kind: "password_reset", hash, accountId: id, expiresAtMs: clock.now() + 10, only: true });
  await issue("one");
  await issue("two");
  expect(await codes.takeTicket("password_reset", "one")).toBeUndefined();
  expect(await codes.takeTicket("password_reset", "two")).toBeDefined();
});

test("an invitation makes one account", async () => {
  const { codes, accounts, id, clock } = await setUp();
  const { id: inviteId } = await codes.createInvite({
    hash: "i",
    createdBy: id,
    note: "for Bob",
    expiresAtMs: clock.now() + 10,
  });
  expect(await codes.isInviteOpen("i")).toBe(true);
  const signUp = (username: string, inviteHash: string) =>
    accounts.createAccount({ username, email: `${username}@x.example`, tier: "free", inviteHash });
  // A refused sign-up does not use up the invitation.
  expect(await signUp("ann", "i")).toEqual({ refused: "username_taken" });
  const results = await Promise.all([signUp("bob", "i"), signUp("eve", "i")]);
  expect(results.filter((result) => "refused" in result)).toEqual([{ refused: "invite_invalid" }]);
  expect(await codes.isInviteOpen("i")).toBe(false);
  expect(await codes.listInvites()).toMatchObject([
    { id: inviteId, note: "for Bob", usedBy: (results[0] as Account).id },
  ]);
  expect(JSON.stringify(await codes.listInvites())).not.toContain("hash");
  expect(await codes.deleteInvite(inviteId)).toBe(false);

  const late = await codes.createInvite({ hash: "late", createdBy: id, expiresAtMs: clock.now() + 10 });
  clock.advance(10);
  expect(await signUp("eve", "late")).toEqual({ refused: "invite_invalid" });
  expect(await signUp("eve", "unknown")).toEqual({ refused: "invite_invalid" });
  expect(await codes.deleteInvite(late.id)).toBe(true);
});

test("a person is one account, an account one person per provider, and the last way in stays", async () => {
  const { store, make, id, accounts } = await setUp();
  const identities = identityStore(store);
  const bob = await make("bob", { passwordHash: "h" });
  const person = { provider: "github", subject: "1", email: "a@x.example" };
  expect(await identities.findAccountOfIdentity("github", "1")).toBeUndefined();
  expect(await identities.linkIdentity(id, person)).toBe("linked");
  expect(await identities.linkIdentity(id, person)).toBe("already_linked");
  expect(await identities.linkIdentity(bob.id, person)).toBe("taken");
  expect(await identities.linkIdentity(id, { ...person, subject: "2" })).toBe("taken");
  expect(await identities.findAccountOfIdentity("github", "1")).toBe(id);
  expect(await identities.unlinkIdentity(id, "github")).toBe("last_way_in");
  expect(await identities.unlinkIdentity(id, "google")).toBe("not_linked");
  await identities.linkIdentity(id, { provider: "google", subject: "1", email: null });
  expect(await identities.listIdentities(id)).toEqual([person, { provider: "google", subject: "1", email: null }]);
  expect(await identities.unlinkIdentity(id, "github")).toBe("unlinked");
  await identities.linkIdentity(bob.id, person);
  expect(await identities.unlinkIdentity(bob.id, "github")).toBe("unlinked");

  const eve = await make("eve", { identity: person });
  expect(await identities.findAccountOfIdentity("github", "1")).toBe(eve.id);
  const again = { username: "mal", email: "mal@x.example", tier: "free" as const, identity: person };
  expect(await accounts.createAccount(again)).toEqual({ refused: "identity_taken" });
  expect(await accounts.countAccounts()).toBe(3);
});

const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;

test("the audit log is paged newest first, kept for its time, and silent for an account that is gone", async () => {
  const { store, clock, id } = await setUp();
  const audit = auditStore(store);
  const add = (event: string, accountId = id) =>
    audit.addAudit({ accountId, event, address: "::1", userAgent: "ua", detail: { n: 1 } });
  for (const event of ["a", "b", "c"]) await add(event);
  await add("lost", "gone");
  const page = await audit.listAudit(id, { limit: 2 });
  expect(page.map((entry) => entry.event)).toEqual(["c", "b"]);
  expect(page[0]).toMatchObject({ address: "::1", userAgent: "ua", detail: { n: 1 }, createdAtMs: clock.now() });
  expect((await audit.listAudit(id, { beforeId: page[1]!.id })).map((entry) => entry.event)).toEqual(["a"]);
  clock.advance(YEAR_MS);
  expect(await audit.deleteOldAudit(YEAR_MS)).toBe(0);
  clock.advance(1);
  expect(await audit.deleteOldAudit(YEAR_MS)).toBe(3);
});
