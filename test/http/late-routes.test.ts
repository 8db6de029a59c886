// Routes that are made with the first request to them answer as those that a start makes.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { LateRoutes, patternsOf } from "../../src/http/join-routes.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const codeOf = async (response: Response) => {
  const body = (await response.json().catch(() => ({}))) as { code?: string; error?: { code?: string } };
  return body.code ?? body.error?.code;
};

test("every one of them is below the paths for which they are made", async () => {
  const late = app.routes().filter(({ path }) => /^\/(?:v2|v1\/batch|dashboard)(?:\/|$)/.test(path));
  expect(late.length).toBeGreaterThan(80);
  for (const { method, path } of late) {
    const named = path.replaceAll(/:\w+/g, "some").replace("*", "x");
    const { status } = await fetch(app.url + named, { method: method === "ALL" ? "GET" : method });
    // Without a key or a session nothing is done; the page itself is for everybody.
    expect([method, path, [200, 400, 401, 403, 404, 501].includes(status)]).toEqual([method, path, true]);
    if (status === 404) expect(path).toMatch(/^\/dashboard\/(?:assets\/:name|\*)$/);
  }
});

test.each([
  ["PUT", "/v2/scrape", "POST"],
  ["PATCH", "/dashboard/api/keys", "GET, HEAD, POST"],
  ["POST", "/v1/crawl/some/errors", "GET, HEAD"],
])("another method: %s %s", async (method, path, allow) => {
  const response = await fetch(app.url + path, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
  expect(response.headers.get("x-request-id")).toBeTruthy();
  expect(await codeOf(response)).toBe("method_not_allowed");
});

test.each(["/v2/nothing", "/v1/batch/nothing", "/dashboard/api/nothing"])("an unknown path: %s", async (path) => {
  const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${app.key}` } });
  expect(response.status).toBe(404);
  expect(await codeOf(response)).toBe("route_not_found");
});

test("HEAD has the headers and no body", async () => {
  const response = await fetch(`${app.url}/dashboard`, { method: "HEAD" });
  expect([response.status, response.headers.get("content-type")?.slice(0, 9)]).toEqual([200, "text/html"]);
  expect(await response.text()).toBe("");
});

test("they are made once, and when they are needed", () => {
  let made = 0;
  const late = new LateRoutes(["/late/*"], () => {
    made++;
    return new Elysia().get("/late/one", "1").post("/late/:name", "2");
  });
  const [first, ...others] = patternsOf([new Elysia().get("/early", "0"), late]);
  expect([first?.path, others.map(({ path }) => path), made]).toEqual(["/early", ["/late/*"], 0]);
  expect(others[0]?.within?.().map(({ path }) => path)).toEqual(["/late/one", "/late/:name"]);
  late.routes();
  expect(made).toBe(1);
});
