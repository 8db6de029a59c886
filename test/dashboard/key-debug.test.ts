// Debugging of a key: the messages of its requests, of the client and of the providers, are recorded for its holder and
// the operator, without credentials; those of other keys are not.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keyDebugStore } from "../../src/store/access/key-debug.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const UPSTREAM_KEY = "upstream-credential-of-no-known-form";
const MINUTE_MS = 60_000;

let app: AccountsApp;
let client: DashboardClient;
let key: string;
let keyId: string;
let accountId: string;

/** Refuses, streams or answers, depending on its model. Its text contains its own credential. */
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { model, stream } = (await request.json()) as { model: string; stream?: boolean };
    if (model === "bad") return Response.json({ error: { message: `no ${UPSTREAM_KEY}` } }, { status: 503 });
    const message = { role: "assistant", content: "the answer" };
    if (stream !== true)
      return Response.json({ id: "x", choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE });
    const chunk = (choice: object, more = {}) =>
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }], ...more })}\n\n`;
    const said = chunk({ delta: { content: "the stre" } }) + chunk({ delta: { content: "am" } });
    const end = `${chunk({ delta: {}, finish_reason: "stop" }, { usage: USAGE })}data: [DONE]\n\n`;
    return new Response(said + end, { headers: { "content-type": "text/event-stream" } });
  },
});
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

beforeAll(async () => {
  const provider = { kind: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, api_key: UPSTREAM_KEY };
  app = await startAccountsApp({
    config: {
      usage: { flush: "5ms" },
      providers: { up: { ...provider, discover: false, retry: { attempts: 1 }, breaker: { failures: 1000 } } },
      models: [
        { id: "well", routes: [{ provider: "up", model: "good" }] },
        {
          id: "second",
          routes: [
            { provider: "up", model: "bad", priority: 1 },
            { provider: "up", model: "good", priority: 2 },
          ],
        },
      ],
    },
  });
  accountId = (await app.addAccount("holder")).id;
  await app.addAccount("other");
  await app.addAccount("boss", { admin: true });
  client = await signedIn("holder");
  ({ key, id: keyId } = (await client.post("/keys", { name: "watched" })).json);
});
afterAll(async () => {
  await app.stop();
  await upstream.stop(true);
});

async function signedIn(name: string): Promise<DashboardClient> {
  const one = dashboardClient(app);
  await one.post("/login", { username_or_email: name, password: PASSWORD });
  return one;
}

/**
 * Sets the state over another database connection, as the command does. The program notices it within a quarter of a
 * second.
 */
async function setDebug(minutes: number | null): Promise<void> {
  const untilMs = minutes === null ? null : app.clock.now() + minutes * MINUTE_MS;
  expect(await keyDebugStore(app.store).setKeyDebug(keyId, untilMs)).toBe("set");
  app.clock.advance(1000);
}

const ask = (model: string, requestId: string, more: object = {}) =>
  app.ask("POST", "/v1/chat/completions", {
    as: key,
    body: { model, messages: [{ role: "user", content: `my password is sk-${"a".repeat(30)}` }], ...more },
    headers: { "x-request-id": requestId, "x-secret-token": "header-secret" },
  });

/** The recorded messages of a request, once its row is written. */
async function wireOf(requestId: string, who = client, scope = "") {
  for (;;) {
    const { data } = (await who.get(`${scope}/log?request=${encodeURIComponent(requestId)}`)).json;
    if (data.length > 0) return (await who.get(`${scope}/log/${data[0].id}/wire`)).json.data;
  }
}

/** The same for a request with a record, which may be written shortly after the row. */
async function keptOf(requestId: string, who = client, scope = "") {
  for (;;) {
    const kept = await wireOf(requestId, who, scope);
    if (kept.length > 0) return kept;
  }
}

test("off: nothing is kept, and nothing is said", async () => {
  await ask("well", "before");
  expect(await wireOf("before")).toEqual([]);
  expect((await app.ask("GET", "/v1/key", { as: key })).json.debug_until).toBeNull();
  expect((await client.get("/session")).json.profile.debugged_keys).toEqual([]);
});

describe("on", () => {
  beforeAll(() => setDebug(30));

  test("its holder is told", async () => {
    const { debug_until: until } = (await app.ask("GET", "/v1/key", { as: key })).json;
    expect(Date.parse(until)).toBeGreaterThan(app.clock.now());
    expect((await client.get("/session")).json.profile.debugged_keys).toEqual([{ id: keyId, name: "watched", until }]);
    expect((await client.get("/keys")).json.data[0].debug_until).toBe(until);
    const other = await signedIn("other");
    expect((await other.get("/session")).json.profile.debugged_keys).toEqual([]);
  });

  test("both sides are kept, every call to a provider, and no credential", async () => {
    await ask("second", "both");
    const [wire, ...more] = await keptOf("both");
    expect(more).toEqual([]);
    expect(wire.request).toMatchObject({ method: "POST", cut: false });
    expect(wire.request.url).toEndWith("/v1/chat/completions");
    expect(JSON.parse(wire.request.body)).toMatchObject({ model: "second" });
    expect(wire.response.status).toBe(200);
    expect(wire.response.body).toContain("the answer");
    expect(wire.upstream.map(({ response }: { response: { status: number } }) => response.status)).toEqual([503, 200]);
    expect(JSON.parse(wire.upstream[1].request.body)).toMatchObject({ model: "good" });
    expect(wire.upstream[1].response.body).toContain("the answer");
    const text = JSON.stringify(wire);
    for (const secret of [key, UPSTREAM_KEY, "a".repeat(30), "header-secret"]) expect(text).not.toContain(secret);
    expect(wire.request.headers).toContainEqual(["authorization", "[redacted]"]);
    expect(wire.upstream[0].request.headers).toContainEqual(["authorization", "[redacted]"]);
  });

  test("of a body of megabytes the beginning is kept on both sides", async () => {
    const content = `${"long € ".repeat(200_000)}the end`;
    await ask("well", "long", { messages: [{ role: "user", content }] });
    const [wire] = await keptOf("long");
    for (const { cut, body } of [wire.request, wire.upstream[0].request]) {
      expect([cut, body.length]).toEqual([true, 512 * 1024]);
      expect(body).toContain("long € ".repeat(1000));
    }
    expect(wire.upstream[0].request.body).toContain('"model":"good"');
  });

  test("the calls for each of several prompts are kept with their request", async () => {
    const body = { model: "well", prompt: ["one", "two"] };
    await app.ask("POST", "/v1/completions", { as: key, body, headers: { "x-request-id": "prompts" } });
    const [wire] = await keptOf("prompts");
    const sent = wire.upstream.map(({ request }: { request: { body: string } }) => JSON.parse(request.body).messages);
    expect(sent.map(([{ content }]: [{ content: string }]) => content).sort()).toEqual(["one", "two"]);
  });

  test("streams reach the client as they would, and are kept whole", async () => {
    const { text } = await ask("well", "stream", { stream: true });
    expect(text).toContain("the stre");
    expect(text).toEndWith("data: [DONE]\n\n");
    const [wire] = await keptOf("stream");
    expect(wire.response.body).toBe(text);
    expect(wire.upstream[0].response.body).toContain("data: [DONE]");
  });

  test("what is refused is kept too, a body that is no JSON too", async () => {
    await ask("nowhere", "refused");
    expect((await keptOf("refused"))[0]).toMatchObject({ upstream: [], response: { status: 404 } });
    await app.ask("POST", "/v1/chat/completions", { as: key, body: "{oops", headers: { "x-request-id": "broken" } });
    const [wire] = await keptOf("broken");
    expect([wire.request.body, wire.response.status]).toEqual(["{oops", 400]);
  });

  test("the holder and operators see it, nobody else", async () => {
    const { id } = (await client.get("/log?request=both")).json.data[0];
    const other = await signedIn("other");
    expect((await other.get(`/log/${id}/wire`)).json.data).toEqual([]);
    expect((await other.get(`/admin/log/${id}/wire`)).status).toBe(404);
    const boss = await signedIn("boss");
    expect((await boss.get(`/log/${id}/wire`)).json.data).toEqual([]);
    expect(await keptOf("both", boss, "/admin")).toHaveLength(1);
    expect((await client.get("/log/0/wire")).json.data).toEqual([]);
  });

  test("another key's requests are not kept", async () => {
    const { key: second } = (await client.post("/keys", { name: "unwatched" })).json;
    const body = { model: "well", messages: [{ role: "user", content: "hi" }] };
    await app.ask("POST", "/v1/chat/completions", { as: second, body, headers: { "x-request-id": "unwatched" } });
    expect(await wireOf("unwatched")).toEqual([]);
  });
});

test("debug records are deleted when debugging expires or is switched off", async () => {
  await setDebug(30);
  await ask("well", "late");
  expect(await keptOf("late")).toHaveLength(1);
  app.clock.advance(30 * MINUTE_MS);
  expect(await wireOf("late")).toEqual([]);
  await ask("well", "after");
  expect(await wireOf("after")).toEqual([]);
  await setDebug(30);
  await ask("well", "again");
  expect(await keptOf("again")).toHaveLength(1);
  await setDebug(null);
  await ask("well", "ended");
  expect([await wireOf("again"), await wireOf("ended")]).toEqual([[], []]);
});

describe("ended from the dashboard", () => {
  test.each([
    ["by its holder", "holder", () => `/keys/${keyId}/debug`],
    ["by an operator", "boss", () => `/admin/accounts/${accountId}/keys/${keyId}/debug`],
  ])("%s: what was kept is deleted at once, and the audit log says so", async (who, name, path) => {
    await setDebug(30);
    await ask("well", who);
    expect(await keptOf(who)).toHaveLength(1);
    const ending = await signedIn(name);
    expect((await ending.delete(path())).json).toEqual({ success: true });
    expect(await wireOf(who)).toEqual([]);
    expect((await client.get("/session")).json.profile.debugged_keys).toEqual([]);
    expect((await app.ask("GET", "/v1/key", { as: key })).json.debug_until).toBeNull();
    const [event] = (await ending.get("/events")).json.data;
    expect(event.event).toBe("key_debug_ended");
  });

  test("nobody else can, and not for a key that does not exist", async () => {
    await setDebug(30);
    const other = await signedIn("other");
    const boss = await signedIn("boss");
    const refused = async (one: DashboardClient, path: string) => (await one.delete(path)).status;
    expect(await refused(other, `/keys/${keyId}/debug`)).toBe(404);
    expect(await refused(other, `/admin/accounts/${accountId}/keys/${keyId}/debug`)).toBe(404);
    expect(await refused(boss, `/keys/${keyId}/debug`)).toBe(404);
    expect(await refused(boss, `/admin/accounts/${accountId}/keys/none/debug`)).toBe(404);
    expect((await client.get("/session")).json.profile.debugged_keys).toHaveLength(1);
    await setDebug(null);
  });
});
