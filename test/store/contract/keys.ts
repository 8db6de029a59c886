// API keys.

import { expect } from "bun:test";
import { sha256Hex } from "../../../src/base/ids.ts";
import { keySearchCases } from "./key-search.ts";
import { type Contract, TEXTS, UNSTORABLE } from "./world.ts";

const _DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** What holds of the verbs over keys. */
export const keyContract: { readonly keys: Contract<"keys"> } = {
  keys: {
    findKey: {
      "basics: a key of the account, also a revoked one": async ({ verbs, account }) => {
        const accountId = await account();
        const { id, key } = await verbs.keys.createKey({ accountId, name: "k", management: "account" });
        expect(key).toStartWith("sk-m-");
        expect(await verbs.keys.findKey(id, { accountId })).toMatchObject({ name: "k", prefix: key.slice(0, 9) });
        expect(await verbs.keys.findKey(id, { accountId: await account("other") })).toBeUndefined();
        expect(await verbs.keys.findKey("a\u0000", { accountId })).toBeUndefined();
        await verbs.keys.revokeKey(id);
        expect((await verbs.keys.findKey(id, { accountId }))?.revokedAtMs).not.toBeNull();
      },
    },
    findLiveKey: {
      "basics: with its limits and its account's plan": async ({ verbs, account }) => {
        const accountId = await account();
        const project = await verbs.projects.createProject(accountId, { name: "p", rpm: 70, models: ["gpt-*"] });
        const projectId = typeof project === "string" ? project : project.id;
        const { id, key } = await verbs.keys.createKey({
          accountId,
          name: "k",
          rpm: 7,
          budgetMicros: 5,
          noStore: true,
          models: ["gpt-*"],
          passthrough: true,
          mcpServers: ["files"],
          management: "project",
          projectId,
          tpm: 9,
          parallel: 3,
          disabled: true,
          addresses: ["10.0.0.0/8"],
          runMicros: 4,
          runRequests: 3,
          runRepeats: 2,
        });
        expect(await verbs.keys.findLiveKey(sha256Hex(key))).toEqual({
          keyId: id,
          name: "k",
          accountId,
          rpm: 7,
          expiresAtMs: null,
          budgetMicros: 5,
          noStore: true,
          models: ["gpt-*"],
          debugUntilMs: null,
          passthrough: true,
          mcpServers: ["files"],
          management: "project",
          projectId,
          tpm: 9,
          parallel: 3,
          disabled: true,
          addresses: ["10.0.0.0/8"],
          runMicros: 4,
          runRequests: 3,
          runRepeats: 2,
          project: {
            ...{
              accountId,
              name: "p",
              id: projectId,
              rpm: 70,
              tpm: null,
              parallel: null,
              models: ["gpt-*"],
              budgetMicros: null,
            },
            ...{ runMicros: null, runRequests: null, runRepeats: null },
          },
          account: { tier: "free", trialEndsAtMs: null, subscriptionUntilMs: null, emailVerified: false, admin: false },
        });
        for (const hash of ["", "x", sha256Hex(key).toUpperCase(), "a\u0000"])
          expect(await verbs.keys.findLiveKey(hash)).toBeUndefined();
      },
      "time: until it expires, to the millisecond": async ({ verbs, account, clock }) => {
        const { key } = await verbs.keys.createKey({
          accountId: await account(),
          name: "k",
          expiresAtMs: clock.now() + 1,
        });
        expect(await verbs.keys.findLiveKey(sha256Hex(key))).toBeDefined();
        clock.advance(1);
        expect(await verbs.keys.findLiveKey(sha256Hex(key))).toBeUndefined();
      },
      "cascade: not after its account": async ({ verbs, account }) => {
        const accountId = await account();
        const { key } = await verbs.keys.createKey({ accountId, name: "k" });
        await verbs.accounts.deleteAccount(accountId);
        expect(await verbs.keys.findLiveKey(sha256Hex(key))).toBeUndefined();
      },
    },
    findLiveKeyById: {
      "basics: the key that its secret finds too, until it is revoked or expires": async ({
        verbs,
        account,
        clock,
      }) => {
        const accountId = await account();
        const { id, key } = await verbs.keys.createKey({ accountId, name: "k", expiresAtMs: clock.now() + 1 });
        const found = await verbs.keys.findLiveKeyById(id);
        expect(found).toMatchObject({ keyId: id, accountId });
        expect(found).toEqual(await verbs.keys.findLiveKey(sha256Hex(key)));
        expect(await verbs.keys.findLiveKeyById("nothing")).toBeUndefined();
        clock.advance(1);
        expect(await verbs.keys.findLiveKeyById(id)).toBeUndefined();
        const other = await verbs.keys.createKey({ accountId, name: "k" });
        await verbs.keys.revokeKey(other.id);
        expect(await verbs.keys.findLiveKeyById(other.id)).toBeUndefined();
      },
    },
    findKeyBudget: {
      "basics: none where there is none": async ({ verbs, account, clock }) => {
        const accountId = await account();
        const { id } = await verbs.keys.createKey({ accountId, name: "k" });
        expect(await verbs.keys.findKeyBudget(id)).toBeUndefined();
        expect(await verbs.keys.findKeyBudget("nothing")).toBeUndefined();
        const budget = { budgetMicros: 9, budgetPeriodMs: HOUR_MS };
        const other = await verbs.keys.createKey({ accountId, name: "k", ...budget });
        const windowStartMs = clock.now();
        expect(await verbs.keys.findKeyBudget(other.id)).toEqual({
          limitMicros: 9,
          periodMs: HOUR_MS,
          windowStartMs,
          spentMicros: 0,
        });
      },
    },
    createKey: {
      "concurrency: no two are one": async ({ verbs, account, again }) => {
        const [accountId, other] = [await account(), await again()];
        const all = await Promise.all(
          Array.from({ length: 10 }, (_, n) => (n % 2 ? verbs : other).keys.createKey({ accountId, name: "k" })),
        );
        expect(new Set(all.map(({ key }) => key)).size).toBe(10);
        expect(await verbs.keys.listKeys(accountId)).toHaveLength(10);
      },
      "cascade: none for an account that is not there": async ({ verbs }) => {
        await expect(verbs.keys.createKey({ accountId: "nobody", name: "k" })).rejects.toThrow();
      },
      "time: whole milliseconds only": async ({ verbs, account }) => {
        const accountId = await account();
        for (const expiresAtMs of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
          await expect(verbs.keys.createKey({ accountId, name: "k", expiresAtMs })).rejects.toThrow("whole");
      },
      "text: a name comes back as it was": async ({ verbs, account }) => {
        const accountId = await account();
        for (const name of TEXTS) await verbs.keys.createKey({ accountId, name });
        for (const name of UNSTORABLE) await expect(verbs.keys.createKey({ accountId, name })).rejects.toThrow("name");
        expect((await verbs.keys.listKeys(accountId)).map(({ name }) => name)).toEqual(TEXTS);
      },
    },
    houseKey: {
      "concurrency: one for an account": async ({ verbs, account, again }) => {
        const [accountId, other] = [await account(), await again()];
        const all = await Promise.all([1, 2, 3].map((n) => (n % 2 ? verbs : other).keys.houseKey(accountId, "p")));
        expect(new Set(all.map(({ id }) => id)).size).toBe(1);
      },
    },
    listExpiringKeys: {
      "time: live keys that expire until then": async ({ verbs, account, clock }) => {
        const accountId = await account();
        const at = async (ms: number | null) =>
          (await verbs.keys.createKey({ accountId, name: `${ms}`, expiresAtMs: ms === null ? null : clock.now() + ms }))
            .id;
        const revoked = await at(5);
        await verbs.keys.revokeKey(revoked);
        for (const ms of [null, 0, 10, 11]) await at(ms);
        const found = await verbs.keys.listExpiringKeys(clock.now() + 10, { limit: 9 });
        expect(found).toEqual([{ id: expect.any(String), accountId, name: "10", expiresAtMs: clock.now() + 10 }]);
        await verbs.keys.houseKey(accountId, "p");
        clock.advance(10);
        expect(await verbs.keys.listExpiringKeys(clock.now() + 1, { limit: 9 })).toMatchObject([{ name: "11" }]);
      },
      "order: by id, in pages": async ({ verbs, account, clock }) => {
        const accountId = await account();
        const ids: string[] = [];
        for (const name of ["a", "b", "c"])
          ids.push((await verbs.keys.createKey({ accountId, name, expiresAtMs: clock.now() + 1 })).id);
        const page = async (afterId?: string) =>
          (
            await verbs.keys.listExpiringKeys(clock.now() + 1, {
              limit: 2,
              ...(afterId === undefined ? {} : { afterId }),
            })
          ).map(({ id }) => id);
        expect(await page()).toEqual(ids.slice(0, 2));
        expect(await page(ids[1])).toEqual(ids.slice(2));
      },
    },
    updateKey: {
      "basics: a key moves only into a project of which its account is a member": async ({ verbs, account }) => {
        const [accountId, other] = [await account("a"), await account("b")];
        const { id } = await verbs.keys.createKey({ accountId, name: "k" });
        const own = await verbs.projects.createProject(accountId, { name: "own" });
        const foreign = await verbs.projects.createProject(other, { name: "foreign" });
        const idOf = (made: typeof own) => (typeof made === "string" ? made : made.id);
        await expect(verbs.keys.updateKey(id, accountId, { projectId: idOf(foreign) })).rejects.toThrow("no member");
        expect(await verbs.keys.updateKey(id, accountId, { projectId: idOf(own) })).toBe(true);
        expect(await verbs.keys.updateKey(id, accountId, { projectId: null })).toBe(true);
      },
      "basics: what is given replaces what was, and only for its account": async ({ verbs, account, clock }) => {
        const [accountId, other] = [await account("a"), await account("b")];
        const { id } = await verbs.keys.createKey({ accountId, name: "k", rpm: 7, models: ["a"], budgetMicros: 5 });
        const change = {
          name: "n",
          rpm: null,
          models: null,
          expiresAtMs: null,
          budgetMicros: null,
          budgetPeriodMs: null,
        };
        expect(await verbs.keys.updateKey(id, other, change)).toBe(false);
        expect(await verbs.keys.updateKey("nothing", accountId, change)).toBe(false);
        expect(await verbs.keys.updateKey(id, accountId, change)).toBe(true);
        expect((await verbs.keys.listKeys(accountId))[0]).toMatchObject({ ...change, budgetWindowStartMs: null });
        clock.advance(5);
        await verbs.keys.updateKey(id, accountId, { ...change, budgetMicros: 9, budgetPeriodMs: HOUR_MS });
        const budget = { limitMicros: 9, periodMs: HOUR_MS, spentMicros: 0 };
        const startMs = clock.now();
        expect(await verbs.keys.findKeyBudget(id)).toEqual({ ...budget, windowStartMs: startMs });
        clock.advance(5);
        // A changed budget keeps its window.
        await verbs.keys.updateKey(id, accountId, { ...change, budgetMicros: 3, budgetPeriodMs: HOUR_MS });
        expect(await verbs.keys.findKeyBudget(id)).toEqual({ ...budget, limitMicros: 3, windowStartMs: startMs });
        await verbs.keys.revokeKey(id);
        expect(await verbs.keys.updateKey(id, accountId, change)).toBe(false);
      },
      "text: a name comes back as it was": async ({ verbs, account }) => {
        const accountId = await account();
        const { id } = await verbs.keys.createKey({ accountId, name: "k" });
        const rest = { rpm: null, models: null, expiresAtMs: null, budgetMicros: null, budgetPeriodMs: null };
        for (const name of TEXTS) {
          await verbs.keys.updateKey(id, accountId, { name, ...rest });
          expect((await verbs.keys.listKeys(accountId))[0]?.name).toBe(name);
        }
        for (const name of UNSTORABLE)
          await expect(verbs.keys.updateKey(id, accountId, { name, ...rest })).rejects.toThrow("name");
      },
    },
    rotateKey: {
      "time: both keys work until the time is over, then the new one alone": async ({ verbs, account, clock }) => {
        const accountId = await account();
        const old = await verbs.keys.createKey({ accountId, name: "k", rpm: 7, models: ["a"], noStore: true });
        const made = (await verbs.keys.rotateKey(old.id, { accountId, graceMs: HOUR_MS }))!;
        const [before, after] = [
          await verbs.keys.findLiveKey(sha256Hex(old.key)),
          await verbs.keys.findLiveKey(sha256Hex(made.key)),
        ];
        expect(before?.expiresAtMs).toBe(clock.now() + HOUR_MS);
        expect(made.id).toBe(old.id);
        expect(after).toEqual({ ...before!, expiresAtMs: null });
        clock.advance(HOUR_MS);
        expect(await verbs.keys.findLiveKey(sha256Hex(old.key))).toBeUndefined();
        expect(await verbs.keys.findLiveKey(sha256Hex(made.key))).toBeDefined();
        // The old key never works longer than before, and a key that has ended cannot be rotated.
        const short = await verbs.keys.createKey({ accountId, name: "k", expiresAtMs: clock.now() + 5 });
        await verbs.keys.rotateKey(short.id, { accountId, graceMs: HOUR_MS });
        expect((await verbs.keys.findLiveKey(sha256Hex(short.key)))?.expiresAtMs).toBe(clock.now() + 5);
        clock.advance(5);
        for (const [id, owner] of [
          [short.id, accountId],
          [made.id, "nobody"],
          ["nothing", accountId],
        ] as const)
          expect(await verbs.keys.rotateKey(id, { accountId: owner, graceMs: 0 })).toBeUndefined();
      },
      "basics: id, limits, window and spending stay; without a grace the old secret ends": async ({
        verbs,
        account,
      }) => {
        const accountId = await account();
        const limits = { rpm: 3, tpm: 5, budgetMicros: 9, budgetPeriodMs: HOUR_MS, management: "account" } as const;
        const { id, key } = await verbs.keys.createKey({ accountId, name: "k", ...limits });
        const before = await verbs.keys.findKey(id, { accountId });
        const first = await verbs.keys.rotateKey(id, { accountId, graceMs: HOUR_MS });
        const second = await verbs.keys.rotateKey(id, { accountId, graceMs: 0 });
        expect(second?.key).toStartWith("sk-m-");
        for (const old of [key, first?.key ?? ""]) expect(await verbs.keys.findLiveKey(sha256Hex(old))).toBeUndefined();
        expect(await verbs.keys.findLiveKey(sha256Hex(second?.key ?? ""))).toMatchObject({ keyId: id, tpm: 5 });
        const { prefix, lastFour } = { prefix: second?.key.slice(0, 9), lastFour: second?.key.slice(-4) };
        expect(await verbs.keys.findKey(id, { accountId })).toEqual({ ...before!, prefix, lastFour } as never);
        const third = await verbs.keys.rotateKey(id, { accountId, graceMs: HOUR_MS });
        await verbs.keys.revokeKey(id);
        for (const one of [second, third])
          expect(await verbs.keys.findLiveKey(sha256Hex(one?.key ?? ""))).toBeUndefined();
      },
      "concurrency: at once from two connections, each gives a key that works": async ({ verbs, account, again }) => {
        const [accountId, other] = [await account(), await again()];
        const { id } = await verbs.keys.createKey({ accountId, name: "k" });
        const all = await Promise.all(
          [verbs, other].map((own) => own.keys.rotateKey(id, { accountId, graceMs: HOUR_MS })),
        );
        for (const made of all) expect(await verbs.keys.findLiveKey(sha256Hex(made?.key ?? ""))).toBeDefined();
      },
    },
    countLiveKeys: {
      "basics: of each account, without revoked ones and the program's own": async ({ verbs, account }) => {
        const [a, b] = [await account("a"), await account("b")];
        await verbs.keys.houseKey(a, "p");
        for (let n = 0; n < 2; n++) await verbs.keys.createKey({ accountId: a, name: "k" });
        await verbs.keys.revokeKey((await verbs.keys.createKey({ accountId: a, name: "k" })).id);
        expect([...(await verbs.keys.countLiveKeys([a, b, "x"]))]).toEqual([[a, 2]]);
        expect((await verbs.keys.countLiveKeys([])).size).toBe(0);
      },
    },
    ...keySearchCases,
    listKeys: {
      "order: the oldest first": async ({ verbs, account }) => {
        const accountId = await account();
        for (const name of ["z", "A", "m"]) await verbs.keys.createKey({ accountId, name });
        expect((await verbs.keys.listKeys(accountId)).map(({ name }) => name)).toEqual(["z", "A", "m"]);
      },
    },
    revokeKey: {
      "concurrency: once, and only the owner's": async ({ verbs, account, again }) => {
        const [accountId, other] = [await account(), await again()];
        const { id, key } = await verbs.keys.createKey({ accountId, name: "k" });
        expect(await verbs.keys.revokeKey(id, { accountId: "other" })).toBe(false);
        const all = await Promise.all([verbs.keys.revokeKey(id), other.keys.revokeKey(id, { accountId })]);
        expect(all.sort()).toEqual([false, true]);
        expect(await other.keys.findLiveKey(sha256Hex(key))).toBeUndefined();
      },
    },
    revokeAllKeys: {
      "basics: every live one but the program's own": async ({ verbs, account }) => {
        const [a, b] = [await account("a"), await account("b")];
        const house = await verbs.keys.houseKey(a, "p");
        for (const accountId of [a, a, b]) await verbs.keys.createKey({ accountId, name: "k" });
        expect(await verbs.keys.revokeAllKeys(a)).toBe(2);
        expect(await verbs.keys.revokeAllKeys(a)).toBe(0);
        const left = (await verbs.keys.listKeys(a)).filter(({ revokedAtMs }) => revokedAtMs === null);
        expect(left.map(({ id }) => id)).toEqual([house.id]);
        expect((await verbs.keys.countLiveKeys([b])).get(b)).toBe(1);
      },
    },
  },
};
