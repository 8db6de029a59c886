// Thousands of messages, servers or pieces of an answer that are alike hold the event loop up no longer than others. What the dialects
// make of them is in test/upstream/alike-names.test.ts.

import { expect, test } from "bun:test";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import type { ChatMessage, ServerTool } from "../../src/chat/request.ts";
import { RunningAnswer } from "../../src/gateway/endpoints/socket/steering.ts";
import type { ChatMcpTool } from "../../src/gateway/stages/chat-tools/deps.ts";
import { meantBy } from "../../src/gateway/stages/chat-tools/mcp.ts";
import { McpHistory } from "../../src/gateway/stages/chat-tools/mcp-history.ts";
import { openToolHistory } from "../../src/gateway/stages/chat-tools/open-history.ts";
import { PageSeals } from "../../src/gateway/stages/chat-tools/seals.ts";
import { Sealer } from "../../src/gateway/stages/compaction/seal.ts";
import { repeatsOf } from "../../src/gateway/stages/runs/repeats.ts";
import { usagesIn } from "../../src/upstream/dialects/openai-chat/usage.ts";
import { mcpOfMessages } from "../../src/wire/messages/mcp.ts";
import { mcpOfResponses } from "../../src/wire/responses/mcp.ts";
import { leastMs, STEP_MS_MAX } from "../support/least-ms.ts";
import { chat } from "../upstream/support.ts";

/** A body may hold 100,000 values, and an answer more. */
const COUNT = 16_000;
const many = <T>(one: (at: number) => T): T[] => Array.from({ length: COUNT }, (_, at) => one(at));

const goOn: ChatMessage = { role: "user", content: [{ type: "text", text: "Go on." }] };
const result = (at: number): ChatMessage => ({
  role: "tool",
  content: [{ type: "tool-result", callId: `c${at}`, kind: "function", content: [] }],
});
const serverTool = (origin: string, name: string, value: Record<string, unknown>): ServerTool => ({
  ...{ type: "server", origin, name },
  value: { type: name, ...value },
});

const named = many((at) => ({ name: `s${at}`, url: "https://mcp.example/" }));
const sets = many((at) => serverTool(mcpOfMessages.origin, "mcp_toolset", { mcp_server_name: `t${at}` }));
const listed: ChatMessage = {
  role: "assistant",
  content: [
    { type: "opaque", origin: mcpOfResponses.origin, value: { type: "mcp_list_tools", server_label: "s", tools: [] } },
  ],
};
const seals = new PageSeals(new Sealer("secret"), "a");
const history = [listed, ...many(result)];
const logged: readonly ChatEvent[] = [
  { type: "text-start", choice: 0, id: "b" },
  ...many((): ChatEvent => ({ type: "text-delta", choice: 0, id: "b", text: "a", logprobs: [{ token: "a" }] })),
  { type: "text-end", choice: 0, id: "b" },
  { type: "finish", choice: 0, reason: "stop", rawReason: "stop" },
];

const steered = new RunningAnswer();
for (const type of ["response.output_item.done", "response.output_item.added"])
  for (let at = 0; at < 4000; at++) {
    const item = { type: "function_call", id: `${type}${at}`, call_id: "c" };
    steered.note({ type, text: JSON.stringify({ type, item }) });
  }

const mcpTools = many((at) => ({ label: "s", shown: `n${at}` }) as ChatMcpTool);
const choice = many((at) => ({ type: "mcp", server_label: "s", name: `m${at}` }));

const WORK: readonly (readonly [string, () => unknown])[] = [
  [
    "messages of a person who says the same",
    () =>
      repeatsOf(
        many(() => goOn),
        10,
      ),
  ],
  ["reminders behind a result", () => repeatsOf([result(0), ...many(() => goOn)], 10)],
  [
    "servers and sets of their tools",
    () => mcpOfMessages.named(chat({ tools: sets, extra: { mcp_servers: named } }), {}),
  ],
  [
    "results behind a block of a server",
    () => {
      const options = { format: mcpOfResponses, isOwn: () => true, taken: new Set<string>() };
      const mcp = new McpHistory(history, options);
      return openToolHistory(history, { seals, param: "input", names: new Map(), mcp });
    },
  ],
  ["tools of servers that may be called", () => meantBy(choice, mcpTools)],
  ["calls of a running answer", () => steered.owed()],
  ["choices that tell their usage", () => usagesIn({ choices: many(() => ({ usage: {} })) })],
  ["pieces of an answer with the likelihood of each token", () => fold(logged)],
];

test.each(WORK)(
  "%s hold the event loop up no longer than others",
  (_, work) => expect(leastMs(work)).toBeLessThan(STEP_MS_MAX),
  60_000,
);

test("a choice names tools, or all of a server", () => {
  const tools = ["a a", "a b", "b a", "b b"].map((name) => {
    const [label, shown] = name.split(" ");
    return { label, shown, name } as ChatMcpTool;
  });
  const meant = (...entries: Record<string, unknown>[]) => meantBy(entries, tools).map(({ name }) => name);
  expect(meant({ server_label: "b", name: "b" }, { server_label: "a", name: "a" })).toEqual(["a a", "b b"]);
  expect(meant({ server_label: "b" })).toEqual(["b a", "b b"]);
  expect(meant({ server_label: "b", name: 1 }, { server_label: "b", name: "c" })).toEqual(["b a", "b b"]);
  expect(meant({ name: "a" }, { server_label: ["a"] })).toEqual([]);
});
