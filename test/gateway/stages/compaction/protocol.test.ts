// Compaction in the protocols of the two vendors, with upstreams that support it and upstreams that do not.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { openStore } from "../../../../src/store/engine/open.ts";
import { messagesEntries } from "../../../../src/wire/messages/entries.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../../support/fake-model.ts";
import { type FakeUpstream, framesOf, startUpstream } from "../../../support/upstream.ts";
import { elementsOf, type Step } from "./fixture.ts";
import { tightUpstream } from "./tight-upstream.ts";

type Json = Record<string, unknown>;

let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  const provider = (kind: string, quirks: Json = {}) => ({
    kind,
    base_url: upstream.baseUrl,
    api_key: "k",
    discover: false,
    quirks,
  });
  app = await startTestApp({
    config: {
      providers: {
        ...Object.fromEntries(DIALECTS.map((name) => [name, provider(KINDS[name])])),
        "plain-responses": provider("openai-responses", { compaction: false }),
        "plain-messages": provider("anthropic", { compaction: false }),
      },
      models: [...DIALECTS, "plain-responses", "plain-messages"].map((id) => ({
        id,
        context_length: 20_000,
        routes: [{ provider: id, model: "up" }],
      })),
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

let summaries: string[];
beforeEach(() => {
  upstream.received.length = 0;
  const { seen, script } = tightUpstream({ window: 1e6, say: () => ({ text: "ok" }) });
  summaries = seen.summaries;
  upstream.answer(script);
});

const steps: Step[] = Array.from(
  { length: 20 },
  (_, n): Step =>
    n % 4 === 1
      ? { kind: "tools", calls: [{ id: `c${n}`, name: "read", args: `src/f${n}.ts`, result: "some lines" }] }
      : {
          kind: n % 4 === 0 ? "user" : "assistant",
          text: `fact-${n} is v${n}x in ${n % 4 === 0 ? "my" : "its"} words`,
        },
);
const input = elementsOf("openai-responses", steps);
const messages = elementsOf("anthropic-messages", steps);
const trigger = { type: "compaction_trigger" };
const THERE = ["openai-chat", "anthropic-messages", "gemini", "plain-responses"];

async function outputOf(answer: Response): Promise<Json[]> {
  expect(answer.status).toBe(200);
  if (!answer.headers.get("content-type")?.includes("event-stream"))
    return ((await answer.json()) as { output: Json[] }).output;
  const frames = (await framesOf(answer)).filter((frame) => frame !== "[DONE]") as {
    type: string;
    response?: { output: Json[] };
    item?: Json;
  }[];
  expect(frames.map(({ type }) => type)).toEqual([
    ...["response.created", "response.in_progress", "response.output_item.added", "response.output_item.done"],
    "response.completed",
  ]);
  expect(frames.at(-1)?.response?.output).toEqual([frames.at(-2)?.item ?? {}]);
  return frames.at(-1)?.response?.output ?? [];
}

describe.each(THERE)("responses over %s", (model) => {
  test.each([false, true])(
    "a trigger gives exactly one compaction item, and the next turn knows what it says; stream: %p",
    async (stream) => {
      const output = await outputOf(await app.post("/v1/responses", { model, input: [...input, trigger], stream }));
      expect(output).toEqual([
        { type: "compaction", id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
      ]);
      expect(JSON.stringify(output)).not.toContain("fact-2");
      expect(summaries).toHaveLength(1);
      upstream.received.length = 0;
      const users = input.filter(({ role }) => role === "user");
      const next = [...users, ...output, ...elementsOf("openai-responses", [{ kind: "user", text: "And now?" }])];
      expect((await app.post("/v1/responses", { model, input: next })).status).toBe(200);
      const got = upstream.received[0]?.text ?? "";
      for (const fact of ["fact-2 is v2x", "fact-0 is v0x", "src/f1.ts", "And now?"]) expect(got).toContain(fact);
      expect(got).not.toContain('encrypted_content":"sallyport');
      // The second compaction continues from the first one.
      await outputOf(await app.post("/v1/responses", { model, input: [...next, trigger] }));
      expect(summaries.at(-1)).toContain("The record so far");
      expect(summaries.at(-1)).toContain("fact-2 is v2x");
    },
  );
});

test("everything before the newest item is removed, except for messages of the user and the developer", async () => {
  const model = "openai-chat";
  const [item] = await outputOf(await app.post("/v1/responses", { model, input: [...input, trigger] }));
  upstream.received.length = 0;
  await app.post("/v1/responses", { model, input: [...input, item, { role: "user", content: "on" }] });
  const sent = upstream.received[0]?.json?.["messages"] as Json[];
  expect(sent.map(({ role }) => role)).toEqual(["user", "user", "user", "user", "user", "user", "user"]);
});

test("upstreams that support compaction get what the client sent", async () => {
  for (const body of [
    { model: "openai-responses", input: [...input, trigger] },
    { model: "openai-responses", input: [{ type: "compaction", encrypted_content: "gAAAvendor" }, ...input] },
    { model: "openai-responses", input, context_management: [{ type: "compaction", compact_threshold: 1000 }] },
  ]) {
    upstream.received.length = 0;
    expect((await app.post("/v1/responses", body)).status).toBe(200);
    expect(upstream.received[0]?.json).toMatchObject({ ...body, model: "up" });
  }
  const compaction = { type: "summarize", instructions: "Only names." };
  const block = {
    role: "assistant",
    content: [{ type: "compaction", content: "before", encrypted_content: "vendor" }],
  };
  for (const more of [{ compaction }, { messages: [block, ...messages] }]) {
    upstream.received.length = 0;
    const body = { model: "anthropic-messages", max_tokens: 10, messages, ...more };
    expect((await app.post("/v1/messages", body)).status).toBe(200);
    expect(upstream.received[0]?.json).toMatchObject({ ...body, model: "up" });
  }
});

test("an item of the gateway is opened before it is sent to an upstream that supports compaction", async () => {
  const [item] = await outputOf(await app.post("/v1/responses", { model: "openai-chat", input: [...input, trigger] }));
  upstream.received.length = 0;
  const answer = await app.post("/v1/responses", {
    model: "openai-responses",
    input: [item, { role: "user", content: "on" }],
  });
  expect(answer.status).toBe(200);
  expect(upstream.received[0]?.text).toContain("fact-2 is v2x");
  expect(upstream.received[0]?.text).not.toContain('"compaction"');
});

test("items that are not this account's, changed ones and another vendor's are 400", async () => {
  const [item] = (await outputOf(
    await app.post("/v1/responses", { model: "openai-chat", input: [...input, trigger] }),
  )) as [Json];
  const store = openStore({ dataDir: app.dataDir });
  const other = await accountStore(store).createAccount({ username: "other", email: "o@example.com", tier: "premium" });
  if ("refused" in other) throw new Error(other.refused);
  const { key } = await keyStore(store).createKey({ accountId: other.id, name: "k" });
  store.close();
  const sealed = String(item["encrypted_content"]);
  const changed = `${sealed.slice(0, 40)}${sealed[40] === "A" ? "B" : "A"}${sealed.slice(41)}`;
  const ask = (encrypted_content: string, headers: Record<string, string> = {}) =>
    app.post(
      "/v1/responses",
      { model: "openai-chat", input: [{ type: "compaction", encrypted_content }, ...input] },
      headers,
    );
  upstream.received.length = 0;
  for (const answer of [
    await ask(sealed, { authorization: `Bearer ${key}` }),
    await ask(changed),
    await ask("gAAAvendor"),
    await app.post("/v1/messages", {
      ...{ model: "openai-chat", max_tokens: 9 },
      messages: [
        { role: "assistant", content: [{ type: "compaction", content: "x", encrypted_content: changed }] },
        ...messages,
      ],
    }),
  ]) {
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: "invalid_compaction" } }]);
  }
  const early = await app.post("/v1/responses", { model: "openai-chat", input: [trigger, ...input] });
  expect([early.status, await early.json()]).toMatchObject([
    400,
    { error: { code: "invalid_request", param: "input[0]" } },
  ]);
  expect(upstream.received).toEqual([]);
});

