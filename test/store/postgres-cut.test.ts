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
/** The text that ends a transaction; others contain "read committed". */
const COMMIT = "commit\0";

describe.skipIf(!HAS_POSTGRES)("a connection that ends before the answer to a write", () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let store: PostgresStore;
  /** Another program, whose connection is not cut. */
  let direct: PostgresStore;
  let accountId: string;

  beforeAll(async () => {
    const server = await testPostgres();
    database = await server.database();
    proxy = await startTcpProxy(server.port);
    const url = new URL(database.url);
    url.port = String(proxy.port);
    store = await openPostgres({ url: url.href, dataDir: tmpdir(), connections: 1 });
    direct = await openPostgres({ url: database.url, dataDir: tmpdir(), connections: 1 });
    const made = await accountStore(store).createAccount({ username: "ann", email: "ann@x.example", tier: "free" });
    accountId = "id" in made ? made.id : "";
  }, 60_000);
  afterAll(async () => {
    await store?.close();
    await direct?.close();
    await proxy?.stop();
    await database?.drop();
  }, 60_000);

  const name = (threadId: string) => ({ accountId, kind: "conversation" as const, threadId });
  const item = (id: string) => ({ id, otherId: `${id}-other`, bytes: 1, state: Buffer.from([1]) });
  const thread = (threadId: string) => ({
    ...{ ...name(threadId), model: "m", messages: 0, tokens: 0, expiresAtMs: LATER },
    state: Buffer.from([1]),
  });

  /**
   * Loses the answer to a statement whose text this is. The text is sent once for each connection, so there is a new one; "" is what
   * is sent first, for a statement that is prepared.
   */
  const loseAnswer = (to: string, options = {}) => {
    if (to !== "") {
      proxy.cut();
      proxy.restore();
    }
    return proxy.loseAnswer(to, options);
  };

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
    [
      "a thread",
      COMMIT,
      (id) => threadStore(store).saveThread(thread(id)),
      "SELECT 1 FROM threads WHERE thread_id = $1",
    ],
    [
      "a change of a thread",
      COMMIT,
      (id) => threadStore(store).changeThread(name(id), { state: Buffer.from([2]), expiresAtMs: LATER }),
      "SELECT 1 FROM threads WHERE thread_id = $1",
    ],
    [
      "a summary",
      COMMIT,
      (id) =>
        threadStore(store).saveSummary({
          ...{ ...name(id), id: "s", tokens: 1, createdAtMs: 1 },
          state: Buffer.from([1]),
        } as never),
      "SELECT 1 FROM thread_summaries WHERE thread_id = $1",
    ],
    [
      "items of a conversation",
      COMMIT,
      (id) => threadStore(store).appendItems(name(id), [item("i")], { expiresAtMs: LATER }),
      "SELECT 1 FROM thread_items WHERE thread_id = $1",
    ],
  ];

  for (const [what, to, write, look] of WRITES)
    test(`${what} is stored once`, async () => {
      const [first, second] = [`${what} 1`, `${what} 2`];
      if (what !== "a thread") for (const id of [first, second]) await threadStore(store).saveThread(thread(id));
      const whole = await write(first);
      const lost = loseAnswer(to);
      expect(await write(second)).toEqual(whole);
      await lost;
      expect((await store.pool.query(look, [second])).values).toHaveLength(1);
    }, 60_000);

  /** Each write of a row that others write too; the last one of them must stay. */
  const OVER: readonly (readonly [string, (on: PostgresStore, id: string, byte: number) => Promise<unknown>])[] = [
    ["a thread", (on, id, byte) => threadStore(on).saveThread({ ...thread(id), state: Buffer.from([byte]) })],
    [
      "a change of a thread",
      (on, id, byte) => threadStore(on).changeThread(name(id), { state: Buffer.from([byte]), expiresAtMs: LATER }),
    ],
    [
      "a summary",
      (on, id, byte) =>
        threadStore(on).saveSummary({
          ...{ ...name(id), id: "s", tokens: byte, createdAtMs: 1 },
          state: Buffer.from([byte]),
        } as never),
    ],
  ];
  const byteOf = async (what: string, id: string) => {
    if (what === "a summary") return (await threadStore(direct).summariesOf(name(id)))[0]?.state[0];
    return (await threadStore(direct).findThread(name(id)))?.state[0];
  };

  for (const [what, write] of OVER)
    test(`${what} that was stored is not stored again over a later one`, async () => {
      const id = `${what} over`;
      await threadStore(store).saveThread(thread(id));
      await write(store, id, 2);
      const lost = loseAnswer(COMMIT, { stayCut: true });
      const earlier = write(store, id, 3);
      await lost;
      await write(direct, id, 4);
      proxy.restore();
      await earlier;
      expect(await byteOf(what, id)).toBe(4);
    }, 60_000);

  test("a thread that was not stored is not stored over a later one", async () => {
    const id = "late";
    await threadStore(store).saveThread(thread(id));
    const lost = proxy.loseAnswer("begin", { stayCut: true });
    const earlier = threadStore(store).saveThread({ ...thread(id), state: Buffer.from([3]) });
    await lost;
    // Times are whole milliseconds, and the later request comes in a later one.
    const { updatedAtMs = 0 } = (await threadStore(direct).findThread(name(id))) ?? {};
    while (direct.clock.now() <= updatedAtMs + 1) await threadStore(direct).findThread(name(id));
    await threadStore(direct).saveThread({ ...thread(id), state: Buffer.from([4]) });
    proxy.restore();
    await earlier;
    expect((await threadStore(direct).findThread(name(id)))?.state[0]).toBe(4);
  }, 60_000);

  test("a thread that was deleted meanwhile stays deleted", async () => {
    const id = "deleted";
    const lost = loseAnswer(COMMIT, { stayCut: true });
    const earlier = threadStore(store).saveThread(thread(id));
    await lost;
    expect(await threadStore(direct).deleteThread(name(id))).toBe(true);
    proxy.restore();
    await earlier;
    expect(await threadStore(direct).findThread(name(id))).toBeUndefined();
  }, 60_000);

  test("another response under the same id is refused", async () => {
    const save = () => WRITES[0]![2]("twice");
    await save();
    await expect(save()).rejects.toThrow("23505");
  });
});
