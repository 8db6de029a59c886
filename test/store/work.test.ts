import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Account, accountStore } from "../../src/store/access/accounts.ts";
import { fileStore } from "../../src/store/work/files.ts";
import { responseStore, type StoredResponse } from "../../src/store/work/responses.ts";
import { threadStore } from "../../src/store/work/threads.ts";
import { freshStore } from "./support.ts";

async function setUp() {
  const fresh = freshStore();
  const accounts = accountStore(fresh.store);
  const make = async (username: string) =>
    ((await accounts.createAccount({ username, email: `${username}@x.example`, tier: "free" })) as Account).id;
  return { ...fresh, accounts, ann: await make("ann"), bob: await make("bob") };
}

test("answers are kept for their owner until they expire or are deleted", async () => {
  const { store, clock, ann, bob } = await setUp();
  const responses = responseStore(store);
  const answer: Omit<StoredResponse, "createdAtMs"> = {
    id: "resp_1",
    accountId: ann,
    model: "m",
    previousId: null,
    provider: "openai",
    upstreamId: "up_1",
    input: [{ role: "user", content: "hi" }],
    body: { id: "resp_1", output: [] },
    expiresAtMs: clock.now() + 10,
  };
  await responses.saveResponse(answer);
  await responses.saveResponse({ ...answer, id: "resp_2" });
  expect(await responses.findResponse(ann, "resp_1")).toEqual({ ...answer, createdAtMs: clock.now() });
  expect(await responses.findResponse(bob, "resp_1")).toBeUndefined();
  expect(await responses.deleteResponse(bob, "resp_1")).toBe(false);
  expect(await responses.deleteResponse(ann, "resp_1")).toBe(true);
  expect(await responses.findResponse(ann, "resp_1")).toBeUndefined();
  expect(await responses.deleteExpiredResponses()).toBe(0);
  clock.advance(10);
  expect(await responses.findResponse(ann, "resp_2")).toBeUndefined();
  expect(await responses.deleteExpiredResponses()).toBe(1);
});

test("a chain is followed to its start, within one account", async () => {
  const { store, clock, ann, bob } = await setUp();
  const responses = responseStore(store);
  const save = (id: string, previousId: string | null, accountId = ann) =>
    responses.saveResponse({
      id,
      accountId,
      model: "m",
      previousId,
      provider: null,
      upstreamId: null,
      input: [id],
      body: {},
      expiresAtMs: clock.now() + 10,
    });
  await save("a", null);
  await save("b", "a");
  await save("c", "b");
  await save("bobs", null, bob);
  await save("stolen", "bobs");
  const ids = async (id: string) => {
    const chain = await responses.responseChain(ann, id);
    return chain === undefined ? undefined : [chain.responses.map((r) => r.id).join(), chain.complete];
  };
  expect(await ids("c")).toEqual(["a,b,c", true]);
  expect(await ids("a")).toEqual(["a", true]);
  expect(await ids("stolen")).toEqual(["stolen", false]);
  expect(await ids("bobs")).toBeUndefined();
  await responses.deleteResponse(ann, "a");
  expect(await ids("c")).toEqual(["b,c", false]);
  await save("loop", "loop");
  expect((await responses.responseChain(ann, "loop"))?.complete).toBe(false);
});

