// Keys through the management API: whose keys a management key sees, what it may give them, and that each change applies at once
// and is in the audit log.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { auditStore } from "../../../../src/store/access/audit.ts";
import type { NewKey } from "../../../../src/store/access/key-rows.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { projectMemberStore } from "../../../../src/store/access/project-members.ts";
import { projectStore } from "../../../../src/store/access/projects.ts";
import type { Store } from "../../../../src/store/engine/store.ts";
import { type AccountsApp, startAccountsApp } from "../../../accounts/support.ts";

let app: AccountsApp;
let store: Store;
let owner: string;
let other: string;
let projectId: string;
const secrets: Record<string, string> = {};
const ids: Record<string, string> = {};

const make = async (name: string, accountId: string, more: Partial<NewKey> = {}) => {
  const made = await keyStore(store).createKey({ accountId, name, ...more });
  secrets[name] = made.key;
  ids[name] = made.id;
};

beforeAll(async () => {
  app = await startAccountsApp({
    config: {
      tiers: { free: { rpm: 20, parallel: 4 } },
      server: { trusted_proxies: ["127.0.0.0/8"] },
      providers: { demo: {} },
    },
  });
  store = app.store;
  owner = (await app.addAccount("owner")).id;
  other = (await app.addAccount("other")).id;
  const admin = (await app.addAccount("root", { admin: true })).id;
  const project = await projectStore(store).createProject(owner, { name: "team" });
  if (project === "too_many") throw new Error("no project");
  projectId = project.id;
  await projectMemberStore(store).setMember(projectId, other, "member");
  await make("account", owner, { management: "account" });
  await make("project", owner, { management: "project", projectId });
  await make("all", admin, { management: "all" });
  await make("admins", admin, { management: "account" });
  await make("theirs", other);
  await make("theirs in the project", other, { projectId });
});
afterAll(() => app.stop());

const ask = (as: string, method: string, path: string, body?: unknown) =>
  app.ask(method, path, { as: secrets[as], body });
const create = async (as: string, body: object) => (await ask(as, "POST", "/v1/keys", body)).json;
const namesOf = async (as: string, query = "") =>
  (await ask(as, "GET", `/v1/keys${query}`)).json.data.map(({ name }: { name: string }) => name).sort();
const status = async (key: string) => (await app.ask("GET", "/v1/models", { as: key })).status;
const code = ({ json }: { json: { error?: { code: string; param: string } } }) => json.error?.code;

test("a key is made with its limits, and its secret is shown once", async () => {
  const settings = { rpm: 5, parallel: 2, budget: 2.5, budget_period: "30d", models: ["demo-*"] };
  const expires_at = new Date(app.clock.now() + 3_600_000).toISOString();
  const answer = await ask("account", "POST", "/v1/keys", { name: "ci", ...settings, expires_at });
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([201, "no-store"]);
  const { key, ...made } = answer.json;
  expect(made).toMatchObject({ ...settings, object: "key", name: "ci", expires_at, spent: 0, disabled: false });
  expect(made).toMatchObject({ account: owner, project: null, management: null });
  expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
  const { json: own } = await app.ask("GET", "/v1/key", { as: key });
  expect(made).toMatchObject(own);
  const shown = await ask("account", "GET", `/v1/keys/${made.id}`);
  expect(shown.json).toEqual({ ...made, last_used_at: shown.json.last_used_at });
  expect(JSON.stringify(await ask("account", "GET", "/v1/keys"))).not.toContain(key);
});

test("changes apply at once; what is absent stays, and null clears", async () => {
  const { id, key } = await create("account", { name: "changing", rpm: 5, budget: 1, budget_period: "1d" });
  const patch = async (body: object) => (await ask("account", "PATCH", `/v1/keys/${id}`, body)).json;
  expect(await patch({ name: "changed" })).toMatchObject({ name: "changed", rpm: 5, budget: 1, budget_period: "1d" });
  expect(await patch({ rpm: null, budget: null })).toMatchObject({ rpm: 20, budget: null, budget_period: null });
  expect(await status(key)).toBe(200);
  expect(await patch({ disabled: true })).toMatchObject({ disabled: true });
  expect(code(await app.ask("GET", "/v1/models", { as: key }))).toBe("key_disabled");
  await patch({ disabled: false });
  expect(await status(key)).toBe(200);
  expect(await patch({ models: ["none"], addresses: ["192.0.2.0/24"] })).toMatchObject({ models: ["none"] });
  const from = (address: string) => app.ask("GET", "/v1/models", { as: key, headers: { "x-forwarded-for": address } });
  const refused = await from("198.51.100.7");
  expect([refused.status, code(refused)]).toEqual([403, "address_not_allowed"]);
  expect(refused.json.error.message).toContain("198.51.100.7");
  expect((await from("192.0.2.9")).status).toBe(200);
});

