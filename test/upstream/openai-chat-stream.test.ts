import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { goldenEvents, readStream, transcript, transcripts } from "../support/transcripts.ts";

const DIALECT = "openai-chat";
const names = transcripts(DIALECT);
const read = (bytes: Uint8Array, cuts?: number[]) => readStream(openaiChat.reader(), bytes, cuts);
const of = (name: string) => read(transcript(DIALECT, name));
const blocks = (name: string) => fold(of(name)).choices[0]?.blocks;
const sse = (...chunks: unknown[]) =>
  new TextEncoder().encode(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));

/** A stream of which each frame is `frame` of the next text. */
const repeated = (frame: (text: string) => string, texts: readonly string[]) =>
  new TextEncoder().encode(texts.map((text) => `data: ${frame(text)}\n\n`).join(""));
const textsOf = (bytes: Uint8Array) =>
  read(bytes).flatMap((event) => (event.type === "text-delta" ? [`${event.choice}${event.text}`] : []));

describe("frames that differ in their text alone", () => {
  const member = (text: string) => `"content":${JSON.stringify(text)}`;
  const whole = (delta: string, beside = "") => `{"id":"a"${beside},"choices":[{"index":0,"delta":{${delta}}}]}`;
  test.each<[string, (text: string) => string]>([
    ["plain ones", (text) => whole(member(text))],
    ["with spaces", (text) => whole(` "content" : ${JSON.stringify(text)} `)],
    ["with the member twice", (text) => whole(`"content":"other",${member(text)}`)],
    ["with another member of the text", (text) => whole(member(text), `,"content":"other"`)],
    ["with two lists of choices", (text) => whole(member(text), `,"choices":[{"delta":{"content":"other"}}]`)],
    ["with changing ids", (text) => whole(member(text), `,"n":${text.length}`)],
  ])("%s are read as each one alone", (_, frame) => {
    const texts = ["one", "two", "", 'q"q', "b\\b", "\n", "é😀", "{}", '"', "}}]}", "seven", "three"];
    expect(textsOf(repeated(frame, texts))).toEqual(texts.filter((text) => text !== "").map((text) => `0${text}`));
  });

  test("of a member that stands there twice, the last one counts", () => {
    const frame = (text: string) => `{"choices":[{"delta":{"content":"${text}","content":"same"}}]}`;
    expect(textsOf(repeated(frame, ["a", "b", "c", "d"]))).toEqual(["0same", "0same", "0same", "0same"]);
  });

  test.each(['"content":null', '"content":[]', '"content":1', '"content":true'])(
    "the last one counts too if the first is no text: %s",
    (first) => {
      const frame = (text: string) => `{"choices":[{"delta":{${first},"content":"${text}"}}]}`;
      expect(textsOf(repeated(frame, ["a", "b", "c", "d"]))).toEqual(["0a", "0b", "0c", "0d"]);
    },
  );

  test("texts of several choices in turn stay with their choices, and nothing follows an end", () => {
    const chunk = (index: number, content: string, finish: string | null = null) => ({
      choices: [{ index, delta: finish === null ? { content } : {}, finish_reason: finish }],
    });
    const bytes = sse(chunk(0, "a"), chunk(0, "b"), chunk(1, "c"), chunk(1, "d"), chunk(0, "e"), chunk(0, "", "stop"));
    const late = sse(chunk(0, "f"), chunk(1, "g"), chunk(1, "h"));
    expect(textsOf(new Uint8Array([...bytes, ...late]))).toEqual(["0a", "0b", "1c", "1d", "0e", "1g", "1h"]);
  });

  test("pages beside the first of them are cited in the text of all", () => {
    const text = (content: string, beside = {}) => ({ choices: [{ index: 0, delta: { content } }], ...beside });
    const first = text("a", { citations: ["https://example.com"] });
    const last = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    const end = read(sse(first, text("b"), text("[1]"), text("c"), last)).find(({ type }) => type === "text-end");
    expect(end).toMatchObject({ annotations: [{ url_citation: { start_index: 2, end_index: 5 } }] });
  });

  test("usage and invalid text are seen between them", () => {
    const usage = (text: string) =>
      `{"choices":[{"delta":{"content":"${text}"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`;
    const events = read(repeated(usage, ["a", "b", "c"]));
    expect(events.filter(({ type }) => type === "text-delta")).toHaveLength(3);
    const broken = read(repeated((text) => `{"choices":[{"delta":{"content":"${text}"}}]}`, ["a", "b", "c\tc"]));
    expect(broken.at(-1)?.type).toBe("error");
  });
});

