// Calls of endpoints from within the program: answers, failures and endings are the same as for a request.

import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { ApiError } from "../../src/base/errors.ts";
import { exchangeOf } from "../../src/http/exchange.ts";
import { createInnerCalls, type InnerCaller } from "../../src/http/inner-call.ts";
import { joinRoutes } from "../../src/http/join-routes.ts";
import { jsonAnswer } from "../../src/http/json-answer.ts";

const CALLER: InnerCaller = {
  requestId: "one",
  authorization: "Bearer sk-x",
  address: "192.0.2.1",
  secure: false,
  isUnnamedProxy: false,
  origin: "http://gateway.example",
};
const VALUE = { text: "as it is" };

function start() {
  const ends: [path: string, route: string, status: number, log: Record<string, unknown>][] = [];
  const unexpected: unknown[] = [];
  const late: string[] = [];
  const routes = new Elysia()
    .post(
      "/echo",
      async ({ request }) => Response.json({ body: await request.json(), by: exchangeOf(request).address }),
      {
        parse: "none",
      },
    )
    .get("/value/:id", ({ request }) => jsonAnswer(request, VALUE))
    .get("/refuses", () => {
      throw new ApiError("scrape_failed", "No such page.", { param: "url" });
    })
    .get("/breaks", () => {
      throw new TypeError("x is not a function");
    })
    .get("/waits", async ({ request }) => {
      exchangeOf(request).atEnd(() => late.push("ended"));
      await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
      return new Response(null, { status: 499 });
    });
  const router = joinRoutes([routes]);
  const call = createInnerCalls({
    handle: (request) => router.fetch(request),
    via: "test",
    finished: ({ path, route, log }, status) => void ends.push([path, route, status, log]),
    unexpected: (_exchange, cause) => void unexpected.push(cause),
  });
  return { call, ends, unexpected, late };
}

const signal = new AbortController().signal;

test("the answer comes from the endpoint, on behalf of the caller", async () => {
  const { call, ends } = start();
  const run = call(CALLER, { method: "POST", path: "/echo", body: { a: [1] }, signal });
  expect(await run.answer).toEqual({ body: { a: [1] }, by: "192.0.2.1" });
  expect(ends).toEqual([["/echo", "/echo", 200, { via: "test" }]]);
});

test("a value is passed without conversion to text", async () => {
  const { call, ends } = start();
  const run = call(CALLER, { method: "GET", path: "/value/7?x=1", route: "/value/:id", signal });
  expect(await run.answer).toBe(VALUE);
  expect(ends).toEqual([["/value/7", "/value/:id", 200, { via: "test" }]]);
});

test("a failure is the endpoint's error; an unexpected one is logged, and hidden from the caller", async () => {
  const { call, ends, unexpected } = start();
  const refused = await call(CALLER, { method: "GET", path: "/refuses", signal }).answer.catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ apiCode: "scrape_failed", status: 422 });
  const broken = await call(CALLER, { method: "GET", path: "/breaks", signal }).answer.catch((error: unknown) => error);
  expect([broken, (broken as Error).message]).toMatchObject([
    { apiCode: "internal_error" },
    expect.not.stringContaining("function"),
  ]);
  expect(unexpected).toHaveLength(1);
  const missing = call(CALLER, { method: "GET", path: "/nowhere", signal }).answer.catch((error: unknown) => error);
  expect(await missing).toMatchObject({ apiCode: "route_not_found" });
  expect(ends.map(([path, , status, { error }]) => [path, status, error])).toEqual([
    ["/refuses", 422, "scrape_failed"],
    ["/breaks", 500, "internal_error"],
    ["/nowhere", 404, "route_not_found"],
  ]);
});

test("a call ends with its signal, and its cleanup runs", async () => {
  const { call, ends, late } = start();
  const stop = new AbortController();
  const run = call(CALLER, { method: "GET", path: "/waits", signal: stop.signal });
  stop.abort(new Error("left"));
  expect(await run.answer.catch((error: Error) => error.message)).toBe("left");
  expect([late, ends.map(([, , status, log]) => [status, log["client_gone"]])]).toEqual([["ended"], [[499, true]]]);
});

test("a quiet call is not logged", async () => {
  const { call, ends } = start();
  await call(CALLER, { method: "GET", path: "/value/7", isQuiet: true, signal }).answer;
  expect(ends).toEqual([]);
});
