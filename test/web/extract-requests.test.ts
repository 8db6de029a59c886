// The parameters of an extraction and its responses, row by row.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, startFakeSite } from "../support/fake-site.ts";
import { honest, linesPage, modelConfig, type Script, type ScriptedModel, startModel } from "./extract-script.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let model: ScriptedModel;
let app: TestApp;
let held = Promise.withResolvers<void>();

const facts = ["Name: Desk lamp", "Price: 19.50 EUR"];

beforeAll(async () => {
  site = startFakeSite({
    "/lamp": linesPage("Lamp", facts),
    "/shop": linesPage(
      "Shop",
      ["Name: Desk lamp"],
      `<ul><li><a href="/about">About us</a></li><li><a href="/prices">All prices</a></li><li><a href="/team">Team</a></li>
       <li><a href="/photo.png">price</a></li></ul>`,
    ),
    "/prices": linesPage("Prices", ["Price: 19.50 EUR"]),
    "/about": linesPage("About", ["Price: 1 EUR"]),
    "/dead": () => html("gone", { status: 503, headers: { "retry-after": "0" } }),
    "/file": () => new Response("Name: File\n\nPrice: 3 EUR", { headers: { "content-type": "text/plain" } }),
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /hidden"),
    "/hidden": linesPage("Hidden", facts),
    "/nav": `<html lang="en"><head><title>N</title></head><body><nav><p>Price: 7 EUR</p></nav><main><h1>N</h1><p>Name: Desk lamp</p>
      <p>This is the main text of the page, and it is long enough to be taken for that by everybody who reads it.</p></main></body></html>`,
  });
  model = startModel();
  app = await startTestApp({ config: config() });
});
afterAll(async () => {
  held.resolve();
  await app.stop();
  await site.stop();
  await model.upstream.stop();
});
beforeEach(() => {
  model.script(honest);
  model.asked.length = 0;
});

const config = (web: object = {}, more: object = {}) => ({
  ...webConfig([site.host], { ...web }),
  ...modelConfig(model),
  ...more,
});

const SCHEMA = { type: "object", properties: { name: { type: "string" }, price: { type: "number" } } };
const at = (path: string) => site.url + path;
const good = (more: object = {}) => ({ urls: [at("/lamp")], prompt: "The product.", schema: SCHEMA, ...more });

interface Answer {
  success: boolean;
  status: string;
  job_id: string;
  id: string;
  data: Record<string, unknown> | null;
  unsupported: string[];
  warnings: string[];
  error: { code: string; message: string; param: string | null };
}

async function ask(body: object, key = app.key): Promise<{ http: number; json: Answer }> {
  const response = await app.post("/v1/extract", body, { authorization: `Bearer ${key}` });
  return { http: response.status, json: (await response.json()) as Answer };
}
async function poll(id: string, key = app.key): Promise<{ http: number; json: Answer }> {
  const response = await app.call(`/v1/extract/${id}`, { headers: { authorization: `Bearer ${key}` } });
  return { http: response.status, json: (await response.json()) as Answer };
}
async function ended(id: string): Promise<Answer> {
  for (;;) {
    const { json } = await poll(id);
    if (json.status !== "processing") return json;
    await Bun.sleep(15);
  }
}

/** Makes the model wait for `held` before it answers. */
function hold(script: Script = honest): void {
  held = Promise.withResolvers();
  model.script(async (asked) => {
    await held.promise;
    return script(asked);
  });
}

const deep = (levels: number): object => (levels === 0 ? {} : { items: deep(levels - 1) });

