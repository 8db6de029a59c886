// Directions within a conversation (tools added, removed and deferred, new settings, texts shown for one turn) over every protocol:
// what is in force at the end of the conversation is sent, and over the client's own protocol everything is unchanged.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols.
type Json = Record<string, any>;

const upstream = startUpstream((received) => say(received, { text: "ok" }));
const MODELS: Readonly<Record<DialectName, string>> = {
  "openai-chat": "everything",
  "openai-responses": "everything",
  "anthropic-messages": "claude-sonnet-4-6",
  gemini: "gemini-3-flash",
};
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, supports_reasoning: true, routes: [{ provider: id, model: MODELS[id] }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

/** What a request asks of the model, read in each protocol. */
const READ: Readonly<Record<DialectName, (body: Json) => { tools: string[]; effort: unknown; verbosity: unknown }>> = {
  "openai-chat": (body) => ({
    tools: (body["tools"] ?? []).map((tool: Json) => tool["function"].name),
    effort: body["reasoning_effort"],
    verbosity: body["verbosity"],
  }),
  "openai-responses": (body) => ({
    tools: (body["tools"] ?? []).map((tool: Json) => tool["name"]),
    effort: body["reasoning"]?.effort,
    verbosity: body["text"]?.verbosity,
  }),
  "anthropic-messages": (body) => ({
    tools: (body["tools"] ?? []).map((tool: Json) => tool["name"]),
    effort: body["output_config"]?.effort,
    verbosity: undefined,
  }),
  gemini: (body) => ({
    tools: (body["tools"]?.[0]?.functionDeclarations ?? []).map((tool: Json) => tool["name"]),
    effort: body["generationConfig"]?.thinkingConfig?.thinkingLevel,
    verbosity: undefined,
  }),
};

interface Case {
  path: string;
  own: DialectName;
  body: Json;
  tools?: string[];
  effort?: string;
  verbosity?: string;
  says?: string[];
  hides?: string[];
  dropped?: string[];
}

const schema = { type: "object", properties: {} };
const tool = (name: string, more: Json = {}) => ({ name, input_schema: schema, ...more });
const named = (name: string) => ({ type: "tool_reference", name });
const adds = (tool: Json) => ({ type: "tool_addition", tool });
const removes = (name: string) => ({ type: "tool_removal", tool: named(name) });
const defines = (name: string, more: Json = {}) => adds({ type: "tool_definition", definition: tool(name, more) });
const system = (content: Json[] | string, more: Json = {}) => ({ role: "system", content, ...more });
const turn = [
  { role: "user", content: "first" },
  { role: "assistant", content: "answer" },
  { role: "user", content: "second" },
];
const messages = (more: Json, expected: Omit<Case, "path" | "own" | "body">): Case => ({
  path: "/v1/messages",
  own: "anthropic-messages",
  body: { max_tokens: 9000, ...more },
  ...expected,
});
const late = (tools: Json[], content: Json[], expected: string[]) =>
  messages({ tools, messages: [...turn, system(content)] }, { tools: expected });
const effort = (list: Json[], expected: string) =>
  messages({ output_config: { effort: "low" }, messages: list }, { effort: expected });
const said = (list: Json[], says: string[], hides: string[]) => messages({ messages: list }, { says, hides });

const fn = (name: string, more: Json = {}) => ({ type: "function", name, parameters: schema, ...more });
const update = (more: Json) => ({ type: "configuration_update", ...more });
const user = { role: "user", content: "hi" };
const responses = (more: Json, expected: Omit<Case, "path" | "own" | "body">): Case => ({
  path: "/v1/responses",
  own: "openai-responses",
  body: { reasoning: { effort: "low" }, ...more },
  ...expected,
});

const mark = (text: string, more: Json = {}) => system([{ type: "text", text }], more);
const once = { clear_at: "next_user_message" };
const found = (name: string) => [
  { role: "assistant", content: [{ type: "tool_use", id: "t_1", name: "find", input: {} }] },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "t_1", content: [{ type: "tool_reference", tool_name: name }] }],
  },
];
const search = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" };

