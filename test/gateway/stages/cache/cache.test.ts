// Equal requests get the answer that was given before, in every format, whole and streamed, and nobody else's.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { cachedAnswerStore } from "../../../../src/store/work/cached-answers.ts";
import { startTestApp } from "../../../support/app.ts";
import { CUT, chatAnswer, chatChunk, type Received, sse, startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const CONFIG = {
  providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
  models: [
    { id: "m", aliases: ["m-also"], routes: [{ provider: "up", model: "up-model" }], prices: { input: 1, output: 2 } },
  ],
};
const withCache = (cache: object) => ({ ...CONFIG, cache });
const app = await startTestApp({ config: withCache({ mode: "on" }) });
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const USAGE = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
let asked = 0;
beforeEach(async () => {
  await cleared();
  asked = 0;
  upstream.answer(answerOnce);
});

/** Counts what is asked, and numbers the answers, so that no two are alike. */
function answerOnce(received: Received): Response {
  asked++;
  const text = `Answer ${asked}.`;
  if (received.json?.["stream"] !== true) return chatAnswer({ content: text }, { extra: { usage: USAGE } });
  const [first, ...rest] = text;
  return sse([
    chatChunk({ role: "assistant", content: first }),
    chatChunk({ content: rest.join("") }),
    chatChunk({}, { finish: "stop", usage: USAGE }),
    "data: [DONE]\n\n",
  ]);
}

/** Resolves when the gateway has what was sent before: it answers a later request only then. */
async function allAsked(): Promise<void> {
  expect((await app.call("/v1/models")).status).toBe(200);
}

async function cleared(): Promise<void> {
  const store = await app.openStore();
  await cachedAnswerStore(store).clearCache();
  await store.close();
}

interface Form {
  readonly path: string;
  body(text: string): Record<string, unknown>;
}

const FORMS: readonly Form[] = [
  { path: "/v1/chat/completions", body: (text) => ({ messages: [{ role: "user", content: text }], temperature: 0 }) },
  {
    path: "/v1/messages",
    body: (text) => ({ messages: [{ role: "user", content: text }], max_tokens: 50, temperature: 0 }),
  },
  { path: "/v1/responses", body: (text) => ({ input: text, temperature: 0 }) },
  {
    path: "/api/chat",
    body: (text) => ({ messages: [{ role: "user", content: text }], options: { temperature: 0 }, stream: false }),
  },
];
const CHAT = FORMS[0]!;

interface Given {
  readonly status: number;
  readonly cache: string | null;
  readonly text: string;
  readonly answer: string;
}

async function ask(
  form: Form,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Given> {
  const response = await app.post(form.path, { model: "m", ...form.body("Hello"), ...more }, headers);
  const text = await response.text();
  const pieces = [...text.matchAll(/"(?:content|text|delta)":"((?:Answer|A|nswer)[^"]*)"/g)].map(([, piece]) => piece);
  const answer = /Answer \d+\./.exec(pieces.join(""))?.[0] ?? "";
  return { status: response.status, cache: response.headers.get("x-sallyport-cache"), text, answer };
}

const streams = [false, true];
const CASES = FORMS.flatMap((form) =>
  streams.flatMap((first) => streams.map((second) => [form.path, first, second, form] as const)),
);

test.each(CASES)("%s: an equal request hits (stream %p, then %p)", async (_path, first, second, form) => {
  const given = await ask(form, { stream: first });
  expect(given).toMatchObject({ status: 200, cache: "miss", answer: "Answer 1." });
  const again = await ask(form, { stream: second });
  expect(again).toMatchObject({ status: 200, answer: "Answer 1." });
  expect(again.cache).toMatch(/^hit; age=\d+$/);
  expect(asked).toBe(1);
  // The figures of usage stay those of the answer.
  const figures = /"(?:prompt_tokens|input_tokens|prompt_eval_count)":11\b/;
  if (!second || form.path !== "/v1/chat/completions") expect(again.text).toMatch(figures);
  const ids = [given, again].map(({ text }) => /"id":"((?:chatcmpl|msg|resp)[^"]*)"/.exec(text)?.[1]);
  if (form.path !== "/api/chat") expect(new Set(ids).size).toBe(2);
});

/** What is said of each pair: whether the second request gets the answer of the first. */
const PAIRS: readonly [string, boolean, Record<string, unknown>, Record<string, unknown>][] = [
  ["an alias of the model", true, {}, { model: "m-also" }],
  [
    "what only concerns the answer's form or the books",
    true,
    {},
    {
      stream_options: { include_usage: true },
      user: "u",
      metadata: { a: "b" },
      prompt_cache_key: "k",
      safety_identifier: "s",
    },
  ],
  ["members in another order", true, { tools: [tool({ a: 1, b: 2 })] }, { tools: [tool({ b: 2, a: 1 })] }],
  ["another temperature that is 0", false, {}, { temperature: -0.0, top_p: 0.5 }],
  ["another text", false, {}, { messages: [{ role: "user", content: "Hello!" }] }],
  [
    "a number that a program reads as the same",
    false,
    { tools: [tool({ const: 1 })] },
    { tools: [tool({ const: 1 })], logit_bias: { 1: 0.1 } },
  ],
  ["ids of tool calls", true, { messages: called("call_a") }, { messages: called("call_b") }],
  [
    "ids of tool calls that are crossed",
    false,
    { messages: called("call_a", "call_b") },
    { messages: called("call_a", "call_a") },
  ],
];

function tool(schema: Record<string, unknown>) {
  return { type: "function", function: { name: "f", parameters: { type: "object", properties: { x: schema } } } };
}

function called(id: string, result = id) {
  const call = { id, type: "function", function: { name: "f", arguments: "{}" } };
  const other = { id: "call_b2", type: "function", function: { name: "f", arguments: "{}" } };
  return [
    { role: "user", content: "Hello" },
    { role: "assistant", content: null, tool_calls: [call, other] },
    { role: "tool", tool_call_id: result === id ? id : "call_b2", content: "1" },
    { role: "tool", tool_call_id: result === id ? "call_b2" : id, content: "2" },
  ];
}

test.each(PAIRS)("%s: hit %p", async (_name, hits, first, second) => {
  expect((await ask(CHAT, first)).cache).toBe("miss");
  expect((await ask(CHAT, second)).cache?.startsWith("hit")).toBe(hits);
});

const NOT_LOOKED_UP: readonly [string, Record<string, unknown>, Record<string, string>][] = [
  ["another temperature", { temperature: 0.5 }, {}],
  ["several choices", { n: 2 }, {}],
  ["an answer to store", { store: true }, {}],
  ["a search of the provider", { web_search_options: {} }, {}],
  ["no-store", {}, { "cache-control": "no-store" }],
  [
    "media by URL",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] }] },
    {},
  ],
];

