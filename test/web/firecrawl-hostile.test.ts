// Firecrawl's endpoints under attack: webhooks and steps that lead to private addresses, headers that would end a request, pages
// of other accounts, and patterns that take forever.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { jobStore } from "../../src/store/work/jobs.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { CHROMIUM } from "../support/browser.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { watchSocket } from "../support/watch-socket.ts";
import { webConfig } from "./support.ts";

type Json = Record<string, unknown>;

interface Told {
  readonly type: string;
  readonly success: boolean;
  readonly id: string;
  readonly data: readonly { readonly metadata: Json }[];
  readonly metadata: Json;
  readonly error?: string;
}

let site: FakeSite;
let other: FakeSite;
let hidden: FakeSite;
let pagesOnly: FakeSite;
let app: TestApp;
let stranger: string;
let strangerId: string;
const received: { body: string; headers: Headers; told: Told }[] = [];
const heard: (() => void)[] = [];

beforeAll(async () => {
  hidden = startFakeSite({ "/": page("Hidden") });
  pagesOnly = startFakeSite({
    "/echo": ({ headers }) =>
      html(page(headers.get("x-remote-user") ?? "nobody", [], headers.get("accept-language") ?? "")),
  });
  other = startFakeSite({ "/echo": (request) => html(page(request.headers.get("x-secret") ?? "no secret came")) });
  site = startFakeSite({
    // The engine gives up matching one such address after a while. Many of them take longer than a crawl waits, on any machine.
    "/": page("Home", ["/a", ...Array.from({ length: 40 }, (_, index) => `/${"a".repeat(40)}!${index}`)]),
    "/a": page("A"),
    "/gone": () => html(page("Gone"), { status: 404 }),
    "/away": () => new Response(null, { status: 302, headers: { location: `${other.url}/echo` } }),
    "/trap": `<title>Trap</title><h1>Trap</h1><p>A page with a link that leads where no one may go, and a text.</p><a id="go" href="${hidden.url}/">go</a>`,
    "/hook": async (request) => {
      const body = await request.text();
      received.push({ body, headers: request.headers, told: JSON.parse(body) as Told });
      for (const wake of heard.splice(0)) wake();
      return new Response("ok");
    },
    "/hook/away": () => new Response(null, { status: 307, headers: { location: `${hidden.url}/` } }),
  });
  app = await startTestApp({
    config: webConfig([site.host, other.host, pagesOnly.host], {
      ...{ render: "auto", cache: { max_age: "1h" }, allow_caller_data: [site.host, other.host] },
    }),
  });
  const store = openStore({ dataDir: app.dataDir });
  const made = await accountStore(store).createAccount({
    ...{ email: "stranger@example.com", username: "stranger", tier: "premium", emailVerified: true },
  });
  if ("refused" in made) throw new Error(made.refused);
  strangerId = made.id;
  stranger = (await keyStore(store).createKey({ accountId: made.id, name: "s" })).key;
  store.close();
});
afterAll(async () => {
  await app.stop();
  for (const one of [site, other, hidden, pagesOnly]) await one.stop();
});

const post = async (path: string, body: Json, key = app.key) => {
  const response = await app.post(path, body, { authorization: `Bearer ${key}` });
  return { status: response.status, json: (await response.json()) as Json & { id: string; data: Json } };
};
const get = async (path: string, key = app.key) => {
  const response = await app.call(path, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, json: (await response.json()) as Json };
};

async function ended(path: string): Promise<Json> {
  for (;;) {
    const { json } = await get(path);
    if (json["status"] !== "scraping") return json;
    await Bun.sleep(15);
  }
}

/** Waits until the webhook has received this event. */
async function told(id: string, type: string): Promise<Told> {
  for (;;) {
    const found = received.find((one) => one.told.id === id && one.told.type === type);
    if (found !== undefined) return found.told;
    await new Promise<void>((resolve) => heard.push(resolve));
  }
}