test("a thread keeps its last state and its latest summaries, and two accounts may use one name", async () => {
  const { store, clock, ann, bob } = await setUp();
  const threads = threadStore(store);
  const name = (accountId: string, kind: "thread" | "messages" = "thread") => ({ accountId, kind, threadId: "t" });
  const save = (accountId: string, text: string, kind: "thread" | "messages" = "thread") =>
    threads.saveThread({
      ...name(accountId, kind),
      ...{ model: "m", messages: 2, tokens: 9, state: Buffer.from(text), expiresAtMs: clock.now() + 10 },
    });
  const textOf = async (accountId: string, kind: "thread" | "messages" = "thread") =>
    (await threads.findThread(name(accountId, kind)))?.state.toString();
  await save(ann, "1");
  await save(bob, "2");
  await save(ann, "3");
  await save(ann, "held", "messages");
  expect([await textOf(ann), await textOf(bob), await textOf(ann, "messages")]).toEqual(["3", "2", "held"]);
  expect(await threads.findThread({ ...name(ann), threadId: "u" })).toBeUndefined();
  const summary = (id: string, text: string, at: number) => ({
    ...{ ...name(ann), id, tokens: 1, state: Buffer.from(text), createdAtMs: at },
  });
  for (let at = 0; at < 12; at++) await threads.saveSummary(summary(`s${at}`, `${at}`, at));
  await threads.saveSummary(summary("s5", "changed", 5));
  const kept = (await threads.summariesOf(name(ann))).map(({ state }) => state.toString());
  expect(kept).toEqual(["4", "changed", "6", "7", "8", "9", "10", "11"]);
  expect(await threads.summariesOf(name(bob))).toEqual([]);
  // A summary without its thread belongs to nobody.
  await expect(threads.saveSummary({ ...summary("x", "x", 0), threadId: "none" })).rejects.toThrow("FOREIGN KEY");
  // The bytes of its name, its state and eight summaries.
  expect(await threads.listThreads(ann, "thread")).toMatchObject([
    { threadId: "t", messages: 2, tokens: 9, bytes: 18 },
  ]);
  expect(await threads.deleteThread(name(ann))).toBe(true);
  expect(await threads.deleteThread(name(ann))).toBe(false);
  expect(await threads.summariesOf(name(ann))).toEqual([]);
  clock.advance(10);
  expect(await textOf(bob)).toBeUndefined();
  expect(await threads.deleteExpiredThreads()).toBe(2);
  expect(await threads.deleteExpiredThreads()).toBe(0);
});

test("a file's bytes and facts come and go together", async () => {
  const { store, clock, dataDir, ann, bob } = await setUp();
  const files = fileStore(store);
  const facts = { accountId: ann, filename: "../../etc/passwd", purpose: "vision", mediaType: "image/png" };
  const bytes = new Uint8Array([1, 2, 3]);
  const file = await files.createFile({ ...facts, id: "file-1" }, bytes);
  expect(file).toEqual({ ...facts, id: "file-1", bytes: 3, createdAtMs: clock.now() });
  await files.createFile({ ...facts, id: "file-2" }, bytes);
  expect(await files.findFile(ann, "file-1")).toEqual(file);
  expect(await files.readFile(ann, "file-1")).toEqual(bytes);
  expect(await files.readFile(bob, "file-1")).toBeUndefined();
  expect((await files.listFiles(ann)).map((f) => f.id)).toEqual(["file-2", "file-1"]);
  expect((await files.listFiles(ann, { beforeId: "file-2" })).map((f) => f.id)).toEqual(["file-1"]);
  const directory = join(dataDir, "uploads", ann);
  expect([statSync(directory).mode & 0o777, statSync(join(directory, "file-1")).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(await files.deleteFile(bob, "file-1")).toBe(false);
  expect(await files.deleteFile(ann, "file-1")).toBe(true);
  expect(readdirSync(directory)).toEqual(["file-2"]);
});

test("a file that cannot be stored leaves nothing behind", async () => {
  const { store, dataDir, ann } = await setUp();
  const files = fileStore(store);
  const facts = { filename: "f", purpose: "vision", mediaType: "image/png" };
  await expect(files.createFile({ ...facts, accountId: ann, id: "../x" }, new Uint8Array(1))).rejects.toThrow(
    "Not a file id",
  );
  await expect(files.createFile({ ...facts, accountId: "nobody", id: "x" }, new Uint8Array(1))).rejects.toThrow(
    "FOREIGN KEY",
  );
  expect(existsSync(join(dataDir, "uploads", "nobody", "x"))).toBe(false);
});

test("an account's work goes with it", async () => {
  const { store, clock, accounts, dataDir, ann } = await setUp();
  const expiresAtMs = clock.now() + 10;
  const thread = { accountId: ann, kind: "thread" as const, threadId: "t" };
  const threads = threadStore(store);
  await threads.saveThread({ ...thread, model: "m", messages: 1, tokens: 1, state: Buffer.from("x"), expiresAtMs });
  await threads.saveSummary({ ...thread, id: "s", tokens: 1, state: Buffer.from("x"), createdAtMs: clock.now() });
  await fileStore(store).createFile(
    { id: "file-1", accountId: ann, filename: "f", purpose: "vision", mediaType: "image/png" },
    new Uint8Array(1),
  );
  await accounts.deleteAccount(ann);
  const tables = store.sqlite
    .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all() as { name: string }[];
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    expect([name, JSON.stringify(store.sqlite.query(`SELECT * FROM ${name}`).all()).includes(ann)]).toEqual([
      name,
      false,
    ]);
  }
  expect(existsSync(join(dataDir, "uploads", ann))).toBe(false);
});
