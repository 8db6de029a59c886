// The program with PostgreSQL, over HTTP: the usual requests of a client, and their results after a restart elsewhere.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";

const server = HAS_POSTGRES ? await testPostgres() : undefined;
/** A picture of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
let database: TestDatabase;
let app: TestApp;

describe.skipIf(server === undefined)("the program on PostgreSQL", () => {
  beforeAll(async () => {
    database = await server!.database();
    app = await startTestApp({
      config: {
        ...{ database: { url: database.url }, node: { name: "a" }, usage: { flush: "1ms" } },
        compat: { ollama: { anonymous: ["127.0.0.0/8"] } },
      },
    });
  }, 60_000);
  afterAll(async () => {
    await app?.stop();
    await database?.drop();
  });

  const json = async (response: Response) => (await response.json()) as Record<string, never>;

  test("answers, counts and limits", async () => {
    const messages = [{ role: "user", content: "hello there" }];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        app.post("/v1/chat/completions", { model: "demo-echo", messages }, { "x-request-id": "same" }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    let totals = await json(await app.call("/v1/stats/tokens"));
    while (Number(totals["requests"]) < answers.length) totals = await json(await app.call("/v1/stats/tokens"));
    expect(totals).toMatchObject({ requests: answers.length });
    expect(await json(await app.call("/health"))).toMatchObject({
      status: "ok",
      subsystems: { database: { status: "ok" }, nodes: { status: "ok", live: 1 } },
    });
  });

  test("the first clients without a key find one account together", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${app.url}/api/tags`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await app.flushLogs();
    const owners = app.logs.filter(({ path }) => path === "/api/tags").map((line) => line["account_id"]);
    expect(new Set(owners).size).toBe(1);
  });

  test("keeps responses and files for the next program", async () => {
    const made = await json(await app.post("/v1/responses", { model: "demo-echo", input: "remember me" }));
    const form = new FormData();
    const png = Buffer.from(PNG, "base64");
    form.set("purpose", "vision");
    form.set("file", new File([png], "p.png", { type: "image/png" }));
    const uploaded = await app.call("/v1/files", { method: "POST", body: form });
    expect(uploaded.status).toBe(200);
    const file = await json(uploaded);

    await app.restart();
    expect(await json(await app.call(`/v1/responses/${made["id"]}`))).toMatchObject({ id: made["id"] });
    const next = { model: "demo-echo", input: "and?", previous_response_id: made["id"] };
    expect((await app.post("/v1/responses", next)).status).toBe(200);
    const content = await app.call(`/v1/files/${file["id"]}/content`);
    expect(new Uint8Array(await content.arrayBuffer())).toEqual(new Uint8Array(png));
  }, 30_000);
});

describe.skipIf(server === undefined)("the program on a PostgreSQL whose clock is another", () => {
  const AHEAD_MS = 2 * 3_600_000;
  test("goes by the database's clock: usage, answers and keys that expire", async () => {
    const other = await server!.database();
    await other.setClock(AHEAD_MS);
    const config = { database: { url: other.url }, node: { name: "a" }, usage: { flush: "1ms" } };
    const ahead = await startTestApp({ config, key: { expiresAtMs: Date.now() + AHEAD_MS + 60_000 } });
    try {
      const answer = await ahead.post("/v1/responses", { model: "demo-echo", input: "when?" });
      expect(answer.status).toBe(200);
      const store = await ahead.openStore();
      const written = store.statement<{ at: number }>("SELECT MAX(created_at) AS at FROM usage");
      let at = Number((await written.get())?.at ?? 0);
      while (at === 0) at = Number((await written.get())?.at ?? 0);
      await store.statement("UPDATE api_keys SET expires_at = ?").run([Date.now() + AHEAD_MS - 60_000]);
      await store.close();
      expect(at - Date.now()).toBeGreaterThan(AHEAD_MS - 60_000);
      while ((await ahead.call("/v1/key")).status !== 401) await Bun.sleep(20);
    } finally {
      await ahead.stop();
      await other.drop();
    }
  }, 60_000);
});