const NO_RUNS = { usd: null, requests: null, repeats: null };

test.each(["key", "project"])(
  "limits of agent runs of a %s apply at once, each is changed alone, and null or 0 is none",
  async (of) => {
    const path = of === "key" ? "/v1/keys" : "/v1/projects";
    const set = async (body: object, id = "") =>
      (await ask("account", id === "" ? "POST" : "PATCH", id === "" ? path : `${path}/${id}`, body)).json;
    expect((await set({ name: "plain" })).runs).toEqual(NO_RUNS);
    const made = await set({ name: "runs", runs: { usd: 0.5, requests: 1, repeats: 0 } });
    expect(made.runs).toEqual({ usd: 0.5, requests: 1, repeats: null });
    const key = of === "key" ? made.key : (await create("account", { name: "in it", project: made.id })).key;
    const chat = async () =>
      code(
        await app.ask("POST", "/v1/chat/completions", {
          as: key,
          body: { model: "demo-echo", messages: [{ role: "user", content: "hi" }] },
          headers: { "x-sallyport-run": `run of ${of}` },
        }),
      );
    expect([await chat(), await chat()]).toEqual([undefined, "run_limit_reached"]);
    expect((await set({ runs: { requests: null, repeats: 9 } }, made.id)).runs).toEqual({
      ...NO_RUNS,
      usd: 0.5,
      repeats: 9,
    });
    expect(await chat()).toBeUndefined();
    expect((await set({ name: "the same" }, made.id)).runs).toEqual({ ...NO_RUNS, usd: 0.5, repeats: 9 });
    expect((await set({ runs: null }, made.id)).runs).toEqual(NO_RUNS);
    expect((await ask("account", "GET", `${path}/${made.id}`)).json.runs).toEqual(NO_RUNS);
  },
);

test("rotation keeps the id, and the old secret for the grace alone", async () => {
  const { id, key } = await create("account", { name: "rotating", rpm: 3 });
  const first = await ask("account", "POST", `/v1/keys/${id}/rotate`, { grace: "1h" });
  expect(first.json).toMatchObject({ id, rpm: 3, old_secret_until: expect.stringContaining("Z") });
  expect([await status(key), await status(first.json.key)]).toEqual([200, 200]);
  const second = await ask("account", "POST", `/v1/keys/${id}/rotate`);
  expect(second.json).toMatchObject({ id, old_secret_until: null });
  expect([await status(key), await status(first.json.key), await status(second.json.key)]).toEqual([401, 401, 200]);
  const third = await ask("account", "POST", `/v1/keys/${id}/rotate`, { grace: "1h" });
  expect((await ask("account", "DELETE", `/v1/keys/${id}`)).json).toEqual({
    ...{ id, object: "key.deleted", deleted: true },
  });
  expect([await status(second.json.key), await status(third.json.key)]).toEqual([401, 401]);
  expect(code(await ask("account", "GET", `/v1/keys/${id}`))).toBe("key_not_found");
  expect(code(await ask("account", "DELETE", `/v1/keys/${id}`))).toBe("key_not_found");
});

