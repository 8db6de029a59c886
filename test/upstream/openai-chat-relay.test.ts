import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import { fold } from "../../src/chat/fold.ts";
import type { RelayIdentity } from "../../src/upstream/dialect.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { readStream, relayStream, transcript, transcripts } from "../support/transcripts.ts";
import { chat, context, identity } from "./support.ts";

const DIALECT = "openai-chat";
const names = transcripts(DIALECT);
const broken = /cut|error|broken|policy/;
const good = names.filter((name) => !broken.test(name));
const relay = (part: Partial<RelayIdentity> = {}) =>
  openaiChat.lossless.relay({ ...identity, includeUsage: true, ...part });
const run = (name: string, part: Partial<RelayIdentity> = {}) => relayStream(relay(part), transcript(DIALECT, name));
const dataOf = (text: string) =>
  parseFrames(text)
    .filter((frame) => frame.data !== "[DONE]")
    .map((frame) => JSON.parse(frame.data));

describe("relay", () => {
  test("any byte split gives the same text", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(3000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript(DIALECT, name);
        expect(relayStream(relay(), bytes, cuts)).toBe(relayStream(relay(), bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("frames that arrive together give the same text as those that arrive one by one", () => {
    const frame = (id: string, choice: object) =>
      `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] })}\n\n`;
    const text = (id: string, content: string) => frame(id, { index: 0, delta: { content }, finish_reason: null });
    const frames = fc.oneof(
      { weight: 6, arbitrary: fc.string({ maxLength: 8 }).map((content) => text("theirs", content)) },
      { weight: 6, arbitrary: fc.constantFrom("a", "word ", "語", "").map((content) => text("theirs", content)) },
      fc.constantFrom('"', "\\", '\\"', '"},"finish_reason":null}]}').map((content) => text("theirs", content)),
      fc.constant(text("another", "word")),
      fc.constant(": keepalive\n\n"),
      fc.constant(`${text("theirs", "word").trimEnd()}  \n\n`),
      fc.constant(text("theirs", "word").slice(0, -12).concat("\n\n")),
      fc.constant(frame("theirs", { index: 1, delta: { content: "other" }, finish_reason: null })),
      fc.constant(frame("theirs", { index: 0, delta: { reasoning: "hm" }, finish_reason: null })),
    );
    const first = frame("theirs", { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null });
    const last = frame("theirs", { index: 0, delta: {}, finish_reason: "stop" });
    fc.assert(
      fc.property(fc.array(frames, { maxLength: 20 }), fc.constantFrom(identity.id, "theirs"), (between, id) => {
        const all = [first, text("theirs", "the first"), ...between, last, "data: [DONE]\n\n"];
        // The second keeps the upstream's names, so that its frames pass unchanged.
        const part = id === "theirs" ? { id, model: "m" } : {};
        const [alone, together] = [relay(part), relay(part)];
        expect(together.push(all.join("")) + together.end()).toBe(
          all.map((one) => alone.push(one)).join("") + alone.end(),
        );
        expect(together.output.toString()).toBe(alone.output.toString());
      }),
      { numRuns: 1000 },
    );
  });

  test("escapes in a text pass as they are, and the text is counted without them", () => {
    const texts = ["one", "line\n", 'say "this"', "a\\", "\\", '\\"', "\t语", "two"];
    const frame = (delta: string, more = "null") =>
      `data: {"id":"theirs","model":"m","choices":[{"index":0,"delta":{${delta}},"finish_reason":${more}}]}\n\n`;
    // A slash may be escaped, and any other character by its number.
    const written = [...texts.map((text) => JSON.stringify(text)), '"\\/\\u0041"'];
    const frames = [...written.map((text) => frame(`"content":${text}`)), frame("", '"stop"'), "data: [DONE]\n\n"];
    const one = relay();
    const out = one.push(frame('"role":"assistant"')) + one.push(frames.join("")) + one.end();
    expect(one.output.toString()).toBe(`${texts.join("")}/A`);
    for (const text of written) expect(out).toContain(`"delta":{"content":${text}}`);
  });

  test("what JSON does not allow in a text passes as it is, as clients may read it", () => {
    const frame = (delta: string, more = "null") =>
      `data: {"id":"theirs","model":"m","choices":[{"index":0,"delta":{${delta}},"finish_reason":${more}}]}\n\n`;
    const texts = ["a", "\\x", "it\\'s", "\t", "\t\\n", '\u001b[0m \\"', "\\ud83", "b"];
    const ends = `${frame("", '"stop"')}data: [DONE]\n\n`;
    const one = relay();
    const out = one.push(
      frame('"role":"assistant"') + texts.map((text) => frame(`"content":"${text}"`)).join("") + ends,
    );
    expect(one.fault).toBeUndefined();
    expect(one.output.toString()).toBe(texts.join(""));
    for (const text of texts) expect(out).toContain(`"delta":{"content":"${text}"}`);
  });

  test("a text that does not end within its frame is an error", () => {
    const frame = (text: string) => `data: {"model":"m","choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
    const open = frame("a").slice(0, -'"}}]}\n\n'.length);
    for (const end of ["\\\n\n", "\\\n\nx", "\n\n"]) {
      const one = relay();
      one.push(frame("a") + frame("b"));
      const out = one.push(`${open}${end}"}}]}\n\n${frame("c")}`);
      expect(one.fault?.code).toBe("provider_stream_interrupted");
      expect(out).not.toContain("}}]}");
    }
  });

  test("a stream cut anywhere gives only whole JSON, and ends well or in an error", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(3000), (name, length) => {
        const one = relay();
        const text = relayStream(one, transcript(DIALECT, name).subarray(0, length));
        for (const frame of parseFrames(text)) if (frame.data !== "[DONE]") JSON.parse(frame.data);
        expect(one.finished).toBe(one.fault === undefined);
        expect(text.endsWith("data: [DONE]\n\n")).toBe(one.finished);
      }),
      { numRuns: 200 },
    );
  });

  test.each(good)("%s: the relayed stream has the same content as the upstream's", (name) => {
    const plain = (bytes: Uint8Array) => {
      const {
        upstreamId: _id,
        upstreamModel: _model,
        usage: _usage,
        rawUsage: _raw,
        ...rest
      } = fold(readStream(openaiChat.reader(), bytes));
      // The relay reports tool_calls where the upstream reported stop.
      return { ...rest, choices: rest.choices.map(({ rawReason: _word, ...choice }) => choice) };
    };
    expect(plain(new TextEncoder().encode(run(name)))).toEqual(plain(transcript(DIALECT, name)));
  });

  test.each(good)("%s keeps the order of the specification", (name) => {
    const text = run(name);
    const chunks = dataOf(text);
    for (const chunk of chunks) expect([chunk.id, chunk.model]).toEqual(["ours_1", "canonical"]);
    expect(chunks[0].choices[0].delta.role).toBe("assistant");
    const finishes = chunks
      .flatMap((chunk) => chunk.choices)
      .filter((choice) => choice.finish_reason !== null && choice.finish_reason !== undefined);
    for (const choice of finishes) expect(choice.delta).toEqual({});
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
    expect(chunks.filter((chunk) => chunk.usage != null)).toHaveLength(1);
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
  });

  test("frames with plain text keep every member, known or not", () => {
    const frames = run("chat-text").split("\n\n");
    expect(frames[1]).toContain('"obfuscation":"aB"');
    expect(frames[1]).toContain('"system_fingerprint":"fp_06737a9306"');
  });
});

