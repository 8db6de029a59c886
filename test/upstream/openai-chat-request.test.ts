import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../src/chat/request.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { chat, context } from "./support.ts";

const send = (part: Partial<ChatRequest>, more: Parameters<typeof context>[0] = {}) => {
  const sent = openaiChat.request(chat(part), context(more));
  return { ...sent, json: JSON.parse(sent.body) };
};
const text = (words: string) => ({ type: "text" as const, text: words });
const user = (...content: Extract<ChatMessage, { role: "user" }>["content"]): ChatMessage => ({
  role: "user",
  content,
});
const call = (callId: string) =>
  ({ type: "tool-call", callId, name: "f", kind: "function", arguments: '{"x":1}' }) as const;

describe("messages", () => {
  test("the smallest request", () => {
    expect(send({})).toMatchObject({
      path: "/chat/completions",
      json: { model: "up", messages: [{ role: "user", content: "hi" }], stream: false },
      dropped: [],
    });
  });

  test("11: results follow their calls directly, whatever was between them", () => {
    const { json } = send({
      messages: [
        user(text("a")),
        { role: "assistant", content: [text("calling"), call("1"), call("2")] },
        user(text("aside")),
        { role: "tool", content: [{ type: "tool-result", callId: "2", content: [text("two")] }] },
      ],
    });
    expect(json.messages.map((turn: { role: string }) => turn.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
    ]);
    expect(json.messages[1]).toMatchObject({ content: "calling", tool_calls: [{ id: "1" }, { id: "2" }] });
    expect(json.messages[2].content).toContain("No result was given.");
    expect(json.messages[3]).toEqual({ role: "tool", tool_call_id: "2", content: "two" });
  });

  test("12: images stay URLs; images in results follow in a user turn", () => {
    const { json } = send({
      messages: [
        user(text("see"), { type: "image", source: { kind: "url", url: "https://x.test/a.png" }, detail: "low" }),
        { role: "assistant", content: [call("1")] },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              callId: "1",
              content: [
                text("shot"),
                { type: "image", source: { kind: "base64", mediaType: "image/png", data: "iVBO" } },
              ],
            },
          ],
        },
      ],
    });
    expect(json.messages[0].content[1]).toEqual({
      type: "image_url",
      image_url: { url: "https://x.test/a.png", detail: "low" },
    });
    expect(json.messages[2]).toEqual({ role: "tool", tool_call_id: "1", content: "shot" });
    expect(json.messages[3].content[1].image_url.url).toBe("data:image/png;base64,iVBO");
  });

  test("9, 10: thinking of others is never sent to providers that do not need it", () => {
    const { json } = send({
      messages: [
        {
          role: "assistant",
          content: [{ type: "reasoning", text: "hm", signature: "S", origin: "anthropic-messages" }, text("yes")],
        },
        user(text("go")),
      ],
    });
    expect(JSON.stringify(json)).not.toContain("hm");
  });
});

describe("parameters", () => {
  test.each([
    [{ effort: "high" }, "gpt-4.1", undefined, ["reasoning_effort"]],
    [{ effort: "high" }, "gpt-5-mini", "high", []],
    [{ effort: "max" }, "gpt-5", "high", ["reasoning_effort"]],
    [{ effort: "max" }, "gpt-5.4", "xhigh", ["reasoning_effort"]],
    [{ effort: "max" }, "gpt-5.6", "xhigh", ["reasoning_effort"]],
    [{ effort: "minimal" }, "gpt-5.6", "low", ["reasoning_effort"]],
    [{ effort: "none" }, "gpt-5.6", "none", []],
    [{ effort: "none" }, "o3", "low", ["reasoning_effort"]],
    [{ effort: "xhigh" }, "x-ai/grok-4.5", "high", ["reasoning_effort"]],
    [{ effort: "high" }, "grok-4", undefined, ["reasoning_effort"]],
    [{ effort: "low" }, "gpt-5-pro", "high", ["reasoning_effort"]],
    [{ effort: "ultra" }, "gpt-9", "ultra", []],
    [{ effort: "none" }, "anthropic/claude-opus-4.8", "none", []],
    [{ effort: "max" }, "deepseek-flash", "max", []],
    [{ budgetTokens: 2000, enabled: true }, "openai/o4-mini", "low", []],
    [{ enabled: true }, "gpt-5", undefined, []],
  ] as const)("reasoning %j on %s", (reasoning, model, effort, dropped) => {
    const sent = send({ reasoning }, { model });
    expect(sent.json.reasoning_effort).toBe(effort);
    expect(sent.dropped).toEqual([...dropped]);
  });

  test("the catalog takes precedence over the model's name", () => {
    expect(
      send({ reasoning: { effort: "low" } }, { model: "mine", supportsReasoning: true }).json.reasoning_effort,
    ).toBe("low");
  });

  test("a user longer than OpenAI takes becomes its hash", () => {
    const { json } = send({ user: JSON.stringify({ device_id: "d".repeat(80) }) });
    expect(json.user).toMatch(/^[0-9a-f]{64}$/);
  });

  test("structured output: in the form that the server supports", () => {
    const schema = { type: "object", properties: {}, additionalProperties: false };
    const responseFormat = { type: "json_schema", name: "n", schema, strict: true } as const;
    expect(send({ responseFormat }).json.response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "n", schema, strict: true },
    });
    const poor = send({ responseFormat }, { quirks: { json_schema: false } }).json;
    expect(poor.response_format).toEqual({ type: "json_object" });
    expect(poor.messages[0].content).toContain(JSON.stringify(schema));
  });
});

