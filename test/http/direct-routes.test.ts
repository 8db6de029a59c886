// What goes past the router needs none: a program that serves chats and health checks alone makes neither routes nor router.

import { expect, test } from "bun:test";
import { PATHS } from "../../src/app/paths.ts";
import { createEdge, type DirectRoute, type HeardRoute } from "../../src/http/edge.ts";
import { exchangeOf } from "../../src/http/exchange.ts";

const GIVEN: DirectRoute = async () => Response.json({ direct: true });
/** What the next chats leave to be done at their end. */
let ending: readonly (() => unknown)[] = [];
const TOLD: HeardRoute = (request, listener) => {
  for (const work of ending) exchangeOf(request).atEnd(work);
  queueMicrotask(() => listener.answered(Response.json({ direct: true })));
};
let needed = 0;
const labels: string[] = [];
const unexpected: unknown[] = [];
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
  unexpected: (_exchange, error) => void unexpected.push(error),
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

test("a failure at the end of a request is told, and keeps nothing else from being done", async () => {
  const error = new Error("broken");
  const done: string[] = [];
  ending = [() => done.push("first"), () => fails(error), () => done.push("last")];
  labels.length = 0;
  expect(await ask("POST", "/v1/chat/completions")).toBe(true);
  expect([done, labels, unexpected]).toEqual([["first", "last"], ["/v1/chat/completions"], [error]]);
});

function fails(error: Error): never {
  throw error;
}
