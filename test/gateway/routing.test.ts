// Models whose routes are chosen by latency, cost or load, through the running gateway.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { chatAnswer, startUpstream } from "../support/upstream.ts";

const [one, two] = [startUpstream(), startUpstream()];
const routes = [
  { provider: "one", model: "m", priority: 1 },
  { provider: "two", model: "m", priority: 2 },
];
const provider = ({ baseUrl }: { baseUrl: string }) => ({
  kind: "openai",
  base_url: baseUrl,
  api_key: "k",
  discover: false,
});
const app = await startTestApp({
  config: {
    providers: { one: provider(one), two: provider(two) },
    models: (["priority", "latency", "cost", "busy"] as const).map((routing) => ({ id: routing, routing, routes })),
  },
});
afterAll(async () => {
  await app.stop();
  await one.stop();
  await two.stop();
});

async function ask(model: string, more: object = {}) {
  const body = { model, messages: [{ role: "user", content: "Hi" }], ...more };
  const answer = await app.post("/v1/chat/completions", body);
  await answer.text();
  await app.flushLogs();
  const line = app.logs.findLast((one) => one["model"] === model && "provider" in one);
  return { status: answer.status, route: answer.headers.get("x-sallyport-route"), routing: line?.["routing"] };
}

test("a route with requests in progress gives way, and the log says why", async () => {
  const answer = () => chatAnswer({ content: "Hi." });
  two.answer(answer);
  let release = Promise.withResolvers<void>();
  const begun = one.next();
  one.answer(async () => {
    await release.promise;
    return answer();
  });
  const slow = ask("busy");
  await begun;
  const beside = await ask("busy");
  expect(beside).toMatchObject({ status: 200, route: expect.stringContaining("two"), routing: "busy: 0" });
  release.resolve();
  expect((await slow).route).toContain("one");
  release = Promise.withResolvers();
  release.resolve();
  expect((await ask("busy")).route).toContain("one");
});

test("a failed route gives way to one that answers; a client's own order counts first; by priority nothing is measured", async () => {
  one.answer(() => Response.json({ error: { message: "no" } }, { status: 500 }));
  two.answer(() => chatAnswer({ content: "Hi." }));
  for (let n = 0; n < 3; n++) await ask("latency");
  one.answer(() => chatAnswer({ content: "Hi." }));
  const measured = await ask("latency");
  expect(measured.route).toContain("two");
  expect(measured.routing).toMatch(/^latency: \d+ ms$/);
  const ordered = await ask("latency", { provider: { order: ["one"] } });
  expect(ordered.route).toContain("one");
  expect((await ask("priority")).routing).toBeUndefined();
  // Without known prices the order is that of the configuration.
  expect(await ask("cost")).toMatchObject({ route: expect.stringContaining("one"), routing: "cost" });
});
