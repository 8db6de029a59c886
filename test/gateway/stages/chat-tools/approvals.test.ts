// Calls that clients approve: they are made after everything that may refuse the request, and once. Tools that clients do not know of
// make no request fail.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { systemClock } from "../../../../src/base/clock.ts";
import { CallMemory } from "../../../../src/gateway/stages/chat-tools/call-memory.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { sampleServer } from "../../../mcp/sample-tools.ts";
import { startToolsApp } from "./fixture.ts";

const handler = createMcpHandler(() => sampleServer());
let calls = 0;
const http = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const sent = (await request.clone().json()) as { method?: string };
    if (sent.method === "tools/call") calls++;
    return handler.fetch(request);
  },
});
const files = { url: `http://127.0.0.1:${http.port}/mcp`, tools: ["echo"] };
const servers = { files };
const { app, upstream, config, plays, stop } = await startToolsApp({ mcp: { servers } });
afterAll(async () => {
  await stop();
  await handler.close();
  await http.stop(true);
});
beforeEach(() => {
  calls = 0;
});

type Json = Record<string, unknown>;
const FILES = { type: "mcp", server_label: "files", allowed_tools: ["echo"] };
let ids = 0;

/** A request with a call that its client approves. */
function approved(said = "Write."): Json {
  const id = `mcpr_${++ids}`;
  return {
    model: "m",
    store: false,
    tools: [FILES],
    input: [
      { role: "user", content: said },
      { type: "mcp_approval_request", id, server_label: "files", name: "echo", arguments: '{"n":1}' },
      { type: "mcp_approval_response", approval_request_id: id, approve: true },
    ],
  };
}