describe("public failures", () => {
  test("6: a role in the first chunk, once", () => {
    const roles = dataOf(run("chat-tools-no-index"))
      .flatMap((chunk) => chunk.choices)
      .filter((choice) => choice.delta.role !== undefined);
    expect(roles).toHaveLength(1);
  });

  test("4: every call has an index of its own", () => {
    const calls = dataOf(run("chat-tools-index-zero"))
      .flatMap((chunk) => chunk.choices)
      .flatMap((choice) => choice.delta.tool_calls ?? []);
    expect(new Set(calls.map((call) => `${call.index}${call.id ?? ""}`)).size).toBeGreaterThanOrEqual(3);
    expect(new Set(calls.filter((call) => call.id).map((call) => call.index))).toEqual(new Set([0, 1, 2]));
  });

  test("16: usage that only the gateway requested is not passed on", () => {
    const one = relay({ includeUsage: false });
    const text = relayStream(one, transcript(DIALECT, "chat-text"));
    expect(text).not.toContain('"usage"');
    expect(one.usage).toEqual({ inputTokens: 19, outputTokens: 10, cachedTokens: 4, reasoningTokens: 3 });
  });

  test("16: usage is requested from the upstream, and the client's own setting is kept", () => {
    const sent = (text: string) =>
      JSON.parse(openaiChat.lossless.request(text, chat({ stream: true }), context({ stream: true }), {}).body);
    expect(sent('{"model":"m","stream":true}').stream_options).toEqual({ include_usage: true });
    expect(sent('{"model":"m","stream":true,"stream_options":{"include_usage":false,"x":1}}').stream_options).toEqual({
      include_usage: true,
      x: 1,
    });
  });

  test.each(names.filter((name) => broken.test(name)))(
    "21: %s ends with an error that names the request, and no [DONE]",
    (name) => {
      const one = relay();
      const text = relayStream(one, transcript(DIALECT, name));
      expect(dataOf(text).at(-1)).toMatchObject({ error: { request_id: "req-1", code: one.fault?.code } });
      expect(text).not.toContain("[DONE]");
      expect(text).not.toContain("never");
      expect(text).not.toContain('"finish_reason":"stop"');
    },
  );
});

describe("lossless request", () => {
  test.each([
    [{}, undefined],
    [{ usage_include: true }, { include: true }],
  ])("with quirks %p OpenRouter's usage parameter is sent as %p", (quirks, expected) => {
    const text = '{"model":"m","stream":true,"usage":{"include":true}}';
    const ctx = context({ stream: true, quirks });
    const sent = openaiChat.lossless.request(text, chat({ stream: true }), ctx, {});
    expect(JSON.parse(sent.body).usage).toEqual(expected);
    expect(sent.dropped).toEqual([]);
  });

  test("keeps every byte except the model", () => {
    const text =
      '{ "model":"fast", "messages":[{"role":"user","content":"\\u00e9"}],  "temperature":1.0,"future":{"a":1e400},"n":1 }';
    const sent = openaiChat.lossless.request(text, chat({}), context(), {});
    expect(sent.body).toBe(text.replace('"fast"', '"up"'));
  });

  test("the output limit is sent once, by the name that the server knows", () => {
    const sent = (text: string, field?: "max_tokens" | "max_completion_tokens") =>
      JSON.parse(
        openaiChat.lossless.request(
          text,
          chat({}),
          context({ quirks: field === undefined ? {} : { max_tokens_field: field } }),
          {},
        ).body,
      );
    expect(sent('{"model":"m","max_tokens":5}', "max_completion_tokens")).toEqual({
      model: "up",
      max_completion_tokens: 5,
    });
    expect(sent('{"model":"m","max_tokens":5,"max_completion_tokens":6}')).toEqual({
      model: "up",
      max_completion_tokens: 6,
    });
  });
});
