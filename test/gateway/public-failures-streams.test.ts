// Failures that users of other gateways reported publicly (usage, streams, sockets), each tested once through the running
// program. The name of the test contains the number and the reports.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { sseResponse } from "../../src/http/sse-response.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { startTestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { chatChunk, HANG } from "../support/upstream.ts";
import { chat, messages, startFailures } from "./failures-fixture.ts";

type Json = Record<string, unknown>;

const { app, config, upstream, spare, stream, scripted, raw, sent, forget, stop } = await startFailures();
afterAll(stop);
beforeEach(forget);

describe("usage", () => {
  test("16: asked for always, shown when asked, not where it is refused (Noveum/ai-gateway#30, litellm#23847)", async () => {
    scripted({ text: "Hi" });
    const quiet = await stream(chat, "chat", { stream_options: undefined });
    expect(quiet).not.toContain('"usage":{');
    expect(sent()["stream_options"]).toEqual({ include_usage: true });
    await stream(chat, "strict");
    expect(upstream.received[1]?.json).not.toHaveProperty("stream_options");
  });

  test("17: usage that comes after the finish is not zero (claude-code-router#1234)", async () => {
    scripted({ text: "Hi", usage: { input: 31, output: 8 } });
    expect(messages.streamed(await stream(messages, "chat")).usage).toMatchObject({ input: 31, output: 8 });
  });

  test("18: what was streamed to a client that left is counted (litellm#14457, #37558)", async () => {
    const own = await startTestApp({ config });
    raw(chatChunk({ role: "assistant", content: "one two three four five" }), HANG);
    const leave = new AbortController();
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ ...chat.body({ stream: true, tools: false }), model: "chat" });
    const response = await own.call(chat.path, { method: "POST", body, headers, signal: leave.signal });
    await (response.body as ReadableStream<Uint8Array>).getReader().read();
    leave.abort();
    await upstream.received[0]?.aborted;
    let total = 0;
    // The row is written in a batch a moment later.
    while (total === 0) {
      await Bun.sleep(20);
      const stats = (await (await own.call("/v1/stats/tokens")).json()) as Json;
      total = Number(stats["output_tokens"]);
    }
    expect(total).toBeGreaterThanOrEqual(5);
    await own.stop();
  });

  test("19: the limit holds for requests that come at once (litellm#6938, #10037)", async () => {
    const own = await startTestApp({ config, key: { rpm: 5 } });
    scripted({ text: "ok" });
    const body = { ...chat.body({ stream: false, tools: false }), model: "chat" };
    const answers = await Promise.all(Array.from({ length: 60 }, () => own.post(chat.path, body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(upstream.received).toHaveLength(5);
    await own.stop();
  });
});

/** What fills the silence in formats that have an event of their own for it, or no comments. */
const KEEPALIVES: Readonly<Record<string, RegExp>> = {
  "anthropic-messages": /^event: ping\n/,
  "ollama-chat": /^\{"message":\{"role":"assistant","content":""\},"done":false\}\n$/,
  "ollama-generate": /^\{"response":"","done":false\}\n$/,
};

describe("streams and sockets", () => {
  test.each([true, false])(
    "20: the upstream is let go with its client (litellm#13774, #30223; stream: %p)",
    async (streaming) => {
      upstream.answer(() => new Promise<Response>(() => {}));
      const asked = upstream.next();
      const leave = new AbortController();
      const body = JSON.stringify({ ...chat.body({ stream: streaming, tools: false }), model: "chat" });
      const headers = { "content-type": "application/json" };
      const pending = app
        .call(chat.path, { method: "POST", body, headers, signal: leave.signal })
        .catch(() => undefined);
      const { aborted } = await asked;
      leave.abort();
      await aborted;
      await pending;
    },
  );

  test.each(CLIENT_FORMATS)(
    "21: $name: a stream that dies says so (dativo-io/talon#254, opencode#39968)",
    async (of) => {
      raw(chatChunk({ role: "assistant", content: "Hi" }));
      const text = await stream(of, "chat", { tools: undefined });
      expect(of.failure(text)).toMatchObject(
        of.isTerse ? { message: expect.any(String) } : { code: "provider_stream_interrupted" },
      );
      expect(text).not.toMatch(/\[DONE\]|"done":true/);
    },
  );

  test("22: another route is taken until the first byte, for streams too (litellm#20870)", async () => {
    upstream.answer(() => Response.json({ error: { message: "slow down" } }, { status: 429 }));
    spare.answer((received) => say(received, { text: "from the spare" }));
    expect(chat.streamed(await stream(chat, "two", { tools: undefined })).text).toBe("from the spare");
    // A 200 whose first event is an error does not count as the start of the answer.
    raw(`data: ${JSON.stringify({ error: { message: "overloaded", code: "overloaded" } })}\n\n`);
    expect(chat.streamed(await stream(chat, "two", { tools: undefined })).text).toBe("from the spare");
  });

  test.each(WIRE_FORMATS.map((of) => [of.name, of] as const))(
    "23: %s: silence is filled (litellm#36024)",
    async (name, of) => {
      const source = { next: () => new Promise<undefined>(() => {}), cancel() {} };
      const signal = new AbortController().signal;
      const reader = sseResponse(source, { keepalive: of.keepalive, keepaliveMs: 10, signal }).body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      expect(new TextDecoder().decode(value as unknown as Uint8Array)).toMatch(KEEPALIVES[name] ?? /^:/);
      await reader?.cancel();
    },
  );

  test("24: a limit's headers reach the client, the error in its own words (litellm#37754, #37767)", async () => {
    const error = { type: "error", error: { type: "rate_limit_error", message: "slow down" } };
    const headers = { "retry-after": "30", "anthropic-ratelimit-requests-remaining": "0" };
    upstream.answer(() => Response.json(error, { status: 429, headers }));
    const own = await app.post("/v1/messages", { ...messages.body({ stream: true, tools: false }), model: "claude" });
    expect(own.status).toBe(429);
    expect(own.headers.get("retry-after")).toBe("30");
    expect(own.headers.get("anthropic-ratelimit-requests-remaining")).toBe("0");
    expect(await own.json()).toMatchObject({ type: "error", error: { code: "provider_rate_limited" } });
    const other = await app.post(chat.path, { ...chat.body({ stream: false, tools: false }), model: "claude" });
    expect(other.headers.get("retry-after")).toBe("30");
    expect(Object.keys((await other.json()) as Json)).toEqual(["error"]);
  });

  test("25: a failing provider is left alone, and the client told for how long (new-api#4585, #5420)", async () => {
    upstream.answer(() => new Response("down", { status: 500 }));
    const ask = () => app.post(chat.path, { ...chat.body({ stream: false, tools: false }), model: "fragile" });
    for (let i = 0; i < 2; i++) expect((await ask()).status).toBe(502);
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: "provider_circuit_open" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(1);
    expect(upstream.received).toHaveLength(2);
  });
});