async function post(body: Json, key = app.key) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const response = await fetch(`${app.url}/v1/responses`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

describe.each([false, true])("approved calls, stream %p", (stream) => {
  const WORDS = { name: "w", on: ["input"], check: { kind: "words", words: ["kryptonite"] } };
  const question = { instructions: "Is it harmful?" };
  const ASKED = { name: "d", on: ["input"], check: { kind: "decision", model: "judge", question, at_least: 0.7 } };
  const backend = { kind: "systemone", routes: [{ provider: "up", model: "j" }] };
  const decisions = { models: [{ id: "judge", backend }] };

  test.each([
    ["reads first", WORDS, []],
    ["decides beside", ASKED, ["/v1/systemone"]],
  ])("a guardrail that %s: no call is made for what it refuses", async (_, guardrail, asked) => {
    await app.reconfigure(config({ mcp: { servers }, decisions, guardrails: [guardrail] }));
    upstream.received.length = 0;
    upstream.answer(() =>
      Response.json({ model: "j", answers: { asked: { type: "noul", noul: 1 } }, usage: { input_tokens: 1 } }),
    );
    const { status, text } = await post({ ...approved("kryptonite"), stream });
    expect([status, calls], text).toEqual([400, 0]);
    expect(upstream.received.map(({ path }) => path)).toEqual(asked);
    await app.reconfigure(config({ mcp: { servers } }));
  });

  test("a budget that is spent: no call is made", async () => {
    const store = await app.openStore();
    const { key } = await keyStore(store).createKey({ accountId: app.accountId, name: `b${stream}`, budgetMicros: 1 });
    await store.close();
    plays({ say: "Done." });
    expect((await post({ ...approved(), stream }, key)).status).toBe(200);
    expect(calls).toBe(1);
    const { status } = await post({ ...approved(), stream }, key);
    expect([status, calls]).toEqual([402, 1]);
  });

  test("a request that is sent again after its provider failed gets the result of the first call", async () => {
    const body = { ...approved(), stream };
    upstream.answer(() => new Response(null, { status: 400 }));
    const failed = await post(body);
    expect(failed.text).toContain("error");
    plays({ say: "Done." });
    const { status, text } = await post(body);
    expect([status, calls], text).toEqual([200, 1]);
    expect(text).toContain("Done.");
    expect(JSON.stringify(upstream.received[0]!.json!["messages"])).toContain("<result>");
    // Another approval is another call.
    plays({ say: "Done." });
    await post({ ...approved(), stream });
    expect(calls).toBe(2);
  });

  test("rounds of calls do not count the round in which approved calls are made", async () => {
    await app.reconfigure(config({ mcp: { servers }, chat_tools: { max_rounds: 2 } }));
    plays({ calls: [{ name: "files__echo", input: { n: 2 } }] }, { say: "Done." });
    const { text } = await post({ ...approved(), stream });
    expect([calls, upstream.received.length], text).toEqual([2, 2]);
    await app.reconfigure(config({ mcp: { servers } }));
  });
});

describe("a request that is sent again while its call is being made", () => {
  const call = { callId: "c", approvalId: "a", label: "files", name: "echo", input: "{}" };
  const DONE = { text: "done", isError: false };

  /** Two requests with one call: `first` is what comes of the call of the first one, for which the second waits. */
  async function twice(first: "made" | "failed" | "left") {
    const memory = new CallMemory(systemClock);
    const leaving = [new AbortController(), new AbortController()];
    const made: PromiseWithResolvers<typeof DONE>[] = [];
    const ask = ({ signal }: AbortController) =>
      memory.once("account", { call } as never, {
        make() {
          made.push(Promise.withResolvers());
          return made.at(-1)!.promise;
        },
        signal,
      });
    const asked = leaving.map(ask);
    const settled = Promise.allSettled(asked);
    if (first === "left") {
      leaving[1]!.abort("gone");
      await asked[1]!.catch(() => undefined);
    }
    made[0]![first === "failed" ? "reject" : "resolve"](first === "failed" ? (new Error("x") as never) : DONE);
    await asked[0]!.catch(() => undefined);
    // What a further call gives.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    made[1]?.resolve(DONE);
    return { calls: made.length, came: (await settled).map(({ status }) => status) };
  }

  test.each([
    ["made", 1, ["fulfilled", "fulfilled"]],
    ["failed", 2, ["rejected", "fulfilled"]],
    ["left", 1, ["fulfilled", "rejected"]],
  ] as const)("%s: there are %p calls", async (first, calls, came) => {
    expect(await twice(first)).toEqual({ calls, came: [...came] });
  });
});

describe.each([false, true])("tools that the client does not know of, stream %p", (stream) => {
  const AUTO = { mcp: { servers: { files: { ...files, auto: true } } } };
  const mine = { type: "function", function: { name: "mine", parameters: { type: "object" } } };
  const namesSent = (at: number) =>
    ((upstream.received[at]!.json!["tools"] ?? []) as { function: { name: string } }[]).map(
      ({ function: { name } }) => name,
    );

  async function ask(tools: Json[]) {
    const messages = [{ role: "user", content: "Hi" }];
    const response = await app.post("/v1/chat/completions", { model: "m", messages, tools, stream });
    return { status: response.status, text: await response.text() };
  }

  test("a provider that refuses them is asked again without them, and the client does not hear of them", async () => {
    await app.reconfigure(config(AUTO));
    const refuses = (isRefused: (names: string[]) => boolean) => {
      plays({ say: "Done." });
      upstream.received.length = 0;
      upstream.answer(({ json }) => {
        const names = ((json!["tools"] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
        const message = `Invalid schema for function '${names.at(-1)}': in context=().`;
        const error = { message, type: "invalid_request_error", param: "tools[0].function.parameters", code: null };
        if (isRefused(names)) return Response.json({ error }, { status: 400 });
        const choices = [{ index: 0, message: { role: "assistant", content: "Done." }, finish_reason: "stop" }];
        if (!stream) return Response.json({ id: "a", object: "chat.completion", created: 1, model: "m", choices });
        const chunk = { index: 0, delta: { content: "Done." }, finish_reason: "stop" };
        const line = { id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [chunk] };
        return new Response(`data: ${JSON.stringify(line)}\n\ndata: [DONE]\n\n`, {
          headers: { "content-type": "text/event-stream" },
        });
      });
    };
    refuses((names) => names.includes("files__echo"));
    const answered = await ask([mine]);
    expect([answered.status, answered.text.includes("Done.")], answered.text).toEqual([200, true]);
    expect([namesSent(0), namesSent(1)]).toEqual([["mine", "files__echo"], ["mine"]]);
    refuses(() => true);
    const refused = await ask([mine]);
    expect([refused.status, upstream.received.length]).toEqual([400, 2]);
    expect(refused.text).toContain("mine");
    expect(refused.text).not.toContain("files__");
    await app.reconfigure(config({ mcp: { servers } }));
  });

  test("they are left out beyond what every provider takes", async () => {
    await app.reconfigure(config(AUTO));
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...mine, function: { ...mine.function, name: `mine_${n}` } }));
    for (const [count, hidden] of [
      [127, 1],
      [128, 0],
    ] as const) {
      plays({ say: "Done." });
      expect((await ask(many(count))).status).toBe(200);
      expect(namesSent(0).filter((name) => name === "files__echo")).toHaveLength(hidden);
    }
    await app.reconfigure(config({ mcp: { servers } }));
  });
});
