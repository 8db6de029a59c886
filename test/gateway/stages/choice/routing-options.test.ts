// OpenRouter's routing options of a chat completion: fallback models, and allowed providers.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { chatAnswer, chatChunk, sse, startUpstream } from "../../../support/upstream.ts";

const ups = { a: startUpstream(), b: startUpstream(), hub: startUpstream() };
/** The models that upstreams were called for, in order, as `provider/model`. */
let asked: string[] = [];
const provider = (up: keyof typeof ups, part: object = {}) => ({
  kind: "openai",
  base_url: ups[up].baseUrl,
  api_key: "sk-up",
  discover: false,
  retry: { attempts: 1 },
  breaker: { failures: 1000, window: "1h", cooldown: "1h" },
  ...part,
});
const app = await startTestApp({
  tier: "free",
  key: { rpm: 1000 },
  config: {
    providers: { a: provider("a"), b: provider("b"), hub: provider("hub", { quirks: { route_wishes: true } }) },
    models: [
      { id: "first", routes: [{ provider: "a", model: "first" }] },
      { id: "second", routes: [{ provider: "b", model: "second" }] },
      {
        id: "both",
        routes: [
          { provider: "a", model: "both", priority: 1 },
          { provider: "b", model: "both", priority: 2 },
        ],
      },
      { id: "dear", tier: "pro", routes: [{ provider: "a", model: "dear" }] },
      { id: "routed", routes: [{ provider: "hub", model: "routed" }] },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  for (const up of Object.values(ups)) up.stop();
});

type Answer = Parameters<typeof ups.a.answer>[0];
const well: Answer = () => chatAnswer({ content: "hello" });
const down: Answer = () => new Response("down", { status: 503 });
function script(answers: Partial<Record<keyof typeof ups, Answer>> = {}): void {
  for (const name of ["a", "b", "hub"] as const) {
    ups[name].answer((received) => {
      asked.push(`${name}/${(received.json as { model: string }).model}`);
      return (answers[name] ?? well)(received);
    });
  }
}
beforeEach(() => {
  asked = [];
  for (const up of Object.values(ups)) up.received.length = 0;
  script();
});

const ask = (more: object) =>
  app.post("/v1/chat/completions", { messages: [{ role: "user", content: "hi" }], ...more });
const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;

describe("models", () => {
  test("the next model is used if the providers of one fail, and the answer names the model", async () => {
    script({ a: down });
    const response = await ask({ model: "first", models: ["second"] });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { model: string }).model).toBe("second");
    expect(response.headers.get("x-sallyport-model")).toBe("second");
    expect(asked).toEqual(["a/first", "b/second"]);
  });
  test("the members are not sent to the upstream", async () => {
    await ask({ model: "first", models: ["second"], provider: { order: ["a"] }, top_k: 3 });
    expect(ups.a.received[0]?.json).toMatchObject({ model: "first", top_k: 3 });
    expect(ups.a.received[0]?.json).not.toHaveProperty("models");
    expect(ups.a.received[0]?.json).not.toHaveProperty("provider");
  });
  test.each([
    ["without `model` the first of the list is asked", { models: ["second", "first"] }, ["b/second"]],
    ["a model is asked once", { model: "first", models: ["first", "second"] }, ["a/first"]],
    ["one that there is not is passed over", { model: "nothing", models: ["second"] }, ["b/second"]],
  ])("%s", async (_name, more, expected) => {
    expect((await ask(more)).status).toBe(200);
    expect(asked).toEqual(expected);
  });
  test("a stream falls back before its first byte", async () => {
    script({
      a: down,
      b: () => sse([chatChunk({ content: "hel" }), chatChunk({ content: "lo" }, { finish: "stop" })]),
    });
    const response = await ask({ model: "first", models: ["second"], stream: true });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"model":"second"');
  });
  test("the outcome of the last model is returned", async () => {
    script({ a: down, b: down });
    const response = await ask({ model: "first", models: ["second"] });
    expect(response.status).toBe(502);
    expect((await errorOf(response))["code"]).toBe("provider_unavailable");
  });
  test("errors of the request itself do not cause a fallback", async () => {
    const wrong: Answer = () => Response.json({ error: { message: "no such parameter" } }, { status: 400 });
    script({ a: wrong });
    expect((await ask({ model: "first", models: ["second"] })).status).toBe(400);
    expect(asked).toEqual(["a/first"]);
    expect((await ask({ model: "dear", models: ["second"] })).status).toBe(403);
  });
});

describe("provider", () => {
  test.each([
    ["order", { order: ["b", "a"] }, ["b/both"]],
    ["order, in any case of letters", { order: ["B"] }, ["b/both"]],
    ["only", { only: ["b"] }, ["b/both"]],
    ["names of others' providers", { order: ["together", "novita"] }, ["a/both"]],
  ])("%s", async (_name, wish, expected) => {
    expect((await ask({ model: "both", provider: wish })).status).toBe(200);
    expect(asked).toEqual(expected);
  });
  test.each([
    ["others follow those in order", { order: ["b"] }, 200, ["b/both", "a/both"]],
    ["unless they may not", { order: ["b"], allow_fallbacks: false }, 502, ["b/both"]],
    ["nor where no order was given", { allow_fallbacks: false }, 200, ["a/both"]],
  ])("%s", async (_name, wish, status, expected) => {
    script({ b: down });
    expect((await ask({ model: "both", provider: wish })).status).toBe(status);
    expect(asked).toEqual(expected);
  });
  test("options without effect are named", async () => {
    const response = await ask({ model: "both", provider: { sort: "price", order: ["a"] } });
    expect(response.headers.get("x-sallyport-dropped")).toBe("provider.sort");
  });
  test("none left: 400", async () => {
    const response = await ask({ model: "both", provider: { only: ["hub"] } });
    expect([response.status, (await errorOf(response))["param"]]).toEqual([400, "provider.only"]);
    expect(asked).toEqual([]);
  });
  test("a provider that supports them itself gets them unchanged", async () => {
    const wish = { order: ["together"], sort: "price" };
    expect((await ask({ model: "routed", models: ["else"], provider: wish })).status).toBe(200);
    expect(ups.hub.received[0]?.json).toMatchObject({ models: ["else"], provider: wish });
  });
});

test.each([
  [{ models: "second" }, "models"],
  [{ models: [1] }, "models"],
  [{ models: Array.from({ length: 11 }, (_, i) => `m${i}`) }, "models"],
  [{ provider: "a" }, "provider"],
  [{ provider: [] }, "provider"],
  [{ provider: { order: "a" } }, "provider.order"],
  [{ provider: { only: [""] } }, "provider.only"],
  [{ provider: { allow_fallbacks: "no" } }, "provider.allow_fallbacks"],
])("%j is refused by name", async (more, param) => {
  const response = await ask({ model: "both", ...more });
  expect([response.status, (await errorOf(response))["param"]]).toEqual([400, param]);
});
