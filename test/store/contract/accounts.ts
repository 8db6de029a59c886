// Accounts, their budgets, and their identities at identity providers.

import { expect } from "bun:test";
import { BY_BYTES, type Contract, made, TEXTS, UNSTORABLE, type World } from "./world.ts";

const names = (list: readonly { readonly username: string }[]) => list.map(({ username }) => username);
const input = (username: string) => ({ username, email: `${username}@x.example`, tier: "free" as const });
const HOURLY = { limitMicros: 100, periodMs: 3_600_000 };

/** Adds data of every kind to an account. After its deletion none of it may be left. */
async function filled({ verbs, clock, account }: World): Promise<string> {
  const accountId = await account("gone");
  const expiresAtMs = clock.now() + 1000;
  await verbs.keys.createKey({ accountId, name: "k" });
  await verbs.budgets.setAccountBudget(accountId, HOURLY);
  await verbs.sessions.createSession({ accountId, refreshHash: "r", expiresAtMs, userAgent: "", address: "" });
  await verbs.codes.putVerificationCode({ accountId, codeHash: "c", expiresAtMs, gapMs: 0 });
  await verbs.codes.issueTicket({ kind: "oauth_code", hash: "t", accountId, expiresAtMs });
  await verbs.identities.linkIdentity(accountId, { provider: "p", subject: "s", email: null });
  await verbs.audit.addAudit({ accountId, event: "e", address: "", userAgent: "" });
  await verbs.jobs.createJob({ id: "j", kind: "crawl", accountId, input: {}, deadlineAtMs: expiresAtMs });
  await verbs.files.createFile(
    { id: "f", accountId, filename: "f", purpose: "vision", mediaType: "image/png" },
    new Uint8Array(3),
  );
  return accountId;
}

