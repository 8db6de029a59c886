// Requests to Claude models of different generations: forced tools, late system messages, a final assistant turn, thinking turned
// off, and caching. Requests in every client format become the same neutral request.

import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest, ToolChoice } from "../../src/chat/request.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { CARDS } from "../../src/upstream/providers/index.ts";
import { chat, context } from "./support.ts";

const send = (part: Partial<ChatRequest>, more: Parameters<typeof context>[0] = {}) => {
  const sent = anthropicMessages.request(chat(part), context(more));
  return { ...sent, json: JSON.parse(sent.body) };
};
const text = (words: string) => ({ type: "text" as const, text: words });
const user = (words: string): ChatMessage => ({ role: "user", content: [text(words)] });
const system = (words: string): ChatMessage => ({ role: "system", content: [text(words)] });
const assistant = (words: string): ChatMessage => ({ role: "assistant", content: [text(words)] });
const call = (callId: string): ChatMessage => ({
  role: "assistant",
  content: [{ type: "tool-call", callId, name: "f", kind: "function", arguments: "{}" }],
});
const result = (callId: string): ChatMessage => ({
  role: "tool",
  content: [{ type: "tool-result", callId, content: [text("r")] }],
});
const tools: ChatRequest["tools"] = ["f", "g", "h"].map((name) => ({ type: "function", name }));
const shape = (json: { messages: { role: string; content: { text?: string }[] }[] }) =>
  json.messages.map(({ role, content }) => [role, ...content.map((block) => block.text)]);

describe("a forced tool", () => {
  const FORCED: [ToolChoice, Record<string, unknown>, RegExp][] = [
    [{ type: "required" }, { type: "any" }, /at least one of the tools/],
    [{ type: "tool", name: "f" }, { type: "tool", name: "f" }, /"f"/],
    [{ type: "allowed", mode: "required", names: ["g"] }, { type: "tool", name: "g" }, /"g".*one of them/],
  ];

  test.each(["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1", "claude-opus-6"])(
    "%s is told in the text",
    (model) => {
      for (const [toolChoice, , words] of FORCED) {
        const { json, dropped } = send({ tools, toolChoice, reasoning: { effort: "low" } }, { model });
        expect(json.tool_choice).toEqual({ type: "auto" });
        expect(json.tools).toHaveLength(3);
        expect(json.messages.at(-1)).toMatchObject({
          role: "system",
          content: [{ text: expect.stringMatching(words) }],
        });
        expect(dropped).toEqual(["tool_choice"]);
        expect(json.output_config).toEqual({ effort: "low" });
      }
    },
  );

  test.each(["claude-opus-5", "claude-opus-4-8", "claude-sonnet-4-5", "other"])(
    "%s is forced by the parameter",
    (model) => {
      for (const [toolChoice, expected] of FORCED) {
        const { json, dropped } = send({ tools, toolChoice }, { model });
        expect(json.tool_choice).toEqual(expected);
        expect(json.tools).toHaveLength(3);
        expect(dropped).toEqual([]);
      }
    },
  );
});

describe("allowed tools", () => {
  const toolChoice: ToolChoice = { type: "allowed", mode: "auto", names: ["f", "g"] };

  test.each([
    [
      "claude-opus-4-8",
      [
        ["user", "hi"],
        ["system", 'Of the tools, call none but these: "f", "g".'],
      ],
    ],
    ["claude-sonnet-4-5", [["user", "hi", 'Of the tools, call none but these: "f", "g".']]],
  ] as const)("%s keeps its list of tools and is told", (model, turns) => {
    const { json, dropped } = send({ tools, toolChoice }, { model });
    expect(json.tools).toHaveLength(3);
    expect(json).not.toHaveProperty("system");
    expect(shape(json)).toEqual(turns.map((turn) => [...turn]));
    expect(dropped).toEqual(["tool_choice"]);
  });

  test("if all tools are allowed, no text is added", () => {
    const all: ToolChoice = { type: "allowed", mode: "auto", names: ["f", "g", "h"] };
    const { json, dropped } = send({ tools, toolChoice: all }, { model: "claude-opus-5" });
    expect([json.tool_choice, dropped, json.messages.length]).toEqual([{ type: "auto" }, [], 1]);
  });
});

describe("late system text", () => {
  test.each<[string, ChatMessage[], unknown[]]>([
    [
      "after the user",
      [system("top"), user("a"), system("s")],
      [
        ["user", "a"],
        ["system", "s"],
      ],
    ],
    [
      "between answers",
      [user("a"), system("s"), assistant("b"), user("c")],
      [
        ["user", "a"],
        ["system", "s"],
        ["assistant", "b"],
        ["user", "c"],
      ],
    ],
    [
      "after an answer waits for the user",
      [user("a"), assistant("b"), system("s"), user("c")],
      [
        ["user", "a"],
        ["assistant", "b"],
        ["user", "c"],
        ["system", "s"],
      ],
    ],
    [
      "between two user messages",
      [user("a"), system("s"), user("b"), system("t")],
      [
        ["user", "a", "b"],
        ["system", "s", "t"],
      ],
    ],
    [
      "between the results of one turn",
      [user("a"), call("1"), result("1"), system("s"), user("c")],
      [
        ["user", "a"],
        ["assistant", undefined],
        ["user", undefined, "c"],
        ["system", "s"],
      ],
    ],
    [
      "after a last answer is asked as the user",
      [user("a"), assistant("b"), system("s")],
      [
        ["user", "a"],
        ["assistant", "b"],
        ["user", "s"],
      ],
    ],
  ])("%s stays in place on new models", (_name, messages, turns) => {
    for (const model of ["claude-opus-4-8", "claude-opus-5", "claude-sonnet-5-5", "claude-haiku-5-5"]) {
      const { json, dropped } = send({ messages }, { model });
      expect(shape(json)).toEqual(turns as never);
      expect(json.system?.map((block: { text: string }) => block.text)).toEqual(
        messages[0]?.role === "system" ? ["top"] : undefined,
      );
      expect(dropped).toEqual([]);
    }
  });

  test.each(["claude-opus-4-7", "claude-sonnet-5", "other"])("for %s system text is moved to the top", (model) => {
    const { json } = send({ messages: [user("a"), system("s"), assistant("b"), user("c")] }, { model });
    expect(json.system).toEqual([text("s")]);
    expect(shape(json)).toEqual([
      ["user", "a"],
      ["assistant", "b"],
      ["user", "c"],
    ]);
  });
});

