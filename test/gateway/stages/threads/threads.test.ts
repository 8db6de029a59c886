// Threads that clients name: what is stored of them, for whom and how, and what happens if a prompt does not fit.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../../../support/upstream.ts";
import { elementsOf, FORMAT_NAMES, type FormatName, type Step } from "../compaction/fixture.ts";
import { bodyOf, PATHS, tightUpstream, tooLong } from "../compaction/tight-upstream.ts";

const WINDOW = 4000;
let upstream: FakeUpstream;
let app: TestApp;
const config = (compaction: Record<string, unknown> = {}) => ({
  providers: Object.fromEntries(
    DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
  ),
  models: [
    ...DIALECTS.map((id) => ({ id, context_length: WINDOW, routes: [{ provider: id, model: "up" }] })),
    ...DIALECTS.flatMap((id) =>
      ["true", "false", "stays", "counts"].map((why) => ({ provider: id, id: `${why}-${id}` })),
    ).map(({ id, provider }) => ({ id, routes: [{ provider, model: "up" }] })),
  ],
  tiers: { premium: { rpm: 1_000_000 } },
  compaction,
});
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({ config: config() });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer((received) => say(received, { text: "the answer" }));
});

const hello: Step[] = [{ kind: "user", text: "a secret wish" }];
const long: Step[] = Array.from(
  { length: 80 },
  (_, n): Step => ({
    kind: n % 2 === 0 ? "user" : "assistant",
    text: `fact-${n} is v${n}x. ${"and so on ".repeat(40)}`,
  }),
);
const post = (format: FormatName, model: string, steps: Step[], more: Record<string, unknown> = {}) =>
  app.post(PATHS[format], bodyOf(format, model, elementsOf(format, steps), more));

/** The answer of `GET` once the thread is stored, which happens after the answer has been sent. */
async function thread(id: string, query = ""): Promise<Record<string, unknown>> {
  for (;;) {
    const answer = await app.call(`/v1/threads/${encodeURIComponent(id)}${query}`);
    if (answer.status === 200) return (await answer.json()) as Record<string, unknown>;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.each(FORMAT_NAMES)("%s", (format) => {
  test.each([false, true])("keeps the last request and its answer, sealed; stream: %p", async (stream) => {
    const id = `kept ${format}/${stream}`;
    const answer = await post(format, format, hello, { thread_id: id, stream });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(upstream.received[0]?.json).not.toHaveProperty("thread_id");
    const kept = await thread(id);
    expect(kept).toMatchObject({ id, object: "thread", model: format, messages: 2, tokens: 18, summaries: [] });
    expect(Number(kept["bytes"])).toBeGreaterThan(30);
    expect(JSON.stringify(kept)).not.toContain("a secret wish");
    const whole = JSON.stringify(await thread(id, "?include=messages"));
    for (const said of ["a secret wish", "the answer"]) expect(whole).toContain(said);
    // With PostgreSQL there are none here.
    for (const name of ["sallyport.db", "sallyport.db-wal"]) {
      const file = Bun.file(join(app.dataDir, name));
      if (await file.exists()) expect(await file.text()).not.toContain("a secret wish");
    }
    const store = await app.openStore();
    const states = await store.statement<{ state: Uint8Array }>("SELECT state FROM threads").all();
    await store.close();
    expect(Buffer.concat(states.map(({ state }) => state)).toString("latin1")).not.toContain("a secret wish");
  });

  test("a long thread is shortened, the answer says so, and its summary is stored and reused after a restart", async () => {
    const id = `long-${format}`;
    const { seen, script } = tightUpstream({ window: WINDOW, say: () => ({ text: "ok" }) });
    upstream.answer(script);
    const answer = await post(format, format, long, { thread_id: id });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sallyport-compaction")).toMatch(/^compacted; before=\d+; after=\d+$/);
    const [before = 0, after = 0] = (answer.headers.get("x-sallyport-compaction")?.match(/\d+/g) ?? []).map(Number);
    expect(before).toBeGreaterThan(WINDOW);
    expect(after).toBeLessThanOrEqual(WINDOW / 2);
    const calls = seen.summaries.length;
    expect(calls).toBeGreaterThan(0);
    expect((await thread(id))["summaries"]).toHaveLength(1);
    await app.restart();
    const again = await post(
      format,
      format,
      [...long, { kind: "assistant", text: "ok" }, { kind: "user", text: "more" }],
      {
        conversation_id: id,
      },
    );
    expect(again.headers.get("x-sallyport-compaction")).toStartWith("reused");
    expect(seen.summaries).toHaveLength(calls);
    expect(seen.turns.at(-1)?.text).toContain("fact-30 is v30x");
  });

  test("without a thread nothing changes, and a refusal gives the provider's counts", async () => {
    upstream.answer((received) => tooLong(format, Math.ceil(received.text.length / 4), WINDOW));
    // Where the window is configured, the gateway itself refuses the prompt.
    const answer = await post(format, `counts-${format}`, long);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: Record<string, unknown> };
    expect(error["code"]).toBe("context_length_exceeded");
    if (format !== "openai-responses") {
      const tokens = Math.ceil((upstream.received[0]?.text.length ?? 0) / 4);
      expect(error["details"]).toEqual({ input_tokens: tokens, context_window: WINDOW });
    }
    expect(upstream.received).toHaveLength(1);
  });

  test.each([false, true])(
    "at the wall of an unknown window it is shortened and asked once more; stream: %p",
    async (stream) => {
      const { seen, script } = tightUpstream({ window: 2600, say: () => ({ text: "ok" }) });
      upstream.answer(script);
      const model = `${stream}-${format}`;
      const answer = await post(format, model, long, { thread_id: `wall-${format}-${stream}`, stream });
      expect([answer.status, await answer.clone().text()]).toEqual([
        200,
        expect.stringContaining(stream ? '"o' : "ok"),
      ]);
      expect(seen.refusals).toBeGreaterThan(0);
      expect(answer.headers.get("x-sallyport-compaction")).toBeTruthy();
    },
  );

  test("an error about the context length that remains is returned after one more try", async () => {
    upstream.answer(() => tooLong(format, 99_999, 10));
    const answer = await post(format, `stays-${format}`, hello, { thread_id: `stays-${format}` });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { code: string } }).error.code).toBe("context_length_exceeded");
  });
});

