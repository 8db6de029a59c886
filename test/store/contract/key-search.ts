// Searches among API keys, and what keys have spent.

import { expect } from "bun:test";
import { UsageTally } from "../../../src/store/usage/record.ts";
import { usageRecord } from "../records.ts";
import type { Contract } from "./world.ts";

const DAY_MS = 86_400_000;

/** What holds of the verbs that search keys. */
export const keySearchCases: Pick<Contract<"keys">, "searchKeys" | "spendingOfKeys"> = {
  searchKeys: {
    "order: pages by each order, without a key twice": async ({ verbs, account, clock }) => {
      const accountId = await account();
      await verbs.keys.houseKey(accountId, "p");
      const ids: string[] = [];
      for (const name of ["b", "A", "b", "c"]) {
        clock.advance(1);
        ids.push((await verbs.keys.createKey({ accountId, name })).id);
      }
      const [b1, a, b2, c] = ids;
      for (const [search, wanted] of [
        [{}, [b1, a, b2, c]],
        [{ descending: true }, [c, b2, a, b1]],
        [{ order: "name" }, [a, b1, b2, c]],
        [{ order: "name", descending: true }, [c, b1, b2, a]],
        [{ order: "used" }, [b1, a, b2, c]],
        [{ order: "spent", descending: true }, [b1, a, b2, c]],
      ] as const) {
        const whole = await verbs.keys.searchKeys({ accountId }, search);
        expect([search, whole.total, whole.rows.map(({ id }) => id)]).toEqual([search, 4, [...wanted] as string[]]);
        for (const text of ["", "-"]) {
          const pages = await Promise.all(
            [0, 1, 2, 3].map((skip) => verbs.keys.searchKeys({ accountId }, { ...search, text, skip, limit: 1 })),
          );
          expect(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual([...wanted] as string[]);
        }
      }
    },
    "basics: by text, state, project and owner": async ({ verbs, account, clock }) => {
      const [accountId, other] = [await account("a"), await account("b")];
      const make = async (name: string, more = {}) => (await verbs.keys.createKey({ accountId, name, ...more })).id;
      const project = await verbs.projects.createProject(accountId, { name: "p" });
      const projectId = typeof project === "string" ? project : project.id;
      await verbs.projectMembers.setMember(projectId, other, "member");
      const live = await make("Überall live", { projectId });
      const disabled = await make("off", { disabled: true });
      const expired = await make("late", { expiresAtMs: clock.now() + 1 });
      const revoked = await make("gone");
      const all = await make("root", { management: "all" });
      const theirs = (await verbs.keys.createKey({ accountId: other, name: "live", projectId })).id;
      await verbs.keys.revokeKey(revoked);
      clock.advance(1);
      const found = async (search: object, scope: object = { accountId }) =>
        (await verbs.keys.searchKeys(scope, search)).rows.map(({ id }) => id);
      expect(await found({ state: "live" })).toEqual([live, all]);
      expect(await found({ state: "live", withoutAll: true })).toEqual([live]);
      expect(await found({ state: "disabled" })).toEqual([disabled]);
      expect(await found({ isKept: true })).toEqual([live, disabled, expired, all]);
      expect(await found({ isEnabled: true })).toEqual([live, expired, revoked, all]);
      expect(await found({ state: "expired" })).toEqual([expired]);
      expect(await found({ state: "revoked" })).toEqual([revoked]);
      expect(await found({ text: "ÜBERALL" })).toEqual([live]);
      expect(await found({ text: revoked })).toEqual([revoked]);
      expect(await found({ text: "%" })).toEqual([]);
      expect(await found({ projectId })).toEqual([live]);
      expect(await found({}, { projectId })).toEqual([live, theirs]);
      expect(await found({ text: "live" }, {})).toEqual([live, theirs]);
      expect((await verbs.keys.searchKeys({}, { limit: 2 })).total).toBe(6);
    },
  },
  spendingOfKeys: {
    "basics: in all and since days; keys without spending are left out": async ({ verbs, account }) => {
      const accountId = await account();
      const { id } = await verbs.keys.createKey({ accountId, name: "k" });
      expect(await verbs.keys.spendingOfKeys([id, "none"], [1, 2])).toEqual([]);
      const tally = new UsageTally();
      for (const [keyId, day, costMicros] of [
        [id, 10, 5],
        [id, 11, 7],
        ["other", 11, 9],
      ] as const)
        tally.add(usageRecord({ accountId, keyId, costMicros, createdAtMs: day * DAY_MS }));
      await verbs.usage.writeUsage({ id: crypto.randomUUID(), rows: [], sums: [...tally.values()] });
      const sums = [{ keyId: id, allMicros: 12, sinceMicros: [12, 7, 0] }];
      expect(await verbs.keys.spendingOfKeys([id, "none"], [10, 11, 12])).toEqual(sums);
      expect(await verbs.keys.spendingOfKeys([], [])).toEqual([]);
    },
  },
};
