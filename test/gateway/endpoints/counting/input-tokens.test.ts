// POST /v1/responses/input_tokens: the token count of a Responses request.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const provider = (kind: string) => ({ kind, base_url: upstream.baseUrl, api_key: "sk-up", discover: false });
const app = await startTestApp({
  key: { rpm: 1 },
  config: {
    providers: { native: provider("openai-responses"), chat: provider("openai") },
    models: [
      { id: "native", routes: [{ provider: "native", model: "up-native" }] },
      { id: "other", routes: [{ provider: "chat", model: "up-other" }] },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const count = (body: object) => app.post("/v1/responses/input_tokens", body);
const words = (n: number) => "word ".repeat(n);

test("a provider of the same protocol counts itself", async () => {
  upstream.answer(() => Response.json({ object: "response.input_tokens", input_tokens: 4711 }));
  const response = await count({ model: "native", input: "hello", instructions: "Be short.", unknown: [1.0] });
  expect(await response.json()).toEqual({ object: "response.input_tokens", input_tokens: 4711 });
  expect(upstream.received[0]?.path).toBe("/v1/responses/input_tokens");
  expect(upstream.received[0]?.json).toEqual({
    model: "up-native",
    input: "hello",
    instructions: "Be short.",
    unknown: [1],
  });
});

test.each([
  ["a server without that endpoint", () => new Response("{}", { status: 404 })],
  ...[404, 405, 501].map((status): [string, () => Response] => [
    `a server that answers ${status} in its own words`,
    () => Response.json({ error: { message: "File or path not found", code: "unknown_url" } }, { status }),
  ]),
  ["an answer without a count", () => Response.json({ input_tokens: "many" })],
  ["an answer that is no JSON", () => new Response("<p>")],
  ["a server that is down", () => new Response("{}", { status: 503 })],
])("%s is counted for", async (_name, answer) => {
  upstream.answer(answer);
  const response = await count({ model: "native", input: words(300) });
  expect(response.status).toBe(200);
  const { input_tokens } = (await response.json()) as { input_tokens: number };
  expect(input_tokens).toBeGreaterThan(250);
  expect(input_tokens).toBeLessThan(400);
});

test("an error of the provider is returned", async () => {
  upstream.answer(() => Response.json({ error: { message: "Invalid 'input'.", code: "invalid" } }, { status: 400 }));
  expect((await count({ model: "native", input: "hello" })).status).toBe(400);
});

test("the gateway counts for models of other providers, including instructions, tools and images, without calling them", async () => {
  const tokens = async (body: object) =>
    ((await (await count({ model: "other", ...body })).json()) as { input_tokens: number }).input_tokens;
  const plain = await tokens({ input: words(100) });
  expect(await tokens({ input: words(100), instructions: words(50) })).toBeGreaterThan(plain + 40);
  const tools = [{ type: "function", name: "f", description: words(50), parameters: { type: "object" } }];
  expect(await tokens({ input: words(100), tools })).toBeGreaterThan(plain + 40);
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
  const content = [{ type: "input_text", text: words(100) }, image];
  expect(await tokens({ input: [{ role: "user", content }] })).toBeGreaterThan(plain + 1000);
  expect(upstream.received).toEqual([]);
});

test("bad input is refused by name", async () => {
  const response = await count({ model: "other", input: 5 });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: { param: string } }).error.param).toBe("input");
  expect((await count({ model: "nothing", input: "a" })).status).toBe(404);
});
