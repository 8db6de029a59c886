// The audit log, settings, secrets, and versions of decision models.

import { expect } from "bun:test";
import { BY_BYTES, type Contract, TEXTS, type World } from "./world.ts";

const YEAR_MS = 365 * 86_400_000;
const entry = (accountId: string, event: string) => ({
  accountId,
  event,
  address: "::1",
  userAgent: event,
  detail: { event },
});

const audit: Contract<"audit"> = {
  addAudit: {
    "concurrency: each is there": async ({ verbs, account, again }) => {
      const [accountId, other] = [await account(), await again()];
      await Promise.all(
        Array.from({ length: 6 }, (_, n) => (n % 2 ? verbs : other).audit.addAudit(entry(accountId, `e${n}`))),
      );
      expect(await verbs.audit.listAudit(accountId)).toHaveLength(6);
    },
    "cascade: nothing for an account that is gone": async ({ verbs, account }) => {
      const accountId = await account();
      await verbs.accounts.deleteAccount(accountId);
      await verbs.audit.addAudit(entry(accountId, "late"));
      expect(await verbs.audit.listAudit(accountId)).toEqual([]);
    },
    "text: it comes back as it was": async ({ verbs, account }) => {
      const accountId = await account();
      for (const text of TEXTS) await verbs.audit.addAudit(entry(accountId, text));
      const listed = (await verbs.audit.listAudit(accountId)).toReversed();
      expect(listed.map(({ userAgent }) => userAgent)).toEqual(TEXTS);
      expect(listed.map(({ detail }) => detail["event"])).toEqual(TEXTS);
    },
  },
  searchAudit: {
    "order: the newest of all accounts first, with their names; or of one account, or of one kind": async (world) => {
      const { verbs, clock } = world;
      const [a, b] = [await world.account("a"), await world.account("b")];
      const add = async (accountId: string, event: string) => {
        clock.advance(1);
        await verbs.audit.addAudit({ accountId, event, address: "", userAgent: "" });
      };
      for (const event of ["login", "logout"]) for (const accountId of [a, b]) await add(accountId, event);
      const found = async (options?: Parameters<typeof verbs.audit.searchAudit>[0]) =>
        (await verbs.audit.searchAudit(options)).map(({ accountId, event, username }) => {
          expect(username).not.toBe("");
          return `${accountId === a ? "a" : "b"} ${event}`;
        });
      expect(await found()).toEqual(["b logout", "a logout", "b login", "a login"]);
      expect(await found({ accountId: a })).toEqual(["a logout", "a login"]);
      expect(await found({ event: "login" })).toEqual(["b login", "a login"]);
      expect(await found({ accountId: "nobody" })).toEqual([]);
      const [, second] = await verbs.audit.searchAudit({ limit: 2 });
      expect(await found({ beforeId: second!.id, limit: 1 })).toEqual(["b login"]);
    },
  },
  listAudit: {
    "order: the newest first": async ({ verbs, account }) => {
      const accountId = await account();
      for (const event of ["z", "A", "m"]) await verbs.audit.addAudit(entry(accountId, event));
      expect((await verbs.audit.listAudit(accountId)).map(({ event }) => event)).toEqual(["m", "A", "z"]);
    },
    "paging: every entry once": async ({ verbs, account }) => {
      const accountId = await account();
      for (const event of ["a", "b", "c"]) await verbs.audit.addAudit(entry(accountId, event));
      const first = await verbs.audit.listAudit(accountId, { limit: 2 });
      const rest = await verbs.audit.listAudit(accountId, { beforeId: first[1]!.id });
      expect([...first, ...rest].map(({ event }) => event)).toEqual(["c", "b", "a"]);
    },
  },
  deleteOldAudit: {
    "time: after the time that it is kept": async ({ verbs, account, clock }) => {
      await verbs.audit.addAudit(entry(await account(), "e"));
      clock.advance(YEAR_MS);
      expect(await verbs.audit.deleteOldAudit(YEAR_MS)).toBe(0);
      clock.advance(1);
      expect(await verbs.audit.deleteOldAudit(YEAR_MS)).toBe(1);
    },
  },
};

