// Anthropic's `thread` with upstreams that have no threads: the gateway stores the conversation.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ChatTurn } from "../../../../src/gateway/centre/stage.ts";
import { createThreadsStage, type ThreadsDeps } from "../../../../src/gateway/stages/threads/stage.ts";
import { messagesFormat } from "../../../../src/wire/messages/format.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../../support/fake-model.ts";
import { chatChunk, type FakeUpstream, framesOf, HANG, sse, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const others = DIALECTS.filter((name) => name !== "anthropic-messages");
let upstream: FakeUpstream;
let app: TestApp;
const config = (enabled = true) => ({
  providers: {
    ...Object.fromEntries(
      others.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    claude: { kind: "anthropic", base_url: upstream.baseUrl, api_key: "k", discover: false },
    elder: { kind: "anthropic", base_url: upstream.baseUrl, api_key: "k", discover: false, quirks: { threads: false } },
  },
  models: [
    ...[...others, "claude", "elder"].map((id) => ({ id, routes: [{ provider: id, model: "up" }] })),
    // The provider without threads would be first.
    {
      id: "both",
      routes: ["elder", "claude"].map((provider, at) => ({ provider, model: provider, priority: at + 1 })),
    },
  ],
  tiers: { premium: { rpm: 1_000_000 } },
  compaction: { enabled },
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
  upstream.answer((received) => say(received, { text: `answer ${upstream.received.length}` }));
});

const user = (content: string) => [{ role: "user", content }];
async function turn(
  body: Json,
  stream = false,
  headers: Record<string, string> = {},
): Promise<{ status: number; id: string; json: Json }> {
  const answer = await app.post("/v1/messages", { max_tokens: 50, stream, ...body }, headers);
  if (!stream || answer.status !== 200) {
    const json = (await answer.json()) as Json;
    return { status: answer.status, id: String(json["id"]), json };
  }
  const [start] = (await framesOf(answer)) as { message: Json }[];
  return { status: 200, id: String(start?.message["id"]), json: {} };
}
const after = (previous_message_id: string) => ({ type: "continue", previous_message_id });
const refused = ({ status, json }: { status: number; json: Json }) => {
  const { error } = json as { error: { details?: Json } };
  return [status, error.details?.["error_code"]];
};

describe.each(others)("over %s", (model) => {
  test.each([false, true])(
    "each turn brings the whole conversation up, with instructions and tools; stream: %p",
    async (stream) => {
      const tools = [{ name: "look", input_schema: { type: "object" } }];
      let { id } = await turn(
        { model, system: "Be kind.", tools, messages: user("one"), thread: { type: "create" } },
        stream,
      );
      for (const said of ["two", "three"]) {
        const next = await turn({ model, messages: user(said), thread: after(id) }, stream);
        expect(next.status).toBe(200);
        ({ id } = next);
      }
      const last = upstream.received.at(-1)?.text ?? "";
      for (const said of ["Be kind.", "look", "one", "answer 1", "two", "answer 2", "three"])
        expect(last).toContain(said);
      expect(last).not.toContain("thread");
      // A thread survives a restart.
      await app.restart();
      expect((await turn({ model, messages: user("four"), thread: after(id) }, stream)).status).toBe(200);
      expect(upstream.received.at(-1)?.text).toContain("answer 3");
    },
  );
});

test("an answer whose client left in its middle is not kept: the turn may be sent again", async () => {
  const model = "openai-chat";
  const { id } = await turn({ model, messages: user("one"), thread: { type: "create" } });
  upstream.answer(() => sse([chatChunk({ role: "assistant" }), chatChunk({ content: "half of it" }), HANG]));
  const leaving = new AbortController();
  const asked = upstream.next();
  const answer = await app.call("/v1/messages", {
    method: "POST",
    body: JSON.stringify({ model, max_tokens: 50, stream: true, messages: user("two"), thread: after(id) }),
    signal: leaving.signal,
  });
  const reader = answer.body!.getReader();
  for (let text = ""; !text.includes("half"); ) text += Buffer.from((await reader.read()).value ?? []).toString();
  leaving.abort();
  await (await asked).aborted;
  await app.restart();
  upstream.answer((received) => say(received, { text: "again" }));
  expect((await turn({ model, messages: user("two"), thread: after(id) })).status).toBe(200);
});

test.each([{}, { type: "x" }, { type: null }])(
  "a thread that neither begins nor continues is refused: %j",
  async (thread) => {
    const { status, json } = await turn({ model: "elder", messages: user("one"), thread });
    expect([status, json["error"]]).toMatchObject([400, { message: expect.stringContaining("thread.type") }]);
    expect(upstream.received).toHaveLength(0);
  },
);

test("a thread that cannot be continued is refused with the vendor's error", async () => {
  const model = "openai-chat";
  const begin = { model, system: "Be kind.", messages: user("one"), thread: { type: "create" } };
  const { id } = await turn(begin);
  expect(refused(await turn({ model, messages: user("x"), thread: after("msg_none") }))).toEqual([
    404,
    "thread_not_found",
  ]);
  expect(refused(await turn({ model, system: "Be rude.", messages: user("x"), thread: after(id) }))).toEqual([
    400,
    "thread_fingerprint_mismatch",
  ]);
  const gate = Promise.withResolvers<void>();
  upstream.answer(async (received) => {
    await gate.promise;
    return say(received, { text: "late" });
  });
  const waiting = upstream.next();
  const first = turn({ model, messages: user("two"), thread: after(id) });
  await waiting;
  expect(refused(await turn({ model, messages: user("x"), thread: after(id) }))).toEqual([
    400,
    "thread_continue_in_flight",
  ]);
  gate.resolve();
  expect((await first).status).toBe(200);
  expect(refused(await turn({ model, messages: user("x"), thread: after(id) }))).toEqual([
    400,
    "thread_already_continued",
  ]);
  // A failed turn may be sent again.
  const { id: next } = await first;
  upstream.answer(() => new Response("{}", { status: 400 }));
  expect((await turn({ model, messages: user("x"), thread: after(next) })).status).toBe(400);
  upstream.answer((received) => say(received, { text: "well" }));
  expect((await turn({ model, messages: user("x"), thread: after(next) })).status).toBe(200);
});

/** The errors of servers without threads: the vendor's own error, or the error for an unknown parameter. */
const REFUSALS: readonly (readonly [string, Json])[] = [
  [
    "the vendor's own",
    { message: "Threads cannot do this.", details: { error_code: "thread_unsupported_request", unsupported: ["x"] } },
  ],
  ["an unknown parameter", { message: "thread: Extra inputs are not permitted" }],
  ["an unknown beta", { message: "Unexpected value(s) `message-threads-2026-08-12` for the `anthropic-beta` header." }],
];
describe.each(REFUSALS)("a provider of the same protocol that refuses: %s", (_name, error) => {
  test.each([false, true])("the gateway stores the thread from its first answer on; stream: %p", async (stream) => {
    upstream.answer((received) => {
      const { json, headers } = received;
      const asks =
        json?.["thread"] !== undefined || headers.get("anthropic-beta")?.includes("message-threads") === true;
      if (!asks) return say(received, { text: `answer ${upstream.received.length}` });
      return Response.json({ type: "error", error: { type: "invalid_request_error", ...error } }, { status: 400 });
    });
    const betas = { "anthropic-beta": "message-threads-2026-08-12,other-2026" };
    const begin = { model: "claude", system: "Be kind.", messages: user("one"), thread: { type: "create" } };
    const first = await turn(begin, stream, betas);
    expect([first.status, upstream.received.length]).toEqual([200, 2]);
    expect(upstream.received[1]?.headers.get("anthropic-beta")).toBe("other-2026");
    const second = await turn({ model: "claude", messages: user("two"), thread: after(first.id) }, stream, betas);
    expect([second.status, upstream.received.length]).toEqual([200, 3]);
    for (const said of ["Be kind.", "one", "answer 2", "two"]) expect(upstream.received[2]?.text).toContain(said);
    // For an answer that the gateway does not know, the provider is asked.
    expect(refused(await turn({ model: "claude", messages: user("x"), thread: after("msg_none") }))[0]).toBe(404);
  });
});

test("a provider that is known to have no threads is not asked for one", async () => {
  const first = await turn({ model: "elder", messages: user("one"), thread: { type: "create" } });
  const second = await turn({ model: "elder", messages: user("two"), thread: after(first.id) });
  expect([first.status, second.status, upstream.received.length]).toEqual([200, 200, 2]);
  for (const said of ["one", "answer 1", "two"]) expect(upstream.received[1]?.text).toContain(said);
});

test("any other error is passed on, and nothing is stored", async () => {
  upstream.answer(() =>
    Response.json(
      { type: "error", error: { type: "invalid_request_error", message: "max_tokens: no" } },
      { status: 400 },
    ),
  );
  const answer = await turn({ model: "claude", messages: user("one"), thread: { type: "create" } });
  expect([answer.status, upstream.received.length]).toEqual([400, 1]);
});

test("a refused thread stays with the gateway when the provider fails and is tried again", async () => {
  const unsupported = { message: "No.", details: { error_code: "thread_unsupported_request", unsupported: ["x"] } };
  let failures = 0;
  upstream.answer((received) => {
    if (received.json?.["thread"] !== undefined)
      return Response.json(
        { type: "error", error: { type: "invalid_request_error", ...unsupported } },
        { status: 400 },
      );
    return failures++ === 0 ? new Response("{}", { status: 503 }) : say(received, { text: "well" });
  });
  const answer = await turn({ model: "claude", messages: user("one"), thread: { type: "create" } });
  expect([answer.status, upstream.received.length]).toEqual([200, 3]);
});

test.each([
  ["refuses threads and fails", [400, 503]],
  ["fails", [503]],
] as const)(
  "a new thread goes on at a provider without threads when the one with threads %s",
  async (_why, failures) => {
    const left = [...failures];
    const unsupported = { message: "No.", details: { error_code: "thread_unsupported_request", unsupported: ["x"] } };
    upstream.answer((received) => {
      if (received.json?.["model"] === "elder") return say(received, { text: "the elder's" });
      const error = { type: "error", error: { type: "invalid_request_error", ...unsupported } };
      return Response.json(error, { status: left.shift() ?? 503 });
    });
    const first = await turn({ model: "both", messages: user("one"), thread: { type: "create" } });
    expect(first.status).toBe(200);
    const asked = upstream.received.map(({ json }) => [json?.["model"], json?.["thread"] !== undefined]);
    expect(asked[0]).toEqual(["claude", true]);
    expect(asked.at(-1)).toEqual(["elder", false]);
    upstream.answer((received) => say(received, { text: "well" }));
    expect((await turn({ model: "both", messages: user("two"), thread: after(first.id) })).status).toBe(200);
    for (const said of ["one", "the elder's", "two"]) expect(upstream.received.at(-1)?.text).toContain(said);
  },
);

test("the text of an answer is not kept while its provider holds the thread", () => {
  const stage = createThreadsStage({} as ThreadsDeps);
  const opened = stage.open({ format: messagesFormat, body: { thread: { type: "create" } } } as unknown as ChatTurn);
  expect(opened?.readsText).toBe(false);
});

test("with compaction off no text is stored, and the error tells the client to send its history", async () => {
  await app.reconfigure(config(false));
  const answer = await turn({ model: "openai-chat", messages: user("one"), thread: { type: "create" } });
  expect(refused(answer)).toEqual([400, "thread_unsupported_request"]);
  await app.reconfigure(config());
});
