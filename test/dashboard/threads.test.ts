// An account's own conversations in the dashboard's API.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { say } from "../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

type Json = Record<string, unknown>;

let upstream: FakeUpstream;
let app: AccountsApp;
let holder: DashboardClient;
let other: DashboardClient;
let key: string;

beforeAll(async () => {
  upstream = startUpstream((received) => say(received, { text: "the answer" }));
  app = await startAccountsApp({
    config: {
      providers: { chat: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
      models: [{ id: "m", tier: "free", routes: [{ provider: "chat", model: "up" }] }],
    },
  });
  const signedIn = async (name: string) => {
    await app.addAccount(name);
    const client = dashboardClient(app);
    await client.post("/login", { username_or_email: name, password: PASSWORD });
    return client;
  };
  [holder, other] = [await signedIn("holder"), await signedIn("other")];
  key = (await holder.post("/keys", { name: "k" })).json.key;
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const send = async (path: string, body: Json) => (await app.ask("POST", path, { as: key, body })).json as Json;
const rows = async (client: DashboardClient): Promise<Json[]> => (await client.get("/threads")).json.data;

test("threads, conversations and held threads are listed, read and deleted by their owner alone", async () => {
  const messages = [{ role: "user", content: "a thread's wish" }];
  await send("/v1/chat/completions", { model: "m", messages, thread_id: "mine/with a slash" });
  const { id } = await send("/v1/conversations", { items: [{ type: "message", role: "user", content: "begun" }] });
  await send("/v1/responses", { model: "m", input: "a conversation's wish", conversation: id });
  const held = await send("/v1/messages", { model: "m", messages, max_tokens: 9, thread: { type: "create" } });
  const thread = { type: "continue", previous_message_id: held["id"] };
  const next = await send("/v1/messages", { model: "m", messages, max_tokens: 9, thread });
  // The first thread is stored after its answer was sent.
  while ((await rows(holder)).length < 3) await new Promise((resolve) => setImmediate(resolve));

  const listed = await rows(holder);
  expect(listed.map(({ kind, id, messages }) => [kind, id, messages]).sort()).toEqual([
    ["conversation", id, 3],
    ["messages", next["id"], 4],
    ["thread", "mine/with a slash", 2],
  ]);
  for (const row of listed) expect(row).toMatchObject({ model: "m", bytes: expect.any(Number) });
  const words = { thread: "a thread's wish", conversation: "a conversation's wish", messages: "a thread's wish" };
  for (const { kind, id } of listed as { kind: keyof typeof words; id: string }[]) {
    const path = `/threads/${kind}/${encodeURIComponent(id)}`;
    const { status, json } = await holder.get(path);
    expect([status, json.id, json.summaries]).toEqual([200, id, []]);
    expect(json.messages.slice(-2)).toEqual([
      { role: "user", text: words[kind] },
      { role: "assistant", text: "the answer" },
    ]);
    for (const { status } of [await other.get(path), await other.delete(path)]) expect(status).toBe(404);
    expect((await holder.delete(path)).json).toEqual({ success: true });
    expect((await holder.get(path)).json.error.code).toBe("thread_not_found");
  }
  expect([await rows(holder), await rows(other)]).toEqual([[], []]);
  expect((await holder.get("/threads/other/x")).status).toBe(404);
});
