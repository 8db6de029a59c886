// What goes past the router needs none: a program that serves chats and health checks alone makes neither routes nor router.

import { expect, test } from "bun:test";
import { PATHS } from "../../src/app/paths.ts";
import { createEdge, type DirectRoute, type HeardRoute } from "../../src/http/edge.ts";

const GIVEN: DirectRoute = async () => Response.json({ direct: true });
const TOLD: HeardRoute = (_request, listener) =>
  queueMicrotask(() => listener.answered(Response.json({ direct: true })));
let needed = 0;
const labels: string[] = [];
const edge = createEdge({
  paths: PATHS,
  handle: () => {
    needed++;
    return Response.json({ direct: false });
  },
  direct: new Map([["/v1/chat/completions", TOLD]]),
  directGets: new Map([["/health", GIVEN]]),
  routes: () => {
    needed++;
    return [{ method: "GET", path: "/v1/models" }];
  },
  makeRequestId: () => "id",
  maintenance: () => undefined,
  peer: () => ({ address: "127.0.0.1", secure: false }) as never,
  bodyBudgetBytes: () => 1024,
  release: () => undefined,
  finished: (exchange) => void labels.push(exchange.route),
  unexpected: () => undefined,
});

async function ask(method: string, path: string) {
  const answer = await edge(new Request(`http://localhost${path}`, { method }));
  return ((await answer.json()) as { direct: boolean }).direct;
}

test("chats and health checks need no routes, and have their own names in the figures", async () => {
  expect([await ask("POST", "/v1/chat/completions"), await ask("GET", "/health")]).toEqual([true, true]);
  expect([needed, labels]).toEqual([0, ["/v1/chat/completions", "/health"]]);
});

test("the same paths with other methods, and other paths, go to the router", async () => {
  needed = 0;
  expect([await ask("GET", "/v1/chat/completions"), await ask("POST", "/health")]).toEqual([false, false]);
  expect(await ask("GET", "/v1/models")).toBe(false);
  expect(needed).toBeGreaterThanOrEqual(3);
  expect(labels.at(-1)).toBe("/v1/models");
});
