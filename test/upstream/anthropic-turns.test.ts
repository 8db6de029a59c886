import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/base/errors.ts";
import type { ChatMessage, ChatRequest } from "../../src/chat/request.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { chat, context } from "./support.ts";

const send = (part: Partial<ChatRequest>, more: Parameters<typeof context>[0] = {}) => {
  const sent = anthropicMessages.request(chat(part), context(more));
  return { ...sent, json: JSON.parse(sent.body) };
};
const text = (words: string) => ({ type: "text" as const, text: words });
const user = (...content: Extract<ChatMessage, { role: "user" }>["content"]): ChatMessage => ({
  role: "user",
  content,
});
const assistant = (...content: Extract<ChatMessage, { role: "assistant" }>["content"]): ChatMessage => ({
  role: "assistant",
  content,
});
const call = (callId: string, args = "{}") =>
  ({ type: "tool-call", callId, name: "f", kind: "function", arguments: args }) as const;
const result = (
  callId: string,
  ...content: Extract<ChatMessage, { role: "tool" }>["content"][0]["content"]
): ChatMessage => ({
  role: "tool",
  content: [{ type: "tool-result", callId, content }],
});
const tools: ChatRequest["tools"] = [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }];

describe("turns", () => {
  test("the smallest request", () => {
    expect(send({})).toMatchObject({
      path: "/messages",
      headers: { "anthropic-version": "2023-06-01" },
      json: { model: "up", max_tokens: 4096, messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] },
      dropped: [],
    });
  });

  test("11: all system text is moved to the top, and cache markers are kept", () => {
    const { json } = send({
      messages: [
        { role: "system", content: [{ ...text("A"), cacheControl: { type: "ephemeral" } }, text("  ")] },
        user(text("hi")),
        { role: "system", content: [text("B")] },
        assistant(text("yes")),
        user(text("go")),
      ],
    });
    expect(json.system).toEqual([
      { type: "text", text: "A", cache_control: { type: "ephemeral" } },
      { type: "text", text: "B" },
    ]);
    expect(json.messages.map((turn: { role: string }) => turn.role)).toEqual(["user", "assistant", "user"]);
  });

  test("11: no empty text is sent, and turns alternate", () => {
    const { json } = send({
      messages: [
        user(text("a")),
        user(text(""), text("b")),
        assistant(text(" ")),
        assistant(text("c")),
        user(text("d")),
      ],
    });
    expect(json.messages).toEqual([
      { role: "user", content: [text("a"), text("b")] },
      { role: "assistant", content: [text("c")] },
      { role: "user", content: [text("d")] },
    ]);
  });

  test("11: every call is followed by its result: late ones are moved, missing ones named, stray ones become text, and results come first", () => {
    const { json } = send({
      tools,
      messages: [
        user(text("x")),
        assistant(text("calling"), call("a", '{"x":1}'), call("b"), call("c")),
        user(text("by the way")),
        result("b", text("B")),
        assistant(text("ok")),
        result("a", text("late")),
        result("z", text("stray")),
      ],
    });
    expect(json.messages[1].content[1]).toEqual({ type: "tool_use", id: "a", name: "f", input: { x: 1 } });
    expect(json.messages[2].content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "late" },
      { type: "tool_result", tool_use_id: "b", content: "B" },
      { type: "tool_result", tool_use_id: "c", content: "No result was given.", is_error: true },
      { type: "text", text: "by the way" },
    ]);
    expect(JSON.stringify(json.messages[4].content)).toContain("stray");
  });

  test("a call at the very end gets a result turn", () => {
    expect(send({ tools, messages: [user(text("x")), assistant(call("a"))] }).json.messages.at(-1).role).toBe("user");
  });

  test("call ids are made legal and unique, results follow them", () => {
    const { json } = send({
      tools,
      messages: [
        user(text("x")),
        assistant(call("functions.f:0")),
        result("functions.f:0", text("1")),
        assistant(call("functions.f:0")),
        result("functions.f:0", text("2")),
      ],
    });
    expect(json.messages[1].content[0].id).toBe("functions_f_0");
    expect(json.messages[3].content[0].id).toBe("functions_f_0_2");
    expect(json.messages[4].content[0]).toMatchObject({ tool_use_id: "functions_f_0_2", content: "2" });
  });

  test.each([
    ["text that is broken JSON", '{"a":', { a: null }],
    ["no object", "[1]", { arguments: "[1]" }],
    ["beyond mending", "<x>", { arguments: "<x>" }],
    ["nothing", "", {}],
  ])("arguments of earlier calls: %s", (_name, args, input) => {
    expect(
      send({ tools, messages: [user(text("x")), assistant(call("a", args))] }).json.messages[1].content[0].input,
    ).toEqual(input);
  });

  test("12: images of every source, in turns and in tool results, URLs kept as URLs", () => {
    const png = { kind: "base64", mediaType: "image/png", data: "iVBO" } as const;
    const { json } = send({
      tools,
      messages: [
        user({ type: "image", source: { kind: "url", url: "https://x.test/a.png" } }),
        assistant(call("a")),
        result("a", text("see"), { type: "image", source: png }),
        user({ type: "image", source: { kind: "url", url: "data:image/gif;base64,R0lG" } }),
        user({ type: "image", source: { kind: "file", fileId: "file_1" } }),
      ],
    });
    expect(json.messages[0].content[0].source).toEqual({ type: "url", url: "https://x.test/a.png" });
    expect(json.messages[2].content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [text("see"), { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } }],
      },
      { type: "image", source: { type: "base64", media_type: "image/gif", data: "R0lG" } },
      { type: "image", source: { type: "file", file_id: "file_1" } },
    ]);
  });

  test("documents", () => {
    const doc = (source: Extract<ChatMessage, { role: "user" }>["content"][number]) =>
      send({ messages: [user(source)] }).json.messages[0].content[0];
    expect(
      doc({ type: "file", filename: "a.pdf", source: { kind: "base64", mediaType: "application/pdf", data: "JVBE" } }),
    ).toEqual({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBE" },
      title: "a.pdf",
    });
    expect(doc({ type: "file", source: { kind: "base64", mediaType: "text/csv", data: btoa("a,b") } }).source).toEqual({
      type: "text",
      media_type: "text/plain",
      data: "a,b",
    });
    expect(() => doc({ type: "file", source: { kind: "base64", mediaType: "application/zip", data: "" } })).toThrow(
      ApiError,
    );
  });

  test("9: signed thinking is sent back byte for byte; unsigned and foreign thinking is not", () => {
    const signature = "Eq+/==\\u0041";
    const { json } = send({
      tools,
      messages: [
        user(text("x")),
        assistant(
          { type: "reasoning", text: "hm\n", signature, origin: "anthropic-messages" },
          { type: "reasoning", text: "", signature: "only" },
          { type: "reasoning", text: "", redacted: "R==" },
          { type: "reasoning", text: "no signature" },
          { type: "reasoning", text: "of another", signature: "s", origin: "gemini" },
          { type: "reasoning", text: "", encrypted: "e", origin: "openai-responses" },
          call("a"),
        ),
      ],
    });
    expect(json.messages[1].content).toEqual([
      { type: "thinking", thinking: "hm\n", signature },
      { type: "thinking", thinking: "", signature: "only" },
      { type: "redacted_thinking", data: "R==" },
      { type: "tool_use", id: "a", name: "f", input: {} },
    ]);
  });

  test("Anthropic's own content parts are kept, those of others are named", () => {
    const value = { type: "search_result", source: "x" };
    const odd = { type: "opaque" as const, origin: "openai-chat", value: { type: "odd" } };
    const { json, dropped } = send({
      messages: [
        user({ type: "opaque", origin: "anthropic-messages", value }),
        assistant(odd, text("y")),
        user(text("z")),
      ],
    });
    expect(json.messages[0].content).toEqual([value]);
    expect(json.messages[1].content).toEqual([{ type: "text", text: "y" }]);
    expect(dropped).toEqual(["messages.odd"]);
    expect(() => send({ messages: [user(odd)] })).toThrow("cannot take content of type 'odd'");
  });

  test("a history that starts with the assistant, or contains only system text, becomes valid", () => {
    expect(send({ messages: [assistant(text("hello ")), user(text("x"))] }).json.messages[0].role).toBe("user");
    expect(send({ messages: [{ role: "system", content: [text("do")] }] }).json).toMatchObject({
      messages: [{ role: "user", content: [text("do")] }],
    });
    expect(() => send({ messages: [] })).toThrow(ApiError);
  });

  test("for any history, turns alternate, calls have results, and there is no empty text", () => {
    const id = fc.constantFrom("a", "b", "c");
    const words = fc.constantFrom("", " ", "w").map(text);
    const message: fc.Arbitrary<ChatMessage> = fc.oneof(
      fc.array(words, { maxLength: 2 }).map((content): ChatMessage => ({ role: "system", content })),
      fc.array(words, { maxLength: 2 }).map((content): ChatMessage => ({ role: "user", content })),
      fc
        .array(
          fc.oneof(
            words,
            id.map((one) => call(one)),
          ),
          { maxLength: 3 },
        )
        .map((content): ChatMessage => ({ role: "assistant", content })),
      id.map((one) => result(one, text("r"))),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 9 }), (messages) => {
        const { json } = send({ tools, messages: [...messages, user(text("end"))] });
        type Block = { type: string; text?: string; id?: string; tool_use_id?: string };
        let owed: string[] = [];
        const used = new Set<string>();
        json.messages.forEach((turn: { role: string; content: Block[] }, at: number) => {
          expect(turn.role).toBe(at % 2 === 0 ? "user" : "assistant");
          expect(turn.content.length).toBeGreaterThan(0);
          const results = turn.content
            .filter((block) => block.type === "tool_result")
            .map((block) => String(block.tool_use_id));
          expect(results.toSorted()).toEqual(owed.toSorted());
          expect(turn.content.slice(0, results.length).every((block) => block.type === "tool_result")).toBe(true);
          for (const block of turn.content) if (block.type === "text") expect(block.text?.trim()).not.toBe("");
          owed = turn.content.filter((block) => block.type === "tool_use").map((block) => String(block.id));
          for (const one of owed) {
            expect(used.has(one)).toBe(false);
            used.add(one);
          }
        });
        expect(owed).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
