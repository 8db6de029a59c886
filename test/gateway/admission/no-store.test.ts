// A key that may not store: its requests are answered, and none of their content is stored.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { keyStore } from "../../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../../support/upstream.ts";

type Json = Record<string, unknown>;

let upstream: FakeUpstream;
let app: TestApp;
let headers: Record<string, string>;
beforeAll(async () => {
  upstream = startUpstream((received) => say(received, { text: "well" }));
  app = await startTestApp({
    config: {
      providers: Object.fromEntries(
        DIALECTS.map((name) => [
          name,
          { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false },
        ]),
      ),
      models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up" }] })),
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
  const store = await app.openStore();
  const { key } = await keyStore(store).createKey({ accountId: app.accountId, name: "n", noStore: true });
  await store.close();
  headers = { authorization: `Bearer ${key}` };
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const bodyOf = async (answer: Response) => [answer.status, (await answer.json()) as Json] as const;
const send = async (path: string, body: unknown, own = headers) => bodyOf(await app.post(path, body, own));
const errorOf = (json: Json) => json["error"] as Json;

/** Rows of every table that could hold what was said. */
async function kept(): Promise<number> {
  const store = await app.openStore();
  const tables = ["responses", "threads", "thread_items", "thread_summaries", "files"];
  const rows = await Promise.all(
    tables.map(
      async (name) => (await store.statement<{ n: number }>(`SELECT COUNT(*) AS n FROM ${name}`).get())?.n ?? 0,
    ),
  );
  await store.close();
  return rows.reduce((sum, n) => sum + n, 0);
}

test.each([...DIALECTS])("with %s: answered, and nothing is stored", async (model) => {
  const said = { store: true, thread_id: "t", stream: false };
  const messages = [{ role: "user", content: "hi" }];
  const [status, response] = await send("/v1/responses", { model, input: "hi", ...said });
  expect([status, response["store"]]).toEqual([200, false]);
  expect((await app.call(`/v1/responses/${String(response["id"])}`, { headers })).status).toBe(404);
  expect((await send("/v1/chat/completions", { model, messages, ...said }))[0]).toBe(200);
  expect((await send("/v1/messages", { model, messages, max_tokens: 9, thread_id: "t" }))[0]).toBe(200);
  const streamed = await app.post("/v1/responses", { model, input: "hi", ...said, stream: true }, headers);
  expect(await streamed.text()).toContain("response.completed");
  expect(await kept()).toBe(0);
  // The provider is not asked to keep anything either.
  if (model === "openai-responses" || model === "openai-chat") {
    expect(upstream.received.filter(({ json }) => json?.["store"] === true)).toEqual([]);
  }
  if (model === "openai-responses") expect(upstream.received[0]?.json?.["store"]).toBe(false);
});

test("requests that need storage are refused", async () => {
  const model = "openai-chat";
  const [, conversation] = await send("/v1/conversations", {}, {});
  const one = `/v1/conversations/${String(conversation["id"])}`;
  const item = { type: "message", role: "user", content: "hi" };
  for (const [path, body] of [
    ["/v1/conversations", { items: [item] }],
    [one, { metadata: { a: "b" } }],
    [`${one}/items`, { items: [item] }],
    ["/v1/responses", { model, input: "hi", conversation: conversation["id"] }],
  ] as const) {
    const [status, json] = await send(path, body);
    expect([path, status, errorOf(json)["code"]]).toEqual([path, 403, "storage_not_allowed"]);
  }
  const form = new FormData();
  form.set("purpose", "vision");
  form.set("file", new File(["x"], "x.png"));
  const upload = await app.call("/v1/files", { method: "POST", headers, body: form });
  expect(upload.status).toBe(403);
  // Clients of such a key send their whole history.
  const messages = [{ role: "user", content: "hi" }];
  // A provider that stores threads itself would store the text as well.
  for (const model of DIALECTS) {
    const thread = { model, max_tokens: 9, messages, thread: { type: "create" } };
    const [status, json] = await send("/v1/messages", thread);
    expect([status, errorOf(json)["details"]]).toMatchObject([400, { error_code: "thread_unsupported_request" }]);
  }
  expect(upstream.received).toHaveLength(0);
  // Reading and deleting are allowed.
  expect((await app.call(one, { headers })).status).toBe(200);
  expect((await app.call(one, { method: "DELETE", headers })).status).toBe(200);
  expect(await kept()).toBe(0);
});
