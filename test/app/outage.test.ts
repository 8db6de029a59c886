// PostgreSQL cannot be reached for a while: what a client is told, what goes on, and what is whole again afterwards.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keyStore } from "../../src/store/access/keys.ts";
import { openPostgres, type PostgresStore } from "../../src/store/engine/postgres/open.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const PAGES = 6;
const paths = Array.from({ length: PAGES }, (_, n) => `/page/${n}`);
const asked = { model: "demo-echo", messages: [{ role: "user", content: "hello" }] };
const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);

/** Requests that need the database, each with a key that was not used before. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["POST", "/v1/chat/completions", asked],
  ["POST", "/v1/messages", { ...asked, max_tokens: 9 }],
  ["POST", "/v1/responses", { model: "demo-echo", input: "hello" }],
  ["GET", "/v1/responses/resp_1"],
  ["GET", "/v1/models"],
  ["GET", "/v1/files"],
  ["POST", "/v1/files", "form"],
  ["POST", "/v1/crawl", { url: "https://example.com/" }],
  ["GET", "/v1/crawl/crawl_1"],
  ["DELETE", "/v1/crawl/crawl_1"],
  ["POST", "/v1/extract", { urls: ["https://example.com/"], prompt: "all" }],
  ["POST", "/v1/llmstxt", { url: "https://example.com/" }],
  ["POST", "/v2/crawl", { url: "https://example.com/" }],
  ["POST", "/v2/batch/scrape", { urls: ["https://example.com/"] }],
  ["GET", "/v2/crawl/active"],
  ["GET", "/v1/key"],
  ["POST", "/v1/decisions", { model: "none", questions: [] }],
  ["POST", "/v1/search", { query: "anything" }],
  ["POST", "/v1/auth/token", { email: "tester@example.com", password: "a long password" }],
  ["GET", "/v1/stats/tokens"],
];

describe.skipIf(!HAS_POSTGRES)("an outage of PostgreSQL", () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApp;
  let site: FakeSite;
  /** Around the proxy. */
  let direct: PostgresStore;
  const gate = Promise.withResolvers<void>();

  beforeAll(async () => {
    const server = await testPostgres();
    database = await server.database();
    proxy = await startTcpProxy(server.port);
    const url = new URL(database.url);
    url.port = String(proxy.port);
    url.password = "sesame-of-the-database";
    site = startFakeSite({
      ...Object.fromEntries(paths.map((path) => [path, page(path, paths.slice(1))])),
      [paths.at(-1) ?? ""]: async () => {
        await gate.promise;
        return html(page("last"));
      },
    });
    app = await startTestApp({
      config: {
        database: { url: url.href },
        node: { name: "a" },
        usage: { flush: "1ms" },
        web: { allow_hosts: [site.host], render: "never" },
      },
    });
    direct = await openPostgres({ url: database.url, dataDir: app.dataDir, connections: 1 });
  }, 60_000);
  afterAll(async () => {
    gate.resolve();
    proxy?.restore();
    await app?.stop();
    await direct?.close();
    await proxy?.stop();
    await site?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body: unknown, key: string) => {
    const form = new FormData();
    form.set("purpose", "vision");
    form.set("file", new File([PNG], "p.png", { type: "image/png" }));
    const json = { "content-type": "application/json" };
    return fetch(app.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body === "form" ? {} : json) },
      ...(body === undefined ? {} : { body: body === "form" ? form : JSON.stringify(body) }),
    });
  };
  const requests = async () =>
    Number((await direct.statement<{ n: number }>("SELECT COUNT(*) AS n FROM usage WHERE status = 200").get())?.n);

  /** Answers whose key is known are given, and say that they could not be stored. */
  const tellsUnkept = async () => {
    const [whole = "", streamed = ""] = await Promise.all(
      [false, true].map(async (stream) => {
        const body = { model: "demo-echo", input: "keep me", store: true, stream };
        return (await send("POST", "/v1/responses", body, app.key)).text();
      }),
    );
    expect(JSON.parse(whole)).toMatchObject({ status: "completed", store: false });
    const completed = streamed.split("\n").find((line) => /^data:.*"type":"response\.completed"/.test(line));
    expect(completed).toContain('"store":false');
  };

  test("is told as 503, and what was under way goes on", async () => {
    const keys = await Promise.all(
      REQUESTS.map((_, n) => keyStore(direct).createKey({ accountId: app.accountId, name: `k${n}` })),
    );
    const crawl = (await (await app.post("/v1/crawl", { url: site.url + paths[0], limit: 100 })).json()) as {
      id: string;
    };
    await site.asked(paths.at(-1) ?? "");
    const stream = await app.post("/v1/chat/completions", { ...asked, stream: true });
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    // The crawl, the stream, and two answers that cannot be kept.
    const before = 4;

    proxy.cut();
    const unkept = tellsUnkept();
    const answers = await Promise.all(
      REQUESTS.map(([method, path, body], n) => send(method, path, body, keys[n]!.key)),
    );
    await unkept;
    for (const [n, answer] of answers.entries()) {
      const text = await answer.text();
      const what = REQUESTS[n]?.slice(0, 2).join(" ");
      expect([what, answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([what, 503, true]);
      expect([what, text]).toEqual([what, expect.stringContaining("server_busy")]);
      expect([what, /sesame|postgres|127\.0\.0\.1|ECONN|CONNECTION/i.test(text)]).toEqual([what, false]);
    }
    expect((await fetch(`${app.url}/livez`)).status).toBe(200);
    expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
    const health = await fetch(`${app.url}/health`);
    const state = await health.text();
    expect([health.status, JSON.parse(state)]).toEqual([
      503,
      expect.objectContaining({
        status: "degraded",
        subsystems: expect.objectContaining({ database: { status: "unavailable" } }),
      }),
    ]);
    expect(state).not.toContain("sesame");
    // The stream that had begun ends as if nothing were.
    let text = new TextDecoder().decode(first.value);
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value);
    expect(text).toEndWith("data: [DONE]\n\n");
    gate.resolve();

    proxy.restore();
    while ((await fetch(`${app.url}/readyz`)).status !== 200) await Bun.sleep(20);
    const again = await Promise.all(
      keys.slice(0, 5).map(({ key }) => send("POST", "/v1/chat/completions", asked, key)),
    );
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const served = before + again.length;
    while ((await requests()) < served) await Bun.sleep(20);
    expect(await requests()).toBe(served);

    // What the passing of half a minute would do, where the crawl met the outage.
    await direct.statement("UPDATE jobs SET lease_until = 0 WHERE id = ? AND state = 'running'").run([crawl.id]);
    let job = (await (await app.call(`/v1/crawl/${crawl.id}`)).json()) as Record<string, unknown>;
    while (job["status"] === "scraping") {
      await Bun.sleep(20);
      job = (await (await app.call(`/v1/crawl/${crawl.id}`)).json()) as Record<string, unknown>;
    }
    expect(job).toMatchObject({ status: "completed", completed: PAGES, errors: [] });
    const stored = await direct
      .statement<{ url: string }>("SELECT url FROM job_pages WHERE job_id = ?")
      .all([crawl.id]);
    expect(stored.map(({ url }) => new URL(url).pathname).sort()).toEqual([...paths]);

    await app.flushLogs();
    const told = app.logs.filter(({ msg }) => String(msg).startsWith("the database "));
    expect(told.map(({ msg }) => String(msg).split(";")[0])).toEqual(
      expect.arrayContaining(["the database does not answer", "the database answers again"]),
    );
    expect(JSON.stringify(app.logs)).not.toContain("sesame");
    expect(app.logs.filter(({ status }) => status === 500)).toEqual([]);
  }, 90_000);

  test("that falls silent is told as 503 too, and is left behind where new connections work", async () => {
    const keys = await Promise.all(
      REQUESTS.map((_, n) => keyStore(direct).createKey({ accountId: app.accountId, name: `silent${n}` })),
    );
    while ((await fetch(`${app.url}/readyz`)).status !== 200) await Bun.sleep(20);
    proxy.stall();
    const answers = await Promise.all(
      REQUESTS.map(([method, path, body], n) => send(method, path, body, keys[n]!.key)),
    );
    for (const [n, answer] of answers.entries()) {
      const what = REQUESTS[n]?.slice(0, 2).join(" ");
      expect([what, answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([what, 503, true]);
    }
    expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
    // As after a failover behind the same address.
    proxy.strand();
    proxy.restore();
    while ((await fetch(`${app.url}/readyz`)).status !== 200) await Bun.sleep(20);
    const again = await Promise.all(
      keys.slice(0, 5).map(({ key }) => send("POST", "/v1/chat/completions", asked, key)),
    );
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const nodes = async () => {
      const { subsystems } = (await (await fetch(`${app.url}/health`)).json()) as Record<
        string,
        Record<string, unknown>
      >;
      return subsystems?.["nodes"];
    };
    while (JSON.stringify(await nodes()) !== JSON.stringify({ status: "ok", live: 1 })) await Bun.sleep(100);
  }, 90_000);
});