describe("a wrong parameter is named, and nothing is fetched", () => {
  test.each<[string, unknown, string]>([
    ["urls missing", { urls: undefined }, "urls"],
    ["urls no list", { urls: "https://example.com" }, "urls"],
    ["urls empty", { urls: [] }, "urls"],
    ["21 urls", { urls: Array.from({ length: 21 }, (_, n) => `https://example.com/${n}`) }, "urls"],
    ["an url that is none", { urls: ["https://example.com", "nonsense"] }, "urls[1]"],
    ["an url of another kind", { urls: ["ftp://example.com"] }, "urls[0]"],
    ["an url with a wildcard", { urls: ["https://example.com/", "https://example.com/docs/*"] }, "urls[1]"],
    ["an url that is a number", { urls: [7] }, "urls[0]"],
    ["prompt missing", { prompt: undefined }, "prompt"],
    ["prompt empty", { prompt: " " }, "prompt"],
    ["prompt no text", { prompt: 7 }, "prompt"],
    ["system_prompt no text", { system_prompt: [] }, "system_prompt"],
    ["allow_external_links no truth", { allow_external_links: "yes" }, "allow_external_links"],
    ["allowExternalLinks no truth", { allowExternalLinks: 1 }, "allowExternalLinks"],
    ["documents no truth", { documents: "yes" }, "documents"],
    ["timeout_seconds too short", { timeout_seconds: 9 }, "timeout_seconds"],
    ["timeout_seconds too long", { timeout_seconds: 121 }, "timeout_seconds"],
    ["timeout_seconds no integer", { timeout_seconds: 10.5 }, "timeout_seconds"],
    ["schema no object", { schema: "string" }, "schema"],
    ["schema of an unknown type", { schema: { properties: { a: { type: "text" } } } }, "schema.properties.a.type"],
    ["schema with a remote $ref", { schema: { items: { $ref: "https://x.org/y" } } }, "schema.items.$ref"],
    ["schema too deep", { schema: deep(40) }, `schema${".items".repeat(32)}`],
    ["schema too large", { schema: { description: "x".repeat(70_000) } }, "schema"],
  ])("%s", async (_, wrong, param) => {
    const hits = site.hits.length;
    const { http, json } = await ask(good(wrong as object));
    expect([http, json.error.code, json.error.param]).toEqual([400, "invalid_request", param]);
    expect(site.hits.slice(hits)).toEqual([]);
    expect(model.asked).toEqual([]);
  });

  test.each<[string, () => object]>([
    ["20 urls of one page", () => ({ urls: Array.from({ length: 20 }, (_, n) => at(`/lamp?utm_source=${n}`)) })],
    ["the least timeout_seconds", () => ({ timeout_seconds: 10 })],
    ["the largest timeout_seconds", () => ({ timeout_seconds: 120 })],
    [
      "camelCase and others' fields",
      () => ({ allowExternalLinks: false, systemPrompt: "x", origin: "test", agent: {} }),
    ],
  ])("%s: right", async (_, more) => {
    expect(await ask(good(more()))).toMatchObject({ http: 200, json: { data: { name: "Desk lamp", price: 19.5 } } });
    expect(model.asked).toHaveLength(1);
  });
});

describe("pages", () => {
  test("are read completely unless main content is requested", async () => {
    expect((await ask(good({ urls: [at("/nav")] }))).json.data).toEqual({ name: "Desk lamp", price: 7 });
    const { json } = await ask(good({ urls: [at("/nav")], only_main_content: true }));
    expect([json.data, json.unsupported]).toEqual([{ name: "Desk lamp", price: null }, ["price"]]);
  });

  test("that cannot be read cause warnings if others can be", async () => {
    const { http, json } = await ask(
      good({ urls: [at("/dead"), at("/hidden"), at("/nowhere"), at("/lamp"), "http://10.0.0.1/"] }),
    );
    expect([http, json.data]).toEqual([200, { name: "Desk lamp", price: 19.5 }]);
    expect(json.warnings.map((warning) => warning.split(": ")[0]).sort()).toEqual(
      ["http://10.0.0.1/", at("/dead"), at("/hidden"), at("/nowhere")].sort(),
    );
  });

  test.each<[string, () => object, number, string, string | null]>([
    ["dead", () => ({ urls: [at("/dead")] }), 502, "extract_upstream_error", null],
    ["forbidden", () => ({ urls: [at("/hidden")] }), 422, "scrape_failed", null],
    ["no HTML", () => ({ urls: [at("/file")] }), 422, "scrape_failed", null],
    ["private", () => ({ urls: ["http://10.0.0.1/"] }), 400, "url_not_allowed", "urls[0]"],
  ])("%s: the failure of the only one", async (_, more, status, code, param) => {
    const { http, json } = await ask(good(more()));
    expect([http, json.error.code, json.error.param]).toEqual([status, code, param]);
  });

  test("that do not exist are not shown to the model, and are named if there are no others", async () => {
    const urls = [at("/nowhere"), at("/nowhere/else")];
    const { http, json } = await ask(good({ urls }));
    expect([http, json.error.code, model.asked.length]).toEqual([502, "extract_upstream_error", 0]);
    for (const url of urls) expect(json.error.message).toContain(`${url}: The server answered 404.`);
  });

  test("that are documents are read on request", async () => {
    expect((await ask(good({ urls: [at("/file")], documents: true }))).json.data).toEqual({ name: "File", price: 3 });
  });

  test("links with words of the prompt are followed if that is allowed", async () => {
    const body = good({ urls: [at("/shop")], prompt: "The name and the price of the lamp." });
    expect((await ask(body)).json.data).toEqual({ name: "Desk lamp", price: null });
    model.asked.length = 0;
    const { json } = await ask({ ...body, allow_external_links: true });
    expect(json.data).toEqual({ name: "Desk lamp", price: 19.5 });
    expect(model.paths()).toEqual(["/prices", "/shop"]);
    expect(json).toMatchObject({ total: 2, completed: 2 });
  });
});

