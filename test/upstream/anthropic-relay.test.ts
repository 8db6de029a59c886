import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { relayStream, transcript, transcripts } from "../support/transcripts.ts";
import { chat, context, identity } from "./support.ts";

const DIALECT = "anthropic-messages";
const names = transcripts(DIALECT);
const relay = () => anthropicMessages.lossless.relay(identity);
const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (name: string) => new TextDecoder().decode(transcript(DIALECT, name));
const event = (type: string, fields: Record<string, unknown>) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const start = event("message_start", {
  message: { id: "msg_up", model: "up", usage: { input_tokens: 3, output_tokens: 1 } },
});
const call = (...fragments: string[]) =>
  event("content_block_start", { index: 0, content_block: { type: "tool_use", id: "t", name: "x", input: {} } }) +
  fragments
    .map((partial_json) =>
      event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } }),
    )
    .join("") +
  event("content_block_stop", { index: 0 });
const stop =
  event("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } }) +
  event("message_stop", {});
/** The argument text that the client ends up with. */
const argumentsIn = (text: string) =>
  parseFrames(text)
    .map((frame) => JSON.parse(frame.data))
    .filter((data) => data.delta?.type === "input_json_delta")
    .map((data) => data.delta.partial_json)
    .join("");
const lastData = (text: string) => JSON.parse(parseFrames(text).at(-1)?.data ?? "");

describe("relay", () => {
  test("figures after those of the first closing frame take precedence", () => {
    const one = relay();
    const stopped = (usage: unknown) => event("message_delta", { delta: { stop_reason: "end_turn" }, usage });
    const figures = { input_tokens: 900, output_tokens: 77 };
    const text = relayStream(
      one,
      bytesOf(start + stopped({ output_tokens: 0 }) + stopped(figures) + event("message_stop", {})),
    );
    expect(parseFrames(text).map((frame) => JSON.parse(frame.data).usage)).toContainEqual(figures);
    expect(one.usage).toEqual({ inputTokens: 900, outputTokens: 77 });
  });

  test.each(["anthropic-text", "anthropic-tools-parallel", "anthropic-thinking", "anthropic-server-tools"])(
    "%s passes byte for byte but for id and model",
    (name) => {
      const expected = textOf(name)
        .replace("claude-sonnet-4-5-20250929", "canonical")
        .replace("msg_01XFDUDYJgAACzvnptvVoYEL", "ours_1");
      const one = relay();
      expect(relayStream(one, transcript(DIALECT, name))).toBe(expected);
      expect(one).toMatchObject({ finished: true, committed: true, fault: undefined });
    },
  );

  test("any byte split gives the same text", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(4000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript(DIALECT, name);
        expect(relayStream(relay(), bytes, cuts)).toBe(relayStream(relay(), bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("a stream cut anywhere gives only whole JSON, and ends well or in an error", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(4000), (name, length) => {
        const one = relay();
        const text = relayStream(one, transcript(DIALECT, name).subarray(0, length));
        for (const frame of parseFrames(text)) if (frame.data !== "[DONE]") JSON.parse(frame.data);
        expect(one.finished).toBe(one.fault === undefined);
      }),
      { numRuns: 200 },
    );
  });

  test.each(names)("%s: usage and failure agree with the reader's", (name) => {
    const one = relay();
    relayStream(one, transcript(DIALECT, name));
    const reader = anthropicMessages.reader();
    const out: Parameters<typeof reader.end>[0] = [];
    for (const frame of parseFrames(textOf(name))) reader.push(frame, out);
    reader.end(out);
    const last = out.at(-1);
    const usage = last !== undefined && "usage" in last ? last.usage : undefined;
    // If the answer broke off, the relay counts the tokens of the part that was sent.
    if (last?.type === "error") expect(one.usage?.inputTokens).toBe(usage?.inputTokens as number);
    else expect(one.usage).toEqual(usage);
    expect((one.fault?.reported ?? one.fault?.code) as unknown).toBe(last?.type === "error" ? last.code : undefined);
  });

  test("unknown events, unknown members and comments pass untouched", () => {
    const strange = `: keepalive\n\n${event("brand_new", { x: 1.0e3 })}${start.replace('"id"', '"context_management":{"n":1e400},"id"')}`;
    const text = relay().push(strange);
    expect(text).toBe(strange.replace("msg_up", "ours_1").replace('"model":"up"', '"model":"canonical"'));
    expect(text).toContain("1e400");
  });

  test("output is counted, with every kind of escape", () => {
    const one = relay();
    relayStream(one, transcript(DIALECT, "anthropic-text"));
    expect(one.output.toString()).toBe("Grüße aus “Köln” 🚀 – done.\n\n");
    const other = relay();
    relayStream(other, transcript(DIALECT, "anthropic-lost-starts"));
    expect(other.output.toString()).toBe("hmno event lines");
  });

  test("nothing follows the answer's own end", () => {
    const one = relay();
    const text = start + call("{}") + stop;
    const end = relayStream(one, bytesOf(`${text}${event("error", { error: { type: "api_error" } })}data: null\n\n`));
    expect(end).toEndWith('data: {"type":"message_stop"}\n\n');
    expect([one.finished, one.fault]).toEqual([true, undefined]);
  });

  test("nothing is committed before the first block", () => {
    const one = relay();
    one.push(start + event("ping", {}));
    expect(one.committed).toBe(false);
    one.push(call());
    expect(one.committed).toBe(true);
  });
});

describe("tool arguments", () => {
  test("valid fragments pass byte for byte", () => {
    const text = call('{"a"', ":1}");
    expect(relay().push(text)).toBe(text);
  });

  test.each([
    ["a trailing comma", ['{"a":1', ",}"], '{"a":1}'],
    ["a cut-off string", ['{"path":"a.txt","text":"half'], '{"path":"a.txt","text":"half"}'],
    ["a cut-off key", ['{"a":1,"b'], '{"a":1,"b":null}'],
    ["rubbish after the whole", ['{"a":1}', "}}"], '{"a":1}'],
    ["a bare word", ['{"a":', "True}"], '{"a":true}'],
  ])("%s is repaired", (_name, fragments, whole) => {
    const text = relay().push(start + call(...fragments) + stop);
    expect(argumentsIn(text)).toBe(whole);
    JSON.parse(argumentsIn(text));
  });

  test("a call without an end event is repaired at the end of the answer", () => {
    const one = relay();
    const lost = call('{"a":1', ",}").replace(/event: content_block_stop\n.*\n\n/, "");
    const text = relayStream(one, bytesOf(start + lost + stop));
    expect(argumentsIn(text)).toBe('{"a":1}');
    expect([one.finished, text.endsWith('{"type":"message_stop"}\n\n')]).toEqual([true, true]);
    expect(relayStream(relay(), bytesOf(start + lost.replace("1", "<") + stop))).not.toContain("message_stop");
  });

  test("arguments that cannot be repaired end the stream with an error", () => {
    const one = relay();
    const text = relayStream(one, bytesOf(start + call('{"a":', "<<<>>>") + stop));
    expect(lastData(text)).toMatchObject({
      type: "error",
      error: { code: "tool_arguments_invalid", request_id: "req-1" },
    });
    expect(text).not.toContain("message_stop");
    expect(one.finished).toBe(false);
  });
});

describe("public failures", () => {
  test.each(["anthropic-cut-in-tool", "anthropic-broken-frame", "anthropic-error-overloaded"])(
    "21: %s ends with one error event that names the request, and no message_stop",
    (name) => {
      const one = relay();
      const text = relayStream(one, transcript(DIALECT, name));
      expect(text).toContain("event: error\n");
      expect(lastData(text)).toMatchObject({ type: "error", request_id: "req-1", error: { request_id: "req-1" } });
      expect(text).not.toContain("message_stop");
      expect(text).not.toContain("never");
      expect(one.fault).toBeDefined();
      expect(one.finished).toBe(false);
    },
  );

  test("18: an answer that broke off, or was left, counts what was streamed", () => {
    const one = relay();
    one.push(
      textOf("anthropic-error-overloaded").slice(0, textOf("anthropic-error-overloaded").indexOf("event: error")),
    );
    expect(one.usage).toEqual({
      inputTokens: 12,
      outputTokens: "I was about".length,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      estimated: true,
    });
  });

  test("24: the upstream's own error type stays readable", () => {
    const text = relayStream(relay(), transcript(DIALECT, "anthropic-error-overloaded"));
    expect(lastData(text).error).toMatchObject({
      type: "overloaded_error",
      message: "Overloaded",
      code: "provider_stream_interrupted",
    });
  });

  test("21: a stop reason without message_stop is a normal end", () => {
    const one = relay();
    expect(relayStream(one, transcript(DIALECT, "anthropic-no-message-stop"))).toEndWith(event("message_stop", {}));
    expect(one.finished).toBe(true);
  });
});

describe("lossless request", () => {
  const ask = (text: string, more: Partial<Parameters<typeof context>[0]> = {}, members = {}) =>
    anthropicMessages.lossless.request(text, chat({}), context(more), members);

  test("keeps every byte except the model", () => {
    const text = `{ "model":"fast",  "max_tokens":1e3, "thinking":{"type":"adaptive"},"future":[1.50,{"x":"\\u00e9"}],
      "messages":[{"role":"system","content":[]}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`;
    expect(ask(text).body).toBe(text.replace('"fast"', '"up"'));
  });

  test("forwards versions and unknown betas", () => {
    const clientHeaders = { "anthropic-version": "2030-01-01", "anthropic-beta": "a-1,b-2", cookie: "no" };
    expect(ask("{}", { clientHeaders }).headers).toEqual({
      "anthropic-version": "2030-01-01",
      "anthropic-beta": "a-1,b-2",
    });
    expect(ask("{}").headers).toEqual({ "anthropic-version": "2023-06-01" });
  });

  test("removes the gateway's own parameters and those that the provider refuses", () => {
    const sent = ask('{"model":"m","thread_id":"t","metadata":{"user_id":"u","thread_id":"t"},"top_k":3}', {
      quirks: { refuses: ["top_k"] },
    });
    expect(JSON.parse(sent.body)).toEqual({ model: "up", metadata: { user_id: "u" } });
    expect(sent.dropped).toEqual(["top_k"]);
  });

  test("members of the body take precedence", () => {
    expect(JSON.parse(ask('{"model":"m","messages":[1],"a":1}', {}, { messages: [2], a: undefined }).body)).toEqual({
      model: "up",
      messages: [2],
    });
  });
});

test("a whole answer keeps its bytes except id and model, and is read into events", () => {
  const text =
    '{"id":"msg_up","type":"message","model":"up","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","x":1.0,"usage":{"input_tokens":3,"output_tokens": 1}}';
  const { text: given, events } = anthropicMessages.lossless.result(text, identity);
  expect(given).toBe(text.replace("msg_up", "ours_1").replace('"up"', '"canonical"'));
  expect(events.map((one) => one.type)).toEqual(["start", "text-start", "text-delta", "text-end", "finish"]);
});

describe("fault", () => {
  const fault = (status: number, error: Record<string, unknown>, headers = {}) =>
    anthropicMessages.fault(status, JSON.stringify({ type: "error", error }), new Headers(headers));

  test.each([
    [401, "authentication_error", "invalid x-api-key", "auth"],
    [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "auth"],
    [403, "permission_error", "no", "auth"],
    [404, "not_found_error", "model: claude-x", "model_missing"],
    [400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum", "context_length"],
    [
      400,
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
      "context_length",
    ],
    [400, "invalid_request_error", "messages.0.content: Field required", "bad_request"],
    [413, "request_too_large", "Request exceeds the maximum size", "bad_request"],
    [429, "rate_limit_error", "slow", "rate_limited"],
    [500, "api_error", "oops", "unavailable"],
    [529, "overloaded_error", "Overloaded", "unavailable"],
  ] as const)("%i %s %s is %s", (status, type, message, kind) => {
    expect(fault(status, { type, message })).toMatchObject({
      kind,
      status: kind === "auth" ? expect.any(Number) : status,
      message,
    });
  });

  test("24: retry-after and the rate limit headers are kept, on 529 too", () => {
    const headers = { "retry-after": "7", "anthropic-ratelimit-requests-remaining": "0", "set-cookie": "x" };
    expect(fault(529, { type: "overloaded_error", message: "Overloaded" }, headers)).toMatchObject({
      retryAfterSeconds: 7,
      headers: { "retry-after": "7" },
      familyHeaders: { "anthropic-ratelimit-requests-remaining": "0" },
    });
    expect(fault(429, {}, headers).headers).not.toHaveProperty("set-cookie");
  });

  test("the parameter that caused the error is named", () => {
    expect(fault(400, { message: "messages.3.content.0.text: must not be empty" }).said.param).toBe(
      "messages[3].content[0].text",
    );
    expect(fault(400, { message: "Something: else" }).said.param).toBeUndefined();
  });

  test("a body that is not JSON is still shown", () => {
    expect(anthropicMessages.fault(502, "<html>", new Headers()).message).toContain("502");
  });
});