describe("a user right after tool results", () => {
  const turns: ChatRequest["messages"] = [
    { role: "user", content: [{ type: "text", text: "a" }] },
    { role: "assistant", content: [{ type: "tool-call", callId: "c", name: "f", kind: "function", arguments: "{}" }] },
    { role: "tool", content: [{ type: "tool-result", callId: "c", content: [{ type: "text", text: "r" }] }] },
    { role: "user", content: [{ type: "text", text: "b" }] },
  ];
  const image = { type: "image", source: { kind: "url", url: "https://example.com/a.png" } } as const;
  const roles = (list: { role: string }[]) => list.map(({ role }) => role).join(" ");
  const bridged = "user assistant tool assistant user";

  test.each([
    ["mistral-large-latest", bridged],
    ["mistralai/Mistral-Small-4-119B", bridged],
    ["openrouter/mistralai/devstral-small", bridged],
    ["gpt-5.1", "user assistant tool user"],
  ])("%s: %s, translated and on the lossless path", (model, expected) => {
    expect(roles(send({ messages: turns }, { model }).json.messages)).toBe(expected);
    const body = { model: "m", messages: send({ messages: turns }).json.messages };
    const text = JSON.stringify(body);
    const lossless = openaiChat.lossless.request(text, chat({}), context({ model }), {});
    expect(roles(JSON.parse(lossless.body).messages)).toBe(expected);
    const given = openaiChat.lossless.request(text, chat({}), context({ model }), { messages: body.messages });
    expect(roles(JSON.parse(given.body).messages)).toBe(expected);
  });

  test("an assistant turn is inserted before an image of a result; valid histories are not changed", () => {
    const shown = turns.slice(0, 2).concat({
      role: "tool",
      content: [{ type: "tool-result", callId: "c", content: [image] }],
    });
    expect(roles(send({ messages: shown }, { model: "pixtral-large" }).json.messages)).toBe(bridged);
    const text = JSON.stringify({ messages: send({ messages: turns.slice(0, 3) }).json.messages, odd: 1.0 });
    const { body } = openaiChat.lossless.request(text, chat({}), context({ model: "mistral-x" }), {});
    expect(JSON.parse(body).messages).toEqual(JSON.parse(text).messages);
  });
});

describe("members that the provider refuses", () => {
  const json_schema = { type: "json_schema", name: "n", schema: { type: "object" } } as const;
  test.each([
    ["response_format", { responseFormat: { type: "json_object" } }, ["response_format"]],
    ["response_format", { responseFormat: json_schema }, ["response_format"]],
    ["stream", { stream: false }, []],
    ["stream", { stream: true }, ["stream"]],
    ["stream_options", { stream: true }, []],
    ["seed", { seed: 1 }, ["seed"]],
  ] as const)("%s of %j is left out, and named if the client sent it", (name, part, dropped) => {
    const sent = send(part, { quirks: { refuses: [name, "model", "messages"] }, stream: "stream" in part });
    expect(sent.json).not.toHaveProperty(name);
    expect(sent.json).toMatchObject({ model: "up" });
    expect(sent.dropped).toEqual([...dropped]);
    // Words are all that is left to ask for the schema with.
    expect(sent.body.includes("JSON Schema")).toBe("responseFormat" in part && part.responseFormat === json_schema);
  });

  test("stream_options of the client are left out where they are relayed", () => {
    const body = { model: "m", messages: [], stream: true, stream_options: { include_usage: false } };
    const ctx = context({ quirks: { refuses: ["stream_options"] }, stream: true });
    const sent = openaiChat.lossless.request(JSON.stringify(body), chat({ stream: true }), ctx, {});
    expect(JSON.parse(sent.body)).toEqual({ model: "up", messages: [], stream: true });
    expect(sent.dropped).toEqual(["stream_options"]);
  });
});
