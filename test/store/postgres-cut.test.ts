// Writes of answers to a PostgreSQL whose connection ends before it has said that they took effect: each is repeated, and takes
// effect once.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { accountStore } from "../../src/store/access/accounts.ts";
import { openPostgres, type PostgresStore } from "../../src/store/engine/postgres/open.ts";
import { responseStore } from "../../src/store/work/responses.ts";
import { threadStore } from "../../src/store/work/threads.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const LATER = 1e15;

describe.skipIf(!HAS_POSTGRES)("a connection that ends before the answer to a write", () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let store: PostgresStore;
  let accountId: string;

  beforeAll(async () => {
    const server = await testPostgres();
    database = await server.database();
    proxy = await startTcpProxy(server.port);
    const url = new URL(database.url);
    url.port = String(proxy.port);
    store = await openPostgres({ url: url.href, dataDir: tmpdir(), connections: 1 });
    const made = await accountStore(store).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    accountId = "id" in made ? made.id : "";
  }, 60_000);
  afterAll(async () => {
    await store?.close();
    await proxy?.stop();
    await database?.drop();
  }, 60_000);

  const name = (threadId: string) => ({ accountId, kind: "conversation" as const, threadId });
  const item = (id: string) => ({ id, otherId: `${id}-other`, bytes: 1, state: Buffer.from([1]) });
  const thread = (threadId: string) => ({
    ...{ ...name(threadId), model: "m", messages: 0, tokens: 0, expiresAtMs: LATER },
    state: Buffer.from([1]),
  });

  /** Each writes under an id; the statement whose answer is lost is the one that decides. */
  const WRITES: readonly (readonly [string, string, (id: string) => Promise<unknown>, string])[] = [
    [
      "a response",
      "",
      (id) =>
        responseStore(store).saveResponse({
          ...{ id, accountId, model: "m", previousId: null, provider: null, upstreamId: null },
          ...{ input: [], body: {}, expiresAtMs: LATER },
        }),
      "SELECT id FROM responses WHERE id = $1",
    ],
    ["a thread", "", (id) => threadStore(store).saveThread(thread(id)), "SELECT 1 FROM threads WHERE thread_id = $1"],
    [
      "a change of a thread",
      "",
      (id) => threadStore(store).changeThread(name(id), { state: Buffer.from([2]), expiresAtMs: LATER }),
      "SELECT 1 FROM threads WHERE thread_id = $1",
    ],
    [
      "a summary",
      "commit",
      (id) =>
        threadStore(store).saveSummary({
          ...{ ...name(id), id: "s", tokens: 1, createdAtMs: 1 },
          state: Buffer.from([1]),
        } as never),
      "SELECT 1 FROM thread_summaries WHERE thread_id = $1",
    ],
    [
      "items of a conversation",
      "commit",
      (id) => threadStore(store).appendItems(name(id), [item("i")], { expiresAtMs: LATER }),
      "SELECT 1 FROM thread_items WHERE thread_id = $1",
    ],
  ];

  for (const [what, to, write, look] of WRITES)
    test(`${what} is stored once`, async () => {
      const [first, second] = [`${what} 1`, `${what} 2`];
      if (what !== "a thread") for (const id of [first, second]) await threadStore(store).saveThread(thread(id));
      // The statements are prepared, so that the next ones are executed with what is sent first.
      const whole = await write(first);
      proxy.loseAnswer(to);
      expect(await write(second)).toEqual(whole);
      expect((await store.pool.query(look, [second])).values).toHaveLength(1);
    }, 60_000);

  test("another response under the same id is refused", async () => {
    const save = () => WRITES[0]![2]("twice");
    await save();
    await expect(save()).rejects.toThrow("23505");
  });
});