test("`thread_id` is also accepted in `metadata` of messages", async () => {
  await (
    await post("anthropic-messages", "anthropic-messages", hello, { metadata: { thread_id: "in-metadata" } })
  ).text();
  expect(await thread("in-metadata")).toMatchObject({ messages: 2 });
});

test("a thread belongs to its account, and its owner can delete it", async () => {
  await (await post("openai-chat", "openai-chat", hello, { thread_id: "mine" })).text();
  await thread("mine");
  const store = await app.openStore();
  const other = await accountStore(store).createAccount({ username: "other", email: "o@example.com", tier: "premium" });
  if ("refused" in other) throw new Error(other.refused);
  const { key } = await keyStore(store).createKey({ accountId: other.id, name: "k" });
  await store.close();
  const as = { headers: { authorization: `Bearer ${key}` } };
  for (const method of ["GET", "DELETE"]) {
    const answer = await app.call("/v1/threads/mine", { method, ...as });
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: "thread_not_found" } }]);
  }
  const gone = await app.call("/v1/threads/mine", { method: "DELETE" });
  expect(await gone.json()).toEqual({ id: "mine", object: "thread", deleted: true });
  expect((await app.call("/v1/threads/mine")).status).toBe(404);
});

test("a thread that is deleted while its summary or its answer is made stays deleted", async () => {
  const { script } = tightUpstream({ window: WINDOW, say: () => ({ text: "ok" }) });
  for (const heldUp of ["summary", "answer"]) {
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    upstream.answer(async (received) => {
      if (received.text.includes("You keep the record") === (heldUp === "summary")) {
        reached.resolve();
        await opened.promise;
      }
      return script(received);
    });
    const threadId = `deleted-at-${heldUp}`;
    await app.call(`/v1/threads/${threadId}`, { method: "DELETE" });
    const asking = post("openai-chat", "openai-chat", long, { thread_id: threadId });
    await reached.promise;
    await app.call(`/v1/threads/${threadId}`, { method: "DELETE" });
    opened.resolve();
    expect((await asking).status).toBe(200);
    await (await asking).text();
  }
  // Everything that is to be stored is stored when the program has stopped.
  await app.restart();
  const database = await app.openStore();
  const kept = await database.statement("SELECT thread_id FROM threads WHERE thread_id LIKE 'deleted-at-%'").all();
  await database.close();
  expect(kept).toEqual([]);
  // The name can be used again.
  await (await post("openai-chat", "openai-chat", hello, { thread_id: "deleted-at-answer" })).text();
  expect(await thread("deleted-at-answer")).toMatchObject({ messages: 2 });
});

test("with compaction off nothing is stored and nothing is shortened", async () => {
  await app.reconfigure(config({ enabled: false }));
  const answer = await post("openai-chat", "openai-chat", long, { thread_id: "off" });
  expect(answer.headers.get("x-sallyport-compaction")).toBeNull();
  await answer.text();
  const database = await app.openStore();
  expect(await database.statement("SELECT count(*) AS n FROM threads WHERE thread_id = 'off'").get()).toEqual({ n: 0 });
  await database.close();
  expect((await app.call("/v1/threads/off")).status).toBe(404);
  await app.reconfigure(config());
});

test("a configured model summarises, and its tokens are charged to the key", async () => {
  await app.reconfigure(config({ model: "gemini" }));
  const { seen, script } = tightUpstream({
    window: WINDOW,
    say: () => ({ text: "ok", usage: { input: 1, output: 1 } }),
  });
  upstream.answer(script);
  await (await post("openai-chat", "openai-chat", long, { thread_id: "by-another" })).text();
  expect(seen.summaries.length).toBeGreaterThan(0);
  expect(upstream.received.some(({ path }) => path.includes("gemini") || path.includes(":generateContent"))).toBe(true);
  await app.restart(config());
  const database = await app.openStore();
  const rows = await database.statement("SELECT provider, key_id AS key FROM usage WHERE provider = 'gemini'").all();
  await database.close();
  expect(rows.length).toBe(seen.summaries.length);
});
