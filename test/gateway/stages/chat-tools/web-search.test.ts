// The gateway's own web search in the messages format: the model calls a function, the client sees the blocks of the protocol.

import { afterAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { startToolsApp } from "./fixture.ts";

const { app, site, upstream, plays, stop } = await startToolsApp();
afterAll(stop);

const client = new Anthropic({ apiKey: app.key, baseURL: app.url, maxRetries: 0 });
const TOOL = { type: "web_search_20250305" as const, name: "web_search" as const };
const SEARCH = { calls: [{ name: "web_search", input: { query: "what is rye" } }] };
const SAID = { say: "Rye is a grain that survives cold winters [1]. Horses eat oats [2]." };
type Json = Record<string, unknown>;

async function ask(stream: boolean, more: Json = {}): Promise<Anthropic.Message> {
  const body = {
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "What is rye?" }],
    tools: [TOOL],
    ...more,
  };
  return stream ? client.messages.stream(body as never).finalMessage() : client.messages.create(body as never);
}

describe.each([false, true])("stream %p", (stream) => {
  test("the model is given the pages, and the client the blocks with true citations", async () => {
    plays(SEARCH, SAID);
    const message = await ask(stream);
    expect(message.content.map(({ type }) => type)).toEqual(["server_tool_use", "web_search_tool_result", "text"]);
    const [use, result, text] = message.content as [
      Anthropic.ServerToolUseBlock,
      Anthropic.WebSearchToolResultBlock,
      Anthropic.TextBlock,
    ];
    expect(use).toMatchObject({ name: "web_search", input: { query: "what is rye" } });
    expect(use.id).toMatch(/^srvtoolu_[a-zA-Z0-9_]+$/);
    expect(result.tool_use_id).toBe(use.id);
    expect(result.content).toMatchObject([
      { type: "web_search_result", url: `${site.url}/rye`, title: "Rye" },
      { type: "web_search_result", url: `${site.url}/oats`, title: "Oats" },
    ]);
    expect(text.text).toBe(SAID.say);
    expect(text.citations).toMatchObject([
      { type: "web_search_result_location", url: `${site.url}/rye`, cited_text: "It survives cold winters." },
      { type: "web_search_result_location", url: `${site.url}/oats`, cited_text: "Oats are eaten by horses." },
    ]);
    expect(message.stop_reason).toBe("end_turn");
    // The usage of both rounds.
    expect(message.usage).toMatchObject({
      input_tokens: 20,
      output_tokens: 8,
      server_tool_use: { web_search_requests: 1 },
    });
    const [first, second] = upstream.received.map(({ json }) => json as { messages: Json[]; tools: Json[] });
    expect(first?.tools).toMatchObject([{ type: "function", function: { name: "web_search" } }]);
    // The second round has the first one as its prefix.
    expect(second?.messages.slice(0, 1)).toEqual(first!.messages);
    expect(second?.tools).toEqual(first!.tools);
    expect(second?.messages[1]).toMatchObject({
      role: "assistant",
      tool_calls: [{ function: { name: "web_search" } }],
    });
    expect(second?.messages[2]).toMatchObject({ role: "tool", tool_call_id: use.id });
    expect(String(second?.messages[2]?.["content"])).toContain("It survives cold winters.");
  });

  test("the next turn gives the model the same words again", async () => {
    plays(SEARCH, SAID);
    const message = await ask(stream);
    const before = upstream.received[1]!.json!["messages"] as Json[];
    plays({ say: "Yes [2]." });
    const messages = [
      { role: "user", content: "What is rye?" },
      { role: "assistant", content: message.content },
      { role: "user", content: "Sure?" },
    ];
    const next = await ask(stream, { messages });
    const after = upstream.received[0]!.json!["messages"] as Json[];
    expect(after.slice(0, 3)).toEqual(before);
    expect(after[3]).toMatchObject({ role: "assistant", content: SAID.say });
    // Pages of earlier turns keep their numbers.
    expect(next.content[0]).toMatchObject({ type: "text", citations: [{ url: `${site.url}/oats` }] });
  });

  test("a changed or foreign result is refused", async () => {
    plays(SEARCH, SAID);
    const { content } = await ask(stream);
    const changedBy = (change: (block: Json) => void) => {
      const copy = structuredClone(content) as unknown as [Json, { content: Json[] }, Json];
      change(copy[1].content[0]!);
      const messages = [
        { role: "user", content: "a" },
        { role: "assistant", content: copy },
        { role: "user", content: "b" },
      ];
      return ask(stream, { messages }).then(
        () => "answered",
        (error: InstanceType<typeof Anthropic.APIError>) => [
          error.status,
          (error.error as { error: Json }).error["code"],
        ],
      );
    };
    const refused = [400, "invalid_block"];
    expect(await changedBy((block) => (block["url"] = "https://evil.example/"))).toEqual(refused);
    expect(await changedBy((block) => (block["encrypted_content"] = `${block["encrypted_content"]}A`))).toEqual(
      refused,
    );
    expect(await changedBy((block) => (block["encrypted_content"] = "EqgfCioIARgBIiQ3"))).toEqual(refused);
    expect(await changedBy(() => undefined)).toEqual("answered");
  });

  test("calls of one round run side by side, and a client's call ends it with the results", async () => {
    plays({
      say: "Let me look.",
      calls: [
        { name: "web_search", input: { query: "rye one" } },
        { name: "weather", input: { city: "Rome" } },
        { name: "web_search", input: { query: "rye two" } },
      ],
    });
    const weather = { name: "weather", input_schema: { type: "object" } };
    const message = await ask(stream, { tools: [TOOL, weather] });
    expect(message.content.map(({ type }) => type)).toEqual([
      "text",
      "server_tool_use",
      "tool_use",
      "server_tool_use",
      "web_search_tool_result",
      "web_search_tool_result",
    ]);
    expect(message.stop_reason).toBe("tool_use");
    expect(upstream.received.length).toBe(1);
    plays({ say: "Done." });
    const call = message.content.find(({ type }) => type === "tool_use") as Anthropic.ToolUseBlock;
    const messages = [
      { role: "user", content: "What is rye?" },
      { role: "assistant", content: message.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] },
    ];
    await ask(stream, { messages, tools: [TOOL, weather] });
    const sent = upstream.received[0]!.json!["messages"] as Json[];
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool"]);
    expect((sent[1]!["tool_calls"] as Json[]).length).toBe(3);
  });

  test("a failed search is a result that the model sees", async () => {
    site.answers("searxng", () => new Response("no", { status: 500 }));
    plays({ calls: [{ name: "web_search", input: { query: `dark rye ${stream}` } }] }, { say: "I do not know." });
    const message = await ask(stream);
    expect(message.content).toMatchObject([
      { type: "server_tool_use" },
      { type: "web_search_tool_result", content: { type: "web_search_tool_result_error", error_code: "unavailable" } },
      { type: "text", text: "I do not know." },
    ]);
    const [, second] = upstream.received;
    expect(JSON.stringify(second?.json)).toContain("The search failed.");
    site.lists("searxng", [
      { url: `${site.url}/rye`, title: "Rye" },
      { url: `${site.url}/oats`, title: "Oats" },
    ]);
  });

  test("uses and rounds are bounded", async () => {
    plays(SEARCH, SEARCH, { say: "Enough." });
    const message = await ask(stream, { tools: [{ ...TOOL, max_uses: 1 }] });
    expect(message.content).toMatchObject([
      {},
      { content: [{}, {}] },
      {},
      { content: { error_code: "max_uses_exceeded" } },
      { text: "Enough." },
    ]);
    plays(SEARCH);
    const endless = await ask(stream, {});
    // The model calls even when it may not.
    expect(upstream.received.length).toBe(10);
    expect(upstream.received.at(-1)?.json?.["tool_choice"]).toBe("none");
    expect(endless.stop_reason).toBe("end_turn");
  });
});
