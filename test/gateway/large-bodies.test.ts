// Bodies that are designed to stall or exhaust the machine: their elements are counted, and memory is bounded.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { chatAnswer, type FakeUpstream, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let up: FakeUpstream;
const MIB = 1024 * 1024;

beforeAll(async () => {
  up = startUpstream();
  app = await startTestApp({
    config: {
      server: { max_body: "1MiB", body_budget: "1MiB", max_body_values: 5000 },
      providers: { up: { kind: "openai", base_url: up.baseUrl, discover: false } },
      models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",")}}`;
const post = (path: string, body: string) =>
  app.call(path, { method: "POST", body, headers: { "content-type": "application/json" } });

test.each([
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/responses",
  "/v1/completions",
  "/v1/systemone",
  "/v1/scrape",
  "/v1/crawl",
  "/v1/map",
])("%s refuses too many values before it reads them", async (path) => {
  const response = await post(path, members(6000));
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect([response.status, error.code]).toEqual([413, "request_too_large"]);
  expect(error.message).toContain("5000");
});

test.each(["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/systemone", "/v1/scrape"])(
  "%s refuses more escapes in short texts than can be undone at once",
  async (path) => {
    const texts = (letters: string, size: number) => {
      const text = `"${letters.repeat(size / letters.length)}"`;
      return `{"model":"none","x":[${Array.from({ length: 0.6 * (MIB / size) }, () => text).join(",")}]}`;
    };
    const response = await post(path, texts("\\n", 60_000));
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([413, "request_too_large"]);
    expect(error.message).toContain("80000 escapes");
    for (const [letters, size] of [
      ["x", 60_000],
      ["\\n", 300_000],
    ] as const) {
      const answer = await post(path, texts(letters, size));
      expect([path, letters, answer.status === 413]).toEqual([path, letters, false]);
    }
  },
);

test("lists of tokens do not count as members", async () => {
  const response = await post("/v1/chat/completions", `{"model":"m","messages":[],"x":[${"1,".repeat(20_000)}1]}`);
  expect(response.status).toBe(400);
});

test("a large body waits unread until there is memory for it, and its memory is released", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  up.answer(async () => {
    await gates[asked++]?.promise;
    return chatAnswer({});
  });
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(0.7 * MIB) }] });
  const first = up.next();
  const answers = [post("/v1/chat/completions", body), post("/v1/chat/completions", body)];
  await first;
  // A small body is accepted even if the memory for large ones is used up.
  const small = await post("/v1/chat/completions", '{"model":"none","messages":[]}');
  expect(small.status).toBeGreaterThanOrEqual(400);
  expect(asked).toBe(1);
  const second = up.next();
  gates[0]?.resolve();
  await second;
  gates[1]?.resolve();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
});

test("the memory of a refused body, and of one whose client leaves, is released", async () => {
  up.answer(() => chatAnswer({}));
  const wrong = JSON.stringify({ model: "m", messages: "x".repeat(0.7 * MIB) });
  expect((await post("/v1/chat/completions", wrong)).status).toBe(400);
  const abort = new AbortController();
  const { promise: pulled, resolve } = Promise.withResolvers<void>();
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(" ".repeat(64)));
      resolve();
      return new Promise(() => undefined);
    },
  });
  const leaving = fetch(`${app.url}/v1/chat/completions`, {
    method: "POST",
    body: endless,
    headers: { authorization: `Bearer ${app.key}`, "content-type": "application/json" },
    signal: abort.signal,
  }).catch(() => undefined);
  await pulled;
  abort.abort();
  await leaving;
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(0.7 * MIB) }] });
  expect((await post("/v1/chat/completions", body)).status).toBe(200);
});

test("a form of more parts than an upload has is refused before it is read", async () => {
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
  for (const boundary of ["b", '"b"']) {
    const response = await app.call("/v1/files", {
      method: "POST",
      body: `${part.repeat(10_000)}--b--\r\n`,
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([413, "request_too_large"]);
    expect(error.message).toContain("parts");
  }
});
