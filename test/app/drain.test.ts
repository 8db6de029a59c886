// A graceful stop, as others see it: load balancers by /readyz, the other nodes by the table of nodes, and clients by
// their streams, which end completely.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "../../src/store/engine/database.ts";
import { liveNodes } from "../../src/store/engine/postgres/nodes.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { whileSteady } from "../support/real-time.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { chatChunk, type FakeUpstream, framesOf, sse, startUpstream } from "../support/upstream.ts";

/** A stream that continues until it is released. */
function heldStream() {
  const held = Promise.withResolvers<void>();
  const pieces = [chatChunk({ content: "first" }), held.promise, chatChunk({ content: " last" }, { finish: "stop" })];
  return { answer: () => sse([...pieces, "data: [DONE]\n\n"]), release: () => held.resolve() };
}

const providers = (upstream: FakeUpstream) => ({
  providers: { up: { kind: "openai", base_url: upstream.baseUrl, discover: false } },
  models: [{ id: "m", routes: [{ provider: "up", model: "m" }] }],
});
const question = { model: "m", stream: true, messages: [{ role: "user", content: "go on" }] };
const textOf = (frames: unknown[]) =>
  frames
    .map((frame) => (frame as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ?? "")
    .join("");

test("while it stops, /readyz is false and requests are still answered for server.drain_delay", async () => {
  await whileSteady(async () => {
    const stream = heldStream();
    const upstream = startUpstream(stream.answer);
    const app = await startTestApp({ config: { ...providers(upstream), server: { drain_delay: "2s" } } });
    try {
      expect((await app.call("/readyz")).status).toBe(200);
      const answer = await app.post("/v1/chat/completions", question);
      const stopped = app.stop();
      const ready = await app.call("/readyz");
      expect([ready.status, await ready.json()]).toEqual([503, { status: "unavailable" }]);
      expect((await app.call("/livez")).status).toBe(200);
      expect((await app.call("/v1/models")).status).toBe(200);
      stream.release();
      expect(textOf(await framesOf(answer))).toBe("first last");
      await stopped;
      await expect(app.call("/livez")).rejects.toThrow();
    } finally {
      stream.release();
      await upstream.stop();
    }
  });
}, 60_000);

describe.skipIf(!(HAS_POSTGRES && HAS_REDIS))("a node that leaves", () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let upstream: FakeUpstream;
  const stream = heldStream();
  const nodes: TestApp[] = [];

  beforeAll(async () => {
    const server = await testPostgres();
    [database, redis] = await Promise.all([server.database(), startRedis()]);
    upstream = startUpstream(stream.answer);
    const shared = { ...providers(upstream), database: { url: database.url }, redis: { url: redis.url } };
    for (const name of ["a", "b"]) {
      nodes.push(await startTestApp({ name, config: { ...shared, node: { name } } }));
    }
  }, 60_000);
  afterAll(async () => {
    stream.release();
    await nodes[1]?.stop();
    await upstream?.stop();
    await redis?.stop();
    await database?.drop();
  });

  test("is counted no more at once, though its streams still run", async () => {
    const [leaving, staying] = nodes as [TestApp, TestApp];
    const active = async () => ((await (await staying.call("/v1/status/runtime")).json()) as Counted).active_nodes;
    while ((await active()) !== 2) await Bun.sleep(20);

    const answer = await leaving.post("/v1/chat/completions", question);
    const store = await openDatabase({ dataDir: staying.dataDir, database: { url: database.url } });
    const stopped = leaving.stop();
    try {
      while ((await liveNodes(store)).length !== 1) await Bun.sleep(20);
      expect((await liveNodes(store)).map(({ name }) => name)).toEqual(["b"]);
    } finally {
      await store.close();
    }
    stream.release();
    expect(textOf(await framesOf(answer))).toBe("first last");
    await stopped;
    while ((await active()) !== 1) await Bun.sleep(20);
  }, 60_000);
});

interface Counted {
  active_nodes: number;
}
