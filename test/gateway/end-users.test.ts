// Providers are told which user a request is from, each by its own member: as a keyed hash that stays the same for an account,
// and only where the client names nobody.

import { afterAll, describe, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => {
  if (received.path.endsWith("/decisions"))
    return Response.json({ answers: [{ type: "predicate", name: "q", probability: 1 }] });
  if (received.path.endsWith("/images/generations")) return Response.json({ created: 1, data: [{ b64_json: "" }] });
  return say(received, { text: "ok" });
});

/** The providers, and the member in which each names end users. */
const PROVIDERS: Readonly<Record<string, { config: Json; member?: string }>> = {
  openai: { config: { preset: "openai" }, member: "safety_identifier" },
  "openai-responses": { config: { preset: "openai", kind: "openai-responses" }, member: "safety_identifier" },
  azure: { config: { preset: "azure" }, member: "safety_identifier" },
  "azure-responses": { config: { preset: "azure", kind: "openai-responses" }, member: "safety_identifier" },
  "openai-off": { config: { preset: "openai", end_users: "off" } },
  "openai-key": { config: { preset: "openai", end_users: "key" }, member: "safety_identifier" },
  compatible: { config: { kind: "openai" } },
  "compatible-on": { config: { kind: "openai", end_users: "account" }, member: "user" },
  "compatible-refuses": { config: { kind: "openai", end_users: "account", quirks: { refuses: ["user"] } } },
  "responses-on": { config: { kind: "openai-responses", end_users: "account" }, member: "user" },
  "responses-refuses": { config: { kind: "openai-responses", end_users: "account", quirks: { refuses: ["user"] } } },
  anthropic: { config: { kind: "anthropic" } },
  "anthropic-on": { config: { kind: "anthropic", end_users: "account" }, member: "user_id" },
  "gemini-on": { config: { kind: "gemini", end_users: "account" } },
};
const names = Object.keys(PROVIDERS);
/** Providers that answer decisions, the kind of the decision model, and the member in which each names end users. */
const DECIDERS: Readonly<Record<string, { config?: Json; backend: string; member?: string }>> = {
  openai: { backend: "openai-decisions", member: "safety_identifier" },
  "openai-off": { backend: "openai-decisions" },
  "openai-decisions": { config: { preset: "openai" }, backend: "openai-decisions", member: "safety_identifier" },
  "decisions-elsewhere": { config: {}, backend: "openai-decisions" },
  "decisions-on": { config: { end_users: "account" }, backend: "openai-decisions", member: "safety_identifier" },
  "openai-responses": { backend: "verbalized", member: "safety_identifier" },
  "anthropic-on": { backend: "verbalized", member: "user_id" },
};
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      [
        ...names.map((name) => [name, PROVIDERS[name]?.config] as const),
        ...Object.entries(DECIDERS).flatMap(([name, { config }]) =>
          config === undefined ? [] : [[name, { ...config, kind: "openai-decisions" }] as const],
        ),
      ].map(([name, config]) => [name, { ...config, base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    decisions: {
      models: Object.entries(DECIDERS).map(([provider, { backend: kind }]) => ({
        id: `${provider}-1.0.0`,
        tier: "free",
        backend: { kind, routes: [{ provider, model: "up" }] },
      })),
    },
    models: [
      ...names.map((id) => ({ id, routes: [{ provider: id, model: "up" }] })),
      ...["openai", "openai-off"].map((id) => ({
        id: `${id}-image`,
        kind: "image",
        routes: [{ provider: id, model: "up" }],
      })),
    ],
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const messages = [{ role: "user", content: "hi" }];
const BODIES: Readonly<Record<string, Json>> = {
  "/v1/chat/completions": { messages },
  "/v1/responses": { input: "hi" },
  "/v1/messages": { messages, max_tokens: 100 },
};

/** Sends a request, and returns the end user in the body that the provider got. */
async function sent(model: string, path: string, body: Json, key = app.key): Promise<Json> {
  upstream.received.length = 0;
  const answer = await app.post(path, { model, ...body }, { authorization: `Bearer ${key}` });
  expect([model, path, answer.status]).toEqual([model, path, 200]);
  await answer.text();
  // What the gateway adds by itself is never reported, sent or not.
  const given = ["user", "safety_identifier", "metadata"].some((name) => name in body);
  if (!given) expect(answer.headers.get("x-sallyport-dropped") ?? "").not.toMatch(/user|safety|metadata/);
  expect(upstream.received).toHaveLength(1);
  const { safety_identifier, user, metadata } = upstream.received[0]?.json ?? {};
  const { user_id } = (metadata ?? {}) as Json;
  return JSON.parse(JSON.stringify({ safety_identifier, user, user_id })) as Json;
}

const NAME = /^[0-9a-f]{40}$/;

describe.each(Object.keys(BODIES))("%s", (path) => {
  const body = BODIES[path] as Json;

  test.each(names)("over %s", async (model) => {
    const member = PROVIDERS[model]?.member;
    for (const stream of [false, true]) {
      const expected = member === undefined ? {} : { [member]: expect.stringMatching(NAME) };
      expect(await sent(model, path, { ...body, stream })).toEqual(expected);
    }
  });

  test("the client's own user is kept", async () => {
    const own = path === "/v1/messages" ? { metadata: { user_id: "alice" } } : { user: "alice" };
    for (const model of names) {
      const { safety_identifier, ...given } = await sent(model, path, { ...body, ...own });
      expect([model, safety_identifier]).toEqual([model, undefined]);
      if (model !== "gemini-on" && !model.endsWith("refuses")) expect(Object.values(given)).toEqual(["alice"]);
    }
    if (path === "/v1/messages") return;
    const named = { ...body, safety_identifier: "alice" };
    expect(await sent("openai", path, named)).toEqual({ safety_identifier: "alice" });
    expect(await sent("openai-responses", path, named)).toEqual({ safety_identifier: "alice" });
  });
});

test("metadata for the gateway is left out beside the end user", async () => {
  const body = { ...BODIES["/v1/messages"], metadata: { thread_id: "t1" } };
  expect(await sent("anthropic-on", "/v1/messages", body)).toEqual({ user_id: expect.stringMatching(NAME) });
  expect(upstream.received[0]?.json?.["metadata"]).not.toHaveProperty("thread_id");
});

test("an account has one name with all its keys and providers, and another account another", async () => {
  const store = await app.openStore();
  const second = await keyStore(store).createKey({ accountId: app.accountId, name: "second" });
  const other = await accountStore(store).createAccount({
    username: "other",
    email: "other@example.com",
    tier: "premium",
    emailVerified: true,
  });
  if ("refused" in other) throw new Error(other.refused);
  const third = await keyStore(store).createKey({ accountId: other.id, name: "third" });
  await store.close();
  const asked = async (model: string, path: string, key: string) => {
    const found = await sent(model, path, BODIES[path] as Json, key);
    return String(Object.values(found)[0]);
  };
  const own = await asked("openai", "/v1/chat/completions", app.key);
  expect(own).not.toContain(app.accountId);
  for (const key of [app.key, second.key]) {
    expect(await asked("openai-responses", "/v1/responses", key)).toBe(own);
    expect(await asked("anthropic-on", "/v1/chat/completions", key)).toBe(own);
  }
  expect(await asked("openai", "/v1/chat/completions", third.key)).not.toBe(own);
  const keyNames: string[] = [];
  for (const key of [app.key, second.key, third.key])
    keyNames.push(await asked("openai-key", "/v1/chat/completions", key));
  expect(new Set([own, ...keyNames]).size).toBe(4);
  await app.restart();
  expect(await asked("openai", "/v1/chat/completions", app.key)).toBe(own);
});

test("requests for images name the end user", async () => {
  const body = { prompt: "a cat" };
  expect(await sent("openai-image", "/v1/images/generations", body)).toEqual({
    safety_identifier: expect.stringMatching(NAME),
  });
  expect(await sent("openai-image", "/v1/images/generations", { ...body, user: "alice" })).toEqual({ user: "alice" });
  expect(await sent("openai-off-image", "/v1/images/generations", body)).toEqual({});
});

test.each(Object.keys(DECIDERS))("decisions over %s", async (provider) => {
  const member = DECIDERS[provider]?.member;
  const model = `${provider}-1.0.0`;
  const question = { instructions: "Is it?" };
  // What is decided about, so that a late call of the decision before is not taken for one of this.
  let calls = 0;
  const members = async (path: string, body: Json): Promise<Json> => {
    const text = `${provider}-text-${calls++}-`;
    await (await app.post(path, { model, ...body, ["state" in body ? "state" : "input"]: text })).text();
    const asked = upstream.received.find(({ json }) => JSON.stringify(json).includes(text));
    expect(asked).toBeDefined();
    const { safety_identifier, user, metadata } = asked?.json ?? {};
    return JSON.parse(JSON.stringify({ safety_identifier, user, ...(metadata as Json) })) as Json;
  };
  const own = await members("/v1/systemone", { state: "s", questions: { q: { type: "noul", ...question } } });
  expect(own).toEqual(member === undefined ? {} : { [member]: expect.stringMatching(NAME) });
  const input = { input: "s", questions: [{ type: "predicate", name: "q", ...question }] };
  expect(await members("/v1/decisions", input)).toEqual(own);
  const named = await members("/v1/decisions", { ...input, safety_identifier: "alice" });
  expect(named).toEqual({ [member ?? "safety_identifier"]: "alice" });
});
