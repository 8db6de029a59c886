// Conversations that an upstream stores, with Anthropic's own client library. Its tool runner starts a conversation by
// itself and then sends only new messages. The upstream here stores conversations as Anthropic's does, and loses or
// refuses them if a test tells it to.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { type FakeUpstream, type Received, startUpstream } from "../support/upstream.ts";
import { WEATHER } from "./fixture.ts";

type Json = Record<string, unknown>;

interface Holder extends FakeUpstream {
  /** The messages that precede each answer. */
  held: Map<string, unknown[]>;
  /** What it does instead of storing conversations. */
  mood: { forgetsNext: boolean; refuses: boolean };
}

/** An upstream that stores threads; their ids begin with `name`. */
function startHolder(name: string): Holder {
  const held = new Map<string, unknown[]>();
  let answers = 0;
  const mood = { forgetsNext: false, refuses: false };
  const upstream = startUpstream(async (received) => {
    const { thread, messages = [] } = received.json as { thread?: Json; messages?: unknown[] };
    if (mood.refuses && thread !== undefined) {
      const details = { error_code: "thread_unsupported_request", unsupported: ["hipaa"] };
      return refusal(400, "invalid_request_error", details);
    }
    const previous = thread?.["previous_message_id"];
    if (mood.forgetsNext && previous !== undefined) {
      mood.forgetsNext = false;
      held.clear();
    }
    const earlier = previous === undefined ? [] : held.get(String(previous));
    if (earlier === undefined) return refusal(404, "not_found_error", { error_code: "thread_not_found" });
    const id = `msg_${name}${++answers}`;
    const history = [...earlier, ...messages];
    const text = JSON.stringify(history);
    const answer = say(
      received,
      text.includes(WEATHER)
        ? { text: `It is ${WEATHER}. ${history.length} messages.` }
        : { calls: [{ id: "toolu_1", name: "weather", args: { city: "Oslo" } }] },
    );
    if (thread !== undefined) held.set(id, [...history, { role: "assistant", content: "…" }]);
    return new Response((await answer.text()).replaceAll("msg_up", id), { headers: answer.headers });
  });
  return Object.assign(upstream, { held, mood });
}

function refusal(status: number, type: string, details: Json): Response {
  return Response.json({ type: "error", error: { type, message: "No such conversation.", details } }, { status });
}

let one: Holder;
let two: Holder;
let app: TestApp;
let anthropic: Anthropic;
beforeAll(async () => {
  one = startHolder("one");
  two = startHolder("two");
  const provider = (baseUrl: string) => ({ kind: "anthropic", base_url: baseUrl, api_key: "k", discover: false });
  app = await startTestApp({
    config: {
      providers: { one: provider(one.baseUrl), two: provider(two.baseUrl) },
      models: [
        { id: "m", routes: [{ provider: "one", model: "up" }] },
        { id: "both", routes: ["one", "two"].map((name) => ({ provider: name, model: "up" })) },
      ],
      tiers: { premium: { rpm: 10_000 } },
    },
  });
  anthropic = new Anthropic({ baseURL: app.url, apiKey: app.key, maxRetries: 0 });
});
afterAll(async () => {
  await app.stop();
  await one.stop();
  await two.stop();
});
beforeEach(() => {
  one.received.length = 0;
  one.held.clear();
  two.received.length = 0;
});

const ask = [{ role: "user" as const, content: "How warm is it in Oslo?" }];
const input_schema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"] as const,
};
const weather = betaTool({ name: "weather", description: "Weather", inputSchema: input_schema, run: () => WEATHER });
const body = { model: "m", max_tokens: 100, messages: ask };
const threadsOf = (received: readonly Received[]) => received.map(({ json }) => json?.["thread"]);
const textOf = ({ content }: { content: unknown }) => (content as { text?: string }[])[0]?.text;

