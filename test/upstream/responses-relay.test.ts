import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import { relayStream, transcript, transcripts } from "../support/transcripts.ts";
import { chat, context, identity } from "./support.ts";

const DIALECT = "openai-responses";
const names = transcripts(DIALECT);
const good = names.filter((name) => !/failed|error|cut|broken/.test(name));
const relay = () => openaiResponses.lossless.relay(identity);
const textOf = (name: string) => new TextDecoder().decode(transcript(DIALECT, name));
const bytesOf = (text: string) => new TextEncoder().encode(text);
const dataOf = (text: string) =>
  parseFrames(text)
    .filter((frame) => frame.data !== "[DONE]")
    .map((frame) => JSON.parse(frame.data));

describe("relay", () => {
  test.each(good.filter((name) => !name.includes("unstable")))(
    "%s passes byte for byte but for id and model",
    (name) => {
      const expected = textOf(name)
        .replaceAll("gpt-5-2025-08-07", "canonical")
        .replaceAll("resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654", "ours_1");
      const one = relay();
      expect(relayStream(one, transcript(DIALECT, name))).toBe(`${expected}data: [DONE]\n\n`);
      expect([one.finished, one.committed, one.fault]).toEqual([true, true, undefined]);
    },
  );

  test("any byte split gives the same text", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(6000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript(DIALECT, name);
        expect(relayStream(relay(), bytes, cuts)).toBe(relayStream(relay(), bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("a stream cut anywhere gives only whole JSON, and ends well or in an error", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(6000), (name, length) => {
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
    const reader = openaiResponses.reader();
    const out: Parameters<typeof reader.end>[0] = [];
    for (const frame of parseFrames(textOf(name))) reader.push(frame, out);
    reader.end(out);
    const last = out.at(-1);
    expect(one.usage).toEqual(last !== undefined && "usage" in last ? last.usage : undefined);
    expect((one.fault?.reported ?? one.fault?.code) as unknown).toBe(last?.type === "error" ? last.code : undefined);
  });

  test("8: one id from created to completed, even if the upstream's ids differ", () => {
    const ids = dataOf(relayStream(relay(), transcript(DIALECT, "responses-tools-parallel")))
      .filter((data) => data.response !== undefined)
      .map((data) => [data.response.id, data.response.model]);
    expect(new Set(ids.map(String))).toEqual(new Set(["ours_1,canonical"]));
    expect(ids).toHaveLength(3);
  });

  test("a terminator of the upstream's is not doubled", () => {
    const text = relayStream(relay(), transcript(DIALECT, "responses-unstable-ids"));
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(text).toEndWith("data: [DONE]\n\n");
  });

  test("unknown events, members and comments pass untouched", () => {
    const strange = ': hi\n\nevent: response.future\ndata: {"type":"response.future","n":1e400,"x":1.0}\n\n';
    expect(relay().push(strange)).toBe(strange);
  });

  test("output is counted without escapes", () => {
    const one = relay();
    relayStream(one, transcript(DIALECT, "responses-text"));
    expect(one.output.toString()).toBe('Grüße “from” 🚀\n\nend "q" \\ x');
  });
});

/** A stream with one call whose argument fragments are given. */
function withCall(...fragments: string[]): string {
  let n = 0;
  const event = (type: string, fields: Record<string, unknown>) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: n++, ...fields })}\n\n`;
  const place = { item_id: "fc_1", output_index: 0 };
  const whole = fragments.join("");
  const item = { id: "fc_1", type: "function_call", call_id: "call_1", name: "f", arguments: whole };
  return (
    event("response.created", { response: { id: "resp_up", model: "up", status: "in_progress", output: [] } }) +
    event("response.output_item.added", { output_index: 0, item: { ...item, arguments: "" } }) +
    fragments.map((delta) => event("response.function_call_arguments.delta", { ...place, delta })).join("") +
    event("response.function_call_arguments.done", { ...place, arguments: whole }) +
    event("response.output_item.done", { output_index: 0, item }) +
    event("response.output_text.delta", { item_id: "m", output_index: 1, content_index: 0, delta: "x" }) +
    event("response.completed", { response: { id: "resp_up", model: "up", status: "completed", output: [item] } })
  );
}

describe("tool arguments", () => {
  test.each([
    ["a trailing comma", ['{"a":1', ",}"], '{"a":1}'],
    ["a cut-off string", ['{"a":"half'], '{"a":"half"}'],
    ["nothing at all", [], "{}"],
  ])("%s is repaired in all events", (_name, fragments, whole) => {
    const events = dataOf(relayStream(relay(), bytesOf(withCall(...fragments))));
    const of = (type: string) => events.filter((event) => event.type === `response.${type}`);
    const deltas = of("function_call_arguments.delta").map((event) => event.delta);
    if (fragments.length > 0) expect(deltas.join("")).toBe(whole);
    expect(of("function_call_arguments.done")[0].arguments).toBe(whole);
    expect(of("output_item.done")[0].item.arguments).toBe(whole);
    expect(of("completed")[0].response.output[0].arguments).toBe(whole);
    const numbers = events.map((event) => event.sequence_number);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  test("a lost fragment is sent when the complete text arrives", () => {
    const whole = JSON.stringify('{"path":"a.txt"}');
    const lost = withCall('{"path"', ':"a', '.txt"}').replace(/[^\n]*\n[^\n]*"delta":"\.txt[^\n]*\n\n/, "");
    const text = lost.replace(
      /("type":"response\.function_call_arguments\.done"[^\n]*"arguments":)"[^\n]*"(?=[,}])/,
      `$1${whole}`,
    );
    const events = dataOf(relayStream(relay(), bytesOf(text)));
    const deltas = events.filter(({ type }) => type === "response.function_call_arguments.delta");
    expect(deltas.map(({ delta }) => delta)).toEqual(['{"path"', ':"a', '.txt"}']);
  });

  test("arguments that cannot be repaired end the stream with response.failed", () => {
    const one = relay();
    const text = relayStream(one, bytesOf(withCall('{"a":', "<<<>>>")));
    expect(dataOf(text).at(-1)).toMatchObject({ type: "response.failed", error: { code: "tool_arguments_invalid" } });
    expect(text).not.toContain("[DONE]");
    expect(one.finished).toBe(false);
  });
});

describe("public failures", () => {
  test.each(["responses-cut-in-tool", "responses-broken-frame", "responses-failed", "responses-error-event"])(
    "21: %s ends with one response.failed that names the request, and no [DONE]",
    (name) => {
      const one = relay();
      const text = relayStream(one, transcript(DIALECT, name));
      const events = dataOf(text);
      const last = events.at(-1);
      expect(last).toMatchObject({
        type: "response.failed",
        response: { id: "ours_1", model: "canonical", status: "failed", error: { code: one.fault?.code } },
        error: { code: one.fault?.code, request_id: "req-1" },
        request_id: "req-1",
      });
      expect(last.sequence_number).toBe(events.at(-2).sequence_number + 1);
      expect(text).not.toContain("[DONE]");
      expect(text).not.toContain("never");
    },
  );
});

describe("lossless request", () => {
  const ask = (text: string, more: Parameters<typeof context>[0] = {}, members = {}) =>
    openaiResponses.lossless.request(text, chat({}), context(more), members);

  test("keeps every byte except the model", () => {
    const text = `{ "model":"fast", "input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace"}]},
      {"role":"user","content":"hi"},{"type":"custom_tool_call_output","output":[{"type":"input_text","text":"\\u00e9"}]}],
      "tools":[{"type":"custom","format":{"type":"grammar"}},{"type":"web_search"}],"temperature":1.0,"reasoning":{"context":"all_turns"}}`;
    const sent = ask(text);
    expect(sent.body).toBe(text.replace('"fast"', '"up"'));
    expect(sent.path).toBe("/responses");
  });

  test("converts nested tools and image objects to OpenAI's form", () => {
    const fn = { name: "f", parameters: { type: "object" } };
    const body = {
      model: "m",
      thread_id: "t",
      tools: [
        { type: "function", function: fn },
        { type: "function", name: "g" },
      ],
      tool_choice: { type: "function", function: { name: "f" } },
      input: [
        { role: "user", content: [{ type: "input_image", image_url: { url: "https://x.test/a.png", detail: "low" } }] },
        { role: "assistant", content: [{ type: "input_text", text: "a" }] },
        "odd",
      ],
    };
    expect(JSON.parse(ask(JSON.stringify(body)).body)).toEqual({
      model: "up",
      tools: [
        { type: "function", strict: false, ...fn },
        { type: "function", name: "g" },
      ],
      tool_choice: { type: "function", name: "f" },
      input: [
        { role: "user", content: [{ type: "input_image", image_url: "https://x.test/a.png", detail: "low" }] },
        { role: "assistant", content: [{ type: "output_text", text: "a" }] },
        "odd",
      ],
    });
  });

  test("removes what the provider refuses, forwards betas, and gives members precedence", () => {
    const sent = ask(
      '{"model":"m","metadata":{},"input":"a"}',
      {
        quirks: { refuses: ["metadata"] },
        clientHeaders: { "openai-beta": "x=v1" },
      },
      { input: "b" },
    );
    expect(sent).toEqual({
      path: "/responses",
      headers: { "openai-beta": "x=v1" },
      body: '{"model":"up","input":"b"}',
      dropped: ["metadata"],
    });
  });
});

test("a whole answer keeps its bytes except id, model and broken arguments", () => {
  const text =
    '{"id":"resp_up","object":"response","status":"completed","model":"up","x":1.0,"output":[],"usage":{"input_tokens":3,"output_tokens":0,"total_tokens": 3}}';
  expect(openaiResponses.lossless.result(text, identity).text).toBe(
    text.replace("resp_up", "ours_1").replace('"up"', '"canonical"'),
  );
  const call = (args: string) =>
    JSON.stringify({
      status: "completed",
      output: [{ type: "function_call", call_id: "c", name: "f", arguments: args }],
    });
  const mended = openaiResponses.lossless.result(call('{"a":1,}'), identity);
  expect(JSON.parse(mended.text).output[0].arguments).toBe('{"a":1}');
  expect(openaiResponses.lossless.result(call("<>"), identity).events).toMatchObject([
    { type: "error", code: "tool_arguments_invalid" },
  ]);
});