describe("webhooks", () => {
  test("report a job from its start to its end, signed", async () => {
    const webhook = { url: `${site.url}/hook`, headers: { "X-Mine": "yes" }, metadata: { order: 4711 } };
    const { json } = await post("/v2/crawl", { url: `${site.url}/`, limit: 2, webhook });
    expect(await told(json.id, "crawl.completed")).toMatchObject({
      success: true,
      data: [],
      metadata: { order: 4711 },
    });
    const mine = received.filter((one) => one.told.id === json.id);
    expect(mine.map(({ told: { type } }) => type)).toEqual([
      "crawl.started",
      "crawl.page",
      "crawl.page",
      "crawl.completed",
    ]);
    expect(mine[1]?.told.data[0]?.metadata["statusCode"]).toBe(200);
    const own = (JSON.parse(readFileSync(join(app.dataDir, "secrets.json"), "utf8")) as Record<string, string>)[
      "webhooks"
    ];
    const secret = `whsec_${createHmac("sha256", own ?? "")
      .update(`${app.accountId}\n0`)
      .digest("hex")}`;
    for (const { body, headers } of mine) {
      expect(headers.get("x-firecrawl-signature")).toBe(
        `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      );
      expect(headers.get("x-mine")).toBe("yes");
    }
  });

  test("report only the requested events, for batches too, and failures", async () => {
    const webhook = { url: `${site.url}/hook`, events: ["completed", "failed"] };
    const batch = await post("/v2/batch/scrape", { urls: [`${site.url}/a`], webhook });
    await told(batch.json.id, "batch_scrape.completed");
    const dead = await post("/v2/crawl", { url: "http://nowhere.invalid/", webhook });
    expect(await told(dead.json.id, "crawl.failed")).toMatchObject({ success: false, error: expect.any(String) });
    expect(received.filter(({ told: { id } }) => id === batch.json.id)).toHaveLength(1);
  });

  test.each(["http://10.0.0.1/", "http://169.254.169.254/", "http://[::1]/", "ftp://example.com/", "no address"])(
    "are not sent to %s",
    async (url) => {
      for (const path of ["/v2/crawl", "/v2/batch/scrape"]) {
        const { status, json } = await post(path, { url: `${site.url}/`, urls: [`${site.url}/`], webhook: url });
        expect([path, status, json["param"]]).toEqual([path, 400, "webhook.url"]);
      }
    },
  );

  test("are not sent to a host that is only allowed for pages", async () => {
    for (const path of ["/v2/crawl", "/v2/batch/scrape"]) {
      const { status, json } = await post(path, {
        ...{ url: `${site.url}/`, urls: [`${site.url}/`], webhook: `${pagesOnly.url}/hook` },
      });
      expect([path, status, json["param"], String(json["error"])]).toEqual([
        ...[path, 400, "webhook.url"],
        expect.stringContaining("web.allow_caller_data"),
      ]);
    }
    expect(pagesOnly.count("/hook")).toBe(0);
  });

  test("follow no redirect", async () => {
    const { json } = await post("/v2/batch/scrape", { urls: [`${site.url}/a`], webhook: `${site.url}/hook/away` });
    await ended(`/v2/batch/scrape/${json.id}`);
    await site.asked("/hook/away");
    await app.flushLogs();
    expect(hidden.hits).toEqual([]);
  });
});

describe("headers", () => {
  test.each([
    ["Host", "elsewhere"],
    ["Transfer-Encoding", "chunked"],
    ["Content-Length", "5"],
    ["Connection", "close"],
    ["Sec-Fetch-Site", "none"],
    ["X-A\r\nX-B", "1"],
    ["X-A", "1\r\nX-B: 2"],
    ["X-A", "1\nGET / HTTP/1.1"],
    ["X A", "1"],
    ["", "1"],
    ["X-A", 5],
  ])("%p: %p is refused", async (name, value) => {
    for (const [path, body] of [
      ["/v2/scrape", { url: `${site.url}/untouched`, headers: { [name]: value } }],
      ["/v2/crawl", { url: `${site.url}/untouched`, webhook: { url: `${site.url}/hook`, headers: { [name]: value } } }],
    ] as const)
      expect((await post(path, body)).status).toBe(400);
    expect(site.count("/untouched")).toBe(0);
  });

  test("are only sent to the origin for which they were given", async () => {
    const { json } = await post("/v2/scrape", { url: `${site.url}/away`, headers: { "X-Secret": "open sesame" } });
    expect(String(json.data["markdown"])).toContain("no secret came");
  });

  test("are not sent to a host that is only allowed for pages, with or without a browser", async () => {
    const headers = { "X-Remote-User": "admin", "Accept-Language": "fr" };
    for (const more of [{}, ...(CHROMIUM === undefined ? [] : [{ waitFor: 1 }])]) {
      const { json } = await post("/v2/scrape", { url: `${pagesOnly.url}/echo`, headers, ...more });
      expect(String(json.data["markdown"])).toContain("nobody");
      expect(String(json.data["warning"])).toContain("web.allow_caller_data");
    }
  }, 60_000);

  test("are not stored", async () => {
    const { json } = await post("/v2/batch/scrape", {
      urls: [`${other.url}/echo`],
      headers: { "X-Secret": "sesame-4711" },
    });
    const done = await ended(`/v2/batch/scrape/${json.id}`);
    expect(JSON.stringify(done["data"])).toContain("sesame-4711");
    const store = openStore({ dataDir: app.dataDir });
    const rows = store.sqlite.query("SELECT input FROM jobs WHERE id = ?").all(json.id);
    store.close();
    expect(JSON.stringify(rows)).not.toContain("sesame-4711");
  });
});

describe("the cache", () => {
  const count = () => site.count("/a");
  const state = async (body: Json, key?: string) => {
    const before = count();
    const { json } = await post("/v2/scrape", { url: `${site.url}/a`, ...body }, key);
    return [(json.data["metadata"] as Json)["cacheState"] ?? null, count() - before];
  };

  test("serves only the account that requested the page", async () => {
    expect(await state({ maxAge: 0 })).toEqual(["miss", 1]);
    expect(await state({})).toEqual(["hit", 0]);
    expect(await state({ maxAge: 0 })).toEqual(["miss", 1]);
    expect(await state({}, stranger)).toEqual(["miss", 1]);
    expect(await state({ formats: ["html"] })).toEqual(["miss", 1]);
  });

  test("does not store pages that were requested with headers or without caching, nor failed answers", async () => {
    expect(await state({ headers: { "X-A": "1" }, includeTags: ["h1"] })).toEqual([null, 1]);
    expect(await state({ includeTags: ["h1"], storeInCache: false })).toEqual(["miss", 1]);
    expect(await state({ includeTags: ["h1"] })).toEqual(["miss", 1]);
    for (let time = 0; time < 2; time++) await post("/v2/scrape", { url: `${site.url}/gone` });
    expect(site.count("/gone")).toBe(2);
  });
});

test("a job belongs to its account", async () => {
  for (const [start, path] of [
    ["/v2/crawl", "/v2/crawl"],
    ["/v2/batch/scrape", "/v2/batch/scrape"],
  ] as const) {
    const { json } = await post(start, { url: `${site.url}/`, urls: [`${site.url}/a`], limit: 1 });
    for (const address of [`${path}/${json.id}`, `${path}/${json.id}/errors`])
      expect([address, (await get(address, stranger)).status]).toEqual([address, 404]);
    const cancelled = await app.call(`${path}/${json.id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${stranger}` },
    });
    expect(cancelled.status).toBe(404);
    const appended = await post("/v2/batch/scrape", { urls: [`${site.url}/a`], appendToId: json.id }, stranger);
    expect(appended.status).toBe(404);
    await ended(`${path}/${json.id}`);
  }
});

test("patterns without end end their crawl, and nothing else", async () => {
  const { json } = await post("/v2/crawl", { url: `${site.url}/`, includePaths: ["^/(a+)+$"], sitemap: "skip" });
  const done = await ended(`/v2/crawl/${json.id}`);
  expect([done["status"], done["error"]]).toEqual(["failed", expect.stringContaining("too long to match")]);
  expect((await post("/v2/scrape", { url: `${site.url}/a`, maxAge: 0 })).status).toBe(200);
  expect((await post("/v2/crawl", { url: `${site.url}/`, includePaths: ["("] })).json["param"]).toBe("includePaths[0]");
}, 60_000);

test("too many jobs of an account are its own limit: 429 with a time to wait", async () => {
  const store = openStore({ dataDir: app.dataDir });
  const accountId = strangerId;
  const jobs = jobStore(store);
  const ids = Array.from({ length: 100 }, (_, index) => `crawl_waiting_${index}`);
  const deadlineAtMs = Number.MAX_SAFE_INTEGER;
  for (const id of ids)
    await jobs.createJob({ id, kind: "crawl", accountId, input: {}, deadlineAtMs, reservedFor: "another node" });
  const url = `${site.url}/a`;
  for (const path of ["/v1/crawl", "/v2/crawl", "/v2/batch/scrape", "/v1/llmstxt"]) {
    const response = await app.post(path, { url, urls: [url] }, { authorization: `Bearer ${stranger}` });
    expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 429, "10"]);
    expect(await response.text()).toContain("Too many of your jobs");
  }
  for (const id of ids) await jobs.cancelJob({ kind: "crawl", accountId, id, ttlMs: 0 });
  store.close();
});

test("values above the limits are refused", async () => {
  const urls = (length: number) => Array.from({ length }, (_, index) => `${site.url}/?${index}`);
  expect((await post("/v2/batch/scrape", { urls: urls(1001) })).json["param"]).toBe("urls");
  const webhook = { url: `${site.url}/hook`, metadata: { text: "x".repeat(10_001) } };
  expect((await post("/v2/crawl", { url: site.url, webhook })).json["param"]).toBe("webhook.metadata");
  const headers = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`x-${index}`, "1"]));
  expect((await post("/v2/scrape", { url: site.url, headers })).json["param"]).toBe("headers");
  expect((await post("/v2/crawl", { url: site.url, delay: 61 })).json["param"]).toBe("delay");
});

describe.skipIf(CHROMIUM === undefined)("in the browser", () => {
  test("steps lead to no private address", async () => {
    const actions = [{ type: "click", selector: "#go" }, { type: "wait", milliseconds: 500 }, { type: "scrape" }];
    const { status, json } = await post("/v2/scrape", { url: `${site.url}/trap`, actions });
    expect([status, JSON.stringify(json).includes("Hidden")]).toEqual([400, false]);
    expect(json["code"]).toBe("url_not_allowed");
    expect(hidden.hits).toEqual([]);
  }, 60_000);
});

describe("watching", () => {
  const watch = (path: string, protocol: string | undefined, begun?: () => void) =>
    watchSocket(`${app.url.replace(/^http/, "ws")}${path}`, protocol, begun);

  test("sends the existing documents, each new document and the end, with the key as the protocol", async () => {
    const { json } = await post("/v2/crawl", { url: `${site.url}/`, limit: 2, sitemap: "skip" });
    const { code, messages, spoken } = await watch(`/v2/crawl/${json.id}`, app.key);
    expect([code, spoken, messages[0]?.type, messages.at(-1)?.type]).toEqual([1000, app.key, "catchup", "done"]);
    const documents = messages.filter(({ type }) => type === "document");
    const first = messages[0]?.data?.["data"] as unknown[] | undefined;
    expect(documents.length + (first ?? []).length).toBe(2);
    expect(messages.at(-1)?.data).toMatchObject({ status: "completed", total: 2, completed: 2, data: [] });
  });

  test("the first version is told of the end by the reason of the closing", async () => {
    // Its type is in the error, and longer than a reason may be.
    const type = `application/x-${"long".repeat(40)}`;
    site.set("/binary", () => new Response("\0", { headers: { "content-type": type } }));
    const ends: [started: string, body: Json, at: string, told: Json][] = [
      ["/v2/crawl", { url: `${site.url}/a`, limit: 1, sitemap: "skip" }, "/v1/crawl", { type: "done" }],
      ["/v2/batch/scrape", { urls: [`${site.url}/a`] }, "/v1/crawl", { type: "done" }],
      ["/v2/batch/scrape", { urls: [`${site.url}/a`] }, "/v1/batch/scrape", { type: "done" }],
      [
        "/v2/crawl",
        { url: `${site.url}/binary`, limit: 1, sitemap: "skip" },
        "/v1/crawl",
        { type: "error", error: expect.stringMatching(/^\S.+/) as string },
      ],
    ];
    for (const [path, body, at, told] of ends) {
      const { json } = await post(path, body);
      const { code, messages, spoken, reason } = await watch(`${at}/${json.id}`, app.key);
      expect([code, spoken, messages[0]?.type, JSON.parse(reason)]).toEqual([1000, app.key, "catchup", told]);
      expect(messages.slice(1).filter(({ type }) => type !== "document")).toEqual([]);
    }
  });

  test("ends when its key is revoked", async () => {
    const store = openStore({ dataDir: app.dataDir });
    const keys = keyStore(store);
    const { key, id } = await keys.createKey({ accountId: app.accountId, name: "short" });
    site.set("/slow", () => new Promise<Response>(() => undefined));
    const { json } = await post("/v2/batch/scrape", { urls: [`${site.url}/slow`] });
    const begun = Promise.withResolvers<void>();
    const watching = watch(`/v2/batch/scrape/${json.id}`, key, begun.resolve);
    await Promise.all([site.asked("/slow"), begun.promise]);
    await keys.revokeKey(id);
    store.close();
    const { code, messages } = await watching;
    expect([code, messages.at(-1)?.type]).toEqual([1008, "error"]);
    await app.call(`/v2/batch/scrape/${json.id}`, { method: "DELETE" });
  });

  test("refuses other keys, invalid keys and other jobs", async () => {
    const { json } = await post("/v2/crawl", { url: `${site.url}/`, limit: 1, sitemap: "skip" });
    for (const [path, protocol] of [
      [`/v2/crawl/${json.id}`, stranger],
      [`/v1/crawl/${json.id}`, stranger],
      [`/v1/crawl/${json.id}`, undefined],
      ["/v1/crawl/crawl_unknown", app.key],
      [`/v2/crawl/${json.id}`, "sk-nonsense"],
      [`/v2/crawl/${json.id}`, undefined],
      [`/v2/batch/scrape/${json.id}`, app.key],
      ["/v2/crawl/crawl_unknown", app.key],
    ] as const) {
      const { messages, spoken } = await watch(path, protocol);
      expect([path, messages, spoken]).toEqual([path, [], undefined]);
    }
    await ended(`/v2/crawl/${json.id}`);
  });
});
