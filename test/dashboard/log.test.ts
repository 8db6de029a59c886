// The request log in the dashboard's API: real requests, filters, paging, the live view and the files.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LOG_OUTCOMES } from "../../src/dashboard/contract-log.ts";
import { OUTCOMES } from "../../src/store/usage/log.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let client: DashboardClient;
let admin: DashboardClient;
let key: string;
let keyId: string;
const failing = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("{}", { status: 503 }) });

beforeAll(async () => {
  const bad = { kind: "openai", base_url: `http://127.0.0.1:${failing.port}/v1`, api_key: "k", discover: false };
  app = await startAccountsApp({
    config: {
      usage: { flush: "5ms" },
      providers: { bad: { ...bad, retry: { attempts: 1 }, breaker: { failures: 1000 } }, demo: { kind: "demo" } },
      models: [
        { id: "down", routes: [{ provider: "bad", model: "b" }] },
        {
          id: "second",
          routes: [
            { provider: "bad", model: "b", priority: 1 },
            { provider: "demo", model: "demo-echo", priority: 2 },
          ],
        },
      ],
    },
  });
  await app.addAccount("asker");
  await app.addAccount("other");
  await app.addAccount("boss", { admin: true });
  client = await signedIn("asker");
  admin = await signedIn("boss");
  ({ key, id: keyId } = (await client.post("/keys", { name: "laptop" })).json);
});
afterAll(async () => {
  await app.stop();
  await failing.stop(true);
});

async function signedIn(name: string): Promise<DashboardClient> {
  const one = dashboardClient(app);
  await one.post("/login", { username_or_email: name, password: PASSWORD });
  return one;
}

const ask = (model: string, requestId: string, more: object = {}) =>
  app.ask("POST", "/v1/chat/completions", {
    as: key,
    body: { model, messages: [{ role: "user", content: "a secret word" }], ...more },
    headers: { "x-request-id": requestId },
  });

/** The row of a request, once it is written. */
async function rowOf(requestId: string) {
  const live = await openLive(client, `request=${requestId}&after=0`);
  const row = await live.next();
  live.close();
  return row;
}