test("a management key sees the keys of its account, of its project, or of all", async () => {
  await create("account", { name: "mine", project: projectId });
  const seen = await namesOf("account");
  expect(seen).toContain("mine");
  expect(seen).not.toContain("theirs");
  expect(await namesOf("project")).toEqual(["mine", "project", "theirs in the project"]);
  const all = await namesOf("all");
  for (const name of ["mine", "theirs", "theirs in the project", "all"]) expect(all).toContain(name);
  for (const [as, name] of [
    ["account", "theirs"],
    ["account", "theirs in the project"],
    ["project", "theirs"],
    ["project", "account"],
    // It would get the rights of a key for all accounts by rotation.
    ["admins", "all"],
  ] as const) {
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await ask(as, method, `/v1/keys/${ids[name]}`, method === "PATCH" ? { name: "taken" } : undefined);
      expect([as, name, method, code(answer)]).toEqual([as, name, method, "key_not_found"]);
    }
    expect(code(await ask(as, "POST", `/v1/keys/${ids[name]}/rotate`))).toBe("key_not_found");
  }
  expect(await namesOf("admins")).not.toContain("all");
  // A member's secret is nobody else's, though the project's managers set the limits of its key.
  expect(code(await ask("project", "POST", `/v1/keys/${ids["theirs in the project"]}/rotate`))).toBe(
    "permission_denied",
  );
  expect((await ask("project", "PATCH", `/v1/keys/${ids["theirs in the project"]}`, { rpm: 2 })).json.rpm).toBe(2);
  expect(await create("project", { name: "into the project" })).toMatchObject({ project: projectId, account: owner });
  expect(await create("all", { name: "for another", account: other })).toMatchObject({ account: other });
});

test("a management key has no more rights than its account has now", async () => {
  const { id: demoted } = await app.addAccount("demoted", { admin: true });
  await make("demoted all", demoted, { management: "all" });
  expect(await namesOf("demoted all")).toContain("theirs");
  await accountStore(store).updateAccount(demoted, { admin: false });
  await keyStore(store).updateKey(ids["demoted all"] ?? "", demoted, { name: "demoted all" });
  app.clock.advance(1000);
  for (const path of ["/v1/keys", "/api/v1/keys", "/v1/usage", "/v1/projects", `/v1/projects/${projectId}`]) {
    const answer = await ask("demoted all", "GET", path);
    expect([path, answer.status, code(answer)]).toEqual([path, 403, "management_key_required"]);
  }
  // A manager that became a member again has its own keys in the project alone.
  const { id: manager } = await app.addAccount("manager");
  await projectMemberStore(store).setMember(projectId, manager, "manager");
  await make("managers", manager, { management: "project", projectId });
  expect(await namesOf("managers")).toContain("theirs in the project");
  await projectMemberStore(store).setMember(projectId, manager, "member");
  expect(await namesOf("managers")).toEqual(["managers"]);
  for (const method of ["GET", "PATCH", "DELETE"]) {
    const body = method === "PATCH" ? { rpm: 1 } : undefined;
    const answer = await ask("managers", method, `/v1/keys/${ids["theirs in the project"]}`, body);
    expect([method, code(answer)]).toEqual([method, "key_not_found"]);
  }
  await keyStore(store).revokeKey(ids["managers"] ?? "");
});

test("a management key makes itself neither last longer nor usable from elsewhere", async () => {
  const expiresAtMs = app.clock.now() + 3_600_000;
  await make("short", owner, { management: "account", expiresAtMs, addresses: ["127.0.0.0/8"] });
  for (const [param, value] of [
    ["expires_at", null],
    ["expires_at", "2990-01-01"],
    ["addresses", null],
    ["addresses", ["0.0.0.0/0"]],
  ] as const) {
    const answer = await ask("short", "PATCH", `/v1/keys/${ids["short"]}`, { [param]: value });
    expect([answer.status, code(answer), answer.json.error?.param]).toEqual([403, "permission_denied", param]);
  }
  const router = await ask("short", "PATCH", `/api/v1/keys/${ids["short"]}`, { expires_at: null });
  expect([router.status, code(router)]).toEqual([403, "permission_denied"]);
  expect((await ask("short", "PATCH", `/v1/keys/${ids["short"]}`, { name: "brief" })).json.name).toBe("brief");
});

