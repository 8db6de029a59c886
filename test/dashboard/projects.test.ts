// Projects in the dashboard's API: members make and revoke their own keys, managers everyone's, and no secret is shown to others.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { say } from "../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let upstream: FakeUpstream;
let app: AccountsApp;
let owner: DashboardClient;
let member: DashboardClient;
let stranger: DashboardClient;

beforeAll(async () => {
  upstream = startUpstream((received) => say(received, { text: "the answer" }));
  app = await startAccountsApp({
    config: {
      usage: { flush: "1ms" },
      providers: { chat: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
      models: [
        { id: "m", tier: "free", routes: [{ provider: "chat", model: "up" }], prices: { input: 1000, output: 1000 } },
      ],
    },
  });
  const signedIn = async (name: string) => {
    await app.addAccount(name);
    const client = dashboardClient(app);
    await client.post("/login", { username_or_email: name, password: PASSWORD });
    return client;
  };
  [owner, member, stranger] = [await signedIn("owner"), await signedIn("member"), await signedIn("stranger")];
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const emailOf = async (client: DashboardClient) => (await client.get("/session")).json.profile?.email as string;

async function team() {
  const { json } = await owner.post("/projects", { name: "team", budget: 5, budget_period: "30d" });
  const path = `/projects/${json.id}`;
  const added = await owner.post(`${path}/members`, { email: await emailOf(member), role: "member" });
  expect(added.status).toBe(200);
  return { id: json.id as string, path };
}

test("a member makes keys in the project, and their use is shown to all members", async () => {
  const { path } = await team();
  const { key, id } = (await member.post(`${path}/keys`, { name: "laptop" })).json;
  const messages = [{ role: "user", content: "hi" }];
  const asked = await app.ask("POST", "/v1/chat/completions", { as: key, body: { model: "m", messages } });
  expect(asked.status).toBe(200);
  const seen = async () => (await owner.get(path)).json;
  while ((await seen()).days.at(-1).cost === 0) await Bun.sleep(5);
  const { project, members, keys, days } = await seen();
  expect(project).toMatchObject({ name: "team", role: "owner", budget: 5, members: 2, keys: 1 });
  expect(project.spent).toBe(days.at(-1).cost);
  expect(members.map(({ username, role }: Record<string, string>) => `${username} ${role}`)).toEqual([
    ...["owner owner", "member member"],
  ]);
  expect(keys).toMatchObject([
    { id, name: "laptop", username: "member", own: false, key: expect.stringContaining("…") },
  ]);
  expect(JSON.stringify(keys)).not.toContain(key.slice(8, 40));
  expect(days).toHaveLength(30);
  expect(days.at(-1)).toMatchObject({ requests: 1 });
  expect((await member.get("/projects")).json.data.map(({ name }: { name: string }) => name)).toContain("team");
});

test("what a manager does to a member and its keys is in the member's own audit log", async () => {
  const { path } = await team();
  const email = await emailOf(member);
  const { id } = (await member.post(`${path}/keys`, { name: "revoked" })).json;
  await owner.delete(`${path}/keys/${id}`);
  await owner.delete(`${path}/members/${encodeURIComponent(email)}`);
  const account = await accountStore(app.store).findAccountByEmail(email);
  const entries = await auditStore(app.store).listAudit(account?.id ?? "");
  const told = entries.filter(({ detail }) => JSON.stringify(detail).includes(path.slice("/projects/".length)));
  expect(told.map(({ event }) => event).reverse()).toEqual([
    ...["project_member_added", "key_created", "key_revoked", "project_member_removed"],
  ]);
  const [removed, revoked] = told.map(({ detail }) => (typeof detail === "string" ? JSON.parse(detail) : detail));
  expect(removed).toMatchObject({ member: email, by: expect.any(String) });
  expect(revoked).toMatchObject({ key_id: id, by: expect.any(String) });
});

test("members revoke their own keys alone, owners everyone's; strangers find nothing", async () => {
  const { path } = await team();
  const [mine, theirs] = [
    (await member.post(`${path}/keys`, { name: "mine" })).json,
    (await owner.post(`${path}/keys`, { name: "theirs" })).json,
  ];
  const code = async (answer: ReturnType<DashboardClient["get"]>) =>
    (await answer).json.error?.code ?? (await answer).status;
  expect(await code(member.delete(`${path}/keys/${theirs.id}`))).toBe("project_role_required");
  expect(await code(member.delete(`${path}/keys/${mine.id}`))).toBe(200);
  expect(await code(member.delete(`${path}/keys/${mine.id}`))).toBe("key_not_found");
  expect(await code(member.post(path, { rpm: 1 }))).toBe("project_role_required");
  expect(await code(owner.post(path, { rpm: 1 }))).toBe(200);
  expect(await code(member.delete(path))).toBe("project_role_required");
  expect(await code(member.post(`${path}/keys`, { name: "" }))).toBe("invalid_request");
  for (const answer of [
    stranger.get(path),
    stranger.post(path, { rpm: 1 }),
    stranger.post(`${path}/keys`, { name: "k" }),
    stranger.delete(`${path}/keys/${theirs.id}`),
    stranger.post(`${path}/members`, { email: await emailOf(stranger) }),
    stranger.delete(path),
  ])
    expect(await code(answer)).toBe("project_not_found");
  expect(await code(owner.delete(`${path}/members/${encodeURIComponent(await emailOf(member))}`))).toBe(200);
  expect(await code(member.get(path))).toBe("project_not_found");
  expect(await code(owner.delete(path))).toBe(200);
  const events = (await owner.get("/events")).json.data.map(({ event }: { event: string }) => event);
  expect(events).toEqual(expect.arrayContaining(["project_deleted", "project_member_removed", "project_changed"]));
});
