// Calling a tool is the same as calling its endpoint: the same limits, usage rows and errors, also for hostile arguments. Only
// tools that work for the key are listed.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import { TOOLS } from "../../src/mcp/tools/index.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { type DocumentedGateway, startDocumentedGateway } from "../docs/gateway.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { CLIENTS, errorIn, messagesOf, modernRequest, olderRequest, withClient } from "./support.ts";

const apps: TestApp[] = [];
const start = async (options: TestAppOptions): Promise<TestApp> => {
  const app = await startTestApp(options);
  apps.push(app);
  return app;
};
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
});

const STATUS = { name: "crawl_status", arguments: { job_id: "crawl_00" } };
/** This call is refused before anything is fetched, but it counts all the same. */
const PRIVATE = { name: "scrape", arguments: { url: "http://10.0.0.1/" } };

describe("limits", () => {
  test("calls count as the endpoint's requests do, lists and crawl_status do not", async () => {
    const app = await start({ key: { rpm: 2 } });
    await withClient(app, async (client) => {
      for (let round = 0; round < 5; round++) await client.listTools();
      for (let round = 0; round < 5; round++)
        expect(errorIn(await client.call(STATUS.name, STATUS.arguments))).toMatchObject({
          code: "crawl_job_not_found",
        });
      expect(errorIn(await client.call(PRIVATE.name, PRIVATE.arguments))).toMatchObject({ code: "url_not_allowed" });
      // A request over REST counts in the same window.
      expect((await app.post("/v1/scrape", { url: "http://10.0.0.1/" })).status).toBe(400);
      const refused = errorIn(await client.call(PRIVATE.name, PRIVATE.arguments));
      expect(refused).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
      expect(refused["retry_after_seconds"]).toBeGreaterThan(0);
      await client.listTools();
    });
    const response = await fetch(`${app.url}/mcp`, modernRequest(app, "tools/call", PRIVATE));
    expect([
      response.status,
      response.headers.get("x-ratelimit-limit"),
      response.headers.get("x-ratelimit-remaining"),
    ]).toEqual([200, "2", "0"]);
  });

  test("each call in a batch counts", async () => {
    const app = await start({ key: { rpm: 2 } });
    const batch = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: PRIVATE }));
    const headers = { "mcp-protocol-version": "2025-03-26" };
    const answers = await messagesOf(await fetch(`${app.url}/mcp`, olderRequest(app, batch, headers)));
    const codes = answers.map(({ result }) => errorIn(result as never)["code"]);
    expect(codes.sort()).toEqual(["rate_limit_exceeded", "url_not_allowed", "url_not_allowed"]);
  });

  test("an ended trial gives the endpoint's error", async () => {
    const app = await start({ tier: "free", account: { trialEndsAtMs: 1 } });
    const error = await withClient(app, async (client) => errorIn(await client.call(PRIVATE.name, PRIVATE.arguments)));
    expect(error).toMatchObject({ code: "trial_expired", status: 402 });
  });

  test("maintenance closes it", async () => {
    const app = await start({ config: { server: { maintenance: { enabled: true } } } });
    const response = await fetch(`${app.url}/mcp`, modernRequest(app, "tools/list"));
    expect([response.status, response.headers.has("retry-after")]).toEqual([503, true]);
  });
});