/** A live view: its rows as they arrive. */
async function openLive(who: DashboardClient, query: string, headers: Record<string, string> = {}, path = "/log/live") {
  const stopping = new AbortController();
  const response = await fetch(`${app.app.url}/dashboard/api${path}?${query}`, {
    headers: { cookie: who.cookie, "x-forwarded-for": freshAddress(), ...headers },
    signal: stopping.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    response,
    async next() {
      for (;;) {
        const end = rest.indexOf("\n\n");
        if (end >= 0) {
          const frame = rest.slice(0, end);
          rest = rest.slice(end + 2);
          const data = /^data: (.*)$/m.exec(frame)?.[1];
          if (data !== undefined) return JSON.parse(data);
          continue;
        }
        const { value, done } = await reader.read();
        if (done) return undefined;
        rest += value;
      }
    },
    close: () => stopping.abort(),
  };
}

test("both sides name the same outcomes", () => {
  expect([...LOG_OUTCOMES]).toEqual([...OUTCOMES]);
});

test("a request leaves a row with its tries, and nothing of what it said", async () => {
  await ask("second", "r-second");
  const row = await rowOf("r-second");
  expect(row).toMatchObject({
    request_id: "r-second",
    model: "second",
    endpoint: "/v1/chat/completions",
    key: "laptop",
    key_id: keyId,
    account: "",
    status: 200,
    error: null,
    provider: "demo",
    upstream_model: "demo-echo",
    // The price of the model is not known.
    cost_usd: null,
    tries: [
      { provider: "bad", model: "b", kind: "unavailable", status: 503 },
      { provider: "demo", model: "demo-echo", kind: "ok" },
    ],
  });
  expect(row.tries[1].at).toBeGreaterThanOrEqual(row.tries[0].at);
  expect(row.ttft_ms).not.toBeNull();
  expect(JSON.stringify(row)).not.toContain("secret word");
});

describe("filters", () => {
  beforeAll(async () => {
    await ask("demo-echo", "r-well");
    await ask("down", "r-down");
    await ask("nowhere", "r-nowhere");
    await rowOf("r-nowhere");
  });
  const listed = async (query: string) =>
    (await client.get(`/log?${query}`)).json.data.map(({ request_id }: { request_id: string }) => request_id);

  test.each([
    ["", ["r-nowhere", "r-down", "r-well", "r-second"]],
    ["span=1h", ["r-nowhere", "r-down", "r-well", "r-second"]],
    ["status=ok", ["r-well", "r-second"]],
    ["status=failed", ["r-nowhere", "r-down"]],
    ["status=4xx", ["r-nowhere"]],
    ["status=5xx", ["r-down"]],
    ["status=stopped", []],
    ["model=down", ["r-down"]],
    ["model=-", ["r-nowhere"]],
    ["error=model_not_found", ["r-nowhere"]],
    ["request=r-well", ["r-well"]],
    ["request=%20r-well%20&span=1h", ["r-well"]],
    ["key=none", []],
  ])("%s", async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  test("of the key that was used", async () => {
    expect(await listed(`key=${keyId}`)).toHaveLength(4);
  });

  test("offer what there is", async () => {
    const { models, keys } = (await client.get("/log/choices")).json;
    expect(models).toEqual(["demo-echo", "down", "second"]);
    expect(keys).toEqual([{ id: keyId, name: "laptop" }]);
    expect((await admin.get("/admin/log/choices")).json.models).toEqual(["demo-echo", "down", "second"]);
  });

  test.each([
    ["status=3xx", "status"],
    ["span=2h", "span"],
    ["before=0", "before"],
    [`request=${"x".repeat(201)}`, "request"],
    [`model=${"x".repeat(201)}`, "model"],
    [`error=${"x".repeat(201)}`, "error"],
    [`key=${"x".repeat(201)}`, "key"],
  ])("refused: %s", async (query, param) => {
    const { status, json } = await client.get(`/log?${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
  });

  test("ids as long as are kept", async () => {
    expect((await client.get(`/log?request=${"x".repeat(200)}`)).status).toBe(200);
  });
});

test("members see their own requests only, operators see all with the names of accounts", async () => {
  const other = await signedIn("other");
  expect((await other.get("/log")).json.data).toEqual([]);
  expect((await other.get("/log?request=r-well")).json.data).toEqual([]);
  expect((await other.get("/log/export?format=json")).text).not.toContain("r-well");
  for (const path of ["/admin/log", "/admin/log/choices", "/admin/log/live", "/admin/log/export"])
    expect((await other.get(path)).status).toBe(404);
  const [row] = (await admin.get("/admin/log?request=r-well")).json.data;
  expect([row.account, row.key]).toEqual(["asker", "laptop"]);
  expect((await admin.get("/log")).json.data).toEqual([]);
});

test("pages hold each request once", async () => {
  const { json: first } = await client.get("/log?limit=2");
  expect(first.next).toBeNull();
  expect(first.last).toBeGreaterThanOrEqual(first.data[0].id);
  const { json: rest } = await client.get(`/log?before=${first.data[1].id}`);
  expect(rest.data.map(({ id }: { id: number }) => id)).toEqual(
    first.data.slice(2).map(({ id }: { id: number }) => id),
  );
});

describe("the live view", () => {
  test("tells what comes, goes on after a row that was seen, and is bounded", async () => {
    const { last } = (await client.get("/log")).json;
    const live = await openLive(client, `after=${last}&model=demo-echo`);
    expect(live.response.headers.get("content-type")).toContain("text/event-stream");
    expect(live.response.headers.get("x-accel-buffering")).toBe("no");
    await ask("down", "r-unseen");
    await ask("demo-echo", "r-live-1");
    expect(await live.next()).toMatchObject({ request_id: "r-live-1" });
    await ask("demo-echo", "r-live-2");
    const seen = await live.next();
    expect(seen).toMatchObject({ request_id: "r-live-2" });
    live.close();
    await ask("demo-echo", "r-live-3");
    const again = await openLive(client, `after=${last}&model=demo-echo`, { "last-event-id": String(seen.id) });
    expect(await again.next()).toMatchObject({ request_id: "r-live-3" });
    again.close();
    const everybody = await openLive(admin, `after=${seen.id}`, {}, "/admin/log/live");
    expect(await everybody.next()).toMatchObject({ request_id: "r-live-3", account: "asker" });
    everybody.close();
    expect((await client.get("/log/live?after=x")).json.error.param).toBe("after");
  });

  test("one account may open six, not seven", async () => {
    const other = await signedIn("other");
    const open = await Promise.all(Array.from({ length: 6 }, () => openLive(other, "")));
    expect(open.map(({ response }) => response.status)).toEqual([200, 200, 200, 200, 200, 200]);
    const refused = await other.get("/log/live");
    expect([refused.status, refused.json.error.code]).toEqual([503, "server_busy"]);
    expect(refused.headers.get("retry-after")).toBe("30");
    for (const { close } of open) close();
  });
});

describe("files", () => {
  test("JSON holds the rows of the filter", async () => {
    const { headers, json } = await client.get("/log/export?format=json&model=down");
    expect(headers.get("content-disposition")).toContain("sallyport-requests.json");
    expect(json.map(({ request_id }: { request_id: string }) => request_id)).toEqual(["r-unseen", "r-down"]);
  });

  test("in CSV no text becomes a formula", async () => {
    await ask("down", '=1+1,"x"');
    await rowOf(encodeURIComponent('=1+1,"x"'));
    const { text } = await client.get(`/log/export?request=${encodeURIComponent('=1+1,"x"')}`);
    const [head, line] = text.split("\r\n");
    expect(head).toStartWith("created_at,request_id,account,key,endpoint,model,provider");
    expect(line).toContain(`,"'=1+1,""x""",`);
    expect(line).toContain(",502,provider_unavailable,");
  });

  test("another format is refused", async () => {
    expect((await client.get("/log/export?format=xml")).json.error.param).toBe("format");
  });
});

test("open live views do not hold up the end of the program", async () => {
  const live = await openLive(client, "");
  await app.app.restart();
  expect(await live.next()).toBeUndefined();
});