describe("a final assistant turn", () => {
  const messages = [user("a"), assistant("Once upon ")];

  test.each(["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-5", "claude-sonnet-5", "claude-7"])(
    "%s is asked to go on",
    (model) => {
      const { json, dropped } = send({ messages }, { model });
      expect(json.messages.at(-1).role).toBe("user");
      expect(json.messages[1].content).toEqual([text("Once upon ")]);
      expect(dropped).toEqual(["prefill"]);
    },
  );

  test.each(["claude-sonnet-4-5", "claude-3-7-sonnet-latest", "other"])("%s continues by itself", (model) => {
    const { json, dropped } = send({ messages }, { model });
    expect(json.messages.at(-1)).toEqual({ role: "assistant", content: [text("Once upon")] });
    expect(dropped).toEqual([]);
  });
});

describe("thinking turned off", () => {
  test.each([
    ["claude-opus-4-8", undefined, undefined, []],
    ["claude-sonnet-4-5", undefined, undefined, []],
    ["claude-opus-5", { type: "disabled" }, undefined, []],
    ["claude-sonnet-5", { type: "disabled" }, undefined, []],
    ["claude-sonnet-5-5", { type: "between_tools" }, undefined, []],
    ["claude-opus-5-5", undefined, { effort: "low" }, ["reasoning_effort"]],
    ["claude-fable-5-1", undefined, { effort: "low" }, ["reasoning_effort"]],
    ["claude-opus-6", undefined, { effort: "low" }, ["reasoning_effort"]],
  ] as const)("%s: %j %j", (model, thinking, config, dropped) => {
    for (const reasoning of [{ effort: "none" }, { enabled: false }]) {
      const sent = send({ reasoning }, { model });
      expect(sent.json.thinking).toEqual(thinking);
      expect(sent.json.output_config).toEqual(config);
      expect(sent.dropped).toEqual([...dropped]);
    }
  });
});

describe("a thinking budget leaves room for the answer", () => {
  test.each([
    [{ effort: "high" }, 2000, 1500],
    [{ effort: "medium" }, 40_000, 8192],
    [{ budgetTokens: 9000 }, 2000, 1500],
    [{ budgetTokens: 1900 }, 2000, 1900],
    [{ effort: "high" }, 1300, undefined],
  ])("%j of %d: %p", (reasoning, maxTokens, budget) => {
    const { json } = send({ reasoning, maxTokens }, { model: "claude-sonnet-4-5" });
    expect(json.thinking?.budget_tokens).toBe(budget);
  });
});

describe("caching", () => {
  const { quirks } = CARDS.find(({ name }) => name === "anthropic")!;
  const turns: ChatMessage[] = [system("top"), user("a"), call("1"), result("1"), system("s"), user("b")];

  test.each<[string, Partial<ChatRequest>, Parameters<typeof context>[0], boolean]>([
    ["tools", { tools }, { quirks }, true],
    ["an answer in the history", { messages: [user("a"), assistant("b"), user("c")] }, { quirks }, true],
    ["a cache key", { extra: { prompt_cache_key: "k" } }, { quirks }, true],
    ["one question", {}, { quirks }, false],
    ["another platform", { tools }, {}, false],
    ["a client that marks what it wants", { tools }, { quirks, clientCaches: true }, false],
    [
      "markers",
      { tools, messages: [{ role: "user", content: [{ ...text("a"), cacheControl: { type: "ephemeral" } }] }] },
      { quirks },
      false,
    ],
    ["a marked tool", { tools: [{ type: "function", name: "f", cacheControl: {} }] }, { quirks }, false],
  ])("%s", (_name, part, more, asked) => {
    const { json } = send(part, { ...more, model: "claude-opus-5" });
    expect(json.cache_control).toEqual(asked ? { type: "ephemeral" } : undefined);
  });

  test.each(["claude-opus-5", "claude-opus-5-5"])(
    "%s: nothing that was sent before changes from turn to turn",
    (model) => {
      const later = [...turns, assistant("c"), user("d"), system("t"), call("2"), result("2")];
      const first = send({ tools, messages: turns }, { quirks, model }).json;
      const next = send({ tools, messages: later }, { quirks, model }).json;
      expect(next.tools).toEqual(first.tools);
      expect(next.system).toEqual(first.system);
      expect(next.messages.slice(0, first.messages.length)).toEqual(first.messages);
      expect(JSON.stringify(next.messages)).not.toContain("cache_control");
    },
  );
});