test("no key gets a right that its account does not have, and wrong settings are named", async () => {
  for (const [as, body, wanted, param] of [
    ["account", { name: "k", rpm: 21 }, "permission_denied", "rpm"],
    ["account", { name: "k", parallel: 5 }, "permission_denied", "parallel"],
    ["account", { name: "k", passthrough: true }, "permission_denied", "passthrough"],
    ["account", { name: "k", account: other }, "permission_denied", "account"],
    ["project", { name: "k", project: "another" }, "permission_denied", "project"],
    ["account", { name: "k", project: "unknown" }, "invalid_request", "project"],
    ["account", {}, "invalid_request", "name"],
    ["account", { name: "x".repeat(101) }, "invalid_request", "name"],
    ["account", { name: "k", rpm: 0 }, "invalid_request", "rpm"],
    ["account", { name: "k", tpm: "many" }, "invalid_request", "tpm"],
    ["account", { name: "k", budget: -1 }, "invalid_request", "budget"],
    ["account", { name: "k", budget_period: "30d" }, "invalid_request", "budget_period"],
    ["account", { name: "k", budget: 1, budget_period: "soon" }, "invalid_request", "budget_period"],
    ["account", { name: "k", models: "gpt-*" }, "invalid_request", "models"],
    ["account", { name: "k", runs: 5 }, "invalid_request", "runs"],
    ["account", { name: "k", runs: [] }, "invalid_request", "runs"],
    ["account", { name: "k", runs: { dollars: 5 } }, "invalid_request", "runs"],
    ["account", { name: "k", runs: { usd: -1 } }, "invalid_request", "runs.usd"],
    ["account", { name: "k", runs: { usd: 1e-7 } }, "invalid_request", "runs.usd"],
    ["account", { name: "k", runs: { usd: 1_000_000_001 } }, "invalid_request", "runs.usd"],
    ["account", { name: "k", runs: { requests: 1.5 } }, "invalid_request", "runs.requests"],
    ["account", { name: "k", runs: { repeats: "8" } }, "invalid_request", "runs.repeats"],
    ["account", { name: "k", runs: { repeats: 1001 } }, "invalid_request", "runs.repeats"],
    ["account", { name: "k", addresses: ["10.0.0.0/64"] }, "invalid_request", "addresses"],
    ["account", { name: "k", expires_at: "2020-01-01" }, "invalid_request", "expires_at"],
    ["account", { name: "k", disabled: "no" }, "invalid_request", "disabled"],
    ["all", { name: "k", account: "unknown" }, "invalid_request", "account"],
  ] as const) {
    const answer = await ask(as, "POST", "/v1/keys", body);
    expect([body, code(answer), answer.json.error?.param]).toEqual([body, wanted, param]);
  }
  const { id } = await create("account", { name: "plain" });
  expect(code(await ask("account", "PATCH", `/v1/keys/${id}`, { rpm: 21 }))).toBe("permission_denied");
  expect((await ask("account", "POST", `/v1/keys/${id}/rotate`, { grace: "31d" })).json.error.param).toBe("grace");
  // The operator gives more: by the keys of administrators and by keys that manage all accounts.
  expect(await create("admins", { name: "k", rpm: 21, passthrough: true })).toMatchObject({ rpm: 21 });
  expect(await create("all", { name: "k", rpm: 21, account: other })).toMatchObject({ rpm: 21 });
});

test("listings are searched, filtered and paged", async () => {
  for (const name of ["page-1", "page-2", "page-3"]) await create("account", { name });
  const page = async (query: string) => (await ask("account", "GET", `/v1/keys?search=PAGE-&${query}`)).json;
  expect(await page("limit=2")).toMatchObject({ total: 3, has_more: true, data: [{ name: "page-1" }, {}] });
  expect(await page("limit=2&offset=2")).toMatchObject({ total: 3, has_more: false, data: [{ name: "page-3" }] });
  expect(await page("state=disabled")).toMatchObject({ total: 0, data: [] });
  expect(await page(`project=${projectId}`)).toMatchObject({ total: 0 });
  for (const query of ["limit=0", "limit=501", "offset=-1", "state=gone"])
    expect([query, (await ask("account", "GET", `/v1/keys?${query}`)).status]).toEqual([query, 400]);
});

test("every change is in the audit log of the key's account, with who did it", async () => {
  const { id } = await create("all", { name: "audited", account: other });
  await ask("all", "PATCH", `/v1/keys/${id}`, { rpm: 3 });
  await ask("all", "POST", `/v1/keys/${id}/rotate`, { grace: "1m" });
  await ask("all", "DELETE", `/v1/keys/${id}`);
  const entries = (await auditStore(store).listAudit(other)).filter(({ detail }) =>
    JSON.stringify(detail).includes(id),
  );
  expect(entries.map(({ event }) => event).reverse()).toEqual([
    ...["key_created", "key_changed", "key_rotated", "key_revoked"],
  ]);
  for (const { detail } of entries)
    expect(typeof detail === "string" ? JSON.parse(detail) : detail).toMatchObject({
      ...{ key_id: id, by_key: ids["all"], by_key_name: "all", by_account: expect.any(String) },
    });
});
