// Projects and their members.

import { expect } from "bun:test";
import { sha256Hex } from "../../../src/base/ids.ts";
import { PROJECTS_MAX, type Project } from "../../../src/store/access/projects.ts";
import { UsageTally } from "../../../src/store/usage/record.ts";
import { usageRecord } from "../records.ts";
import { type Contract, TEXTS, UNSTORABLE, type World } from "./world.ts";

const HOUR_MS = 3_600_000;

/** A project of this account; `change`: settings that it has. */
async function project({ verbs }: Pick<World, "verbs">, accountId: string, change: Partial<Project> = {}) {
  const made = await verbs.projects.createProject(accountId, { name: "p", ...change });
  if (made === "too_many") throw new Error("too many");
  return made;
}

/** Which of these keys still work. */
async function working({ verbs }: Pick<World, "verbs">, keys: readonly { readonly key: string }[]) {
  const found = await Promise.all(keys.map(({ key }) => verbs.keys.findLiveKey(sha256Hex(key))));
  return found.map((one) => one !== undefined);
}

const projects: Contract<"projects"> = {
  createProject: {
    "basics: its limits are those of its keys, and the account is its owner": async (world) => {
      const { verbs } = world;
      const accountId = await world.account();
      const limits = { rpm: 7, tpm: 8, parallel: 2, models: ["gpt-*"], runMicros: 5, runRequests: 6, runRepeats: 3 };
      const made = await project(world, accountId, { ...limits, budgetMicros: 9, budgetPeriodMs: HOUR_MS });
      expect(made).toMatchObject({ accountId, name: "p", ...limits, budgetMicros: 9, spentMicros: 0 });
      expect(await verbs.projects.findProject(made.id)).toEqual(made);
      expect(await verbs.projectMembers.findRole(made.id, accountId)).toBe("owner");
      const { key } = await verbs.keys.createKey({ accountId, name: "k", projectId: made.id });
      const found = await verbs.keys.findLiveKey(sha256Hex(key));
      expect(found?.project).toEqual({ id: made.id, accountId, name: "p", budgetMicros: 9, ...limits });
    },
    "concurrency: an account has at most as many as it may": async (world) => {
      const { verbs } = world;
      const [accountId, other] = [await world.account(), await world.again()];
      for (let n = 0; n < PROJECTS_MAX - 1; n++) await project(world, accountId);
      const made = await Promise.all(
        [verbs, other, verbs].map((one) => one.projects.createProject(accountId, { name: "p" })),
      );
      expect(made.filter((one) => one === "too_many")).toHaveLength(2);
    },
    "cascade: none for an account that is not there": async ({ verbs }) => {
      await expect(verbs.projects.createProject("nobody", { name: "p" })).rejects.toThrow();
    },
    "text: a name comes back as it was": async ({ verbs, account }) => {
      const accountId = await account();
      for (const name of TEXTS) await verbs.projects.createProject(accountId, { name });
      for (const name of UNSTORABLE)
        await expect(verbs.projects.createProject(accountId, { name })).rejects.toThrow("name");
      expect((await verbs.projects.listOwnProjects(accountId)).map(({ name }) => name)).toEqual(TEXTS);
    },
  },
  findProject: {
    "basics: undefined where there is none": async ({ verbs }) => {
      expect(await verbs.projects.findProject("nothing")).toBeUndefined();
    },
  },
  findProjectBudget: {
    "basics: none where there is none": async (world) => {
      const accountId = await world.account();
      const [without, made] = [
        await project(world, accountId),
        await project(world, accountId, { budgetMicros: 9, budgetPeriodMs: HOUR_MS }),
      ];
      expect(await world.verbs.projects.findProjectBudget(without.id)).toBeUndefined();
      expect(await world.verbs.projects.findProjectBudget("nothing")).toBeUndefined();
      expect(await world.verbs.projects.findProjectBudget(made.id)).toEqual({
        ...{ limitMicros: 9, periodMs: HOUR_MS, windowStartMs: world.clock.now(), spentMicros: 0 },
      });
    },
  },
  listOwnProjects: {
    "order: the oldest first": async (world) => {
      const [owner, member] = [await world.account("a"), await world.account("b")];
      const made: Project[] = [];
      for (const name of ["z", "A", "m"]) {
        world.clock.advance(1);
        made.push(await project(world, owner, { name }));
      }
      const [z, , m] = made;
      await world.verbs.projectMembers.setMember(m!.id, member, "manager");
      await world.verbs.projectMembers.setMember(z!.id, member, "member");
      const named = async (id: string) =>
        (await world.verbs.projects.listOwnProjects(id)).map(({ name, role }) => `${name} ${role}`);
      expect(await named(owner)).toEqual(["z owner", "A owner", "m owner"]);
      expect(await named(member)).toEqual(["z member", "m manager"]);
    },
  },
  listProjects: {
    "order: of all accounts, the oldest first": async (world) => {
      const [a, b] = [await world.account("a"), await world.account("b")];
      for (const [accountId, name] of [[a, "z"] as const, [b, "A"] as const, [a, "m"] as const]) {
        world.clock.advance(1);
        await project(world, accountId, { name });
      }
      const first = await world.verbs.projects.listProjects({ limit: 2 });
      const rest = await world.verbs.projects.listProjects({ afterId: first[1]!.id });
      expect([...first, ...rest].map(({ name }) => name)).toEqual(["z", "A", "m"]);
    },
  },
  listProjectKeys: {
    "order: of all members, the oldest first, without revoked ones": async (world) => {
      const { verbs, clock } = world;
      const [owner, member] = [await world.account("a"), await world.account("b")];
      const { id } = await project(world, owner);
      await verbs.projectMembers.setMember(id, member, "member");
      const made = async (accountId: string, name: string, projectId?: string) => {
        clock.advance(1);
        return verbs.keys.createKey({ accountId, name, ...(projectId === undefined ? {} : { projectId }) });
      };
      await made(member, "z", id);
      await made(owner, "A", id);
      const gone = await made(owner, "m", id);
      await made(owner, "own");
      await verbs.keys.revokeKey(gone.id);
      const listed = await verbs.projects.listProjectKeys(id);
      expect(listed.map(({ name, username }) => `${name} ${username}`)).toEqual(["z b", "A a"]);
      expect(JSON.stringify(listed)).not.toContain(gone.key.slice(8));
    },
  },
  sumsByProjectDay: {
    "order: the requests of one project by day, the oldest first": async (world) => {
      const { verbs } = world;
      const accountId = await world.account();
      const { id: projectId } = await project(world, accountId);
      const tally = new UsageTally();
      const add = (day: number, costMicros: number, of = projectId) =>
        tally.add(usageRecord({ accountId, projectId: of, costMicros, createdAtMs: day * 86_400_000 }));
      for (const [day, cost] of [
        [12, 5],
        [10, 2],
        [12, 7],
        [9, 1],
      ] as const)
        add(day, cost);
      add(12, 100, "another");
      await verbs.usage.writeUsage({ id: "b", rows: [], sums: [...tally.values()] });
      expect(await verbs.projects.sumsByProjectDay(projectId, 10)).toEqual([
        { day: 10, requests: 1, costMicros: 2 },
        { day: 12, requests: 2, costMicros: 12 },
      ]);
      expect((await verbs.projects.findProject(projectId))?.spentMicros).toBe(15);
    },
  },
  projectSizes: {
    "basics: members, and keys that are not revoked": async (world) => {
      const { verbs } = world;
      const [owner, member] = [await world.account("a"), await world.account("b")];
      const [one, two] = [await project(world, owner), await project(world, owner)];
      await verbs.projectMembers.setMember(one.id, member, "member");
      const key = await verbs.keys.createKey({ accountId: member, name: "k", projectId: one.id });
      await verbs.keys.createKey({ accountId: owner, name: "k", projectId: one.id });
      await verbs.keys.revokeKey(key.id);
      expect(await verbs.projects.projectSizes([one.id, two.id])).toEqual(
        new Map([
          [one.id, { members: 2, keys: 1 }],
          [two.id, { members: 1, keys: 0 }],
        ]),
      );
      expect((await verbs.projects.projectSizes([])).size).toBe(0);
    },
  },
  updateProject: {
    "basics: what is given replaces what was": async (world) => {
      const { verbs } = world;
      const made = await project(world, await world.account(), { rpm: 7, models: ["a"] });
      expect(await verbs.projects.updateProject("nothing", { name: "n" })).toBeUndefined();
      expect(await verbs.projects.updateProject(made.id, {})).toEqual(made);
      const change = { name: "n", models: null, tpm: 5, parallel: 2, runMicros: 1, runRequests: 2, runRepeats: 3 };
      expect(await verbs.projects.updateProject(made.id, change)).toEqual({ ...made, ...change });
    },
    "time: the same period goes on, another one begins now": async (world) => {
      const { verbs, clock } = world;
      const { id } = await project(world, await world.account());
      clock.advance(5);
      await verbs.projects.updateProject(id, { budgetMicros: 9, budgetPeriodMs: HOUR_MS });
      const begun = clock.now();
      clock.advance(5);
      await verbs.projects.updateProject(id, { budgetMicros: 3 });
      const budget = { limitMicros: 3, periodMs: HOUR_MS, windowStartMs: begun, spentMicros: 0 };
      expect(await verbs.projects.findProjectBudget(id)).toEqual(budget);
      await verbs.projects.updateProject(id, { budgetPeriodMs: 2 * HOUR_MS });
      expect(await verbs.projects.findProjectBudget(id)).toEqual({
        ...{ ...budget, periodMs: 2 * HOUR_MS, windowStartMs: clock.now() },
      });
      await verbs.projects.updateProject(id, { budgetMicros: null });
      expect(await verbs.projects.findProject(id)).toMatchObject({ budgetPeriodMs: null, budgetWindowStartMs: null });
    },
    "text: a name comes back as it was": async (world) => {
      const { id } = await project(world, await world.account());
      for (const name of TEXTS) expect((await world.verbs.projects.updateProject(id, { name }))?.name).toBe(name);
      for (const name of UNSTORABLE)
        await expect(world.verbs.projects.updateProject(id, { name })).rejects.toThrow("name");
    },
  },
  deleteProject: {
    "cascade: its keys end, other keys of its members go on": async (world) => {
      const { verbs } = world;
      const [owner, member] = [await world.account("a"), await world.account("b")];
      const { id } = await project(world, owner);
      await verbs.projectMembers.setMember(id, member, "member");
      const inIt = await verbs.keys.createKey({ accountId: member, name: "k", projectId: id });
      const own = await verbs.keys.createKey({ accountId: member, name: "k" });
      expect(await verbs.projects.deleteProject(id)).toBe(true);
      expect(await verbs.projects.deleteProject(id)).toBe(false);
      expect(await verbs.projects.findProject(id)).toBeUndefined();
      expect(await verbs.projects.listOwnProjects(member)).toEqual([]);
      expect(await working(world, [inIt, own])).toEqual([false, true]);
    },
  },
};