describe.each([false, true])("stream: %p", (stream) => {
  const run = (model = "m") =>
    anthropic.beta.messages.toolRunner({ ...body, model, tools: [weather], stream }).runUntilDone();

  test("the tool runner goes on where the upstream is", async () => {
    expect(textOf(await run())).toBe(`It is ${WEATHER}. 3 messages.`);
    const previous_message_id = [...one.held.keys()].at(-2);
    expect(previous_message_id).toStartWith("msg_one");
    expect(threadsOf(one.received)).toEqual([{ type: "create" }, { type: "continue", previous_message_id }]);
    expect(one.received[1]?.json?.["messages"]).toHaveLength(1);
  });

  test("a thread that the upstream forgot is begun again with the whole history", async () => {
    one.mood.forgetsNext = true;
    expect(textOf(await run())).toBe(`It is ${WEATHER}. 3 messages.`);
    expect(threadsOf(one.received).map((thread) => (thread as Json)["type"])).toEqual(["create", "continue", "create"]);
  });

  test("where threads are refused the runner goes on without", async () => {
    one.mood.refuses = true;
    try {
      expect(textOf(await run())).toBe(`It is ${WEATHER}. 3 messages.`);
    } finally {
      one.mood.refuses = false;
    }
    expect(threadsOf(one.received)).toEqual([{ type: "create" }, undefined, undefined]);
  });

  test("of several providers the one that holds the thread is asked", async () => {
    for (let i = 0; i < 8; i++) expect(textOf(await run("both"))).toBe(`It is ${WEATHER}. 3 messages.`);
    expect(one.received.length + two.received.length).toBe(16);
  });

  test("a thread by hand", async () => {
    const thread = anthropic.beta.messages.thread({ ...body, tools: [{ name: "weather", input_schema }] });
    const first = stream ? await thread.stream().finalMessage() : await thread.send();
    expect(first.stop_reason).toBe("tool_use");
    const result = [{ type: "tool_result" as const, tool_use_id: "toolu_1", content: WEATHER }];
    const turn = [{ role: "user" as const, content: result }];
    const second = stream ? await thread.stream(turn).finalMessage() : await thread.send(turn);
    expect(textOf(second)).toBe(`It is ${WEATHER}. 3 messages.`);
    expect(second.id).toStartWith("msg_one");
  });
});

describe("another account", () => {
  test("cannot go on with a thread", async () => {
    const begun = await post(app.key, { ...body, thread: { type: "create" } });
    const { id } = (await begun.json()) as { id: string };
    const thread = { type: "continue", previous_message_id: id };
    one.received.length = 0;
    const other = await otherKey();
    const refused = await post(other, { ...body, thread });
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({
      type: "error",
      error: { code: "thread_not_found", details: { error_code: "thread_not_found" } },
    });
    const counted = await app.post("/v1/messages/count_tokens", { model: "m", messages: ask, thread }, as(other));
    expect(counted.status).toBe(404);
    expect(one.received).toHaveLength(0);
    expect((await post(app.key, { ...body, messages: [], thread })).status).toBe(200);
  });
});

test("answers outside threads have ids of ours", async () => {
  const answer = (await (await post(app.key, body)).json()) as { id: string };
  expect(answer.id).toMatch(/^msg_[0-9a-f]{32}$/);
});

test("no messages at all are taken in a thread only", async () => {
  expect((await post(app.key, { ...body, messages: [] })).status).toBe(400);
  expect((await post(app.key, { ...body, messages: [], thread: { type: "create" } })).status).toBe(400);
});

function post(key: string, json: Json): Promise<Response> {
  return app.post("/v1/messages", json, as(key));
}

function as(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

async function otherKey(): Promise<string> {
  const store = openStore({ dataDir: app.dataDir });
  try {
    const account = await accountStore(store).createAccount({
      username: "other",
      email: "other@example.com",
      tier: "premium",
      emailVerified: true,
    });
    if ("refused" in account) throw new Error(account.refused);
    return (await keyStore(store).createKey({ accountId: account.id, name: "other" })).key;
  } finally {
    store.close();
  }
}