describe.each(["openai-chat", "openai-responses", "gemini", "plain-messages"])("messages over %s", (model) => {
  test.each([false, true])("a requested summary is one compaction block; stream: %p", async (stream) => {
    const body = {
      model,
      max_tokens: 100,
      messages,
      stream,
      compaction: { type: "summarize", instructions: "Only names." },
    };
    const answer = await app.post("/v1/messages", body);
    expect(answer.status).toBe(200);
    let block: Json | undefined;
    if (stream) {
      const frames = (await framesOf(answer)) as Json[];
      const [said] = messagesEntries.streamed(frames) as { content: Json[] }[];
      expect(said?.content).toHaveLength(1);
      block = said?.content[0];
      const delta = frames.find(({ type }) => type === "message_delta")?.["delta"];
      expect(delta).toMatchObject({ stop_reason: "compaction" });
    } else {
      const whole = (await answer.json()) as { content: Json[]; stop_reason: string };
      expect(whole.stop_reason).toBe("compaction");
      expect(whole.content).toHaveLength(1);
      block = whole.content[0];
    }
    expect(block).toMatchObject({ type: "compaction", content: expect.stringContaining("fact-2 is v2x") });
    expect(summaries[0]).toContain("Only names.");
    upstream.received.length = 0;
    const next = [
      { role: "assistant", content: [block] },
      { role: "user", content: "And now?" },
    ];
    expect((await app.post("/v1/messages", { model, max_tokens: 9, messages: next })).status).toBe(200);
    expect(upstream.received[0]?.text).toContain("fact-2 is v2x");
    expect(upstream.received[0]?.text).not.toContain('"compaction"');
  });

  test("an open call is refused, a vendor's readable block becomes text, and a failed one is left out", async () => {
    const open = elementsOf("anthropic-messages", [
      { kind: "tools", calls: [{ id: "o", name: "x", args: "", result: "" }] },
    ])[0];
    const body = { model, max_tokens: 9, compaction: { type: "summarize" } };
    const refused = await app.post("/v1/messages", { ...body, messages: [...messages, open] });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "compaction" } }]);
    for (const content of ["what was before", null]) {
      upstream.received.length = 0;
      const held = {
        role: "assistant",
        content: [
          { type: "compaction", content },
          { type: "text", text: "since then" },
        ],
      };
      const list = [...messages, held, { role: "user", content: "And now?" }];
      expect((await app.post("/v1/messages", { model, max_tokens: 9, messages: list })).status).toBe(200);
      const got = upstream.received[0]?.text ?? "";
      expect(got).toContain("since then");
      expect(got.includes("what was before")).toBe(content !== null);
      expect(got.includes("fact-2 is v2x")).toBe(content === null);
    }
  });
});