const projectMembers: Contract<"projectMembers"> = {
  listMembers: {
    "order: in which they joined": async (world) => {
      const { verbs, clock } = world;
      const [z, a, m] = [await world.account("z"), await world.account("a"), await world.account("m")];
      const { id } = await project(world, z);
      clock.advance(1);
      await verbs.projectMembers.setMember(id, m, "manager");
      clock.advance(1);
      await verbs.projectMembers.setMember(id, a, "member");
      const listed = await verbs.projectMembers.listMembers(id);
      expect(listed.map(({ username, email, role }) => `${username} ${email} ${role}`)).toEqual([
        ...["z z@x.example owner", "m m@x.example manager", "a a@x.example member"],
      ]);
    },
  },
  findRole: {
    "basics: undefined for all others": async (world) => {
      const [owner, other] = [await world.account("a"), await world.account("b")];
      const { id } = await project(world, owner);
      expect(await world.verbs.projectMembers.findRole(id, other)).toBeUndefined();
      expect(await world.verbs.projectMembers.findRole("nothing", owner)).toBeUndefined();
    },
  },
  setMember: {
    "basics: another role, and the project passes to another owner": async (world) => {
      const { verbs } = world;
      const { projectMembers: members } = verbs;
      const [owner, other] = [await world.account("a"), await world.account("b")];
      const { id } = await project(world, owner);
      expect(await members.setMember(id, owner, "manager")).toBe("last_owner");
      expect(await members.setMember(id, other, "member")).toBe("added");
      expect(await members.setMember(id, owner, "manager")).toBe("last_owner");
      expect(await members.setMember(id, other, "owner")).toBe("changed");
      expect(await members.setMember(id, owner, "manager")).toBe("changed");
      expect((await verbs.projects.findProject(id))?.accountId).toBe(other);
      expect(await members.setMember(id, other, "manager")).toBe("last_owner");
    },
    "concurrency: two owners cannot both leave": async (world) => {
      const { verbs } = world;
      const [owner, other] = [await world.account("a"), await world.account("b")];
      const again = await world.again();
      const { id } = await project(world, owner);
      await verbs.projectMembers.setMember(id, other, "owner");
      const results = await Promise.all([
        verbs.projectMembers.setMember(id, owner, "member"),
        again.projectMembers.setMember(id, other, "member"),
      ]);
      expect(results.toSorted()).toEqual(["changed", "last_owner"]);
      const found = await verbs.projects.findProject(id);
      expect(await verbs.projectMembers.findRole(id, found!.accountId)).toBe("owner");
    },
    "cascade: none for what is not there": async (world) => {
      const { id } = await project(world, await world.account());
      await expect(world.verbs.projectMembers.setMember(id, "nobody", "member")).rejects.toThrow();
      await expect(world.verbs.projectMembers.setMember("nothing", "nobody", "member")).rejects.toThrow();
    },
  },
  removeMember: {
    "basics: the member's keys of the project end, and the last owner stays": async (world) => {
      const { verbs } = world;
      const [owner, member] = [await world.account("a"), await world.account("b")];
      const { id } = await project(world, owner);
      await verbs.projectMembers.setMember(id, member, "member");
      const keys = [
        await verbs.keys.createKey({ accountId: member, name: "k", projectId: id }),
        await verbs.keys.createKey({ accountId: owner, name: "k", projectId: id }),
        await verbs.keys.createKey({ accountId: member, name: "k" }),
      ];
      expect(await verbs.projectMembers.removeMember(id, owner)).toBe("last_owner");
      expect(await verbs.projectMembers.removeMember(id, member)).toBe("removed");
      expect(await verbs.projectMembers.removeMember(id, member)).toBe("not_member");
      expect(await working(world, keys)).toEqual([false, true, true]);
      const late = verbs.keys.createKey({ accountId: member, name: "k", projectId: id });
      await expect(late).rejects.toThrow("member");
    },
    "cascade: a deleted account's projects pass to other owners, or end": async (world) => {
      const { verbs } = world;
      const [owner, heir, member] = [await world.account("a"), await world.account("b"), await world.account("c")];
      const [passed, ended] = [await project(world, owner), await project(world, owner)];
      await verbs.projectMembers.setMember(passed.id, member, "manager");
      await verbs.projectMembers.setMember(passed.id, heir, "owner");
      await verbs.projectMembers.setMember(ended.id, member, "manager");
      const keys = [
        await verbs.keys.createKey({ accountId: member, name: "k", projectId: passed.id }),
        await verbs.keys.createKey({ accountId: member, name: "k", projectId: ended.id }),
      ];
      await verbs.accounts.deleteAccount(owner);
      expect(await verbs.projects.findProject(passed.id)).toMatchObject({ accountId: heir });
      expect(await verbs.projects.findProject(ended.id)).toBeUndefined();
      expect(await working(world, keys)).toEqual([true, false]);
      expect(await verbs.projectMembers.removeMember(passed.id, owner)).toBe("not_member");
    },
  },
  setGroupRoles: {
    "basics: what groups gave ends with them, what a person decided stays": async (world) => {
      const { verbs } = world;
      const { projectMembers: members } = verbs;
      const [owner, account] = [await world.account("a"), await world.account("b")];
      const [one, two, three] = [await project(world, owner), await project(world, owner), await project(world, owner)];
      const roles = async () =>
        Promise.all([one, two, three].map(({ id }) => members.findRole(id, account).then((role) => role ?? "none")));
      await members.setMember(three.id, account, "manager");
      const given = (project: Project, role: "manager" | "member") => ({ projectId: project.id, role });
      await members.setGroupRoles(account, "corp", [
        ...[given(one, "member"), given(two, "manager"), given(three, "member")],
        { projectId: "nothing", role: "member" },
      ]);
      expect(await roles()).toEqual(["member", "manager", "manager"]);
      const { key } = await verbs.keys.createKey({ accountId: account, name: "k", projectId: two.id });
      // Another provider neither changes nor ends what this one gave.
      await members.setGroupRoles(account, "other", [given(one, "manager")]);
      expect(await roles()).toEqual(["member", "manager", "manager"]);
      await members.setGroupRoles(account, "corp", [given(one, "manager")]);
      expect(await roles()).toEqual(["manager", "none", "manager"]);
      expect(await working(world, [{ key }])).toEqual([false]);
      await members.setGroupRoles(account, "corp", []);
      expect(await roles()).toEqual(["none", "none", "manager"]);
    },
    "concurrency: two sign-ins at once give one membership": async (world) => {
      const [owner, account] = [await world.account("a"), await world.account("b")];
      const again = await world.again();
      const { id } = await project(world, owner);
      await Promise.all(
        [world.verbs, again].map((verbs) =>
          verbs.projectMembers.setGroupRoles(account, "corp", [{ projectId: id, role: "member" }]),
        ),
      );
      expect(await world.verbs.projectMembers.listMembers(id)).toHaveLength(2);
    },
  },
};

/** The contract of projects. */
export const projectsContract = { projects, projectMembers };