const CASES: Readonly<Record<string, Case>> = {
  "a tool is removed": late([tool("f"), tool("g")], [removes("f")], ["g"]),
  "the only tool is removed": late([tool("f")], [removes("f")], []),
  "a deferred tool is added": late([tool("f"), tool("g", { defer_loading: true })], [adds(named("g"))], ["f", "g"]),
  "a deferred tool is not added": late([tool("f"), tool("g", { defer_loading: true })], [], ["f"]),
  "a tool is defined": late([tool("f")], [defines("g", { defer_loading: true })], ["f", "g"]),
  "a tool is defined anew": late([tool("f"), tool("g")], [defines("f", { description: "newer" })], ["f", "g"]),
  "removals come first": late([tool("f")], [removes("f"), defines("g")], ["g"]),
  "a defined tool is removed and comes back": late(
    [tool("f")],
    [defines("g"), removes("g"), removes("f"), adds(named("g"))],
    ["g"],
  ),
  "changes beside text in several messages": messages(
    {
      tools: [tool("f")],
      messages: [
        ...turn,
        system([{ type: "text", text: "Use g now." }, removes("f"), defines("g")]),
        { role: "assistant", content: "yes" },
        user,
        system([adds(named("f")), { type: "text", text: "And f again." }]),
      ],
    },
    { tools: ["f", "g"], says: ["Use g now.", "And f again."] },
  ),
  "a tool of the provider's is removed": late(
    [tool("f"), { type: "web_search_20250305", name: "web_search" }],
    [removes("web_search")],
    ["f"],
  ),
  "a tool that only the client's servers know is removed": late(
    [tool("f")],
    [{ type: "tool_removal", tool: { type: "mcp_toolset_reference", server_name: "s" } }],
    ["f"],
  ),
  "a result refers to a deferred tool": messages(
    {
      tools: [tool("find"), tool("g", { defer_loading: true }), tool("h", { defer_loading: true })],
      messages: [user, ...found("g")],
    },
    { tools: ["find", "g"] },
  ),
  "the provider searches for deferred tools": messages(
    { tools: [search, tool("f"), tool("g", { defer_loading: true })], messages: turn },
    { tools: ["f", "g"], dropped: ["tools.tool_search_tool_bm25_20251119"] },
  ),
  "a summary lists its changes": messages(
    {
      tools: [tool("f"), tool("g", { defer_loading: true })],
      messages: [
        {
          role: "assistant",
          content: [{ type: "compaction", content: "They met.", tool_changes: [adds(named("g")), removes("f")] }],
        },
        user,
      ],
    },
    { tools: ["g"], says: ["They met."] },
  ),
  "an effort at the end": effort([...turn, system([], { output_config: { effort: "high" } })], "high"),
  "an effort without content": effort([...turn, { role: "system", output_config: { effort: "high" } }], "high"),
  "the last effort": effort(
    [
      turn[0] as Json,
      system("a", { output_config: { effort: "high" } }),
      turn[1] as Json,
      turn[2] as Json,
      system([], { output_config: { effort: "medium" } }),
    ],
    "medium",
  ),
  "an earlier effort stays": effort(
    [turn[0] as Json, system("a", { output_config: { effort: "high" } }), ...turn.slice(1), mark("b")],
    "high",
  ),
  "a late system text": said([...turn, mark("LATE")], ["LATE"], []),
  "a text for a past turn": said(
    [turn[0] as Json, mark("PAST", once), turn[1] as Json, turn[2] as Json, mark("NOW", once)],
    ["NOW"],
    ["PAST"],
  ),
  "a past text as a string": said([turn[0] as Json, system("PAST", once), ...turn.slice(1)], [], ["PAST"]),
  "a text that never goes": said(
    [turn[0] as Json, mark("KEPT", { clear_at: "never" }), ...turn.slice(1)],
    ["KEPT"],
    [],
  ),
  "changes in a past text": messages(
    {
      tools: [tool("f")],
      messages: [turn[0] as Json, system([{ type: "text", text: "PAST" }, removes("f")], once), ...turn.slice(1)],
    },
    { tools: [], hides: ["PAST"] },
  ),
  "an update of the effort": responses(
    { input: [user, update({ reasoning: { effort: "high" } })] },
    { effort: "high" },
  ),
  "the last update": responses(
    { input: [update({ reasoning: { effort: "high" } }), user, update({ reasoning: { effort: "medium" } })] },
    { effort: "medium" },
  ),
  "an update of something else": responses(
    { input: [user, update({ reasoning: { effort: "high" } }), update({ text: { verbosity: "low" } })] },
    { effort: "high", verbosity: "low" },
  ),
  "additional tools": responses(
    {
      tools: [fn("f")],
      input: [
        user,
        { type: "additional_tools", role: "developer", tools: [fn("g"), fn("h", { defer_loading: true })] },
      ],
    },
    { tools: ["f", "g"], effort: "low" },
  ),
  "deferred tools": responses({ tools: [fn("f"), fn("g", { defer_loading: true })], input: [user] }, { tools: ["f"] }),
  "the provider searches for deferred functions": responses(
    { tools: [{ type: "tool_search" }, fn("f"), fn("g", { defer_loading: true })], input: [user] },
    { tools: ["f", "g"], dropped: ["tools.tool_search"] },
  ),
};

