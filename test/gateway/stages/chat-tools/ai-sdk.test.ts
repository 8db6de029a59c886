// The gateway's web search and MCP servers as Vercel's AI SDK sees them, in the formats of its provider packages.

import { afterAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { generateText, type LanguageModel, streamText, type ToolSet } from "ai";
import { sampleServer } from "../../../mcp/sample-tools.ts";
import { startToolsApp } from "./fixture.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const handler = createMcpHandler(() => sampleServer());
const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => handler.fetch(request) });
const servers = { files: { url: `http://127.0.0.1:${http.port}/mcp`, tools: ["echo"] } };
const { app, site, upstream, plays, stop } = await startToolsApp({ mcp: { servers } });
afterAll(async () => {
  await stop();
  await handler.close();
  await http.stop(true);
});

const openai = createOpenAI({ apiKey: app.key, baseURL: `${app.url}/v1` });
const anthropic = createAnthropic({ apiKey: app.key, baseURL: `${app.url}/v1` });
const SEARCH = { calls: [{ name: "web_search", input: { query: "what is rye" } }] };
const SAID = { say: "It survives cold winters [1]." };

/** The parts that both ways of asking give. */
async function answered(stream: boolean, model: LanguageModel, tools: ToolSet) {
  const asked = { model, tools, prompt: "What is rye?", maxRetries: 0 };
  if (!stream) return generateText(asked);
  const result = streamText(asked);
  const [text, sources, toolCalls, toolResults] = await Promise.all([
    ...[result.text, result.sources, result.toolCalls, result.toolResults],
  ] as const);
  return { text, sources, toolCalls, toolResults };
}

describe.each([false, true])("stream %p", (stream) => {
  test.each([
    ["openai", openai.responses("m"), { web_search: openai.tools.webSearch({}) }],
    ["anthropic", anthropic("m"), { web_search: anthropic.tools.webSearch_20250305({ maxUses: 2 }) }],
  ] as const)("%s: a search is a call that was made, with its sources", async (_, model, tools) => {
    plays(SEARCH, SAID);
    const { text, sources, toolCalls, toolResults } = await answered(stream, model, tools as unknown as ToolSet);
    expect(text).toBe(SAID.say);
    expect(upstream.received.length).toBe(2);
    expect(sources.map((source) => (source.sourceType === "url" ? source.url : ""))).toContain(`${site.url}/rye`);
    expect(toolCalls).toMatchObject([{ toolName: "web_search", providerExecuted: true }]);
    expect(toolResults).toMatchObject([{ toolName: "web_search" }]);
  });

  test("openai: a call of an MCP server is one that was made", async () => {
    plays({ calls: [{ name: "files__echo", input: { a: 1 } }] }, { say: "Done." });
    const mcp = openai.tools.mcp({ serverLabel: "files", serverUrl: "https://elsewhere.example/mcp" });
    const { text, toolResults } = await answered(stream, openai.responses("m"), { mcp } as unknown as ToolSet);
    expect(text).toBe("Done.");
    expect(JSON.stringify(toolResults)).toContain('{\\"a\\":1}');
  });
});