const accounts: Contract<"accounts"> = {
  createAccount: {
    "basics: names are unique without regard to case and width": async ({ verbs }) => {
      made(await verbs.accounts.createAccount(input("Ann")));
      for (const username of ["ann", "ANN", "\uff21nn"])
        expect(await verbs.accounts.createAccount({ ...input("x"), username })).toEqual({ refused: "username_taken" });
      expect(await verbs.accounts.createAccount({ ...input("x"), email: "ANN@X.example" })).toEqual({
        refused: "email_taken",
      });
    },
    "concurrency: of many with one name one is made": async ({ verbs, again }) => {
      const both = [verbs, await again()];
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => both[n % 2]!.accounts.createAccount(input("ann"))),
      );
      expect(all.filter((one) => "id" in one)).toHaveLength(1);
    },
    "text: a name comes back as it was written, and is found by its folded spelling": async ({ verbs }) => {
      for (const [n, text] of TEXTS.entries()) {
        if (text === "") continue;
        const account = made(await verbs.accounts.createAccount({ ...input(`n${n}`), username: `${n}${text}` }));
        expect((await verbs.accounts.findAccount(account.id))?.username).toBe(`${n}${text}`);
      }
      for (const text of UNSTORABLE)
        await expect(verbs.accounts.createAccount({ ...input("z"), username: text })).rejects.toThrow("username");
      // Composed and decomposed letters are the same name.
      made(await verbs.accounts.createAccount(input("caf\u00e9")));
      expect(await verbs.accounts.createAccount({ ...input("y"), username: "cafe\u0301" })).toHaveProperty("refused");
    },
  },
  findAccount: {
    "basics: by id; an unknown one and one that no database can hold are not there": async ({ verbs, account }) => {
      expect(await verbs.accounts.findAccount(await account())).toMatchObject({ username: "ann", admin: false });
      for (const id of ["", "nobody", "a\u0000b", "\ud800"])
        expect(await verbs.accounts.findAccount(id)).toBeUndefined();
    },
  },
  findAccountByEmail: {
    "text: without regard to case, never by the name": async ({ verbs, account }) => {
      const id = await account("Ann");
      expect((await verbs.accounts.findAccountByEmail(" ANN@X.EXAMPLE"))?.id).toBe(id);
      expect(await verbs.accounts.findAccountByEmail("Ann")).toBeUndefined();
    },
  },
  findAccountByLogin: {
    "text: by name and by address, without regard to case; wildcards are letters": async ({ verbs, account }) => {
      const id = await account("Ann");
      for (const login of ["aNN", "ann@x.EXAMPLE"])
        expect((await verbs.accounts.findAccountByLogin(login))?.id).toBe(id);
      for (const login of ["a%", "a_n", "an"]) expect(await verbs.accounts.findAccountByLogin(login)).toBeUndefined();
    },
  },
  countAccounts: {
    "basics: none, then some": async ({ verbs, account }) => {
      expect(await verbs.accounts.countAccounts()).toBe(0);
      await account();
      expect(await verbs.accounts.countAccounts()).toBe(1);
    },
  },
  listAccounts: {
    "paging: every account once": async ({ verbs, account }) => {
      for (let n = 0; n < 5; n++) await account(`u${n}`);
      const first = await verbs.accounts.listAccounts({ limit: 3 });
      const rest = await verbs.accounts.listAccounts({ afterId: first.at(-1)!.id, limit: 3 });
      expect(names([...first, ...rest])).toEqual(["u0", "u1", "u2", "u3", "u4"]);
      expect(await verbs.accounts.listAccounts({ afterId: rest.at(-1)!.id })).toEqual([]);
    },
    "order: the oldest first": async ({ verbs, account }) => {
      for (const name of ["z", "A", "ä"]) await account(name);
      expect(names(await verbs.accounts.listAccounts())).toEqual(["z", "A", "ä"]);
    },
  },
  searchAccounts: {
    "order: the newest first": async ({ verbs, account }) => {
      for (const name of ["b1", "b2", "b0"]) await account(name);
      expect(names(await verbs.accounts.searchAccounts("b"))).toEqual(["b0", "b2", "b1"]);
    },
    "paging: before the account that was seen last": async ({ verbs, account }) => {
      for (let n = 0; n < 5; n++) await account(`u${n}`);
      const first = await verbs.accounts.searchAccounts("U", { limit: 2 });
      expect(names(first)).toEqual(["u4", "u3"]);
      expect(names(await verbs.accounts.searchAccounts("u", { beforeId: first[1]!.id }))).toEqual(["u2", "u1", "u0"]);
      expect(await verbs.accounts.searchAccounts("", { limit: 9 })).toHaveLength(5);
    },
    "text: the beginning of a name or of an address, by bytes; wildcards are letters": async ({ verbs, account }) => {
      for (const name of ["Straße", "日本", "日\u{10fffd}x", "a_b", "acb"]) await account(name);
      expect(names(await verbs.accounts.searchAccounts("STRASSE"))).toEqual([]);
      expect(names(await verbs.accounts.searchAccounts("STRAß"))).toEqual(["Straße"]);
      expect(names(await verbs.accounts.searchAccounts("日"))).toEqual(["日\u{10fffd}x", "日本"]);
      expect(names(await verbs.accounts.searchAccounts("a_"))).toEqual(["a_b"]);
      expect(names(await verbs.accounts.searchAccounts("acb@x"))).toEqual(["acb"]);
    },
  },
  setGroupPlan: {
    "basics: what groups gave ends with them, what a person set stays": async ({ verbs, account }) => {
      const [id, other] = [await account("a"), await account("b")];
      const start = { id: "free", trialMs: 5 } as const;
      const set = (tier: "pro" | "premium" | undefined, provider = "corp") =>
        verbs.accounts.setGroupPlan(id, provider, { tier, start });
      const plan = async () => {
        const found = await verbs.accounts.findAccount(id);
        return [found?.tier, found?.trialEndsAtMs];
      };
      const { createdAtMs } = (await verbs.accounts.findAccount(id))!;
      expect(await set(undefined)).toBeUndefined();
      expect([await set("pro"), await set("pro"), await plan()]).toEqual(["pro", undefined, ["pro", null]]);
      // Another provider neither changes nor ends what this one gave.
      expect([await set("premium", "other"), await set(undefined, "other")]).toEqual([undefined, undefined]);
      expect(await set("premium")).toBe("premium");
      expect([await set(undefined), await plan()]).toEqual(["free", ["free", createdAtMs + 5]]);

      expect(await set("pro")).toBe("pro");
      await verbs.accounts.updateAccount(id, { tier: "pro", subscriptionUntilMs: 7 });
      expect([await set("premium"), await set(undefined)]).toEqual([undefined, undefined]);
      expect(await verbs.accounts.findAccount(id)).toMatchObject({ tier: "pro", subscriptionUntilMs: 7 });
      expect((await verbs.accounts.findAccount(other))?.tier).toBe("free");
      expect(await verbs.accounts.setGroupPlan("nobody", "corp", { tier: "pro", start })).toBeUndefined();
    },
    "concurrency: of two sign-ins at once, one changes the plan": async ({ verbs, account, again }) => {
      const [id, other] = [await account(), await again()];
      const plan = { tier: "pro", start: { id: "free" } } as const;
      const all = await Promise.all([verbs, other].map(({ accounts }) => accounts.setGroupPlan(id, "corp", plan)));
      expect(all.filter((one) => one === "pro")).toHaveLength(1);
    },
  },
  updateAccount: {
    "basics: what is changed is found by its new names": async ({ verbs, account }) => {
      const id = await account();
      await account("bob");
      expect(await verbs.accounts.updateAccount(id, { username: "BOB" })).toEqual({ refused: "username_taken" });
      expect(await verbs.accounts.updateAccount(id, { email: "New@x.example" })).toMatchObject({
        email: "New@x.example",
      });
      expect((await verbs.accounts.findAccountByEmail("new@X.example"))?.id).toBe(id);
      expect(await verbs.accounts.updateAccount("nobody", { tier: "pro" })).toBeUndefined();
    },
    "concurrency: two accounts cannot take one name": async ({ verbs, account, again }) => {
      const [a, b, other] = [await account("a"), await account("b"), await again()];
      const all = await Promise.all([
        verbs.accounts.updateAccount(a, { username: "c" }),
        other.accounts.updateAccount(b, { username: "C" }),
      ]);
      expect(all.filter((one) => one !== undefined && "refused" in one)).toHaveLength(1);
    },
  },
  deleteAccount: {
    "cascade: everything of its own goes, and another's stays": async (world) => {
      const { verbs, account, clock } = world;
      const [accountId, other] = [await filled(world), await account("other")];
      await verbs.keys.createKey({ accountId: other, name: "k" });
      expect(await verbs.accounts.deleteAccount(accountId)).toBe(true);
      expect(await verbs.accounts.deleteAccount(accountId)).toBe(false);
      expect(await verbs.keys.listKeys(accountId)).toEqual([]);
      expect(await verbs.budgets.findAccountBudget(accountId, undefined)).toBeUndefined();
      expect(await verbs.sessions.listSessions(accountId)).toEqual([]);
      expect(await verbs.codes.peekTicket("oauth_code", "t")).toBeUndefined();
      expect(await verbs.codes.tryVerificationCode({ accountId, codeHash: "c", triesMax: 5 })).toBe("wrong");
      expect(await verbs.identities.findAccountOfIdentity("p", "s")).toBeUndefined();
      expect(await verbs.audit.listAudit(accountId)).toEqual([]);
      expect(await verbs.jobs.findJob("crawl", accountId, "j")).toBeUndefined();
      expect(await verbs.files.findFile(accountId, "f")).toBeUndefined();
      expect((await verbs.storage.storageOf(accountId)).usedBytes).toBe(0);
      expect(await verbs.keys.listKeys(other)).toHaveLength(1);
      clock.advance(1);
    },
    "concurrency: of two one deletes it": async ({ verbs, account, again }) => {
      const id = await account();
      const other = await again();
      const all = await Promise.all([verbs.accounts.deleteAccount(id), other.accounts.deleteAccount(id)]);
      expect(all.sort()).toEqual([false, true]);
    },
  },
};

