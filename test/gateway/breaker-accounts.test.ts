// The breakers of routes through the running program: what one account asks takes nothing away from another, and a broken model
// takes away no other model.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { chatAnswer, type FakeUpstream, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let up: FakeUpstream;
let neighbour: string;

beforeAll(async () => {
  up = startUpstream(({ json, path, text }) => {
    if (path.endsWith("/audio/speech")) return new Response("<p>", { headers: { "content-type": "text/html" } });
    if (text.includes("indigestible")) return new Response("{}", { status: 500 });
    if (!path.endsWith("/embeddings")) return chatAnswer({ content: "Fine." });
    const data = [{ object: "embedding", index: 0, embedding: [1] }];
    return Response.json({ object: "list", data, model: json?.["model"] });
  });
  const route = (model: string) => [{ provider: "up", model: `${model}-upstream` }];
  app = await startTestApp({
    config: {
      tiers: { premium: { rpm: 100_000 } },
      providers: {
        up: { kind: "openai", base_url: up.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      },
      models: [
        ...["m1", "big"].map((id) => ({ id, routes: route(id) })),
        { id: "hidden", visibility: "hidden", routes: route("hidden") },
        { id: "tts", kind: "speech", routes: route("tts") },
        { id: "emb", kind: "embedding", routes: route("emb") },
      ],
    },
  });
  const store = await app.openStore();
  const account = await accountStore(store).createAccount({
    username: "neighbour",
    email: "n@x.example",
    tier: "premium",
    emailVerified: true,
  });
  if ("refused" in account) throw new Error(account.refused);
  ({ key: neighbour } = await keyStore(store).createKey({ accountId: account.id, name: "n" }));
  await store.close();
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const chat = (model: string, text: string, key = app.key) =>
  app.post(
    "/v1/chat/completions",
    { model, messages: [{ role: "user", content: text }] },
    { authorization: `Bearer ${key}` },
  );
type Breaker = { state: string; models?: Record<string, { state: string }> };
const health = async () => {
  const response = await fetch(`${app.url}/health`);
  return { status: response.status, up: ((await response.json()) as { breakers: { up: Breaker } }).breakers.up };
};

test("requests that one account's upstream cannot digest are refused to that account alone", async () => {
  for (let i = 0; i < 5; i++) expect((await chat("m1", "indigestible")).status).toBe(502);
  expect((await chat("m1", "indigestible")).status).toBe(503);
  expect(await health()).toMatchObject({
    status: 503,
    up: { state: "open", models: { "m1-upstream": { state: "open" } } },
  });
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  expect(metrics).toContain('sallyport_model_breaker_state{provider="up",model="m1-upstream",state="open"} 1');
  // Another model is as good as before, for the same account too.
  expect((await chat("big", "hello")).status).toBe(200);
  const embedded = await app.post("/v1/embeddings", { model: "emb", input: "hello" });
  expect(embedded.status).toBe(200);
  // Another account is answered by the same model, which shows that it works.
  expect((await chat("m1", "hello", neighbour)).status).toBe(200);
  expect(await health()).toMatchObject({ status: 200, up: { state: "closed" } });
  expect((await chat("m1", "hello")).status).toBe(503);
  expect((await chat("m1", "indigestible", neighbour)).status).toBe(502);
  expect((await chat("m1", "hello", neighbour)).status).toBe(200);
});

test("a model whose answers have the wrong type closes no other", async () => {
  for (let i = 0; i < 8; i++) {
    const spoken = await app.post("/v1/audio/speech", { model: "tts", input: "hello", voice: "alloy" });
    expect(spoken.status).toBe(i < 5 ? 502 : 503);
  }
  expect((await chat("big", "hello")).status).toBe(200);
});

test("health names no hidden model", async () => {
  for (let i = 0; i < 5; i++) await chat("hidden", "indigestible");
  const { up: state } = await health();
  expect(Object.keys(state.models ?? {})).not.toContain("hidden-upstream");
});
