// Whatever is sent to /mcp or to stdin, it never causes an internal error, and later requests are still answered.

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { TOOLS } from "../../src/mcp/tools/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { messagesOf, modernRequest, olderRequest } from "./support.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({
    key: { rpm: 1_000_000 },
    config: { web: { render: "never" }, search: { only: ["searxng"] } },
  });
});
afterAll(() => app.stop());

const METHODS = [
  ...["initialize", "tools/list", "tools/call", "server/discover", "subscriptions/listen", "ping", "logging/setLevel"],
  ...[
    "resources/list",
    "prompts/get",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
  ],
  ...["completion/complete", "tasks/get", "sampling/createMessage", "__proto__", "constructor", ""],
];

/** Arguments that lead nowhere. No public page is requested. */
const args = fc.oneof(fc.object({ maxDepth: 3 }), fc.jsonValue(), fc.constant({ url: "http://10.0.0.1/" }));
const params = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      name: fc.oneof(fc.constantFrom(...TOOLS.map(({ name }) => name)), fc.string()),
      arguments: args,
      _meta: fc.oneof(
        fc.jsonValue(),
        fc.record({ progressToken: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()) }),
        fc.constant({
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        }),
      ),
      protocolVersion: fc.oneof(fc.constantFrom("2025-06-18", "2026-07-28", ""), fc.jsonValue()),
      requestId: fc.jsonValue(),
      cursor: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);
const message = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
    id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
    method: fc.oneof(fc.constantFrom(...METHODS), fc.string()),
    params,
    result: fc.jsonValue(),
  },
  { requiredKeys: ["jsonrpc", "method"] },
);
const body = fc.oneof(
  { weight: 6, arbitrary: message.map((one) => JSON.stringify(one)) },
  { weight: 2, arbitrary: fc.array(message, { maxLength: 5 }).map((list) => JSON.stringify(list)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);
const headers = fc.record(
  {
    "mcp-protocol-version": fc.constantFrom("2025-03-26", "2025-06-18", "2026-07-28", "1", "x"),
    "mcp-method": fc.constantFrom("tools/call", "tools/list", "=?base64?dG9vbHMvbGlzdA==?=", "=?base64?!?="),
    "mcp-name": fc.constantFrom("scrape", "=?base64?c2NyYXBl?=", "%00"),
    "mcp-session-id": fc.constantFrom("x", "1".repeat(3000)),
    accept: fc.constantFrom("*/*", "application/json", "text/event-stream", "application/json, text/event-stream"),
    "last-event-id": fc.constant("7"),
  },
  { requiredKeys: [] },
);

test("no message causes an internal error", async () => {
  await fc.assert(
    fc.asyncProperty(body, headers, async (text, more) => {
      const init = { ...olderRequest(app, {}, more), body: text };
      const response = await fetch(`${app.url}/mcp`, { ...init, signal: AbortSignal.timeout(60_000) });
      expect([response.status < 500, response.status]).toEqual([true, response.status]);
      for (const one of await messagesOf(response)) {
        const { code } = (one["error"] ?? {}) as { code?: unknown };
        expect([one, code === -32603 && !String(text).includes("subscriptions/listen")]).toEqual([one, false]);
      }
    }),
    { numRuns: 400 },
  );
  await app.flushLogs();
  expect(app.logs.filter(({ level }) => level === "error")).toEqual([]);
  const [list] = await messagesOf(await fetch(`${app.url}/mcp`, modernRequest(app, "tools/list")));
  expect(list).toMatchObject({ result: { tools: expect.any(Array) } });
}, 120_000);