test.each(NOT_LOOKED_UP)("%s is not looked up", async (_name, more, headers) => {
  for (let n = 0; n < 2; n++) expect((await ask(CHAT, more, headers)).cache).toBeNull();
});

test("a seed, and a wish for an age, are looked up too; no-cache keeps without reading", async () => {
  expect((await ask(CHAT, { temperature: 1, seed: 1 })).cache).toBe("miss");
  expect((await ask(CHAT, { temperature: 1, seed: 1 })).cache).toMatch(/^hit/);
  expect((await ask(CHAT, { temperature: 1 }, { "cache-control": "max-age=60" })).cache).toBe("miss");
  expect((await ask(CHAT, { temperature: 1 }, { "cache-control": "max-age=60" })).cache).toMatch(/^hit/);
  expect((await ask(CHAT, { temperature: 1 }, { "cache-control": "no-cache, max-age=60" })).answer).toBe("Answer 3.");
  expect((await ask(CHAT, { temperature: 1 }, { "cache-control": "max-age=60" })).answer).toBe("Answer 3.");
});

const FAILED: readonly [string, () => Response][] = [
  ["an error", () => Response.json({ error: { message: "no" } }, { status: 400 })],
  ["a limit of tokens", () => chatAnswer({ content: "Answer 1." }, { finish: "length" })],
  ["a refusal", () => chatAnswer({ content: "Answer 1." }, { finish: "content_filter" })],
  ["a stream that breaks off", () => sse([chatChunk({ content: "Answer 1." }), CUT])],
  ["a stream without an end", () => sse([chatChunk({ content: "Answer 1." })])],
];

