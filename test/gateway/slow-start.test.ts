// If the upstream takes too long to start, the 200 is sent before its first event.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { whileSteady } from "../support/real-time.ts";
import { CUT, chatAnswer, chatChunk, type FakeUpstream, sse, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let up: FakeUpstream;

beforeAll(async () => {
  up = startUpstream();
  app = await startTestApp({
    peekMs: 50,
    config: {
      providers: {
        up: {
          kind: "openai",
          base_url: up.baseUrl,
          api_key: "up-secret-key",
          discover: false,
          retry: { attempts: 1 },
          breaker: { failures: 1000 },
        },
      },
      models: [
        { id: "m", routes: [{ provider: "up", model: "up-model" }] },
        { id: "tight", context_length: 4000, routes: [{ provider: "up", model: "up-model" }] },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const PING = 'event: ping\ndata: {"type": "ping"}\n\n';
const FORMATS: [string, string][] = [
  ["/v1/chat/completions", ": ping\n\n"],
  ["/v1/completions", ": ping\n\n"],
  ["/v1/responses", ": keepalive\n\n"],
  ["/v1/messages", PING],
];
const USER = [{ role: "user", content: "hi" }];
const PROMPTS: Record<string, Record<string, unknown>> = {
  "/v1/chat/completions": { messages: USER },
  "/v1/completions": { prompt: "hi" },
  "/v1/responses": { input: "hi" },
  "/v1/messages": { messages: USER, max_tokens: 5 },
  "/api/chat": { messages: USER },
  "/api/generate": { prompt: "hi" },
};
const squeeze = (text: string) => text.replaceAll(" ", "");

/** Sends the request. The provider answers with `late` as soon as the client has its headers. */
async function askSlowly(path: string, late: () => Response) {
  const headersSeen = Promise.withResolvers<void>();
  up.answer(async () => {
    await headersSeen.promise;
    return late();
  });
  const answer = await app.post(path, { model: "m", stream: true, ...PROMPTS[path] });
  expect(answer.status).toBe(200);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const first = decoder.decode((await reader.read()).value);
  headersSeen.resolve();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { first, rest };
    rest += decoder.decode(value);
  }
}

test.each(FORMATS)("%s: a keepalive, then the answer", async (path, keepalive) => {
  const pieces = [chatChunk({ role: "assistant" }), chatChunk({ content: "late" }), chatChunk({}, { finish: "stop" })];
  const { first, rest } = await askSlowly(path, () => sse([...pieces, "data: [DONE]\n\n"]));
  expect(squeeze(first)).toBe(squeeze(keepalive));
  // Values that were too late for the headers are sent as a comment before the answer.
  expect(rest).toStartWith(": x-sallyport-route: up/up-model\n\n");
  expect(rest).toContain("late");
  expect(rest).not.toContain('"error":{');
});

test.each(["/api/chat", "/api/generate"])("%s: lines of JSON get no comments", async (path) => {
  const pieces = [chatChunk({ role: "assistant" }), chatChunk({ content: "late" }), chatChunk({}, { finish: "stop" })];
  const { first, rest } = await askSlowly(path, () => sse([...pieces, "data: [DONE]\n\n"]));
  const lines = (first + rest).trimEnd().split("\n");
  expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => "object"));
  expect(rest).toContain("late");
});

test("a slow compaction is reported in the stream", async () => {
  const headersSeen = Promise.withResolvers<void>();
  up.answer(async ({ text }) => {
    await headersSeen.promise;
    if (text.includes("You keep the record")) return chatAnswer({ content: "## Task\nTalk." });
    return sse([chatChunk({ content: "late" }), chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]);
  });
  const messages = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `turn ${at} ${"and so on ".repeat(60)}`,
  }));
  const body = { model: "tight", stream: true, messages, thread_id: "slow" };
  const answer = await app.post("/v1/chat/completions", body);
  expect(answer.headers.get("x-sallyport-compaction")).toBeNull();
  headersSeen.resolve();
  expect(await answer.text()).toMatch(/\n: x-sallyport-compaction: compacted; before=\d+; after=\d+\n[\s\S]*late/);
});

test.each(FORMATS)("%s: a keepalive, then the family's error event", async (path, keepalive) => {
  const { first, rest } = await askSlowly(path, () => new Response("up-secret-key broke", { status: 500 }));
  expect(squeeze(first)).toBe(squeeze(keepalive));
  expect(rest).toContain('"provider_unavailable"');
  expect(rest).toContain('"request_id"');
  expect(rest).not.toContain("[DONE]");
  expect(rest).not.toContain("up-secret-key");
});

test("the call is aborted if the client disconnects before any content", async () => {
  up.answer(() => new Promise<Response>(() => {}));
  const asked = up.next();
  const gone = new AbortController();
  const answer = await app.call("/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify({ model: "m", stream: true, messages: USER }),
    headers: { "content-type": "application/json", "x-request-id": "left" },
    signal: gone.signal,
  });
  expect(answer.status).toBe(200);
  gone.abort();
  await (await asked).aborted;
  await app.flushLogs();
  expect(app.logs.find((line) => line["request_id"] === "left")).toMatchObject({ status: 200, client_gone: true });
});

/** Frames that open a stream without content, for the protocols in which the client could see the opening. */
const OPENINGS: [string, string, string][] = [
  ["/v1/chat/completions", "openai", chatChunk({ role: "assistant", content: "" })],
  [
    "/v1/messages",
    "anthropic",
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}\n\n',
  ],
  [
    "/v1/responses",
    "openai-responses",
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r","output":[]}}\n\n',
  ],
];

test.each(OPENINGS)(
  "%s: another route is tried until the first content, after the headers too",
  async (path, kind, opening) => {
    const spare = startUpstream();
    const entry = (url: string, kind: string) => ({
      kind,
      base_url: url,
      api_key: "k",
      discover: false,
      retry: { attempts: 1 },
    });
    const own = await startTestApp({
      config: {
        providers: { first: entry(up.baseUrl, kind), spare: entry(spare.baseUrl, "openai") },
        models: [
          {
            id: "two",
            routes: [
              { provider: "first", model: "x", priority: 1 },
              { provider: "spare", model: "x", priority: 2 },
            ],
          },
        ],
      },
    });
    const seen = Promise.withResolvers<void>();
    up.answer(() => sse([opening, seen.promise, CUT]));
    spare.answer(() =>
      sse([chatChunk({ content: "from the spare" }), chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]),
    );
    const answer = await whileSteady(async () => {
      const fromMs = performance.now();
      const given = await own.post(path, { model: "two", stream: true, ...PROMPTS[path] });
      // The headers are sent long before the ten seconds during which the stream is silent.
      expect(performance.now() - fromMs).toBeLessThan(9000);
      return given;
    });
    expect(answer.status).toBe(200);
    seen.resolve();
    const text = await answer.text();
    expect(text).toContain("from the spare");
    expect(text).not.toContain('"error":{');
    expect(text.match(/message_start|response\.created/g)?.length ?? 0).toBeLessThanOrEqual(2);
    await own.stop();
    await spare.stop();
  },
);
