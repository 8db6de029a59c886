// Thousands of calls, results and tools that are named alike, or name one another, hold the event loop up no longer than others.

import { expect, test } from "bun:test";
import type {
  ChatMessage,
  ChatRequest,
  FunctionTool,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../src/chat/request.ts";
import { flattenTools, ToolRestorer } from "../../src/chat/tools.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import type { Quirks } from "../../src/vendors/quirks.ts";
import { leastMs, STEP_MS_MAX } from "../support/least-ms.ts";
import { chat, context } from "./support.ts";

/** A body may hold 100,000 values: about so many calls with results. */
const COUNT = 6000;

const many = <T>(one: (at: number) => T): T[] => Array.from({ length: COUNT }, (_, at) => one(at));
const asked: ChatMessage = { role: "user", content: [{ type: "text", text: "x" }] };
function call(callId: string, name = "f"): ToolCallPart {
  return { type: "tool-call", callId, name, kind: "function", arguments: "{}" };
}
function result(callId: string): ToolResultPart {
  return { type: "tool-result", callId, kind: "function", content: [{ type: "text", text: "r" }] };
}
const tool = (name: string, namespace?: string): FunctionTool => ({
  type: "function",
  name,
  parameters: { type: "object" },
  ...(namespace === undefined ? {} : { namespace }),
});
const withSchema = (parameters: Record<string, unknown>): FunctionTool => ({ type: "function", name: "f", parameters });
const inOneTurn = (ids: readonly string[], answered: readonly string[], nameOf?: (at: number) => string) => [
  asked,
  { role: "assistant" as const, content: ids.map((id, at) => call(id, nameOf?.(at))) },
  { role: "tool" as const, content: answered.map(result) },
];
const ids = many((at) => `t${at}`);
const tools = many((at) => tool(`n${at}`));

const REQUESTS: readonly (readonly [string, Partial<ChatRequest>])[] = [
  [
    "calls with one id",
    {
      messages: inOneTurn(
        ids.map(() => "t"),
        ids.map(() => "t"),
      ),
    },
  ],
  [
    "turns with one id",
    {
      messages: [
        asked,
        ...ids.slice(0, COUNT / 2).flatMap((): ChatMessage[] => [
          { role: "assistant", content: [call("t")] },
          { role: "tool", content: [result("t")] },
        ]),
      ],
    },
  ],
  ["results in another order", { messages: inOneTurn(ids, ids.toReversed()) }],
  ["calls of other tools each", { messages: inOneTurn(ids, ids, (at) => `n${at}`) }],
  [
    "calls of tools whose names are spelt alike",
    {
      messages: inOneTurn(ids, ids, (at) => at.toString(2).padStart(16, "0").replaceAll("0", "!").replaceAll("1", "?")),
    },
  ],
  ["calls without results", { messages: [...inOneTurn(ids, []).slice(0, 2), asked] }],
  ["results without calls", { messages: [asked, { role: "tool", content: ids.map(result) }] }],
  [
    "tools that may be called",
    {
      messages: [asked],
      tools,
      toolChoice: { type: "allowed", mode: "auto", names: tools.map(({ name }) => name).toReversed() },
    },
  ],
  [
    "tools with namespaces that may be called",
    {
      messages: [asked],
      tools: many((at) => tool(`n${at}`, `s${at}`)),
      toolChoice: { type: "allowed", mode: "required", names: many((at) => `n${COUNT - 1 - at}`) },
    },
  ],
  [
    "a tool with many alternatives",
    { messages: [asked], tools: [withSchema({ anyOf: many((at) => ({ properties: { kind: { const: at } } })) })] },
  ],
  [
    "a tool whose alternatives require much",
    {
      messages: [asked],
      tools: [withSchema({ anyOf: [ids, ids.toReversed()].map((names) => ({ required: [...names, ...names] })) })],
    },
  ],
  [
    "parts that only another protocol has",
    {
      messages: [
        {
          role: "user",
          content: [
            ...many((): UserContent => ({ type: "opaque", origin: "other", value: { type: "x" } })),
            { type: "text", text: "x" },
          ],
        },
      ],
    },
  ],
];
const DIALECTS = [openaiChat, anthropicMessages, gemini, openaiResponses];

/** Servers that lack what others have, so that a request is made to fit. */
const QUIRKS: Quirks = {
  ...{ tool_choice_words: true, tool_call_ids: "nine", developer_role: false, json_schema: false, custom_tools: false },
  ...{ image_urls: false, cache_control: false, refuses_reasoning: true },
};

const CASES = REQUESTS.flatMap(([name, part]) =>
  DIALECTS.map((dialect) => ({ name, part, dialect, protocol: dialect.name })),
);

test.each(CASES)(
  "$name, for $protocol",
  ({ part, dialect }) => {
    const given = chat(part);
    const flat = () => (dialect.takesToolGroups === true ? given : flattenTools(given, dialect.toolNames));
    const made = flat();
    const took = {
      flattened: leastMs(flat),
      restored: leastMs(() => new ToolRestorer(given)),
      written: leastMs(() => dialect.request(made, context({ model: "m" }))),
      fitted: leastMs(() => dialect.request(made, context({ model: "m", quirks: QUIRKS }))),
    };
    expect(Object.entries(took).filter(([, ms]) => ms >= STEP_MS_MAX)).toEqual([]);
  },
  60_000,
);