test.each(FAILED)("%s is not kept", async (name, answer) => {
  const stream = name.includes("stream");
  upstream.answer(() => {
    asked++;
    return answer();
  });
  await ask(CHAT, { stream });
  upstream.answer(answerOnce);
  expect((await ask(CHAT, { stream })).cache).toBe("miss");
});

test("equal requests under way wait for the first", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answer(async (received) => {
    await gate.promise;
    return answerOnce(received);
  });
  const first = upstream.next();
  const all = Array.from({ length: 5 }, (_, n) => ask(CHAT, { stream: n % 2 === 1 }));
  await first;
  await allAsked();
  gate.resolve();
  const given = await Promise.all(all);
  expect(new Set(given.map(({ answer }) => answer))).toEqual(new Set(["Answer 1."]));
  expect(given.filter(({ cache }) => cache === "miss")).toHaveLength(1);
  expect(asked).toBe(1);
});

test("if the first fails, each of those that wait goes on alone", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answer(async () => {
    await gate.promise;
    upstream.answer(answerOnce);
    return Response.json({ error: { message: "no" } }, { status: 400 });
  });
  const first = upstream.next();
  const all = [ask(CHAT), ask(CHAT), ask(CHAT)];
  await first;
  await allAsked();
  gate.resolve();
  const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 400]);
  expect(asked).toBe(2);
});

test("parts of one request do not wait for each other", async () => {
  const cut = () => chatAnswer({ content: "Answer" }, { finish: "length", extra: { usage: USAGE } });
  upstream.answer(cut);
  const prompts = await app.post("/v1/completions", { model: "m", prompt: ["Hello", "Hello"], temperature: 0 });
  expect(prompts.status).toBe(200);
  expect(await prompts.json()).toMatchObject({ choices: [{ index: 0 }, { index: 1 }] });
  // The first fails, and the other name is of the same model.
  upstream.answer(() => Response.json({ error: { message: "no" } }, { status: 404 }));
  const models = await app.post(CHAT.path, { model: "m", ...CHAT.body("Hello"), models: ["m-also"] });
  expect(models.status).toBeGreaterThanOrEqual(400);
});

test("an account never gets the answer of another, a key that of another only if it may", async () => {
  const store = await app.openStore();
  const other = await accountStore(store).createAccount({
    username: "other",
    email: "o@example.com",
    tier: "premium",
    emailVerified: true,
  });
  if ("refused" in other) throw new Error(other.refused);
  const [foreign, sibling, silent] = [
    (await keyStore(store).createKey({ accountId: other.id, name: "k" })).key,
    (await keyStore(store).createKey({ accountId: app.accountId, name: "k" })).key,
    (await keyStore(store).createKey({ accountId: app.accountId, name: "s", noStore: true })).key,
  ];
  await store.close();
  const as = (key: string) => ask(CHAT, {}, { authorization: `Bearer ${key}` });
  expect((await ask(CHAT)).cache).toBe("miss");
  expect((await as(foreign)).cache).toBe("miss");
  expect((await as(sibling)).cache).toMatch(/^hit/);
  expect((await as(silent)).cache).toBeNull();
  await app.reconfigure(withCache({ mode: "on", share: "key" }));
  expect((await ask(CHAT)).cache).toBe("miss");
  expect((await as(sibling)).cache).toBe("miss");
  expect((await ask(CHAT)).cache).toMatch(/^hit/);
  await app.reconfigure(withCache({ mode: "ask" }));
  expect((await ask(CHAT)).cache).toBeNull();
  await app.reconfigure(withCache({ mode: "off" }));
  expect((await ask(CHAT, {}, { "cache-control": "max-age=60" })).cache).toBeNull();
  await app.reconfigure(withCache({ mode: "on" }));
});