describe.each(Object.entries(CASES))("%s", (_name, one) => {
  test.each(DIALECTS.filter((name) => name !== one.own))("over %s", async (model) => {
    const response = await ask(one, model);
    expect({ status: response.status, text: response.status === 200 ? "" : await response.text() }).toEqual({
      status: 200,
      text: "",
    });
    const [received] = upstream.received;
    const up = READ[model](received?.json as Json);
    if (one.tools !== undefined) expect(up.tools).toEqual(one.tools);
    if (one.effort !== undefined) expect(up.effort).toBe(one.effort);
    // Two protocols have no verbosity, which is named then.
    const isNamed = one.verbosity !== undefined && !model.startsWith("openai");
    if (one.verbosity !== undefined && !isNamed) expect(up.verbosity).toBe(one.verbosity);
    for (const text of one.says ?? []) expect(received?.text).toContain(text);
    for (const text of one.hides ?? []) expect(received?.text).not.toContain(text);
    const dropped = (response.headers.get("x-sallyport-dropped") ?? "").split(", ").filter((name) => name !== "");
    expect(dropped).toEqual([...(one.dropped ?? []), ...(isNamed ? ["text.verbosity"] : [])]);
  });

  test("over the client's own protocol", async () => {
    expect((await ask(one, one.own)).status).toBe(200);
    const { reasoning: _reasoning, ...body } = one.body;
    expect(upstream.received[0]?.json).toMatchObject(body);
  });
});

describe("a tool that cannot be added", () => {
  const toolset = { type: "mcp_toolset_reference", server_name: "s" };
  const REFUSED: [string, Json[], string][] = [
    ["a set of tools", [{ type: "tool_addition", tool: toolset }], "messages[3].content[0]"],
    ["beside text", [{ type: "text", text: "Now." }, adds(toolset)], "messages[3].content[1]"],
    [
      "after a removal",
      [{ type: "tool_removal", tool: toolset }, adds({ type: "mcp_tool_reference", server_name: "s", name: "x" })],
      "messages[3].content[1]",
    ],
    ["an unknown name", [adds(named("nobody"))], "messages[3].content[0]"],
  ];
  describe.each(REFUSED)("%s", (_name, content, param) => {
    const one = late([tool("f")], content, []);
    test.each(DIALECTS.filter((name) => name !== one.own))("is refused by its name over %s", async (model) => {
      const response = await ask(one, model);
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as Json;
      expect(error).toMatchObject({ code: "unsupported_parameter", param });
      expect(error.message).toContain("tool_addition");
      expect(upstream.received).toHaveLength(0);
    });

    test("is sent over the client's own protocol", async () => {
      expect((await ask(one, one.own)).status).toBe(200);
      expect(upstream.received[0]?.json).toMatchObject(one.body);
    });
  });
});

function ask(one: Case, model: string): Promise<Response> {
  return app.post(
    one.path,
    { ...one.body, model },
    { "anthropic-beta": "mid-conversation-tool-changes-2026-07-01,inline-tools-2026-09-15" },
  );
}