const settings: Contract<"settings"> = {
  readSetting: {
    "basics: nothing where there is nothing; names are told by case": async ({ verbs }) => {
      await verbs.settings.writeSetting("a", 0);
      expect(await verbs.settings.readSetting("a")).toBe(0);
      for (const name of ["A", "b", "", "a\u0000"]) expect(await verbs.settings.readSetting(name)).toBeUndefined();
    },
  },
  changeSetting: {
    "concurrency: no change is lost": async ({ verbs, again }) => {
      const other = await again();
      const add = (own: World["verbs"]) => own.settings.changeSetting("a", (value) => Number(value ?? 0) + 1);
      await Promise.all([1, 2, 3, 4, 5, 6].map((n) => add(n % 2 ? verbs : other)));
      expect(await add(verbs)).toBe(7);
      expect(await other.settings.readSetting("a")).toBe(7);
    },
  },
  writeSetting: {
    "concurrency: the last one holds": async ({ verbs, again }) => {
      const other = await again();
      await Promise.all([1, 2, 3].map((n) => (n % 2 ? verbs : other).settings.writeSetting("a", n)));
      await other.settings.writeSetting("a", { n: 9 });
      expect(await verbs.settings.readSetting("a")).toEqual({ n: 9 });
    },
    "text: any JSON comes back, NUL and large numbers too": async ({ verbs }) => {
      const value = { texts: [...TEXTS, "\u0000", "\ud800"], n: [9_007_199_254_740_991, -0.5, true, null] };
      await verbs.settings.writeSetting("a", value);
      expect(await verbs.settings.readSetting("a")).toEqual(value);
    },
  },
};

const secrets: Contract<"secrets"> = {
  secret: {
    "concurrency: one is made": async ({ verbs, again }) => {
      const other = await again();
      const all = await Promise.all([verbs, other, verbs].map((own) => own.secrets.secret("jwt_secret")));
      expect(new Set(all).size).toBe(1);
      expect(await other.secrets.secret("pseudonym_salt")).not.toBe(all[0]!);
    },
  },
  findSecret: {
    "basics: none is made": async ({ verbs }) => {
      expect(await verbs.secrets.findSecret("setup_token")).toBeUndefined();
      const made = await verbs.secrets.secret("setup_token");
      expect(await verbs.secrets.findSecret("setup_token")).toBe(made);
    },
  },
  putSecret: {
    "concurrency: others stay": async ({ verbs, again }) => {
      const other = await again();
      await Promise.all([verbs.secrets.putSecret("jwt_ring", "a"), other.secrets.putSecret("jwt_secret", "b")]);
      expect([await verbs.secrets.findSecret("jwt_ring"), await verbs.secrets.findSecret("jwt_secret")]).toEqual([
        "a",
        "b",
      ]);
    },
  },
  dropSecret: {
    "basics: it alone": async ({ verbs }) => {
      await verbs.secrets.putSecret("jwt_ring", "a");
      await verbs.secrets.putSecret("jwt_secret", "b");
      await verbs.secrets.dropSecret("jwt_ring");
      expect([await verbs.secrets.findSecret("jwt_ring"), await verbs.secrets.findSecret("jwt_secret")]).toEqual([
        undefined,
        "b",
      ]);
    },
  },
};

const version = (id: string, more = {}) => ({
  id,
  origin: "o",
  hash: id,
  record: { texts: TEXTS },
  metrics: null,
  ...more,
});
const sighting = (upstreamModel: string) => ({ version: "v", provider: "p", upstreamModel, fingerprint: "" });

/** One version for each text, all created at the same time. */
async function everyVersion({ verbs }: World): Promise<void> {
  for (const id of BY_BYTES.toReversed()) await verbs.decisions.addDecisionVersion(version(id));
}

