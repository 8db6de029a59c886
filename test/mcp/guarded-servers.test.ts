// Guardrails at the tools of other MCP servers: what leaves with their arguments, and what comes back with their results.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { startTestApp } from "../support/app.ts";
import { CLIENTS } from "./support.ts";

/** The arguments of the calls that arrived. */
const seen: string[] = [];
const saying: { result: (args: string) => object; told?: string } = { result: () => ({ content: [] }) };
const handler = createMcpHandler(() => {
  const server = new Server({ name: "sample", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: ["say", "free"].map((name) => ({ name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const args = JSON.stringify(params.arguments ?? {});
    seen.push(args);
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined && saying.told !== undefined) {
      const told = { progressToken, progress: 1, total: 2, message: saying.told };
      await mcpReq.notify({ method: "notifications/progress", params: told });
    }
    return { content: [], ...saying.result(args) };
  });
  return server;
});
const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => handler.fetch(request) });
const tools = ["other__say"];
const app = await startTestApp({
  config: {
    mcp: { servers: { other: { url: `http://127.0.0.1:${http.port}/mcp` } } },
    guardrails: [
      { name: "stones", check: { kind: "words", words: ["kryptonite"] }, action: "deny", apply: { models: tools } },
      { name: "pii", check: { kind: "pii", find: ["email"] }, action: "mask", apply: { models: tools } },
    ],
  },
});
const client = await Object.values(CLIENTS)[0]!(app);
afterAll(async () => {
  await client.close();
  await app.stop();
  await handler.close();
  await http.stop(true);
});
beforeEach(() => {
  seen.length = 0;
  saying.result = (args) => ({ content: [{ type: "text", text: `got ${args}` }] });
  delete saying.told;
});

test("arguments leave masked, and the result has the values again", async () => {
  const result = await client.call("other__say", {
    to: "ada@example.com",
    "bob@example.com": [{ id: "ada@example.com" }],
  });
  expect(seen).toEqual(['{"to":"[EMAIL_1]","[EMAIL_2]":[{"id":"[EMAIL_1]"}]}']);
  expect(result.content).toMatchObject([
    { text: 'got {"to":"ada@example.com","bob@example.com":[{"id":"ada@example.com"}]}' },
  ]);
  await app.flushLogs();
  expect(app.logs.findLast((line) => line["tool"] === "other__say")?.["guardrails"]).toBe("pii=masked:2");
  expect(JSON.stringify(app.logs)).not.toContain("ada@");
});

test("arguments that are denied do not leave", async () => {
  const { isError, content } = await client.call("other__say", { text: "some KRYPTONITE" });
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain("guardrail_denied");
  expect(seen).toEqual([]);
});

const RESULTS: readonly (readonly [place: string, result: (text: string) => object])[] = [
  ["text", (text) => ({ content: [{ type: "text", text }] })],
  ["a resource", (text) => ({ content: [{ type: "resource", resource: { uri: "file:///a", text } }] })],
  ["structured content", (text) => ({ structuredContent: { id: text, list: [{ name: text }] } })],
  ["an error", (text) => ({ content: [{ type: "text", text }], isError: true })],
];

test.each(RESULTS)("what comes back is looked through: %s", async (_place, result) => {
  saying.result = () => result("for eve@example.com");
  const masked = JSON.stringify(await client.call("other__say"));
  expect(masked).toContain("for [EMAIL_1]");
  expect(masked).not.toContain("eve@");
  saying.result = () => result("kryptonite");
  const denied = await client.call("other__say");
  expect(denied.isError).toBe(true);
  expect(JSON.stringify(denied)).not.toContain("kryptonite");
});

test("what is told of progress has no words of the server", async () => {
  saying.told = "eve@example.com";
  const told: unknown[] = [];
  await client.call("other__say", {}, { onprogress: (progress) => told.push(progress) });
  expect(told).toMatchObject([{ progress: 1, total: 2 }]);
  expect(JSON.stringify(told)).not.toContain("eve@");
});

test("a tool to which no guardrail applies is called as before", async () => {
  const result = await client.call("other__free", { to: "ada@example.com kryptonite" });
  expect(seen).toEqual(['{"to":"ada@example.com kryptonite"}']);
  expect(JSON.stringify(result)).toContain("ada@example.com kryptonite");
});
