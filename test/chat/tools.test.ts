import { describe, expect, test } from "bun:test";
import type { ChatEvent, ToolDelta, ToolStart } from "../../src/chat/event.ts";
import type { ChatRequest, FunctionTool } from "../../src/chat/request.ts";
import { flattenTools, ToolRestorer } from "../../src/chat/tools.ts";

function chat(part: Partial<ChatRequest>): ChatRequest {
  return { model: "m", messages: [], stream: true, includeUsage: false, tools: [], extra: {}, ...part };
}

function restore(request: ChatRequest, events: ChatEvent[]): ChatEvent[] {
  const restorer = new ToolRestorer(request);
  const out: ChatEvent[] = [];
  for (const event of events) restorer.push(event, out);
  return out;
}

const call = (name: string, ...texts: string[]): ChatEvent[] => [
  { type: "tool-start", choice: 0, id: "b0", callId: "c0", name, kind: "function" },
  ...texts.map((text): ToolDelta => ({ type: "tool-delta", choice: 0, id: "b0", text })),
  { type: "tool-end", choice: 0, id: "b0" },
];

describe("flattening", () => {
  test("leaves a request of plain functions alone", () => {
    const plain = chat({ tools: [{ type: "function", name: "read" }] });
    expect(flattenTools(plain)).toBe(plain);
    expect(new ToolRestorer(plain).idle).toBe(true);
  });

  test("makes a custom tool a function of one string, its grammar told", () => {
    const request = chat({
      tools: [{ type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: X" } }],
      toolChoice: { type: "tool", name: "patch", kind: "custom" },
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool-call", callId: "c", name: "patch", kind: "custom", arguments: 'a "b"' }],
        },
        { role: "tool", content: [{ type: "tool-result", callId: "c", kind: "custom", content: [] }] },
      ],
    });
    const flat = flattenTools(request);
    const tool = flat.tools[0] as FunctionTool;
    expect(tool.type).toBe("function");
    expect(tool.description).toContain("start: X");
    expect(tool.parameters?.["required"]).toEqual(["input"]);
    expect(flat.toolChoice).toEqual({ type: "tool", name: "patch" });
    expect(flat.messages[0]).toEqual({
      role: "assistant",
      content: [
        { type: "tool-call", callId: "c", name: "patch", kind: "function", arguments: '{"input":"a \\"b\\""}' },
      ],
    });
    expect(flattenTools(flat)).toBe(flat);
  });

  test("writes namespaces into names and finds them again", () => {
    const request = chat({
      tools: [
        { type: "function", name: "spawn", namespace: "agents" },
        { type: "function", name: "agents__spawn" },
      ],
    });
    const names = flattenTools(request).tools.map((tool) => tool.name);
    // The plain function keeps its name, and the namespaced one is renamed.
    expect(names).toEqual(["agents__spawn_2", "agents__spawn"]);
    expect(restore(request, call("agents__spawn_2"))[0]).toMatchObject({ name: "spawn", namespace: "agents" });
    expect((restore(request, call("agents__spawn"))[0] as ToolStart).namespace).toBeUndefined();
  });

  test("shortens names over 64 characters, distinctly and reversibly", () => {
    const names = ["a", "b"].map((end) => `mcp__${"x".repeat(80)}${end}`);
    const request = chat({ tools: names.map((name) => ({ type: "function", name })) });
    const flat = flattenTools(request).tools.map((tool) => tool.name);
    expect(new Set(flat).size).toBe(2);
    for (const name of flat) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(flat.map((name) => (restore(request, call(name))[0] as ToolStart).name)).toEqual(names);
  });
});

test("an upstream with custom tools and namespaces only gets its names shortened", () => {
  const long = "n".repeat(70);
  const request = chat({
    tools: [
      { type: "custom", name: "patch" },
      { type: "function", name: "run", namespace: "shell" },
      { type: "function", name: long },
    ],
    messages: [
      {
        role: "assistant",
        content: [{ type: "tool-call", callId: "c", name: long, kind: "function", arguments: "{}" }],
      },
    ],
  });
  const flat = flattenTools(request, { native: true });
  expect(flat.tools.slice(0, 2)).toEqual(request.tools.slice(0, 2));
  const short = flat.tools[2]?.name ?? "";
  expect(short).toHaveLength(64);
  expect(flat.messages[0]).toMatchObject({ content: [{ name: short }] });
  expect(restore(request, call(short))[0]).toMatchObject({ name: long });
});

describe("restoring", () => {
  const request = chat({ tools: [{ type: "custom", name: "patch" }] });

  test.each([
    ["fragments of the one argument", ['{"inp', 'ut":"a\\nb"}'], "a\nb"],
    ["a renamed argument", ['{"patch":"x"}'], "x"],
    ["free text where JSON was asked for", ["*** Begin"], "*** Begin"],
    ["an argument cut off", ['{"input":"abc'], "abc"],
  ])("%s", (_name, texts, input) => {
    expect(restore(request, call("patch", ...texts))).toEqual([
      { type: "tool-start", choice: 0, id: "b0", callId: "c0", name: "patch", kind: "custom" },
      { type: "tool-delta", choice: 0, id: "b0", text: input },
      { type: "tool-end", choice: 0, id: "b0" },
    ]);
  });

  test("native custom calls pass untouched", () => {
    const events = call("patch", "{}").map((event) =>
      event.type === "tool-start" ? { ...event, kind: "custom" as const } : event,
    );
    expect(restore(request, events)).toEqual(events);
  });
});
