// What goes past the router needs none: a program that serves chats and health checks alone makes neither routes nor router.

import { expect, test } from "bun:test";
import { PATHS } from "../../src/app/paths.ts";
import { createEdge, type DirectRoute, type HeardRoute, JsonText, type RouteAnswer } from "../../src/http/edge.ts";
import { exchangeOf } from "../../src/http/exchange.ts";
import { EventStream, type SseSource } from "../../src/http/sse-response.ts";

const GIVEN: DirectRoute = async () => Response.json({ direct: true });
/** What the next chats leave to be done at their end. */
let ending: readonly (() => unknown)[] = [];
let told: () => RouteAnswer = () => Response.json({ direct: true });
const TOLD: HeardRoute = (request, listener) => {
  for (const work of ending) exchangeOf(request).atEnd(work);
  const answer = told();
  queueMicrotask(() => listener.answered(answer));
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

/** An answer with `text`, once of each kind. */
const kinds: readonly [string, (text: string) => JsonText | EventStream][] = [
  ["JSON", (text) => new JsonText(text)],
  ["JSON in parts", (text) => new JsonText([Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))])],
  ["a stream", (text) => new EventStream(sourceOf(text), { keepalive: "", signal: new AbortController().signal })],
];

function sourceOf(text: string): SseSource {
  const texts = [text];
  return { next: async () => texts.pop(), cancel: () => undefined };
}

test.each(kinds)("what the edge makes a response of has the headers of a response: %s", async (_, kind) => {
  const post = () => edge(new Request("http://localhost/v1/chat/completions", { method: "POST" }));
  ending = [];
  try {
    told = () => kind('{"direct":true}');
    const made = await post();
    told = () => kind('{"direct":true}').response();
    const given = await post();
    expect(Object.fromEntries(made.headers)).toEqual(Object.fromEntries(given.headers));
    expect(made.headers.get("x-request-id")).toBe("id");
    expect(await made.text()).toBe(await given.text());
  } finally {
    told = () => Response.json({ direct: true });
  }
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
