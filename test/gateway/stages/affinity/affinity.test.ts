// A conversation stays on the route and the credential that it began with while they are healthy; first turns are routed by
// weight.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { say } from "../../../support/fake-model.ts";
import { type FakeUpstream, type Received, startUpstream } from "../../../support/upstream.ts";

let upstreams: FakeUpstream[];
let app: TestApp;
let calls: string[];
let down: Set<string>;
let limited: Set<string>;
beforeAll(async () => {
  upstreams = ["a", "b", "c"].map((name) => startUpstream((received) => answer(name, received)));
  app = await startTestApp({
    config: {
      providers: Object.fromEntries(
        ["a", "b", "c"].map((name, at) => [
          name,
          {
            kind: "anthropic",
            base_url: upstreams[at]?.baseUrl,
            api_keys: [1, 2, 3].map((n) => `${name}-${n}`),
            discover: false,
            retry: { attempts: 1 },
          },
        ]),
      ),
      models: [{ id: "m", routes: ["a", "b", "c"].map((provider) => ({ provider, model: "up" })) }],
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  for (const upstream of upstreams) await upstream.stop();
});
beforeEach(() => {
  calls = [];
  down = new Set();
  limited = new Set();
});

function answer(name: string, received: Received): Response {
  const key = received.headers.get("x-api-key") ?? "";
  if (down.has(name)) return new Response("{}", { status: 503 });
  if (limited.has(key)) return new Response("{}", { status: 429, headers: { "retry-after": "60" } });
  calls.push(key);
  return say(received, {
    text: "Well, hello there.",
    usage: { input: Math.ceil(received.text.length / 4), output: 5 },
  });
}

const ask = async (path: string, body: Record<string, unknown>) => {
  const answered = await app.post(path, { model: "m", ...body });
  expect(answered.status).toBe(200);
  await answered.text();
};
const chat = (more: Record<string, unknown>) =>
  ask("/v1/chat/completions", { messages: [{ role: "user", content: "hi" }], ...more });
const turns = (n: number, opening: string) => [
  { role: "user", content: opening },
  { role: "assistant", content: `Well, ${opening}` },
  ...Array.from({ length: n }, (_, i) => ({ role: i % 2 ? "assistant" : "user", content: `turn ${i}` })),
];
type Json = Record<string, unknown>;
const ON = { role: "user", content: "go on" };
const TIMES = [1, 2, 3, 4, 5, 6];

test.each<[string, (name: string) => Promise<void>]>([
  ["thread_id", (name) => chat({ thread_id: name })],
  ["conversation_id", (name) => chat({ conversation_id: name })],
  ["prompt_cache_key", (name) => chat({ prompt_cache_key: name })],
  [
    "prompt_cache_key of responses, streamed",
    (name) => ask("/v1/responses", { input: "hi", prompt_cache_key: name, stream: true }),
  ],
  [
    "metadata.user_id",
    (name) =>
      ask("/v1/messages", { max_tokens: 9, messages: [{ role: "user", content: "hi" }], metadata: { user_id: name } }),
  ],
])("by %s", async (kind, send) => {
  const places = new Set<string>();
  for (let conversation = 0; conversation < 12; conversation++) {
    calls = [];
    for (const _ of TIMES) await send(`${kind} ${conversation}`);
    expect(new Set(calls).size).toBe(1);
    places.add(String(calls[0]));
  }
  // Conversations are distributed over the providers and keys.
  expect(places.size).toBeGreaterThan(2);
});

test("by the messages up to the first answer", async () => {
  const places = new Set<string>();
  for (let conversation = 0; conversation < 12; conversation++) {
    calls = [];
    for (const turn of TIMES) await chat({ messages: turns(turn * 2 - 1, `opening ${conversation}`) });
    expect(new Set(calls).size).toBe(1);
    places.add(String(calls[0]));
  }
  expect(places.size).toBeGreaterThan(2);
});

/** What each format's client sends in a first turn, and in a second one after the answer. */
const SECOND: Record<string, (opening: string, answer: Json) => { first: Json; next: Json }> = {
  "/v1/chat/completions": (opening, answer) => {
    const first = { role: "user", content: opening };
    const choices = answer["choices"] as { message: Json }[] | undefined;
    return { first: { messages: [first] }, next: { messages: [first, choices?.[0]?.message, ON] } };
  },
  "/v1/responses": (opening, answer) => {
    const first = { role: "user", content: opening };
    const output = (answer["output"] ?? []) as Json[];
    return { first: { input: opening }, next: { input: [first, ...output, ON] } };
  },
  "/v1/messages": (opening, answer) => {
    const first = { role: "user", content: opening };
    const said = { role: "assistant", content: answer["content"] };
    return { first: { max_tokens: 9, messages: [first] }, next: { max_tokens: 9, messages: [first, said, ON] } };
  },
};

test.each(Object.entries(SECOND))("%s: the second turn follows the first, which had no name", async (path, of) => {
  for (const stream of [false, true]) {
    const places = new Set<string>();
    for (let conversation = 0; conversation < 12; conversation++) {
      calls = [];
      const opening = `opening ${path} ${stream} ${conversation}`;
      const answered = await app.post(path, { model: "m", stream, ...of(opening, {}).first });
      expect(answered.status).toBe(200);
      const heard = await answered.text();
      const answer = stream ? { ...of(opening, {}), ...wholeOf(heard) } : (JSON.parse(heard) as Json);
      const { next } = of(opening, answer);
      await ask(path, next);
      await ask(path, { ...next, stream: true });
      expect(calls).toHaveLength(3);
      expect(new Set(calls).size).toBe(1);
      places.add(String(calls[0]));
    }
    expect(places.size).toBeGreaterThan(2);
  }
});

/** Checks the text of an answer and returns the answer, whole or streamed. All events of a stream must repeat the same text. */
function wholeOf(heard: string): Json {
  expect(heard).toContain("there.");
  const content = "Well, hello there.";
  return {
    choices: [{ message: { role: "assistant", content } }],
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: content }] }],
    content: [{ type: "text", text: content }],
  };
}

