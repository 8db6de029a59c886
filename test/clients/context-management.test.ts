// The vendors' own client libraries request edits of their conversations, over every upstream protocol: the answers match
// their types, and conversations can be continued with what the libraries return.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Clients, GREETING, startClients, stopClients } from "./fixture.ts";

let clients: Clients;
let anthropic: Anthropic;
let openai: OpenAI;
beforeAll(async () => {
  clients = await startClients();
  anthropic = new Anthropic({ baseURL: clients.app.url, apiKey: clients.app.key, maxRetries: 0 });
  openai = new OpenAI({ baseURL: `${clients.app.url}/v1`, apiKey: clients.app.key, maxRetries: 0 });
});
afterAll(() => stopClients(clients));

const words = (name: string, at: number) => `${name} ${at}: ${"and so it went on ".repeat(20)}`;

describe.each(["openai-chat", "anthropic-messages", "gemini"])("openai over %s", (model) => {
  test.each([false, true])("a compaction item, and on from it alone (stream: %p)", async (stream) => {
    const input = Array.from({ length: 21 }, (_, at) => ({
      role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: words(`items ${model} ${stream}`, at),
    }));
    // Above what stays word for word (the first message and the last six), below the whole.
    const body = { model, store: false, context_management: [{ type: "compaction", compact_threshold: 1200 }] };
    const get = (list: OpenAI.Responses.ResponseInput) =>
      stream
        ? openai.responses.stream({ ...body, input: list }).finalResponse()
        : openai.responses.create({ ...body, input: list });
    const first = await get(input);
    expect(first.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    expect(first.output_text).toBe(GREETING);
    clients.sent();
    const second = await get([
      ...(first.output as OpenAI.Responses.ResponseInput),
      { role: "user", content: "Go on." },
    ]);
    expect(second.output.map(({ type }) => type)).toEqual(["message"]);
    const [sent] = clients.sent();
    expect(sent?.text).toContain(`items ${model} ${stream} 20:`);
    expect(sent?.text).not.toContain(`items ${model} ${stream} 7:`);
  });
});

describe.each(["openai-chat", "openai-responses", "gemini"])("anthropic over %s", (model) => {
  const look = { name: "look", input_schema: { type: "object" as const } };
  const talk = (name: string): Anthropic.Beta.BetaMessageParam[] =>
    Array.from({ length: 8 }, (_, at): Anthropic.Beta.BetaMessageParam[] => [
      { role: "user", content: words(name, at) },
      { role: "assistant", content: [{ type: "tool_use", id: `toolu_${at}`, name: "look", input: { at } }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: words(`${name} result`, at) }],
      },
      { role: "assistant", content: `noted ${at}` },
    ]).flat();
  const body = {
    model,
    max_tokens: 200,
    tool_choice: { type: "none" as const },
    betas: ["compact-2026-01-12", "context-management-2025-06-27"],
  };
  const ask = (messages: Anthropic.Beta.BetaMessageParam[]) => [
    ...messages,
    { role: "user" as const, content: "And now?" },
  ];

  test.each([false, true])("cleared tool uses are told of (stream: %p)", async (stream) => {
    const context_management: Anthropic.Beta.BetaContextManagementConfig = {
      edits: [
        { type: "clear_thinking_20251015", keep: "all" },
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "tool_uses", value: 4 },
          keep: { type: "tool_uses", value: 3 },
          clear_at_least: { type: "input_tokens", value: 100 },
        },
      ],
    };
    const asked = { ...body, tools: [], context_management, messages: ask(talk(`clearing ${model}`)) };
    const answer = stream
      ? await anthropic.beta.messages.stream(asked).finalMessage()
      : await anthropic.beta.messages.create(asked);
    expect(answer.context_management?.applied_edits).toEqual([
      { type: "clear_tool_uses_20250919", cleared_tool_uses: 5, cleared_input_tokens: expect.any(Number) },
    ]);
    expect(answer.content).toMatchObject([{ type: "text", text: GREETING }]);
    expect(answer.usage.iterations ?? null).toBeNull();
  });

  test.each([false, true])("a compaction block, and on from it alone (stream: %p)", async (stream) => {
    const context_management: Anthropic.Beta.BetaContextManagementConfig = {
      edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 500 } }],
    };
    const name = `blocks ${model} ${stream}`;
    const heard: string[] = [];
    const get = (messages: Anthropic.Beta.BetaMessageParam[]) => {
      const asked = { ...body, tools: [], context_management, messages };
      if (!stream) return anthropic.beta.messages.create(asked);
      return anthropic.beta.messages
        .stream(asked)
        .on("compaction", (text) => heard.push(text))
        .finalMessage();
    };
    const first = await get(ask(talk(name)));
    const [block] = first.content;
    if (block?.type !== "compaction") throw new Error(`Got ${block?.type}.`);
    expect(block.content).toContain(GREETING);
    expect(heard).toEqual(stream ? [String(block.content)] : []);
    expect(first.content.map(({ type }) => type)).toEqual(["compaction", "text"]);
    expect(first.usage.iterations?.map(({ type }) => type)).toEqual(["compaction", "message"]);
    expect(first.context_management).toEqual({ applied_edits: [] });
    clients.sent();
    const second = await get([
      { role: "assistant", content: first.content },
      { role: "user", content: "Go on." },
    ]);
    expect(second.content.map(({ type }) => type)).toEqual(["text"]);
    const [sent] = clients.sent();
    expect(sent?.text).toContain("And now?");
    expect(sent?.text).not.toContain(`${name} 3:`);
  });

  test("a pause ends with the block", async () => {
    const answer = await anthropic.beta.messages.create({
      ...body,
      tools: [look],
      messages: ask(talk(`pausing ${model}`)),
      context_management: {
        edits: [
          {
            type: "compact_20260112",
            trigger: { type: "input_tokens", value: 500 },
            pause_after_compaction: true,
            instructions: "Only names.",
          },
        ],
      },
    });
    expect([answer.stop_reason, answer.content.map(({ type }) => type)]).toEqual(["compaction", ["compaction"]]);
  });
});
