// The rows of requests that no upstream answered.

import { expect, test } from "bun:test";
import { unansweredRow } from "../../../src/gateway/usage/unanswered-row.ts";
import type { Exchange } from "../../../src/http/exchange.ts";

test("a search within a chat that gave something is billed as one, and no other request is", () => {
  const rowOf = (route: string, via: string, status: number) => {
    const exchange = { log: { via }, failedRoutes: [], requestId: "r", route, streaming: false, startedMs: 0 };
    return unansweredRow(exchange as unknown as Exchange, { status, tookMs: 1, nowMs: 1 });
  };
  expect(rowOf("/v1/search", "chat", 200).classes).toEqual([{ name: "web_searches", amount: 1, costMicros: 0 }]);
  for (const [route, via, status] of [
    ["/v1/search", "chat", 502],
    ["/v1/search", "mcp", 200],
    ["/v1/scrape", "chat", 200],
  ] as const) {
    expect(rowOf(route, via, status).classes).toBeUndefined();
  }
});