describe("usage", () => {
  let gateway: DocumentedGateway;
  beforeAll(async () => {
    gateway = await startDocumentedGateway();
  });
  afterAll(() => gateway.stop());

  /** The rows with these request ids: endpoint, status and error. */
  async function rows(ids: readonly string[]) {
    const store = openStore({ dataDir: gateway.app.dataDir });
    try {
      const { rows: all } = await usageStore(store).listLog({ accountId: gateway.app.accountId }, { limit: 100 });
      return all
        .filter(({ requestId }) => ids.includes(requestId))
        .map(({ endpoint, status, errorCode }) => [endpoint, status, errorCode]);
    } finally {
      store.close();
    }
  }

  test("a call has the same usage row as a request to the endpoint, and a log line", async () => {
    const { app } = gateway;
    const url = gateway.here("https://example.com/");
    const ask = async (params: JsonRecord | undefined, id: string) => {
      const method = params === undefined ? "tools/list" : "tools/call";
      const response = await fetch(`${app.url}/mcp`, modernRequest(app, method, params, { "x-request-id": id }));
      expect([response.status, response.headers.get("x-request-id")]).toEqual([200, id]);
      await response.text();
    };
    await ask({ name: "scrape", arguments: { url } }, "mcp-good");
    await ask(PRIVATE, "mcp-bad");
    await ask(STATUS, "mcp-free");
    await ask(undefined, "mcp-list");
    await app.post("/v1/scrape", { url }, { "x-request-id": "rest-good" });
    await app.post("/v1/scrape", PRIVATE.arguments, { "x-request-id": "rest-bad" });
    await app.flushLogs();
    const lines = app.logs.filter(({ request_id: id, via }) => String(id).startsWith("mcp-") && via === "mcp");
    expect(lines.map(({ path, status, error }) => [path, status, error])).toEqual([
      ["/v1/scrape", 200, undefined],
      ["/v1/scrape", 400, "url_not_allowed"],
      ["/v1/crawl/crawl_00", 404, "crawl_job_not_found"],
    ]);
    await written(app, 4);
    expect(await rows(["mcp-good", "mcp-free", "mcp-list"])).toEqual(await rows(["rest-good"]));
    expect(await rows(["mcp-bad"])).toEqual(await rows(["rest-bad"]));
    expect(await rows(["mcp-good"])).toEqual([["/v1/scrape", 200, null]]);
  });

  async function written(app: TestApp, count: number): Promise<void> {
    for (;;) {
      const found = await rows(["mcp-good", "mcp-bad", "rest-good", "rest-bad"]);
      if (found.length >= count) return;
      await Bun.sleep(15);
      await app.flushLogs();
    }
  }
});

describe("errors", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ key: { rpm: 1_000_000 }, config: { web: { render: "never" } } });
  });
  afterAll(() => app.stop());

  const HOSTILE: readonly unknown[] = [
    {},
    { url: 7 },
    { url: null },
    { url: "" },
    { url: "file:///etc/passwd" },
    { url: "http://127.0.0.1:22/" },
    { url: "http://[::ffff:169.254.169.254]/latest/meta-data" },
    { url: "http://0x7f.1/" },
    { url: "http://localhost/", formats: "markdown" },
    { url: `https://example.com/${"a".repeat(9000)}` },
    { url: "https://example.com/", timeout_ms: 1e99 },
    { url: "https://example.com/", formats: [{}] },
    { url: "https://example.com/", limit: "many" },
    { url: "https://example.com/", include_paths: ["[".repeat(500)] },
    { urls: ["http://10.0.0.1/"], prompt: "x" },
    { urls: "x", prompt: 5 },
    { urls: [], prompt: "" },
    { text_query: ["a"] },
    { text_query: "x".repeat(3000) },
    { text_query: "x", categories: "__proto__" },
    { state: 5, questions: [] },
    { state: "s", questions: { __proto__: 1 } },
    { model: "constructor", state: "s", questions: { q: { type: "noul" } } },
    { constructor: { prototype: 1 }, url: "http://10.1.1.1/" },
    { origin: "mcp", url: "http://10.1.1.1/" },
  ];

  test.each(
    TOOLS.filter(({ endpoint }) => endpoint.startsWith("POST ")).map(({ name, endpoint }) => [name, endpoint.slice(5)]),
  )("%s answers hostile arguments as %s does", async (name, path) => {
    await withClient(app, async (client) => {
      for (const args of HOSTILE) {
        const response = await app.post(path, args);
        const told = (await response.json()) as { error?: JsonRecord | string };
        // If no model is given, the tool chooses the first one.
        if (name === "decide" && (args as JsonRecord)["model"] === undefined) continue;
        const result = await client.call(name, args as JsonRecord);
        if (response.status === 200) {
          expect([name, args, result.isError]).toEqual([name, args, undefined]);
          continue;
        }
        const { status, ...error } = errorIn(result);
        expect([args, status]).toEqual([args, response.status]);
        if (typeof told.error === "object") expect([args, error]).toMatchObject([args, told.error]);
        expect(response.status).not.toBe(500);
      }
    });
  });

  test("a job's id is checked before it is used in a path", async () => {
    await withClient(app, async (client) => {
      for (const id of [
        "../v1/models",
        "crawl_../../v1/key",
        "crawl_00?x",
        "crawl_",
        "",
        5,
        {},
        ["crawl_00"],
        "extract_zz",
      ]) {
        expect(errorIn(await client.call("crawl_status", { job_id: id }))).toMatchObject({
          code: "crawl_job_not_found",
        });
      }
      const kinds = ["crawl", "extract", "llmstxt"];
      for (const kind of kinds) {
        const error = errorIn(await client.call("crawl_status", { job_id: `${kind}_0a` }));
        expect(error).toMatchObject({ code: `${kind}_job_not_found` });
      }
      const more = { job_id: "crawl_00", offset: -1, limit: 101 };
      expect(errorIn(await client.call("crawl_status", more))).toMatchObject({
        code: "invalid_request",
        param: "offset",
      });
    });
  });

  test("one account's jobs do not exist for another", async () => {
    const other = await start({});
    const started = await withClient(app, (client) => client.call("crawl", { url: "https://crawl.invalid/" }));
    const id = started.structuredContent?.["job_id"];
    expect(
      await withClient(app, async (client) => (await client.call("crawl_status", { job_id: id })).isError),
    ).toBeUndefined();
    const error = await withClient(other, async (client) => errorIn(await client.call("crawl_status", { job_id: id })));
    expect(error).toMatchObject({ code: "crawl_job_not_found" });
  });
});