describe("transcripts", () => {
  test.each(names)("%s is read into its golden events, in legal order", (name) => {
    const events = of(name);
    expect(events as unknown[]).toEqual(goldenEvents(name, events));
    expect(grammarFaults(events)).toEqual([]);
  });

  test("any byte split gives the same events", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(3000), { maxLength: 12 }), (name, cuts) => {
        const bytes = transcript(DIALECT, name);
        expect(read(bytes, cuts)).toEqual(read(bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("any truncation ends in a finish or an error, in legal order", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(3000), (name, length) => {
        const events = read(transcript(DIALECT, name).subarray(0, length));
        expect(grammarFaults(events)).toEqual([]);
        expect(["finish", "error"]).toContain(events.at(-1)?.type as string);
      }),
      { numRuns: 150 },
    );
  });

  test("rubbish never throws", () => {
    const call = fc.record(
      {
        index: fc.oneof(fc.nat(2), fc.jsonValue()),
        id: fc.oneof(fc.constantFrom("a", "b", ""), fc.jsonValue()),
        function: fc.oneof(fc.record({ name: fc.constantFrom("f", ""), arguments: fc.jsonValue() }), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const delta = fc.record(
      {
        content: fc.oneof(fc.string(), fc.jsonValue()),
        reasoning_content: fc.oneof(fc.string(), fc.jsonValue()),
        refusal: fc.oneof(fc.string(), fc.jsonValue()),
        tool_calls: fc.oneof(fc.array(call), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const chunk = fc.record(
      {
        choices: fc.array(fc.record({ index: fc.nat(2), delta, finish_reason: fc.constantFrom(null, "stop", "", 3) })),
        usage: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, fc.jsonValue())), (chunks) => {
        expect(grammarFaults(read(sse(...chunks)))).toEqual([]);
        expect(grammarFaults(openaiChat.events(chunks[0]))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});

/** A whole answer with one choice. */
const message = fc.record({
  content: fc.oneof(fc.string({ minLength: 1, unit: "grapheme" }), fc.constant(null)),
  reasoning_content: fc.oneof(fc.string({ minLength: 1 }), fc.constant(undefined)),
  tool_calls: fc.array(
    fc.record({
      name: fc.constantFrom("a", "b"),
      input: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
    }),
    { maxLength: 3 },
  ),
});

describe("stream and whole answer", () => {
  test("fold to the same result", () => {
    fc.assert(
      fc.property(
        message,
        fc.constantFrom("stop", "length", "tool_calls"),
        fc.integer({ min: 1, max: 9 }),
        (said, finish_reason, size) => {
          const cut = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
          const calls = said.tool_calls.map(({ name, input }, i) => ({
            id: `call_${i}`,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          }));
          const usage = { prompt_tokens: 3, completion_tokens: 5 };
          const whole = {
            id: "c",
            model: "m",
            created: 1,
            choices: [{ index: 0, message: { role: "assistant", ...said, tool_calls: calls }, finish_reason }],
            usage,
          };
          const deltas: unknown[] = [{ role: "assistant", content: "" }];
          for (const text of cut(said.reasoning_content ?? "")) deltas.push({ reasoning_content: text });
          for (const text of cut(said.content ?? "")) deltas.push({ content: text });
          calls.forEach((call, index) => {
            deltas.push({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: "" } }] });
            for (const text of cut(call.function.arguments))
              deltas.push({ tool_calls: [{ index, function: { arguments: text } }] });
          });
          const chunk = (delta: unknown, finish: string | null) => ({
            id: "c",
            model: "m",
            created: 1,
            choices: [{ index: 0, delta, finish_reason: finish }],
          });
          const live = read(
            sse(...deltas.map((delta) => chunk(delta, null)), chunk({}, finish_reason), {
              id: "c",
              model: "m",
              created: 1,
              choices: [],
              usage,
            }),
          );
          expect(grammarFaults(live)).toEqual([]);
          expect(fold(live)).toEqual(fold(openaiChat.events(whole)));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("public failures", () => {
  test("1: complete arguments in one fragment, or as an object, are not lost", () => {
    expect(blocks("chat-tools-object")).toMatchObject([{ name: "edit", arguments: '{"path":"a","n":[1,null]}' }]);
  });

  test("2: an empty list of calls beside text is text", () => {
    expect(blocks("chat-empty-tool-calls")).toEqual([{ type: "text", text: "plain text" }]);
    expect(of("chat-empty-tool-calls").at(-1)).toMatchObject({ reason: "stop" });
  });

  test("3: interleaved fragments are added to the call of their index", () => {
    expect(blocks("chat-tools-interleaved")).toMatchObject([
      { callId: "call_a", arguments: '{"a":1}' },
      { callId: "call_b", arguments: '{"b":2}' },
    ]);
  });

  test("4: index 0 for every call, or none at all: calls are distinguished by id", () => {
    expect(blocks("chat-tools-index-zero")).toMatchObject([
      { callId: "call_1", arguments: '{"a":1}' },
      { callId: "call_2", arguments: '{"a":2}' },
      { callId: "call_3", arguments: "{}" },
    ]);
    expect(blocks("chat-tools-no-index")).toMatchObject([
      { callId: "call_1", arguments: '{"a":1}' },
      { callId: "call_2", arguments: '{"b":2}' },
    ]);
  });

  test("5: text and calls end with tool_calls, even if the upstream reports stop", () => {
    expect(of("chat-tools-stop-reason").at(-1)).toMatchObject({ reason: "tool_calls", rawReason: "stop" });
  });

  test("7: argument fragments are passed on as they arrive", () => {
    const deltas = of("chat-tools-parallel").flatMap((event) => (event.type === "tool-delta" ? [event.text] : []));
    expect(deltas).toEqual(['{"pa', 'th":"a.txt"}', '{"city":"S\\u00', 'e3o"}']);
  });

  test("10: reasoning is read by either name, once", () => {
    expect(blocks("chat-reasoning")).toMatchObject([
      { type: "reasoning", text: "First this." },
      { type: "text", text: "Four." },
      { type: "tool-call", arguments: "{}" },
    ]);
    expect(blocks("chat-reasoning-both-names")?.[0]).toMatchObject({ type: "reasoning", text: "hm" });
    expect(blocks("chat-thinking-parts")).toMatchObject([{ text: "Let me see." }, { text: "Four." }]);
  });

  test.each([
    ["chat-text", { inputTokens: 19, outputTokens: 10, cachedTokens: 4, reasoningTokens: 3 }],
    ["chat-reasoning", { inputTokens: 5, outputTokens: 9, cachedTokens: 3 }],
    ["chat-usage-x-groq", { inputTokens: 8, outputTokens: 2 }],
    ["chat-usage-every-chunk", { inputTokens: 8, outputTokens: 2 }],
  ])("13, 17: %s: usage after the finish reason, in it, or in every chunk", (name, usage) => {
    expect(fold(of(name)).usage).toEqual(usage);
  });

  test.each(["chat-cut-in-tool", "chat-error-in-stream", "chat-broken-frame"])(
    "21: %s ends in an error and nothing follows",
    (name) => {
      const events = of(name);
      expect(events.filter((event) => event.type === "error")).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ type: "error" });
      expect(JSON.stringify(events)).not.toContain("never");
    },
  );

  test.each(["constructor", "__proto__", "later_word"])("the finish reason %s is ignored", (word) => {
    const chunk = (finish_reason: string | null) => ({
      choices: [{ index: 0, delta: { content: "a" }, finish_reason }],
    });
    expect(read(sse(chunk(word))).at(-1)).toMatchObject({ type: "finish", reason: "unknown", rawReason: word });
    expect(read(sse(chunk(null), { error: { code: word, message: "m" } })).at(-1)).toMatchObject({
      type: "error",
      code: "provider_answer_invalid",
    });
  });

  test("21: a finish reason without [DONE] is a normal end", () => {
    expect(of("chat-no-done").at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });
});

test("every transcript has frames the standard parser reads", () => {
  for (const name of names)
    expect(parseFrames(new TextDecoder().decode(transcript(DIALECT, name))).length).toBeGreaterThan(1);
});

describe("log-probabilities beside no text", () => {
  const shown = [{ token: "A", logprob: -0.1, top_logprobs: [] }];
  const logprobs = { content: shown };

  test.each([
    ["null", { content: null }],
    ["nothing", {}],
    ["an empty text", { content: "" }],
  ])("are kept where the content is %s", (_, message) => {
    const body = { id: "x", choices: [{ index: 0, message, logprobs, finish_reason: "length" }] };
    expect(fold(openaiChat.events(body)).choices[0]?.blocks).toEqual([{ type: "text", text: "", logprobs: shown }]);
    const chunk = { id: "x", choices: [{ index: 0, delta: message, logprobs, finish_reason: "length" }] };
    const events = read(sse(chunk));
    expect(grammarFaults(events)).toEqual([]);
    expect(fold(events).choices[0]?.blocks).toEqual([{ type: "text", text: "", logprobs: shown }]);
  });

  test("start no text between reasoning and calls", () => {
    const call = { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{" } };
    const choice = (delta: unknown, finish: string | null = null) => ({
      id: "x",
      choices: [{ index: 0, delta, logprobs, finish_reason: finish }],
    });
    const events = read(
      sse(
        choice({ reasoning_content: "Hm" }),
        choice({ content: null }),
        choice({ reasoning_content: "m." }),
        choice({ content: null, tool_calls: [call] }),
        choice({ content: null }),
        choice({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }, "tool_calls"),
      ),
    );
    expect(grammarFaults(events)).toEqual([]);
    expect(fold(events).choices[0]?.blocks.map(({ type }) => type)).toEqual(["reasoning", "tool-call"]);
  });
});

test("notes that come after the last text are kept", () => {
  const note = { type: "url_citation", url_citation: { url: "https://rye.example/", title: "Rye" } };
  const call = { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const choice = (delta: unknown, finish: string | null = null) => ({
    id: "x",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  for (const between of [{ tool_calls: [call] }, { reasoning_content: "Hm." }]) {
    const events = read(sse(choice({ content: "Rye." }), choice(between), choice({ annotations: [note] }, "stop")));
    expect(grammarFaults(events)).toEqual([]);
    const found = fold(events).choices[0]?.blocks ?? [];
    expect(found.flatMap((block) => (block.type === "text" ? (block.annotations ?? []) : []))).toEqual([note]);
    // Nothing is open when their text begins, since clients read one item after another.
    const types = events.map(({ type }) => type);
    expect(types.slice(types.lastIndexOf("text-start"))).toEqual(["text-start", "text-delta", "text-end", "finish"]);
  }
});