describe("POST /v1/responses/compact", () => {
  const compact = async (body: Json) => {
    const answer = await app.post("/v1/responses/compact", body);
    return { status: answer.status, json: (await answer.json()) as Json & { output: Json[]; error: Json } };
  };

  test("an input is answered as OpenAI does: the user's messages, then one item", async () => {
    const { status, json } = await compact({ model: "openai-chat", input });
    expect(status).toBe(200);
    expect(json).toMatchObject({ object: "response.compaction", model: "openai-chat", compacted: true });
    expect(json.output.map(({ type, role }) => role ?? type)).toEqual([...Array(5).fill("user"), "compaction"]);
    expect(Number(json["messages_after"])).toBe(6);
    expect(Number(json["tokens_before"])).toBeGreaterThan(0);
    expect(json["usage"]).toMatchObject({ total_tokens: expect.any(Number) });
    upstream.received.length = 0;
    await app.post("/v1/responses", { model: "gemini", input: [...json.output, { role: "user", content: "on" }] });
    expect(upstream.received[0]?.text).toContain("fact-2 is v2x");
  });

  test("a second compaction continues from the first item, and returns only the new item", async () => {
    const first = await compact({ model: "openai-chat", input });
    const { json } = await compact({ model: "openai-chat", input: [...first.json.output, ...input.slice(-2)] });
    expect(json["compacted"]).toBe(true);
    expect(json.output.filter(({ type }) => type === "compaction")).toHaveLength(1);
    expect(JSON.stringify(json.output)).not.toContain("conversation_record");
    expect(summaries.at(-1)).toContain("The record so far");
    upstream.received.length = 0;
    await app.post("/v1/responses", { model: "gemini", input: [...json.output, { role: "user", content: "on" }] });
    expect(upstream.received[0]?.text.split("<conversation_record>")).toHaveLength(2);
    expect(upstream.received[0]?.text).toContain("fact-2 is v2x");
  });

  test("an input of few messages gives an item too, however long they are", async () => {
    const long = `begin ${"word after word ".repeat(60_000)} end`;
    for (const input of [
      "hi",
      [
        { role: "user", content: long },
        { role: "assistant", content: long },
      ],
    ]) {
      const { json } = await compact({ model: "openai-chat", input });
      const text = JSON.stringify(json.output);
      expect(json).toMatchObject({
        compacted: true,
        messages_before: typeof input === "string" ? 1 : 2,
        messages_after: 2,
      });
      expect(json.output).toMatchObject([
        { type: "message", role: "user", id: expect.stringMatching(/^msg_/), status: "completed" },
        { type: "compaction", id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
      ]);
      expect(json.output[0]?.["content"]).toMatchObject([{ type: "input_text", text: expect.any(String) }]);
      if (typeof input !== "string") {
        expect(Number(json["tokens_before"])).toBeGreaterThan(200_000);
        expect(Number(json["tokens_after"])).toBeLessThan(20_000);
        expect(text).toMatch(/begin word.*characters were left out.*word {2}end/);
      }
    }
  });

  test("a stored thread is compacted, and its next request is short", async () => {
    const kept = { model: "openai-chat", max_tokens: 9, messages, thread_id: "to-compact" };
    await (await app.post("/v1/messages", kept)).text();
    let done = await compact({ model: "openai-chat", thread_id: "to-compact" });
    // The thread is stored only after the answer has been sent.
    while (done.status === 404) done = await compact({ model: "openai-chat", thread_id: "to-compact" });
    expect(done.json).toMatchObject({ thread_id: "to-compact", compacted: true, messages_before: messages.length + 1 });
    expect(Number(done.json["messages_after"])).toBeLessThan(messages.length);
    const again = await compact({ model: "openai-chat", conversation_id: "to-compact" });
    expect(again.json).toMatchObject({ compacted: true, messages_after: done.json["messages_after"] });
    expect(summaries).toHaveLength(1);
  });

  test("invalid requests", async () => {
    expect(await compact({ model: "openai-chat", thread_id: "nobody's" })).toMatchObject({
      status: 404,
      json: { error: { code: "thread_not_found" } },
    });
    expect(await compact({ thread_id: "x" })).toMatchObject({ status: 400, json: { error: { param: "model" } } });
    expect(await compact({ model: "none", input })).toMatchObject({
      status: 404,
      json: { error: { code: "model_not_found" } },
    });
    expect(await compact({ model: "openai-chat" })).toMatchObject({ status: 400, json: { error: { param: "input" } } });
  });
});

describe.each<[string, () => Response]>([
  ["500", () => new Response("{}", { status: 500 })],
  ["401", () => new Response("{}", { status: 401 })],
  [
    "no text",
    () => Response.json({ choices: [{ message: { role: "assistant", content: "" }, finish_reason: "stop" }] }),
  ],
])("if the summariser answers %s", (_, refuse) => {
  const task = { role: "user", content: `the task: ${"do as was said ".repeat(60)} and keep to it` };
  const filler = Array.from({ length: 60 }, (__, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `turn ${n} begins ${"so it is ".repeat(200)}`,
  }));

  test.each([
    ["a short conversation", false, [task, ...input]],
    ["a short conversation", true, [task, ...input]],
    ["a long conversation", false, [task, ...filler, ...input]],
  ] as const)("the record of %s says so and keeps the user's words; stream: %p", async (length, stream, list) => {
    upstream.answer((received) =>
      received.text.includes("You keep the record") ? refuse() : say(received, { text: "ok" }),
    );
    const answer = await app.post("/v1/responses", { model: "openai-chat", stream, input: [...list, trigger] });
    expect(answer.headers.get("x-sallyport-compaction")).toMatch(/^truncated; before=\d+; after=\d+$/);
    const output = await outputOf(answer);
    expect(output).toHaveLength(1);
    upstream.received.length = 0;
    // The first provider may rest after its failures.
    await app.post("/v1/responses", { model: "gemini", input: [...output, { role: "user", content: "on" }] });
    const got = upstream.received.at(-1)?.text ?? "";
    for (const said of ["src/f1.ts", "fact-19 is v19x", task.content, "fact-16 is v16x"]) expect(got).toContain(said);
    expect(got).not.toContain("longer than the model's context");
    const omitted = /\[(\d+) earlier messages were left out without a summary\.\]/.exec(got)?.[1];
    if (length === "a short conversation") expect(omitted).toBeUndefined();
    // Every message is either quoted among the latest or counted.
    else expect(Number(omitted) + [...got.matchAll(/(?:USER|ASSISTANT|TOOL): /g)].length).toBe(list.length - 1);
  });

  test("POST /v1/responses/compact names it too", async () => {
    upstream.answer((received) =>
      received.text.includes("You keep the record") ? refuse() : say(received, { text: "ok" }),
    );
    const answer = await app.post("/v1/responses/compact", { model: "openai-chat", input: [task, ...input] });
    expect(answer.headers.get("x-sallyport-compaction")).toMatch(/^truncated; /);
  });
});