describe("the caller", () => {
  const other = async (account: object, key: object = {}) => {
    const store = openStore({ dataDir: app.dataDir });
    const name = `u${Math.random().toString(36).slice(2)}`;
    const made = await accountStore(store).createAccount({
      username: name,
      email: `${name}@example.com`,
      tier: "premium",
      emailVerified: true,
      ...account,
    });
    if ("refused" in made) throw new Error(made.refused);
    const { key: secret } = await keyStore(store).createKey({ accountId: made.id, name: "k", ...key });
    store.close();
    return secret;
  };

  test("other accounts can neither see nor end a job", async () => {
    const { json } = await ask(good());
    const stranger = await other({});
    for (const id of [json.job_id, "extract_unknown", "crawl_1"]) {
      const { http, json: refused } = await poll(id, id === json.job_id ? stranger : app.key);
      expect([http, refused.error.code]).toEqual([404, "extract_job_not_found"]);
    }
    const ending = await app.call(`/v1/extract/${json.job_id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${stranger}` },
    });
    expect(ending.status).toBe(404);
    expect((await poll(json.job_id)).json.status).toBe("completed");
  });

  test("a key whose budget is used up gets the error while it waits", async () => {
    const poor = await other({}, { budgetMicros: 1 });
    // A remaining budget of any size admits one question. After that nothing is left.
    expect((await ask(good(), poor)).http).toBe(200);
    await app.flushLogs();
    const { http, json } = await ask(good(), poor);
    expect([http, json.error.code]).toEqual([402, "budget_exceeded"]);
  });

  test("a configured model above the plan is refused, and a missing model is not blamed on the caller", async () => {
    const free = await other({ tier: "free" });
    const { models } = modelConfig(model) as { models: object[] };
    await app.reconfigure(config({ model: "reader" }, { models: [{ ...models[0], tier: "pro" }] }));
    const { http, json } = await ask(good(), free);
    expect([http, json.error.code]).toEqual([403, "tier_required"]);
    expect((await ask(good())).http).toBe(200);
    for (const web of [{}, { model: "unknown" }]) {
      await app.reconfigure(config(web, { models: [{ ...models[0], tier: "pro" }] }));
      const refused = await ask(good(), free);
      expect([refused.http, refused.json.error.code]).toEqual([502, "extract_unavailable"]);
    }
    await app.reconfigure(config());
  });

  test("the cheapest suitable model is used, and its cost is charged to the key", async () => {
    const { models, providers } = modelConfig(model) as { models: object[]; providers: object };
    const route = (name: string) => ({ routes: [{ provider: "up", model: name }] });
    await app.reconfigure(
      config(
        {},
        {
          providers: { ...providers, demo: { kind: "demo" } },
          models: [
            ...models,
            { id: "small", ...route("small"), prices: { input: 0.1, output: 0.1 }, context_length: 16_000 },
            { id: "hidden", ...route("hidden"), prices: { input: 0.1, output: 0.1 }, visibility: "hidden" },
            { id: "unpriced", ...route("unpriced") },
            { id: "cheap", ...route("cheap"), prices: { input: 0.5, output: 0.5 } },
            { id: "show", routes: [{ provider: "demo", model: "demo-echo" }], prices: { input: 0, output: 0 } },
          ],
        },
      ),
    );
    expect((await ask(good())).http).toBe(200);
    expect(model.asked.map(({ json }) => json["model"])).toEqual(["cheap"]);
    let rows: { model: string; endpoint: string; status: number; requests: number }[] = [];
    while (rows.length === 0) {
      await Bun.sleep(10);
      rows = read(
        "SELECT model, endpoint, status, COUNT(*) AS requests FROM usage WHERE model = 'cheap' GROUP BY 1, 2, 3",
      );
    }
    expect(rows).toEqual([{ model: "cheap", endpoint: "/v1/extract", status: 200, requests: 1 }]);
    await app.reconfigure(config());
  });

  test("with web.model: none no model is called, and the missing fields are named", async () => {
    await app.reconfigure(config({ model: "none" }));
    for (const body of [good(), good({ schema: undefined })]) {
      const { http, json } = await ask(body);
      expect([http, json.error.code]).toEqual([502, "extract_unavailable"]);
      if ("schema" in body && body.schema !== undefined) expect(json.error.message).toContain("name, price");
    }
    expect(model.asked).toEqual([]);
    await app.reconfigure(config());
  });
});