const budgets: Contract<"budgets"> = {
  findAccountBudget: {
    "basics: the operator's own beats the plan's; none is none": async ({ verbs, account }) => {
      const id = await account();
      expect(await verbs.budgets.findAccountBudget(id, undefined)).toBeUndefined();
      expect(await verbs.budgets.findAccountBudget(id, HOURLY)).toMatchObject({ own: false, limitMicros: 100 });
      await verbs.budgets.setAccountBudget(id, { limitMicros: 5, periodMs: null });
      expect(await verbs.budgets.findAccountBudget(id, HOURLY)).toMatchObject({
        own: true,
        limitMicros: 5,
        resetsAtMs: null,
      });
    },
    "time: a window ends to the millisecond": async ({ verbs, account, clock }) => {
      const id = await account();
      const startMs = clock.now();
      await verbs.budgets.setAccountBudget(id, HOURLY);
      clock.advance(HOURLY.periodMs - 1);
      expect(await verbs.budgets.findAccountBudget(id, undefined)).toMatchObject({
        resetsAtMs: startMs + HOURLY.periodMs,
      });
      clock.advance(1);
      expect(await verbs.budgets.findAccountBudget(id, undefined)).toMatchObject({
        resetsAtMs: startMs + 2 * HOURLY.periodMs,
      });
    },
  },
  openAccountBudget: {
    "time: a plan's window counts from the first opening": async ({ verbs, account, clock }) => {
      const id = await account();
      const startMs = clock.now();
      await verbs.budgets.openAccountBudget(id, HOURLY);
      clock.advance(10);
      expect(await verbs.budgets.openAccountBudget(id, HOURLY)).toMatchObject({
        resetsAtMs: startMs + HOURLY.periodMs,
      });
      const daily = { ...HOURLY, periodMs: 24 * HOURLY.periodMs };
      expect(await verbs.budgets.openAccountBudget(id, daily)).toMatchObject({ resetsAtMs: startMs + daily.periodMs });
    },
    "concurrency: many open one window": async ({ verbs, account, again }) => {
      const [id, other] = [await account(), await again()];
      const all = await Promise.all(
        [1, 2, 3, 4].map((n) => (n % 2 ? verbs : other).budgets.openAccountBudget(id, HOURLY)),
      );
      expect(new Set(all.map((one) => one?.resetsAtMs)).size).toBe(1);
    },
  },
  setAccountBudget: {
    "basics: null is no budget, whatever the plan says": async ({ verbs, account }) => {
      const id = await account();
      await verbs.budgets.setAccountBudget(id, null);
      expect(await verbs.budgets.findAccountBudget(id, HOURLY)).toBeUndefined();
    },
    "concurrency: the last word holds": async ({ verbs, account, again }) => {
      const [id, other] = [await account(), await again()];
      await Promise.all(
        [1, 2, 3].map((n) => (n % 2 ? verbs : other).budgets.setAccountBudget(id, { ...HOURLY, limitMicros: n })),
      );
      await other.budgets.setAccountBudget(id, { ...HOURLY, limitMicros: 9 });
      expect(await verbs.budgets.findAccountBudget(id, undefined)).toMatchObject({ limitMicros: 9 });
    },
  },
  tiersWithBudgets: {
    "basics: of accounts with a budget of their own or of a live key, each once": async ({ verbs, account }) => {
      const [a, b, c] = [await account("a"), await account("b"), await account("c")];
      await verbs.accounts.updateAccount(b, { tier: "pro" });
      await verbs.budgets.setAccountBudget(a, HOURLY);
      await verbs.budgets.setAccountBudget(c, null);
      const { id } = await verbs.keys.createKey({ accountId: b, name: "k", budgetMicros: 5 });
      expect((await verbs.budgets.tiersWithBudgets()).sort()).toEqual(["free", "pro"]);
      await verbs.keys.revokeKey(id);
      expect(await verbs.budgets.tiersWithBudgets()).toEqual(["free"]);
    },
  },
  clearAccountBudget: {
    "basics: the plan's holds again": async ({ verbs, account }) => {
      const id = await account();
      await verbs.budgets.setAccountBudget(id, null);
      await verbs.budgets.clearAccountBudget(id);
      expect(await verbs.budgets.findAccountBudget(id, HOURLY)).toMatchObject({ own: false });
    },
  },
};