test("a hit costs nothing in the books, and says so", async () => {
  const body = { model: "m", ...CHAT.body("Hello"), usage: { include: true } };
  const first = await app.post(CHAT.path, body);
  expect(Number(first.headers.get("x-sallyport-cost"))).toBeCloseTo(17e-6, 9);
  await first.text();
  const hit = await app.post(CHAT.path, body);
  expect(hit.headers.get("x-sallyport-cost")).toBe("0");
  expect(await hit.json()).toMatchObject({ usage: { prompt_tokens: 11, cost: 0 } });
  const metrics = await (await app.call("/metrics")).text();
  expect(metrics).toMatch(/sallyport_cache_requests_total\{model="m",result="hit"\} [1-9]/);
  expect(metrics).toMatch(/sallyport_cache_saved_usd_total\{model="m"\} 0\.0/);
});

test.each(streams)(
  "tools of the client keep their form: names that the provider does not take (stream %p)",
  async (stream) => {
    const name = `tool.${"x".repeat(80)}`;
    upstream.answer(({ json }) => {
      asked++;
      const { tools } = json as { tools: { function: { name: string } }[] };
      const call = { id: "call_1", type: "function", function: { name: tools[0]?.function.name, arguments: "{}" } };
      if (!stream) return chatAnswer({ content: null, tool_calls: [call] }, { finish: "tool_calls" });
      const begin = chatChunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] });
      return sse([begin, chatChunk({}, { finish: "tool_calls", usage: USAGE }), "data: [DONE]\n\n"]);
    });
    const tools = [{ type: "function", name, parameters: { type: "object", properties: {} } }];
    for (const cache of [/^miss$/, /^hit/]) {
      const given = await ask(FORMS[2]!, { tools, stream });
      expect(given.cache).toMatch(cache);
      const named = [...given.text.matchAll(/"name":"(tool[^"]*)"/g)].map(([, one]) => one);
      expect(new Set(named)).toEqual(new Set([name]));
      expect(given.text).toContain('"type":"function_call"');
    }
    expect(asked).toBe(1);
  },
);

test("answers outlive a restart, and are sealed in the database", async () => {
  await ask(CHAT);
  const store = await app.openStore();
  const rows = (await store.statement<{ content: Uint8Array }>("SELECT content FROM cached_answers").all()) ?? [];
  await store.close();
  expect(rows).toHaveLength(1);
  expect(Buffer.from(rows[0]!.content).toString("latin1")).not.toContain("Answer");
  await app.restart(withCache({ mode: "on" }));
  expect((await ask(CHAT)).cache).toMatch(/^hit/);
});

test("a stored response that is a hit has an id of its own, which continues", async () => {
  const responses = FORMS[2]!;
  const ids: string[] = [];
  for (let n = 0; n < 2; n++) {
    const { text } = await ask(responses, {});
    ids.push((JSON.parse(text) as { id: string }).id);
  }
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect((await app.call(`/v1/responses/${id}`)).status).toBe(200);
  const next = { input: "And now?", previous_response_id: ids[1] };
  expect((await ask(responses, next)).answer).toBe("Answer 2.");
  expect((await ask(responses, next)).cache).toMatch(/^hit/);
});

test("a conversation that the gateway may shorten is not looked up", async () => {
  const created = await app.post("/v1/conversations", {});
  const { id } = (await created.json()) as { id: string };
  for (let n = 0; n < 2; n++) expect((await ask(FORMS[2]!, { conversation: id })).cache).toBeNull();
  for (let n = 0; n < 2; n++) expect((await ask(CHAT, { thread_id: "t" })).cache).toBeNull();
});
