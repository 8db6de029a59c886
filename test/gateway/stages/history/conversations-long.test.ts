// Conversations that are stored here and exceed the window of their model: the prompt is shortened, but the stored items stay
// complete.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { say } from "../../../support/fake-model.ts";
import { type FakeUpstream, type Received, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const WINDOW = 8000;
const FACT = "the harbour is green";
let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({
    config: {
      providers: { chat: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
      models: [{ id: "small", context_length: WINDOW, routes: [{ provider: "chat", model: "up" }] }],
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer((received) =>
    say(received, {
      text: isSummary(received) ? `<summary>## State\n${FACT}</summary>` : "well",
      usage: { input: Math.ceil(received.text.length / 5), output: 5 },
    }),
  );
});

const isSummary = ({ text }: Received) => text.includes("You keep the record of a conversation");
const asked = () => upstream.received.filter((one) => !isSummary(one));
const summaries = () => upstream.received.filter(isSummary).length;
const long = (n: number) => `${n} ${"word ".repeat(400)}`;
const json = async (answer: Response) => (await answer.json()) as Json;

test("a conversation of Responses clients: items stay, summaries survive a restart and are deleted with it", async () => {
  const { id } = await json(await app.post("/v1/conversations", {}));
  const items = Array.from({ length: 15 }, (_, n) => ({
    type: "message",
    role: n % 2 === 0 ? "user" : "assistant",
    content: long(n),
  }));
  for (const _ of [1, 2]) await app.post(`/v1/conversations/${String(id)}/items`, { items });
  const turn = () => app.post("/v1/responses", { model: "small", input: "and now?", conversation: id });
  const first = await turn();
  expect([first.status, first.headers.get("x-sallyport-compaction")?.split(";")[0]]).toEqual([200, "compacted"]);
  const made = summaries();
  expect(made).toBeGreaterThan(0);
  expect(asked()[0]?.text).toContain(FACT);
  expect((asked()[0]?.text ?? "").length).toBeLessThan(WINDOW * 5);
  await app.restart();
  const second = await turn();
  expect([second.status, second.headers.get("x-sallyport-compaction")?.split(";")[0]]).toEqual([200, "reused"]);
  expect([summaries(), asked()[1]?.text.includes(FACT)]).toEqual([made, true]);
  const list = await json(await app.call(`/v1/conversations/${String(id)}/items?limit=100&order=asc`));
  expect((list["data"] as Json[]).length).toBe(34);
  // If an item is deleted, the summary that includes it is deleted too.
  const first_id = String((list["data"] as Json[])[0]?.["id"]);
  await app.call(`/v1/conversations/${String(id)}/items/${first_id}`, { method: "DELETE" });
  const third = await turn();
  expect(third.headers.get("x-sallyport-compaction")?.split(";")[0]).toBe("compacted");
  expect(summaries()).toBeGreaterThan(made);
  // No thread of the same name was created.
  expect((await app.call(`/v1/threads/${String(id)}`)).status).toBe(404);
  await app.call(`/v1/conversations/${String(id)}`, { method: "DELETE" });
  expect((await turn()).status).toBe(404);
});

test("a thread of Anthropic's clients, who send no history that they could shorten", async () => {
  const ask = (content: string, thread: Json) =>
    app.post("/v1/messages", { model: "small", max_tokens: 50, messages: [{ role: "user", content }], thread });
  let thread: Json = { type: "create" };
  for (let n = 0; n < 24; n++) {
    const answer = await ask(long(n), thread);
    expect(answer.status).toBe(200);
    thread = { type: "continue", previous_message_id: (await json(answer))["id"] };
  }
  expect(summaries()).toBeGreaterThan(0);
  expect(asked().at(-1)?.text).toContain(FACT);
  const longest = Math.max(...asked().map(({ text }) => text.length));
  expect(longest).toBeLessThan(WINDOW * 5);
});
