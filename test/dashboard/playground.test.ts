// Chat completions of who is signed in, through the HTTP edge: a plan and a rate limit hold here as they do for keys.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { keyStore } from "../../src/store/keys.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;

beforeAll(async () => {
  app = await startAccountsApp({
    config: {
      tiers: { free: { rpm: 3 } },
      models: [{ id: "dear", tier: "premium", routes: [{ provider: "demo", model: "demo-echo" }] }],
    },
  });
});
afterAll(() => app.stop());

async function signedIn(name: string, more: Parameters<AccountsApp["addAccount"]>[1] = {}) {
  const account = await app.addAccount(name, more);
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return { client, account };
}

const say = (client: DashboardClient, more: Record<string, unknown> = {}) =>
  client.post("/playground", { model: "demo-echo", messages: [{ role: "user", content: "one two" }], ...more });

test("an answer streams, and is counted under a key that nobody has", async () => {
  const { client } = await signedIn("player");
  const { status, text, headers } = await say(client, { stream: true, stream_options: { include_usage: true } });
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  expect(text).toContain('"content":" two"');
  expect(text).toEndWith("data: [DONE]\n\n");
  expect((await client.get("/keys")).json.data).toEqual([]);
  for (;;) {
    const { data } = (await client.get("/requests")).json;
    if (data.length === 0) {
      await Bun.sleep(5);
      continue;
    }
    expect(data[0]).toMatchObject({ key: "Playground", model: "demo-echo", endpoint: "/dashboard/api/playground" });
    break;
  }
});

test("the plan's limits hold", async () => {
  const { client } = await signedIn("frequent");
  for (let i = 0; i < 3; i++) expect((await say(client)).headers.get("x-ratelimit-limit")).toBe("3");
  const fourth = await say(client);
  expect([fourth.status, fourth.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
  const other = await signedIn("other");
  expect((await say(other.client, { model: "dear" })).json.error.code).toBe("tier_required");
  const late = await signedIn("late", { trialEndsAtMs: app.clock.now() - 1 });
  expect((await say(late.client)).json.error.code).toBe("trial_expired");
});

test("a mistake is told as the API tells it", async () => {
  const { client } = await signedIn("mistaken");
  expect((await say(client, { messages: [] })).json.error.param).toBe("messages");
  expect((await say(client, { model: "none" })).json.error.code).toBe("model_not_found");
});

test("an operator can close it for an account, its holder cannot", async () => {
  const { client, account } = await signedIn("closed");
  expect((await say(client)).status).toBe(200);
  expect((await client.delete(`/keys/house-${account.id}`)).json.error.code).toBe("key_not_found");
  await keyStore(app.store).revokeKey(`house-${account.id}`);
  expect((await say(client)).json.error.code).toBe("invalid_request");
});
