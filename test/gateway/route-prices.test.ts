// Routes of a model that cost differently: what the answering one costs is booked and told.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { usageStore } from "../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

let up: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  up = startUpstream((request) => {
    if (request.json?.["model"] === "down") return new Response("{}", { status: 503 });
    if (request.path.endsWith("/embeddings")) {
      const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
      return Response.json({ object: "list", data, model: "e", usage: { prompt_tokens: 100, total_tokens: 100 } });
    }
    return say(request, { text: "Mild.", usage: { input: 100, output: 10 } });
  });
  const provider = {
    kind: "openai",
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
    breaker: { failures: 1000 },
  };
  const routes = (first: string) => [
    { provider: "cheap", model: first, priority: 1 },
    { provider: "dear", model: "m", priority: 2, prices: { input: 20, output: 100 } },
  ];
  const dearDown = [
    { provider: "dear", model: "down", priority: 1, prices: { input: 20 } },
    { provider: "cheap", model: "m", priority: 2 },
  ];
  app = await startTestApp({
    config: {
      usage: { flush: "1ms" },
      tiers: { premium: { rpm: 100_000 } },
      providers: { cheap: provider, dear: provider },
      models: [
        { id: "well", routes: routes("m"), prices: { input: 1, output: 10 } },
        { id: "down", routes: routes("down"), prices: { input: 1, output: 10 } },
        { id: "embed", kind: "embedding", routes: routes("down") },
        { id: "embed-dear-down", kind: "embedding", routes: dearDown, prices: { input: 1 } },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

async function costOf(path: string, body: object) {
  const id = crypto.randomUUID();
  const response = await app.post(path, body, { "x-request-id": id });
  const answer = await response.text();
  expect([response.status, response.status === 200 ? "" : answer]).toEqual([200, ""]);
  await app.call(`/v1/key`);
  const store = await app.openStore();
  const find = async () => (await usageStore(store).listLog({ accountId: app.accountId, requestId: id })).rows;
  let rows = await find();
  for (let look = 0; look < 300 && rows.length === 0; look++) {
    await app.call("/v1/key");
    rows = await find();
  }
  await store.close();
  return { booked: rows[0]?.costMicros, header: response.headers.get("x-sallyport-cost"), answer };
}

const CELLS = CLIENT_FORMATS.flatMap((of) => [false, true].map((stream) => [of.name, stream, of] as const));

test.each(CELLS)("%s, stream: %p", async (_name, stream, of) => {
  const body = { ...of.body({ stream, tools: false }), usage: { include: true } };
  const first = await costOf(of.path, { ...body, model: "well" });
  const second = await costOf(of.path, { ...body, model: "down" });
  expect([first.booked, second.booked]).toEqual([200, 3000]);
  expect([first.header, second.header]).toEqual(stream ? [null, null] : ["0.0002", "0.003"]);
  const told = [...second.answer.matchAll(/"cost":([0-9.e-]+)/g)].map(([, cost]) => Number(cost));
  expect(told).toEqual(of.isTerse ? [] : [0.003]);
});

test("a model that does not chat", async () => {
  expect((await costOf("/v1/embeddings", { model: "embed", input: "x" })).booked).toBe(2000);
  // The prices of a route that failed are not those of the next one.
  expect((await costOf("/v1/embeddings", { model: "embed-dear-down", input: "x" })).booked).toBe(100);
});