const decisions: Contract<"decisions"> = {
  listDecisionVersions: {
    "order: the oldest first, equals by bytes": async (world) => {
      await everyVersion(world);
      world.clock.advance(1);
      await world.verbs.decisions.addDecisionVersion(version("A"));
      expect((await world.verbs.decisions.listDecisionVersions()).map(({ id }) => id)).toEqual([...BY_BYTES, "A"]);
    },
  },
  addDecisionVersion: {
    "concurrency: the first stays": async ({ verbs, again }) => {
      const other = await again();
      const all = await Promise.all(
        [verbs, other].map((own, n) => own.decisions.addDecisionVersion(version("v", { hash: `h${n}` }))),
      );
      expect(all.sort()).toEqual([false, true]);
      expect(await verbs.decisions.listDecisionVersions()).toMatchObject([{ record: { texts: TEXTS } }]);
    },
  },
  addSuccessor: {
    "concurrency: the same is made once": async ({ verbs, again }) => {
      const other = await again();
      const add = (own: typeof verbs, id: string) => own.decisions.addSuccessor(version(id, { hash: "h" }));
      const all = await Promise.all([add(verbs, "v1"), add(other, "v2")]);
      expect(all[0]).toBe(all[1]);
      expect(await verbs.decisions.addSuccessor(version(all[0]!, { hash: "other" }))).toBeUndefined();
    },
  },
  listDecisionAliases: {
    "order: by bytes": async ({ verbs }) => {
      for (const alias of BY_BYTES.toReversed()) await verbs.decisions.setDecisionAlias(alias, "v", { seed: true });
      expect((await verbs.decisions.listDecisionAliases()).map(({ alias }) => alias)).toEqual(BY_BYTES);
    },
  },
  setDecisionAlias: {
    "concurrency: a seed takes no alias away": async ({ verbs, again }) => {
      const other = await again();
      await verbs.decisions.setDecisionAlias("a", "v1", { seed: true });
      await Promise.all([verbs, other].map((own) => own.decisions.setDecisionAlias("a", "v2", { seed: true })));
      expect(await verbs.decisions.listDecisionAliases()).toEqual([{ alias: "a", version: "v1" }]);
      await other.decisions.setDecisionAlias("a", "v2", { seed: false });
      expect(await verbs.decisions.listDecisionAliases()).toEqual([{ alias: "a", version: "v2" }]);
    },
  },
  noteSighting: {
    "concurrency: one sighting is one row": async ({ verbs, again }) => {
      const other = await again();
      await Promise.all([verbs, other].map((own) => own.decisions.noteSighting(sighting("m"))));
      expect(await verbs.decisions.listSightings()).toHaveLength(1);
      expect(await verbs.decisions.noteSighting(sighting("M"))).toMatchObject([{ upstreamModel: "m" }]);
    },
    "time: first and last": async ({ verbs, clock }) => {
      const firstAtMs = clock.now();
      await verbs.decisions.noteSighting(sighting("m"));
      clock.advance(5);
      await verbs.decisions.noteSighting(sighting("m"));
      expect(await verbs.decisions.listSightings()).toMatchObject([{ firstAtMs, lastAtMs: firstAtMs + 5 }]);
    },
  },
  listSightings: {
    "order: the oldest first, equals by bytes": async ({ verbs, clock }) => {
      for (const name of BY_BYTES.toReversed()) await verbs.decisions.noteSighting(sighting(name));
      clock.advance(1);
      await verbs.decisions.noteSighting(sighting("A"));
      const listed = await verbs.decisions.listSightings();
      expect(listed.map(({ upstreamModel }) => upstreamModel)).toEqual([...BY_BYTES, "A"]);
    },
  },
  decisionPrior: {
    "basics: nothing where there is nothing, else every number as it was": async ({ verbs }) => {
      const prior = [[-0.1, -1e-9, -20.72326583694641], [0]];
      await verbs.decisions.keepDecisionPrior("a", prior);
      expect(await verbs.decisions.decisionPrior("a")).toEqual(prior);
      expect(await verbs.decisions.decisionPrior("A")).toBeUndefined();
    },
  },
  keepDecisionPrior: {
    "concurrency: every node gets the first": async ({ verbs, again }) => {
      const other = await again();
      const all = await Promise.all([verbs, other].map((own, n) => own.decisions.keepDecisionPrior("a", [[-1 - n]])));
      expect(all[1]).toEqual(all[0]!);
      expect(await verbs.decisions.decisionPrior("a")).toEqual(all[0]!);
    },
    "time: above the maximum the oldest go": async ({ verbs, clock }) => {
      for (const key of ["c", "a", "b"]) {
        clock.advance(1);
        await verbs.decisions.keepDecisionPrior(key, [[-1]], 2);
      }
      const left = await Promise.all(["a", "b", "c"].map((key) => verbs.decisions.decisionPrior(key)));
      expect(left).toEqual([[[-1]], [[-1]], undefined]);
      // One that exists already displaces none.
      await verbs.decisions.keepDecisionPrior("b", [[-2]], 1);
      expect(await verbs.decisions.decisionPrior("a")).toEqual([[-1]]);
    },
  },
};

/** The cases of the small domains. */
export const smallContract = { audit, settings, secrets, decisions };