test("a conversation keeps its place when its client continues from a compaction record alone", async () => {
  const places = new Set<string>();
  for (let conversation = 0; conversation < 12; conversation++) {
    calls = [];
    const stream = conversation % 2 === 0;
    const context_management = [{ type: "compaction", compact_threshold: 1200 }];
    const input = Array.from({ length: 21 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: `record ${conversation} ${at} ${"and so on ".repeat(30)}`,
    }));
    // The gateway already knows how the conversation begins.
    await ask("/v1/responses", { input: input.slice(0, 3) });
    const answered = await app.post("/v1/responses", { model: "m", input, stream, context_management });
    const heard = await answered.text();
    const last = stream ? (/^data: (.*"response.completed".*)$/m.exec(heard)?.[1] ?? "") : `{"response":${heard}}`;
    const { output } = (JSON.parse(last) as { response: { output: Json[] } }).response;
    expect(output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    await ask("/v1/responses", { input: [...output, ON], context_management });
    await ask("/v1/responses", { input: [...output, ON, ...output.slice(1), ON], context_management });
    // The summary is requested by a separate call.
    const turns = [calls[0], ...calls.slice(-3)];
    expect(new Set(turns).size).toBe(1);
    places.add(String(turns[0]));
  }
  expect(places.size).toBeGreaterThan(2);
});

test("first turns with the same text are routed by weight", async () => {
  for (let i = 0; i < 30; i++) await chat({});
  expect(new Set(calls).size).toBeGreaterThan(4);
});

test("a conversation uses another route while its own is unhealthy, and returns afterwards", async () => {
  await chat({ thread_id: "moving" });
  const [began = ""] = calls;
  limited.add(began);
  await chat({ thread_id: "moving" });
  expect(calls.at(-1)).not.toBe(began);
  // The key is skipped for a while, but the provider stays the same.
  expect(calls.at(-1)?.[0]).toBe(began.slice(0, 1));
  down.add(began.slice(0, 1));
  await chat({ thread_id: "moving" });
  expect(calls.at(-1)?.[0]).not.toBe(began.slice(0, 1));
  down.clear();
  await chat({ thread_id: "moving" });
  expect(calls.at(-1)?.[0]).toBe(began.slice(0, 1));
});
