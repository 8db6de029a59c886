// Equal requests for embeddings get the vectors that were given before.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    cache: { mode: "on" },
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [
      { id: "e", kind: "embedding", routes: [{ provider: "up", model: "up-e" }], prices: { input: 1 } },
      { id: "r", kind: "rerank", routes: [{ provider: "up", model: "up-r" }] },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

let asked = 0;
const vectors = () => {
  asked++;
  const data = [{ object: "embedding", index: 0, embedding: [asked, 0.5] }];
  return Response.json({ object: "list", model: "up-e", data, usage: { prompt_tokens: 3, total_tokens: 3 } });
};

async function embed(path: string, input: string, headers: Record<string, string> = {}) {
  const response = await app.post(path, { model: "e", input }, headers);
  const answer = (await response.json()) as { data?: { embedding: number[] }[]; embeddings?: number[][] };
  const { status } = response;
  const first = answer.data?.[0]?.embedding ?? answer.embeddings?.[0];
  return { status, first: first?.[0], cache: response.headers.get("x-sallyport-cache") };
}

test.each(["/v1/embeddings", "/api/embed"])("%s: hit, no-store, no-cache, and equal requests at once", async (path) => {
  asked = 0;
  upstream.answer(vectors);
  expect(await embed(path, "a")).toMatchObject({ status: 200, first: 1, cache: "miss" });
  expect(await embed(path, "a")).toMatchObject({ first: 1, cache: expect.stringMatching(/^hit; age=\d+$/) });
  expect(await embed(path, "b")).toMatchObject({ first: 2, cache: "miss" });
  expect(await embed(path, "a", { "cache-control": "no-store" })).toMatchObject({ first: 3, cache: null });
  expect(await embed(path, "a", { "cache-control": "no-cache" })).toMatchObject({ first: 4, cache: "miss" });
  expect((await embed(path, "a")).first).toBe(4);
  const gate = Promise.withResolvers<void>();
  upstream.answer(async () => {
    await gate.promise;
    return vectors();
  });
  const first = upstream.next();
  const all = [embed(path, "c"), embed(path, "c"), embed(path, "c")];
  await first;
  gate.resolve();
  expect((await Promise.all(all)).map((given) => given.first)).toEqual([5, 5, 5]);
});

test("a failed answer is not kept, and a hit is free in the books", async () => {
  upstream.answer(() => Response.json({ error: { message: "no" } }, { status: 400 }));
  expect((await embed("/v1/embeddings", "d")).status).toBe(400);
  upstream.answer(vectors);
  expect((await embed("/v1/embeddings", "d")).cache).toBe("miss");
  const hit = await app.post("/v1/embeddings", { input: "d", model: "e" });
  expect([hit.headers.get("x-sallyport-cache"), hit.headers.get("x-sallyport-cost")]).toEqual(["hit; age=0", "0"]);
  expect(await hit.json()).toMatchObject({ usage: { prompt_tokens: 3 } });
});

test("other kinds of model are not looked up", async () => {
  upstream.answer(() => Response.json({ results: [{ index: 0, relevance_score: 0.5 }] }));
  const response = await app.post("/v1/rerank", { model: "r", query: "q", documents: ["a"] });
  expect([response.status, response.headers.get("x-sallyport-cache")]).toEqual([200, null]);
});