describe("the list of tools", () => {
  const namesOf = (app: TestApp, key = app.key) =>
    withClient({ url: app.url, key }, async (client) => (await client.listTools()).tools.map(({ name }) => name));
  const ALWAYS = ["scrape", "map", "crawl", "crawl_status", "llmstxt"];

  test("no engine: no search; no model: no extract; no decision model: no decide", async () => {
    const app = await start({ config: { search: { only: ["searxng"] }, providers: {} } });
    expect(await namesOf(app)).toEqual(ALWAYS);
  });

  const MODELS = {
    providers: { up: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "k", discover: false } },
    models: [{ id: "reads", context_length: 100_000, tier: "pro", routes: [{ provider: "up", model: "m" }] }],
    web: { model: "reads" },
    health: { probe: "off" },
    decisions: {
      models: [
        {
          id: "decide-1.0.0",
          tier: "pro",
          backend: { kind: "logprobs", routes: [{ provider: "up", model: "m" }] },
        },
      ],
    },
  };

  test("a model above the plan does not count, and the list follows the plan", async () => {
    expect(await namesOf(await start({ tier: "free", config: MODELS }))).not.toContain("extract");
    expect(await namesOf(await start({ tier: "free", config: MODELS }))).not.toContain("decide");
    expect(await namesOf(await start({ tier: "pro", config: MODELS }))).toEqual(
      expect.arrayContaining([...ALWAYS, "extract", "decide"]),
    );
  });

  test("a key that is limited to some models sees the tools for these", async () => {
    const app = await start({ config: MODELS });
    const keyFor = async (models: readonly string[]) => {
      const store = openStore({ dataDir: app.dataDir });
      try {
        return (await keyStore(store).createKey({ accountId: app.accountId, name: "limited", models })).key;
      } finally {
        store.close();
      }
    };
    const tools = async (models: readonly string[]) =>
      (await namesOf(app, await keyFor(models))).filter((name) => name === "extract" || name === "decide");
    expect(await tools(["reads"])).toEqual(["extract"]);
    expect(await tools(["decide-*"])).toEqual(["decide"]);
    expect(await tools(["other"])).toEqual([]);
  });

  test("decide names the models that the key may use", async () => {
    const app = await start({ config: MODELS });
    const { tools } = await withClient(app, (client) => client.listTools());
    const schema = tools.find(({ name }) => name === "decide")?.inputSchema as {
      properties: JsonRecord;
      required: string[];
    };
    expect([schema.properties["model"], schema.required]).toMatchObject([
      { examples: ["decide-1.0.0"] },
      ["state", "questions"],
    ]);
  });

  test("every client sees the same", async () => {
    const app = await start({ config: MODELS });
    const lists = await Promise.all(
      Object.values(CLIENTS).map((connect) => withClient(app, (client) => client.listTools(), connect)),
    );
    const names = lists.map(({ tools }) => tools.map(({ name }) => name).join());
    expect(new Set(names).size).toBe(1);
  });
});
