import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FrameCutter, parseFrames } from "../../src/base/sse.ts";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { goldenEvents, readStream, transcript, transcripts } from "../support/transcripts.ts";

const names = transcripts("gemini");
const read = (bytes: Uint8Array, cuts?: number[]) => readStream(gemini.reader(), bytes, cuts);
const sse = (...chunks: unknown[]) =>
  new TextEncoder().encode(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
const blocks = (name: string) => fold(read(transcript("gemini", name))).choices[0]?.blocks;

describe("transcripts", () => {
  test.each(names)("%s is read into its golden events, in legal order", (name) => {
    const events = read(transcript("gemini", name));
    expect(events as unknown[]).toEqual(goldenEvents(name, events));
    expect(grammarFaults(events)).toEqual([]);
  });

  test("any byte split gives the same events", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(3000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript("gemini", name);
        expect(read(bytes, cuts)).toEqual(read(bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("any truncation ends in a finish or an error, in legal order", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(3000), (name, length) => {
        const events = read(transcript("gemini", name).subarray(0, length));
        expect(grammarFaults(events)).toEqual([]);
        expect(["finish", "error"]).toContain(events.at(-1)?.type as string);
      }),
      { numRuns: 150 },
    );
  });

  test("rubbish never throws", () => {
    const part = fc.oneof(
      fc.record(
        { text: fc.string(), thought: fc.boolean(), thoughtSignature: fc.string() },
        { requiredKeys: ["text"] },
      ),
      fc.record({ functionCall: fc.jsonValue() }),
      fc.jsonValue(),
    );
    const chunk = fc.record({
      candidates: fc.array(
        fc.record({
          index: fc.oneof(fc.nat(2), fc.jsonValue()),
          content: fc.record({ parts: fc.array(part) }),
          finishReason: fc.constantFrom("STOP", "MAX_TOKENS", null, 3),
        }),
      ),
      usageMetadata: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, fc.jsonValue())), (chunks) => {
        expect(grammarFaults(read(sse(...chunks)))).toEqual([]);
        expect(grammarFaults(gemini.events(chunks))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("stream and whole answer", () => {
  const part = fc.oneof(
    fc.record({ text: fc.string({ minLength: 1 }) }),
    fc.record({ text: fc.string({ minLength: 1 }), thought: fc.constant(true) }),
    fc.record({ text: fc.string(), thoughtSignature: fc.base64String({ minLength: 4 }) }),
    fc.record({
      functionCall: fc.record({
        name: fc.constantFrom("a", "b"),
        args: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      }),
    }),
  );
  const around = (parts: unknown[], finishReason?: string) => ({
    candidates: [{ index: 0, content: { parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
    responseId: "r",
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
  });

  test("fold to the same result, however the parts are spread over chunks", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.integer({ min: 1, max: 3 }), (parts, size) => {
        const chunks: unknown[] = [];
        for (let i = 0; i < parts.length; i += size) chunks.push(around(parts.slice(i, i + size)));
        const live = fold(read(sse(...chunks, around([], "STOP"))));
        expect(live).toEqual(fold(gemini.events(around(parts, "STOP"))));
      }),
      { numRuns: 200 },
    );
  });

  test("a list of chunks, as sent if no events were requested, is an answer too", () => {
    expect(fold(gemini.events([around([{ text: "a" }]), around([{ text: "b" }], "STOP")])).choices[0]?.blocks).toEqual([
      { type: "text", text: "ab" },
    ]);
  });

  test("a body that is not an answer is a failure", () => {
    for (const body of [undefined, null, [], "x", {}]) {
      expect(gemini.events(body)).toMatchObject([{ type: "error", code: "provider_unavailable" }]);
    }
  });
});

describe("public failures", () => {
  test("1, 4: complete calls are kept, with distinct ids if the upstream gives none", () => {
    expect(blocks("gemini-tools-parallel")).toMatchObject([
      { type: "text", text: "Looking." },
      { callId: "a1", name: "read_file", arguments: '{"path":"a.txt","n":[1,null]}', signature: "CiQBjz1rX+/==" },
      { callId: "a2", name: "get_weather", arguments: '{"city":"São Paulo"}' },
    ]);
    const ids = blocks("gemini-tools-no-ids")?.map((block) => block.type === "tool-call" && block.callId);
    expect(new Set(ids).size).toBe(2);
  });

  test("5: text and calls end with tool_calls, even if the upstream reports STOP", () => {
    expect(read(transcript("gemini", "gemini-tools-parallel")).at(-1)).toMatchObject({
      reason: "tool_calls",
      rawReason: "STOP",
    });
  });

  test("9: signatures are kept byte for byte, on text too", () => {
    expect(blocks("gemini-thinking")).toEqual([
      { type: "reasoning", text: "**Plan** weigh it." },
      { type: "text", text: "Four." },
      { type: "reasoning", text: "", signature: "EtextSig/+==", origin: "gemini" },
    ]);
  });

  test("13: cached and thought tokens are counted, thoughts as output", () => {
    expect(fold(read(transcript("gemini", "gemini-text"))).usage).toEqual({
      inputTokens: 37,
      outputTokens: 9,
      cachedTokens: 12,
    });
    expect(fold(read(transcript("gemini", "gemini-thinking"))).usage).toEqual({
      inputTokens: 37,
      outputTokens: 24,
      reasoningTokens: 22,
    });
  });

  test.each([
    ["gemini-error", "provider_unavailable"],
    ["gemini-cut", "provider_stream_interrupted"],
    ["gemini-broken-frame", "provider_stream_interrupted"],
    ["gemini-malformed-call", "tool_arguments_invalid"],
  ] as const)("21: %s ends in %s and nothing follows", (name, code) => {
    const events = read(transcript("gemini", name));
    expect(events.filter((event) => event.type === "error")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "error", code });
  });

  test.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["CONTINUATION", "length"],
    ["IMAGE_OTHER", "content_filter"],
    ["NO_IMAGE", "content_filter"],
    ["SOMETHING_NEW", "unknown"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["OTHER", "unknown"],
  ] as const)("finish reason %s is %s, the raw word kept", (rawReason, reason) => {
    const events = gemini.events({ candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: rawReason }] });
    expect(events.at(-1)).toMatchObject({ reason, rawReason });
  });

  test("a blocked prompt is a filtered answer, not a broken one", () => {
    expect(read(transcript("gemini", "gemini-prompt-blocked")).at(-1)).toMatchObject({
      type: "finish",
      reason: "content_filter",
    });
  });
});

test("CRLF line endings, as the API sends them, are read", () => {
  const cutter = new FrameCutter();
  expect(parseFrames(cutter.push(transcript("gemini", "gemini-text")))).toHaveLength(3);
});

describe("fault", () => {
  const fault = (status: number, error: unknown, wrap = false) =>
    gemini.fault(status, JSON.stringify(wrap ? [{ error }] : { error }), new Headers());

  test.each([
    [
      400,
      { message: "API key not valid. Please pass a valid API key.", details: [{ reason: "API_KEY_INVALID" }] },
      "auth",
    ],
    [403, { message: "denied", status: "PERMISSION_DENIED" }, "auth"],
    [404, { message: "models/x is not found" }, "model_missing"],
    [
      400,
      { message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." },
      "context_length",
    ],
    [400, { message: "Invalid value at 'contents'", status: "INVALID_ARGUMENT" }, "bad_request"],
    [429, { message: "Quota exceeded", status: "RESOURCE_EXHAUSTED" }, "rate_limited"],
    [503, { message: "The model is overloaded.", status: "UNAVAILABLE" }, "unavailable"],
  ] as const)("%i %j is %s", (status, error, kind) => {
    expect(fault(status, error)).toMatchObject({ kind, message: error.message });
    expect(fault(status, error, true).kind).toBe(kind);
  });

  test("24: how long to wait is read from the body", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36.5s" }];
    expect(fault(429, { message: "Quota", details }).retryAfterSeconds).toBe(36.5);
  });
});

describe("what an answer rests on, told after its text", () => {
  const grounding = { webSearchQueries: ["rye"], groundingChunks: [{ web: { uri: "https://rye.example/" } }] };
  const chunk = (parts: object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const last = chunk([{ text: "" }], { finishReason: "STOP", groundingMetadata: grounding });
  test.each([
    ["a signed text", [chunk([{ text: "Rye." }]), chunk([{ text: "", thoughtSignature: "S1" }]), last], ["Rye."]],
    ["a text with its signature", [chunk([{ text: "Rye.", thoughtSignature: "S1" }]), last], ["Rye."]],
    [
      "a text after a signed one",
      [chunk([{ text: "Rye.", thoughtSignature: "S1" }, { text: " Oats." }]), last],
      [" Oats."],
    ],
    ["a call", [chunk([{ text: "Rye." }, { functionCall: { name: "f", args: {} } }]), last], [""]],
    ["a picture", [chunk([{ text: "Rye." }, { inlineData: { mimeType: "image/png", data: "AA==" } }]), last], [""]],
    ["thoughts alone", [chunk([{ text: "Hm.", thought: true }]), last], [""]],
  ])("%s", (_name, chunks, expected) => {
    const events = read(sse(...chunks));
    expect(grammarFaults(events)).toEqual([]);
    const found = fold(events).choices[0]?.blocks ?? [];
    const noted = found.flatMap((block) => (block.type === "text" && block.annotations ? [block] : []));
    expect(noted.map(({ text }) => text)).toEqual(expected);
    expect(noted.map(({ annotations }) => annotations)).toEqual([[grounding]]);
    const signatures = found.flatMap((block) =>
      block.type === "reasoning" && block.signature ? [block.signature] : [],
    );
    expect(signatures).toEqual(JSON.stringify(chunks).includes("S1") ? ["S1"] : []);
  });
});

test("an answer that rests on nothing gets no text for it", () => {
  const call = { candidates: [{ content: { parts: [{ functionCall: { name: "f", args: {} } }] } }] };
  const last = { candidates: [{ finishReason: "STOP", groundingMetadata: {} }] };
  expect(fold(read(sse(call, last))).choices[0]?.blocks.map(({ type }) => type)).toEqual(["tool-call"]);
});
