// Tags of requests: from the header or the metadata, in every format and over every protocol, whole and streamed. They are kept in
// the row and in the log, and no provider sees them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { usageStore } from "../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, dialectOf, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

let up: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  up = startUpstream((request) => {
    if (request.path.endsWith("/embeddings")) {
      const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
      return Response.json({ object: "list", data, model: "e", usage: { prompt_tokens: 3, total_tokens: 3 } });
    }
    dialectOf(request.path);
    return say(request, { text: "Mild.", usage: { input: 10, output: 5 } });
  });
  const provider = (dialect: DialectName) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
  });
  app = await startTestApp({
    config: {
      usage: { flush: "1ms" },
      tiers: { premium: { rpm: 100_000 } },
      providers: Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(dialect)])),
      models: [
        ...DIALECTS.map((dialect) => ({ id: dialect, routes: [{ provider: dialect, model: "m" }] })),
        { id: "embed", kind: "embedding", routes: [{ provider: "openai-chat", model: "e" }] },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

async function rowOf(requestId: string) {
  const store = await app.openStore();
  try {
    for (let look = 0; look < 300; look++) {
      const [row] = (await usageStore(store).listLog({ accountId: app.accountId, requestId })).rows;
      if (row !== undefined) return row;
      await app.call("/v1/key");
    }
    throw new Error(`no row of ${requestId}`);
  } finally {
    await store.close();
  }
}

/** Sends a request; what its provider received, and its row. */
async function sent(path: string, body: Json, tags?: string) {
  const before = up.received.length;
  const id = crypto.randomUUID();
  const header = tags === undefined ? {} : { "x-sallyport-tags": tags };
  const response = await app.post(path, body, { "x-request-id": id, ...header });
  const answer = await response.text();
  expect([response.status, response.status === 200 ? "" : answer]).toEqual([200, ""]);
  const received = up.received[before]!;
  await app.flushLogs();
  const line = app.logs.find((one) => one["request_id"] === id);
  return { received: JSON.stringify([received.json, [...received.headers]]), row: await rowOf(id), line };
}

const CELLS = CLIENT_FORMATS.flatMap((of) =>
  DIALECTS.flatMap((dialect) => [false, true].map((stream) => [of.name, dialect, stream, of] as const)),
);

test.each(CELLS)("%s over %s (stream: %p)", async (_name, dialect, stream, of) => {
  const body = { ...of.body({ stream, tools: false }), model: dialect };
  const tagged = { ...body, metadata: { tags: ["team-red", "nightly"] } };
  const { received, row, line } = await sent(of.path, tagged, " nightly, , web");
  expect(row.tags).toEqual(["nightly", "web", "team-red"]);
  expect(line?.["tags"]).toBe("nightly,web,team-red");
  expect(received).not.toMatch(/tags|team-red|nightly/);
  // Without tags it would be the same request.
  expect((await sent(of.path, body)).row.tags).toBeNull();
});

test("other metadata is passed on", async () => {
  const [of] = CLIENT_FORMATS;
  const body = { ...of!.body({ stream: false, tools: false }), model: "openai-chat", store: true };
  const metadata = { topic: "weather", tags: ["a"] };
  const { received } = await sent(of!.path, { ...body, metadata });
  expect(received).toContain('"metadata":{"topic":"weather"}');
  // A text is the client's own metadata.
  const own = await sent(of!.path, { ...body, metadata: { tags: "a,b" } });
  expect([own.row.tags, own.received.includes('"tags":"a,b"')]).toEqual([null, true]);
});

test("models that do not chat have tags too, and so have requests that fail", async () => {
  const asked = { model: "embed", input: "x", metadata: { tags: ["a"] } };
  const { received, row } = await sent("/v1/embeddings", asked, "b");
  expect([row.tags, received.includes("metadata")]).toEqual([["b", "a"], false]);
  await app.post(
    "/v1/chat/completions",
    { model: "none", messages: [] },
    { "x-sallyport-tags": "c", "x-request-id": "no" },
  );
  expect((await rowOf("no")).tags).toEqual(["c"]);
});

const many = Array.from({ length: 11 }, (_, at) => `t${at}`);
test.each([
  ["eleven in the header", {}, many.join(","), "x-sallyport-tags"],
  ["eleven in both", { tags: many.slice(0, 6) }, many.slice(6).join(","), "metadata.tags"],
  ["a long one", { tags: ["x".repeat(65)] }, "", "metadata.tags"],
  ["no text", { tags: [1] }, "", "metadata.tags"],
  ["a control character", { tags: ["a\u0000b"] }, "", "metadata.tags"],
])("%s: 400 that names the member", async (_name, metadata, header, param) => {
  const body = { model: "openai-chat", messages: [{ role: "user", content: "x" }], metadata };
  const response = await app.post("/v1/chat/completions", body, { "x-sallyport-tags": header });
  const { error } = (await response.json()) as { error: Json };
  expect([response.status, error["code"], error["param"]]).toEqual([400, "invalid_request", param]);
  const ten = { model: "openai-chat", messages: body.messages, metadata: { tags: [...many.slice(0, 10), "t1"] } };
  expect((await app.post("/v1/chat/completions", ten)).status).toBe(200);
});
