// Requests at once of a key (`tiers.NAME.parallel`): exactly as many as the limit are admitted, and each gives its slot back
// however it ends.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { CLIENT_FORMATS } from "../../support/heard.ts";
import { chatAnswer, chatChunk, type FakeUpstream, HANG, sse, startUpstream } from "../../support/upstream.ts";

const PARALLEL = 3;

let up: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  up = startUpstream();
  app = await startTestApp({
    key: { rpm: 1_000_000 },
    config: {
      tiers: { premium: { parallel: PARALLEL } },
      models: [
        { id: "m", routes: [{ provider: "up", model: "m" }] },
        { id: "embedder", kind: "embedding", routes: [{ provider: "up", model: "e" }] },
      ],
      providers: { up: { kind: "openai", base_url: up.baseUrl, discover: false, retry: { attempts: 1 } } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});
beforeEach(() => {
  up.received.length = 0;
  up.answer(() => chatAnswer({ content: "x" }));
});

const CHAT = { model: "m", messages: [{ role: "user", content: "hi" }] };
const ask = (more: object = {}, signal?: AbortSignal) =>
  app.call("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...CHAT, ...more }),
    ...(signal === undefined ? {} : { signal }),
  });
const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;

/** Lets upstreams wait until `open` is called. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  up.answer(async () => {
    await promise;
    return chatAnswer({ content: "x" });
  });
  return { open: resolve };
}

/** The key's requests have all ended: it has as many slots as ever, and no more. */
async function expectAllFree() {
  const { open } = gate();
  const asked = Array.from({ length: PARALLEL + 2 }, () => ask());
  const refused: number[] = [];
  const all = asked.map(async (one) => {
    const { status } = await one;
    if (status === 429) refused.push(status);
    if (refused.length === 2) open();
    return status;
  });
  const statuses = await Promise.all(all);
  expect(statuses.toSorted()).toEqual([...Array(PARALLEL).fill(200), 429, 429]);
}

test("of a hundred requests at once exactly the limit is admitted", async () => {
  const { open } = gate();
  const refused: Response[] = [];
  const asked = Array.from({ length: 100 }, async () => {
    const response = await ask();
    if (response.status === 429) refused.push(response);
    if (refused.length === 100 - PARALLEL) open();
    return response.status;
  });
  const statuses = await Promise.all(asked);
  expect(statuses.filter((status) => status === 200)).toHaveLength(PARALLEL);
  expect(up.received).toHaveLength(PARALLEL);
  expect(refused[0]?.headers.get("retry-after")).toBe("2");
  expect(await errorOf(refused[0]!)).toMatchObject({
    code: "rate_limit_exceeded",
    message: "This key may have 3 requests at once. Try again when one of its requests has ended.",
    details: { limit: "parallel" },
  });
  await expectAllFree();
});

describe("a slot is given back", () => {
  test.each([
    ["by an answer", () => chatAnswer({ content: "x" }), {}, 200],
    ["by a refusal of the provider", () => new Response("{}", { status: 400 }), {}, 400],
    ["by a request that is refused later", () => chatAnswer({ content: "x" }), { model: "unknown" }, 404],
    [
      "by a stream",
      () => sse([chatChunk({ content: "x" }, { finish: "stop" }), "data: [DONE]\n\n"]),
      { stream: true },
      200,
    ],
  ] as const)("%s", async (_, script, more, status) => {
    up.answer(script);
    for (let i = 0; i < 2 * PARALLEL; i++) {
      const response = await ask(more);
      await response.text();
      expect(response.status).toBe(status);
    }
    await expectAllFree();
  });

  test.each([{ stream: true }, { stream: false }])("when its client leaves: %o", async (more) => {
    up.answer(() => sse([chatChunk({ content: "x" }), HANG]));
    const leaving = new AbortController();
    const clients: Promise<unknown>[] = [];
    const aborted: Promise<void>[] = [];
    while (clients.length < PARALLEL) {
      const next = up.next();
      const read = ask(more, leaving.signal).then((response) => response.text());
      clients.push(read.catch(() => undefined));
      aborted.push((await next).aborted);
    }
    expect((await ask()).status).toBe(429);
    leaving.abort();
    await Promise.all([...clients, ...aborted]);
    up.answer(() => chatAnswer({ content: "x" }));
    while ((await ask()).status === 429);
    await expectAllFree();
  });
});

test("a slot is held until the stream has ended, and by other endpoints too", async () => {
  const ended = Promise.withResolvers<void>();
  up.answer(() =>
    sse([chatChunk({ content: "x" }), ended.promise, chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]),
  );
  const streams = await Promise.all(Array.from({ length: PARALLEL }, () => ask({ stream: true })));
  expect(streams.map(({ status }) => status)).toEqual(Array(PARALLEL).fill(200));
  const embedding = () => app.post("/v1/embeddings", { model: "embedder", input: "hi" });
  const refused = await embedding();
  expect([refused.status, (await errorOf(refused))["details"]]).toEqual([429, { limit: "parallel" }]);
  // What is free is not counted.
  expect((await app.call("/v1/models")).status).toBe(200);
  ended.resolve();
  await Promise.all(streams.map((one) => one.text()));
  up.answer(() =>
    Response.json({ object: "list", data: [], model: "e", usage: { prompt_tokens: 1, total_tokens: 1 } }),
  );
  expect((await embedding()).status).toBe(200);
});

test.each(CLIENT_FORMATS)("$name refuses in its own form", async (format) => {
  const { open } = gate();
  const waiting: Promise<Response>[] = [];
  while (waiting.length < PARALLEL) {
    const next = up.next();
    waiting.push(ask());
    await next;
  }
  const refused = await app.post(format.path, { ...format.body({ stream: false, tools: false }), model: "m" });
  open();
  expect(refused.status).toBe(429);
  const error = format.refusal(await refused.json());
  if (format.noDetails !== true) expect(error["details"]).toEqual({ limit: "parallel" });
  await Promise.all(waiting);
});

test("the plan and the key tell the limit", async () => {
  const key = (await (await app.call("/v1/key")).json()) as Record<string, unknown>;
  expect(key["parallel"]).toBe(PARALLEL);
  const tiers = (await (await app.call("/v1/tiers")).json()) as { data: { id: string; parallel: unknown }[] };
  expect(tiers.data.map(({ id, parallel }) => [id, parallel])).toEqual([
    ["free", null],
    ["pro", null],
    ["premium", PARALLEL],
  ]);
});