function read<T>(sql: string): T[] {
  const db = new Database(join(app.dataDir, DATABASE_FILE), { readonly: true });
  const rows = db.query<T, []>(sql).all();
  db.close();
  return rows;
}

/** The ids of the jobs in progress. */
function openJobs(): string[] {
  return read<{ id: string }>("SELECT id FROM jobs WHERE state IN ('queued', 'running')").map(({ id }) => id);
}

describe("an extraction that takes longer than its caller waits", () => {
  test("is a job that can be polled, whether it succeeds or fails", async () => {
    hold((asked) => (asked.url.endsWith("/lamp") ? honest(asked) : "nothing"));
    const begun = await Promise.all([
      ask(good({ timeout_seconds: 10 })),
      ask(good({ urls: [at("/nav")], timeout_seconds: 10 })),
    ]);
    for (const { http, json } of begun) {
      expect([http, json]).toMatchObject([200, { success: true, status: "processing", data: null, id: json.job_id }]);
      expect((await poll(json.job_id)).json).toMatchObject({ success: true, status: "processing", data: null });
    }
    held.resolve();
    const [well, badly] = await Promise.all(begun.map(({ json }) => ended(json.job_id)));
    expect(well).toMatchObject({ success: true, status: "completed", data: { price: 19.5 } });
    const error = expect.stringContaining("JSON");
    expect(badly).toMatchObject({
      success: false,
      status: "failed",
      data: null,
      error,
      error_code: "extract_upstream_error",
    });
  }, 60_000);

  test("can be cancelled, which is final", async () => {
    hold();
    const begun = ask(good());
    const received = await model.upstream.next();
    const [id] = openJobs();
    const end = async () => (await app.call(`/v1/extract/${id}`, { method: "DELETE" })).json();
    expect(await end()).toEqual({ success: true, job_id: id, id, status: "cancelled" });
    await received.aborted;
    held.resolve();
    expect((await begun).json).toMatchObject({ job_id: id, status: "cancelled", data: null });
    expect(await end()).toMatchObject({ status: "cancelled" });
  }, 60_000);

  test("ends when its caller disconnects before an answer, because nobody knows its id", async () => {
    hold();
    const leaving = new AbortController();
    const body = JSON.stringify(good());
    const begun = app.call("/v1/extract", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
      signal: leaving.signal,
    });
    const received = await model.upstream.next();
    leaving.abort();
    await expect(begun).rejects.toThrow();
    // The request to the model's provider is aborted too.
    await received.aborted;
    while (openJobs().length > 0) await Bun.sleep(10);
    held.resolve();
  }, 60_000);

  test("runs out of time in the end", async () => {
    await app.reconfigure(config({ job_timeout: "1s" }));
    hold();
    const { http, json } = await ask(good());
    expect([http, json.error.code, json.job_id]).toEqual([504, "extract_timeout", expect.stringMatching(/^extract_/)]);
    held.resolve();
    await app.reconfigure(config());
  }, 60_000);
});
