// /v1/projects: what each role may do, what is refused, and what is written down.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { sha256Hex } from "../../src/base/ids.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

type Json = Record<string, unknown>;
interface Person {
  readonly accountId: string;
  readonly email: string;
  /** A management key of the account. */
  readonly key: string;
}

let app: TestApp;
let store: Store;
let owner: Person;
let manager: Person;
let member: Person;
let stranger: Person;

beforeAll(async () => {
  app = await startTestApp({ config: { providers: { demo: {} } } });
  store = await app.openStore();
  [owner, manager, member, stranger] = await Promise.all([person("olga"), person("mia"), person("ben"), person("sam")]);
});
afterAll(async () => {
  await store.close();
  await app.stop();
});

async function person(name: string, admin = false): Promise<Person> {
  const email = `${name}@x.example`;
  const made = await accountStore(store).createAccount({ username: name, email, tier: "pro", admin });
  const accountId = "id" in made ? made.id : "";
  const management = admin ? "all" : "account";
  const { key } = await keyStore(store).createKey({ accountId, name: "manager", management });
  return { accountId, email, key };
}

async function ask(who: Pick<Person, "key">, method: string, path: string, body?: unknown) {
  const response = await app.call(path, {
    method,
    headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as Json;
  const error = json["error"] as { code: string; param: string | null } | undefined;
  return { status: response.status, json, code: error?.code, param: error?.param };
}

/** A project of the owner with a manager and a member. */
async function team(limits: Json = {}) {
  const { json } = await ask(owner, "POST", "/v1/projects", { name: "team", ...limits });
  const path = `/v1/projects/${json["id"]}`;
  await ask(owner, "POST", `${path}/members`, { email: manager.email, role: "manager" });
  await ask(owner, "POST", `${path}/members`, { email: member.email.toUpperCase() });
  return { id: String(json["id"]), path };
}

const LIMITS = {
  ...{ budget: 2.5, budget_period: "30d", rpm: 9, tpm: 5000, parallel: 2, models: ["demo-*"] },
  runs: { usd: 5, requests: 500, repeats: 8 },
};

test("a project has the limits that it was given, and what is absent from a change stays", async () => {
  const made = await ask(owner, "POST", "/v1/projects", { name: " search ", ...LIMITS });
  expect([made.status, made.json]).toEqual([
    201,
    {
      ...{ id: expect.any(String), object: "project", name: "search", role: "owner", ...LIMITS },
      ...{ spent: 0, resets_at: expect.any(String), members: 1, keys: 0, created_at: expect.any(String) },
    },
  ]);
  const path = `/v1/projects/${made.json["id"]}`;
  const changed = await ask(owner, "PATCH", path, { rpm: null, budget: 4 });
  expect(changed.json).toEqual({ ...made.json, rpm: null, budget: 4 });
  expect((await ask(owner, "GET", path)).json).toEqual(changed.json);
  const off = await ask(owner, "PATCH", path, { budget: null, models: null });
  expect(off.json).toMatchObject({ budget: null, budget_period: null, resets_at: null, models: null, tpm: 5000 });
  expect((await ask(owner, "DELETE", path)).json).toEqual({ id: made.json["id"], object: "project", deleted: true });
  expect((await ask(owner, "GET", path)).code).toBe("project_not_found");
});

test.each([
  ["name", { name: "" }],
  ["name", {}],
  ["name", { name: "n".repeat(101) }],
  ["rpm", { name: "n", rpm: 0 }],
  ["tpm", { name: "n", tpm: 1.5 }],
  ["parallel", { name: "n", parallel: "2" }],
  ["models", { name: "n", models: "gpt" }],
  ["models", { name: "n", models: [""] }],
  ["runs", { name: "n", runs: "5" }],
  ["runs.usd", { name: "n", runs: { usd: "5" } }],
  ["budget", { name: "n", budget: -1 }],
  ["budget", { name: "n", budget_period: "30d" }],
  ["budget_period", { name: "n", budget: 1, budget_period: "soon" }],
  ["budget_period", { name: "n", budget: 1, budget_period: "0s" }],
])("a wrong %s is refused: %j", async (param, body) => {
  expect(await ask(owner, "POST", "/v1/projects", body)).toMatchObject({ status: 400, code: "invalid_request", param });
});

test("each role does what it may, and who is no member finds no project", async () => {
  const { id, path } = await team();
  const calls = [
    ["GET", path, undefined],
    ["GET", `${path}/members`, undefined],
    ["PATCH", path, { rpm: 5 }],
    ["POST", `${path}/members`, { email: member.email, role: "member" }],
    ["POST", `${path}/members`, { email: member.email, role: "owner" }],
    ["POST", `${path}/members`, { email: owner.email, role: "member" }],
    ["DELETE", `${path}/members/${encodeURIComponent(owner.email)}`, undefined],
    ["DELETE", path, undefined],
  ] as const;
  const answers = async (who: Person) => {
    const all: (string | number)[] = [];
    for (const [method, url, body] of calls) {
      const { status, code } = await ask(who, method, url, body);
      all.push(code ?? status);
    }
    return all;
  };
  const role = "project_role_required";
  expect(await answers(stranger)).toEqual(Array(calls.length).fill("project_not_found"));
  expect(await answers(member)).toEqual([200, 200, role, role, role, role, role, role]);
  expect(await answers(manager)).toEqual([200, 200, 200, 200, role, role, role, role]);
  const ids = async (who: Person) =>
    ((await ask(who, "GET", "/v1/projects")).json["data"] as Json[]).map((one) => [one["id"], one["role"]]);
  expect(await ids(member)).toContainEqual([id, "member"]);
  expect(await ids(stranger)).toEqual([]);
  const listed = ((await ask(member, "GET", `${path}/members`)).json["data"] as Json[]).map(
    ({ email, role }) => `${email} ${role}`,
  );
  expect(listed).toEqual([`${owner.email} owner`, `${manager.email} manager`, `${member.email} member`]);
  // The member is made an owner, so the first owner may step back and leave.
  expect(await answers(owner)).toEqual([...Array(7).fill(200), "project_not_found"]);
});

test("the last owner stays, an unknown account cannot join, and everyone may leave", async () => {
  const { path } = await team();
  const members = `${path}/members`;
  const leaving = (who: Person) => ask(who, "DELETE", `${members}/${encodeURIComponent(who.email)}`);
  expect(await leaving(owner)).toMatchObject({ status: 400, code: "project_last_owner" });
  const demoted = await ask(owner, "POST", members, { email: owner.email, role: "member" });
  expect(demoted).toMatchObject({ status: 400, code: "project_last_owner" });
  const unknown = await ask(owner, "POST", members, { email: "nobody@x.example" });
  expect(unknown).toMatchObject({ status: 404, code: "account_not_found", param: "email" });
  expect(await ask(owner, "POST", members, { email: stranger.email, role: "boss" })).toMatchObject({ param: "role" });
  const absent = await ask(owner, "DELETE", `${members}/${encodeURIComponent(stranger.email)}`);
  expect(absent).toMatchObject({ status: 404, code: "project_member_not_found" });
  expect((await leaving(member)).json).toEqual({ email: member.email, deleted: true });
  expect((await ask(member, "GET", path)).code).toBe("project_not_found");
});

test("a member's keys of the project end at once with the membership and with the project", async () => {
  const { id, path } = await team();
  const make = (accountId: string) => keyStore(store).createKey({ accountId, name: "k", projectId: id });
  const [ofMember, ofOwner] = [await make(member.accountId), await make(owner.accountId)];
  const works = async ({ key }: { key: string }) =>
    (await app.call("/v1/models", { headers: { authorization: `Bearer ${key}` } })).status === 200;
  expect([await works(ofMember), await works(ofOwner)]).toEqual([true, true]);
  expect((await ask(owner, "GET", path)).json).toMatchObject({ members: 3, keys: 2 });
  await ask(manager, "DELETE", `${path}/members/${encodeURIComponent(member.email)}`);
  expect([await works(ofMember), await works(ofOwner)]).toEqual([false, true]);
  await ask(owner, "DELETE", path);
  expect(await works(ofOwner)).toBe(false);
  expect(await keyStore(store).findLiveKey(sha256Hex(ofOwner.key))).toBeUndefined();
});

test("a key of one project manages this one alone, and one of an administrator all of them", async () => {
  const { id, path } = await team();
  const { path: other } = await team();
  const narrow = await keyStore(store).createKey({
    ...{ accountId: owner.accountId, name: "m", management: "project", projectId: id },
  });
  const ids = async (who: { key: string }) =>
    ((await ask(who, "GET", "/v1/projects")).json["data"] as Json[]).map((one) => one["id"]);
  expect(await ids(narrow)).toEqual([id]);
  expect((await ask(narrow, "PATCH", path, { rpm: 3 })).status).toBe(200);
  expect((await ask(narrow, "PATCH", other, { rpm: 3 })).code).toBe("project_not_found");
  expect((await ask(narrow, "POST", "/v1/projects", { name: "n" })).code).toBe("project_role_required");
  const admin = await person("root", true);
  const all = await ids(admin);
  expect(all).toContain(id);
  expect((await ask(admin, "GET", `/v1/projects?after=${all.at(-1)}`)).json["data"]).toEqual([]);
  expect((await ask(admin, "DELETE", path)).status).toBe(200);
});

test("each change is in the log of whoever made it, of the account to which the project belongs and of the member", async () => {
  const { id, path } = await team();
  await ask(manager, "PATCH", path, { rpm: 5 });
  await ask(manager, "DELETE", `${path}/members/${encodeURIComponent(member.email)}`);
  const of = async (accountId: string) =>
    (await auditStore(store).listAudit(accountId))
      .filter(({ detail }) => detail["project_id"] === id)
      .toReversed()
      .map(({ event, detail }) => [event, detail["member"] ?? detail["changes"], detail["by"]]);
  expect(await of(owner.accountId)).toEqual([
    ["project_created", undefined, undefined],
    ["project_member_added", manager.email, undefined],
    ["project_member_added", member.email, undefined],
    ["project_changed", { rpm: 5 }, manager.accountId],
    ["project_member_removed", member.email, manager.accountId],
  ]);
  expect(await of(manager.accountId)).toEqual([
    ["project_member_added", manager.email, owner.accountId],
    ["project_changed", { rpm: 5 }, undefined],
    ["project_member_removed", member.email, undefined],
  ]);
});