const PERSON = { provider: "github", subject: "1", email: "a@x.example" };

const identities: Contract<"identities"> = {
  findAccountOfIdentity: {
    "text: a subject is told from its other spellings": async ({ verbs, account }) => {
      const id = await account();
      await verbs.identities.linkIdentity(id, { ...PERSON, subject: "Ab" });
      expect(await verbs.identities.findAccountOfIdentity("github", "Ab")).toBe(id);
      for (const subject of ["ab", "AB", "Ab ", "A%"])
        expect(await verbs.identities.findAccountOfIdentity("github", subject)).toBeUndefined();
    },
  },
  linkIdentity: {
    "concurrency: a person is one account": async ({ verbs, account, again }) => {
      const [a, b, other] = [await account("a"), await account("b"), await again()];
      const all = await Promise.all([
        verbs.identities.linkIdentity(a, PERSON),
        other.identities.linkIdentity(b, PERSON),
      ]);
      expect(all.sort()).toEqual(["linked", "taken"]);
    },
  },
  listIdentities: {
    "order: by the bytes of the provider's name": async ({ verbs, account }) => {
      const id = await account();
      for (const provider of BY_BYTES.toReversed())
        await verbs.identities.linkIdentity(id, { provider, subject: "1", email: null });
      expect((await verbs.identities.listIdentities(id)).map(({ provider }) => provider)).toEqual(BY_BYTES);
    },
  },
  unlinkAllIdentities: {
    "basics: every one of this account": async ({ verbs, account }) => {
      const [a, b] = [await account("a"), await account("b")];
      await verbs.identities.linkIdentity(a, PERSON);
      await verbs.identities.linkIdentity(b, { ...PERSON, subject: "2" });
      await verbs.identities.unlinkAllIdentities(a);
      expect(await verbs.identities.listIdentities(a)).toEqual([]);
      expect(await verbs.identities.listIdentities(b)).toHaveLength(1);
    },
    "basics: what their groups gave ends, what a person decided stays": async ({ verbs, account }) => {
      const [owner, a, b] = [await account("o"), await account("a"), await account("b")];
      const project = await verbs.projects.createProject(owner, { name: "p" });
      if (project === "too_many") throw new Error(project);
      await verbs.projectMembers.setGroupRoles(a, "corp", [{ projectId: project.id, role: "member" }]);
      await verbs.projectMembers.setMember(project.id, b, "member");
      await verbs.accounts.setGroupPlan(a, "corp", { tier: "pro", start: { id: "free" } });
      await verbs.accounts.updateAccount(b, { tier: "pro" });
      for (const id of [a, b]) await verbs.identities.unlinkAllIdentities(id);
      const has = async (id: string) => [
        await verbs.projectMembers.findRole(project.id, id),
        (await verbs.accounts.findAccount(id))?.tier,
      ];
      expect([await has(a), await has(b)]).toEqual([
        [undefined, "free"],
        ["member", "pro"],
      ]);
    },
  },
  unlinkIdentity: {
    "concurrency: the last way in stays": async ({ verbs, account, again }) => {
      const [id, other] = [await account(), await again()];
      for (const provider of ["a", "b"]) await verbs.identities.linkIdentity(id, { ...PERSON, provider });
      const all = await Promise.all([
        verbs.identities.unlinkIdentity(id, "a"),
        other.identities.unlinkIdentity(id, "b"),
      ]);
      expect(all.sort()).toEqual(["last_way_in", "unlinked"]);
    },
  },
};

/** The cases of the verbs over accounts. */
export const accountsContract = { accounts, budgets, identities };
