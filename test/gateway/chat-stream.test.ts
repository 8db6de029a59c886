import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { CUT, chatChunk, type FakeUpstream, framesOf, sse, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let up: FakeUpstream;

const USER = [{ role: "user", content: "hi" }];
const TOOLS = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "d",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  },
];

beforeAll(async () => {
  up = startUpstream();
  const route = [{ provider: "up", model: "up-model" }];
  const metadata = {
    owned_by: "up",
    context_length: 1000,
    max_output_tokens: 500,
    supports_tools: true,
    supports_vision: true,
  };
  app = await startTestApp({
    tier: "pro",
    config: {
      providers: {
        up: {
          kind: "openai",
          base_url: up.baseUrl,
          api_key: "up-secret",
          discover: false,
          retry: { attempts: 1 },
          breaker: { failures: 1000 },
        },
      },
      models: [{ ...metadata, id: "Full", routes: route }],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const chat = (body: Record<string, unknown>) =>
  app.post("/v1/chat/completions", { model: "Full", messages: USER, ...body });

interface Chunk {
  id: string;
  model: string;
  object: string;
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
  error?: Record<string, unknown>;
}

// The order of frames that docs/reference/http-api.md#post-v1chatcompletions describes.
describe("streams", () => {
  const stream = async (pieces: Parameters<typeof sse>[0], body: Record<string, unknown> = {}) => {
    up.answer(() => sse(pieces));
    const answer = await chat({ stream: true, ...body });
    expect(answer.status).toBe(200);
    return (await framesOf(answer)) as (Chunk | "[DONE]")[];
  };
  const chunks = (frames: (Chunk | "[DONE]")[]) => frames.filter((frame): frame is Chunk => frame !== "[DONE]");
  const text = (frames: (Chunk | "[DONE]")[]) =>
    chunks(frames)
      .map((chunk) => chunk.choices[0]?.delta["content"] ?? "")
      .join("");
  const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

  test("role, content, finish, usage when asked, [DONE]", async () => {
    const pieces = [
      chatChunk({ role: "assistant", content: "" }),
      chatChunk({ content: "a" }),
      chatChunk({ content: "b" }),
      chatChunk({ content: 'c "quoted" \\' }),
      chatChunk({ content: "d" }),
      chatChunk({}, { finish: "stop" }),
      chatChunk(null, { usage: USAGE }),
      "data: [DONE]\n\n",
    ];
    const frames = await stream(pieces, { stream_options: { include_usage: true } });
    expect(frames.at(-1)).toBe("[DONE]");
    const all = chunks(frames);
    expect(all[0]?.choices[0]?.delta["role"]).toBe("assistant");
    expect(text(frames)).toBe('abc "quoted" \\d');
    expect(all.at(-2)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: "stop" }]);
    expect(all.at(-1)).toMatchObject({ choices: [], usage: USAGE });
    expect(new Set(all.map((chunk) => chunk.id)).size).toBe(1);
    expect(all[0]?.id).toMatch(/^chatcmpl-/);
    expect(new Set(all.map((chunk) => chunk.model))).toEqual(new Set(["Full"]));
    const hidden = await stream(pieces);
    expect(chunks(hidden).some((chunk) => "usage" in chunk)).toBe(false);
    expect(hidden.at(-1)).toBe("[DONE]");
  });

  test.each<[string, string[], string]>([
    ["no role in the first chunk", [chatChunk({ content: "x" }), chatChunk({}, { finish: "stop" })], "x"],
    [
      "role and content together",
      [chatChunk({ role: "assistant", content: "x" }), chatChunk({}, { finish: "stop" })],
      "x",
    ],
    [
      "content in the finish chunk",
      [chatChunk({ role: "assistant" }), chatChunk({ content: "x" }, { finish: "stop" })],
      "x",
    ],
    [
      "usage in the finish chunk",
      [chatChunk({ role: "assistant", content: "x" }), chatChunk({}, { finish: "stop", usage: USAGE })],
      "x",
    ],
    [
      "usage null in every chunk",
      [
        chatChunk({ role: "assistant", content: "x" }, { usage: null }),
        chatChunk({ content: "y" }, { usage: null }),
        chatChunk({ content: "z" }, { usage: null }),
        chatChunk({}, { finish: "stop" }),
      ],
      "xyz",
    ],
    [
      "comments between",
      [
        ": PROCESSING\n\n",
        chatChunk({ role: "assistant", content: "x" }),
        ": more\n\n",
        chatChunk({}, { finish: "stop" }),
      ],
      "x",
    ],
    [
      "crlf line ends",
      [chatChunk({ role: "assistant", content: "x" }).replaceAll("\n", "\r\n"), chatChunk({}, { finish: "stop" })],
      "x",
    ],
  ])("%s is put in order", async (_name, pieces, content) => {
    const frames = await stream([...pieces, "data: [DONE]\n\n"], { stream_options: { include_usage: true } });
    const all = chunks(frames);
    expect(all[0]?.choices[0]?.delta["role"]).toBe("assistant");
    expect(text(frames)).toBe(content);
    const finish = all.filter((chunk) => chunk.choices[0]?.finish_reason != null);
    expect(finish.map((chunk) => chunk.choices)).toEqual([[{ index: 0, delta: {}, finish_reason: "stop" }]]);
    expect(all.filter((chunk) => chunk.usage != null).map((chunk) => chunk.choices)).toEqual([[]]);
    expect(frames.at(-1)).toBe("[DONE]");
  });

  test("a finish reason without [DONE] is a normal end", async () => {
    const frames = await stream([chatChunk({ role: "assistant", content: "x" }), chatChunk({}, { finish: "length" })]);
    expect(chunks(frames).at(-1)?.choices[0]?.finish_reason).toBe("length");
    expect(frames.at(-1)).toBe("[DONE]");
  });

  test.each<[string, Parameters<typeof sse>[0]]>([
    ["the end comes too early", [chatChunk({ role: "assistant", content: "x" }), chatChunk({ content: "y" })]],
    [
      "an error frame",
      [chatChunk({ role: "assistant", content: "x" }), `data: {"error":{"message":"boom","type":"server_error"}}\n\n`],
    ],
    ["garbage", [chatChunk({ role: "assistant", content: "x" }), "data: {nope\n\n"]],
  ])("%s: an error, no finish, no [DONE]", async (_name, pieces) => {
    const frames = await stream(pieces);
    const last = frames.at(-1) as Chunk;
    expect(last.error).toMatchObject({ code: "provider_stream_interrupted", type: "provider_error" });
    expect(last.error?.["request_id"]).toBeTruthy();
    expect(frames).not.toContain("[DONE]");
    expect(chunks(frames).some((chunk) => chunk.choices?.[0]?.finish_reason != null)).toBe(false);
  });

  test("the connection breaks: an error, no finish, no [DONE]", async () => {
    const seen = Promise.withResolvers<void>();
    up.answer(() => sse([chatChunk({ role: "assistant", content: "x" }), seen.promise, CUT]));
    const answer = await chat({ stream: true });
    const reader = answer.body!.getReader();
    const first = await reader.read();
    seen.resolve();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest += new TextDecoder().decode(value);
    }
    expect(new TextDecoder().decode(first.value)).toContain('"content":"x"');
    expect(rest).toContain("provider_stream_interrupted");
    expect(rest).not.toContain("[DONE]");
  });

  const fragment = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) =>
    chatChunk({
      tool_calls: [
        {
          ...(index === undefined ? {} : { index }),
          ...(id === undefined ? {} : { id, type: "function" }),
          function: { ...(name === undefined ? {} : { name }), arguments: args },
        },
      ],
    });
  const assemble = (frames: (Chunk | "[DONE]")[]) => {
    const calls: { id: string; name: string; args: string }[] = [];
    for (const chunk of chunks(frames)) {
      for (const call of (chunk.choices?.[0]?.delta["tool_calls"] ?? []) as {
        index: number;
        id?: string;
        function?: { name?: string; arguments?: string };
      }[]) {
        calls[call.index] ??= { id: "", name: "", args: "" };
        const known = calls[call.index]!;
        known.id ||= call.id ?? "";
        known.name ||= call.function?.name ?? "";
        known.args += call.function?.arguments ?? "";
      }
    }
    return calls;
  };
  const A = { id: "a", name: "f", args: '{"x":1}' };
  const B = { id: "b", name: "g", args: '{"y":[2]}' };

  test.each<[string, string[], (typeof A)[]]>([
    [
      "parallel calls in turn",
      [
        fragment(0, "a", "f", ""),
        fragment(0, undefined, undefined, '{"x"'),
        fragment(0, undefined, undefined, ":1}"),
        fragment(1, "b", "g", '{"y":[2]}'),
      ],
      [A, B],
    ],
    [
      "interleaved fragments",
      [
        fragment(0, "a", "f", '{"x"'),
        fragment(1, "b", "g", '{"y"'),
        fragment(0, undefined, undefined, ":1}"),
        fragment(1, undefined, undefined, ":[2]}"),
      ],
      [A, B],
    ],
    ["index 0 for every call", [fragment(0, "a", "f", '{"x":1}'), fragment(0, "b", "g", '{"y":[2]}')], [A, B]],
    ["no index at all", [fragment(undefined, "a", "f", '{"x":1}'), fragment(undefined, "b", "g", '{"y":[2]}')], [A, B]],
    ["arguments as an object", [fragment(0, "a", "f", { x: 1 })], [A]],
    [
      "a missing brace is mended at the end",
      [fragment(0, "a", "f", '{"x":'), fragment(0, undefined, undefined, "1")],
      [A],
    ],
    [
      "a trailing comma is held back and mended",
      [fragment(0, "a", "f", '{"x":1'), fragment(0, undefined, undefined, ",}")],
      [A],
    ],
    ["no arguments at all", [fragment(0, "a", "f", "")], [{ ...A, args: "{}" }]],
  ])("tool calls: %s", async (_name, pieces, expected) => {
    const frames = await stream(
      [
        chatChunk({ role: "assistant", content: null }),
        ...pieces,
        chatChunk({}, { finish: "stop" }),
        "data: [DONE]\n\n",
      ],
      { tools: TOOLS },
    );
    expect(assemble(frames)).toEqual(expected);
    expect(chunks(frames).at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
    expect(frames.at(-1)).toBe("[DONE]");
  });

  test("arguments beyond repair end the stream with an error", async () => {
    const frames = await stream(
      [
        chatChunk({ role: "assistant" }),
        fragment(0, "a", "f", '{"x":]'),
        chatChunk({}, { finish: "tool_calls" }),
        "data: [DONE]\n\n",
      ],
      { tools: TOOLS },
    );
    expect((frames.at(-1) as Chunk).error).toMatchObject({ code: "tool_arguments_invalid" });
    expect(assemble(frames)[0]?.args).toBe("");
  });

  test("several choices keep their own order", async () => {
    const frames = await stream(
      [
        chatChunk({ role: "assistant", content: "" }),
        chatChunk({ role: "assistant", content: "" }, { index: 1 }),
        chatChunk({ content: "a" }),
        chatChunk({ content: "b" }, { index: 1 }),
        chatChunk({}, { finish: "stop" }),
        chatChunk({}, { finish: "length", index: 1 }),
        "data: [DONE]\n\n",
      ],
      { n: 2 },
    );
    const finishes = chunks(frames)
      .flatMap((chunk) => chunk.choices)
      .filter((choice) => choice.finish_reason !== null);
    expect(finishes.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, "stop"],
      [1, "length"],
    ]);
  });

  test("invalid UTF-8 becomes U+FFFD, and a character split between reads stays whole", async () => {
    const bytes = new TextEncoder().encode(chatChunk({ content: "aé😀b" }));
    const at = bytes.indexOf(0xf0) + 2;
    const frames = await stream([
      chatChunk({ role: "assistant" }),
      bytes.slice(0, at),
      bytes.slice(at),
      chatChunk({ content: "Q" }).replace("Q", "\u0000").replace("\u0000", "Q"),
      chatChunk({}, { finish: "stop" }),
      "data: [DONE]\n\n",
    ]);
    expect(text(frames)).toBe("aé😀bQ");
    const broken = new TextEncoder().encode(chatChunk({ content: "xQy" }));
    broken[broken.indexOf(0x51)] = 0xff;
    expect(text(await stream([chatChunk({ role: "assistant" }), broken, chatChunk({}, { finish: "stop" })]))).toBe(
      "x\uFFFDy",
    );
  });

  test("the upstream call is aborted when the client disconnects", async () => {
    up.answer(() => sse([chatChunk({ role: "assistant", content: "x" }), new Promise(() => {})]));
    const abort = new AbortController();
    const arrived = up.next();
    const answer = await app.call("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "Full", messages: USER, stream: true }),
      signal: abort.signal,
    });
    const received = await arrived;
    await answer.body?.getReader().read();
    abort.abort();
    await received.aborted;
  });

  test("the upstream call is aborted when the client disconnects before any answer", async () => {
    up.answer(() => new Promise<Response>(() => {}));
    for (const stream of [true, false]) {
      const abort = new AbortController();
      const arrived = up.next();
      const pending = app
        .call("/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "Full", messages: USER, stream }),
          signal: abort.signal,
        })
        .catch(() => undefined);
      const received = await arrived;
      abort.abort();
      await received.aborted;
      await pending;
    }
  });
});

describe("headers of streams", () => {
  test("as the contract has them", async () => {
    up.answer(() =>
      sse([chatChunk({ role: "assistant", content: "x" }), chatChunk({}, { finish: "stop" }), "data: [DONE]\n\n"]),
    );
    const answer = await app.post(
      "/v1/chat/completions",
      { model: "Full", messages: USER, stream: true },
      { "x-request-id": "my id" },
    );
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    expect(answer.headers.get("x-request-id")).toBe("my id");
    expect(answer.headers.get("x-ratelimit-limit")).toBe("120");
    await answer.text();
  });
});
