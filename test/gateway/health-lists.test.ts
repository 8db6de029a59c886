// What health says of models by their providers' lists: these are asked at every interval, nothing is claimed of what nobody
// looked at, and no request notices.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";

/** The answer of each provider to a request for its list, and what its model is then said to be. */
const PROVIDERS: Record<string, { discover: boolean; answer(): Response; health: string }> = {
  listed: { discover: true, answer: () => list("listed-x"), health: "healthy" },
  broken: { discover: true, answer: () => new Response("{}", { status: 500 }), health: "unavailable" },
  unlisted: { discover: false, answer: () => list("unlisted-x"), health: "healthy" },
  otherwise: { discover: false, answer: () => list("a-name-of-its-own"), health: "unknown" },
  listless: { discover: false, answer: () => new Response("{}", { status: 404 }), health: "unknown" },
  closed: { discover: false, answer: () => new Response("{}", { status: 401 }), health: "unknown" },
  page: { discover: false, answer: () => new Response("<html>"), health: "unknown" },
  sick: { discover: false, answer: () => new Response("{}", { status: 503 }), health: "unavailable" },
};
const KEYS = ["one", "two", "three"];
const list = (id: string) => Response.json({ object: "list", data: [{ id, object: "model" }] });

let app: TestApp;
const asked: Record<string, number> = {};
const chatKeys: string[] = [];
let more = Promise.withResolvers<void>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const [, name = "", , path] = new URL(request.url).pathname.split("/");
    if (path === "chat") {
      chatKeys.push(request.headers.get("authorization")?.replace("Bearer ", "") ?? "");
      return Response.json({ id: "1", object: "chat.completion", choices: [{ message: { content: "hi" } }] });
    }
    asked[name] = (asked[name] ?? 0) + 1;
    more.resolve();
    more = Promise.withResolvers<void>();
    return PROVIDERS[name]?.answer() ?? new Response("{}", { status: 404 });
  },
});

beforeAll(async () => {
  const provider = (name: string, discover: boolean) => ({
    kind: "openai",
    base_url: `http://127.0.0.1:${server.port}/${name}/v1`,
    api_keys: KEYS,
    discover,
  });
  const names = Object.keys(PROVIDERS);
  app = await startTestApp({
    config: {
      health: { interval: "1s", probe: "models" },
      providers: Object.fromEntries(
        Object.entries(PROVIDERS).map(([name, { discover }]) => [name, provider(name, discover)]),
      ),
      models: names.map((name) => ({ id: `${name}-x`, routes: [{ provider: name, model: `${name}-x` }] })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await server.stop(true);
});

/** Waits until each provider was asked `times` more. */
async function lists(times: number): Promise<void> {
  const before = { ...asked };
  while (Object.keys(PROVIDERS).some((name) => (asked[name] ?? 0) - (before[name] ?? 0) < times)) await more.promise;
}

test("models are healthy, unavailable or unknown by the lists", async () => {
  await lists(2);
  const view = async () => {
    const { models } = (await (await fetch(`${app.url}/v1/status/models`)).json()) as {
      models: { id: string; status: string }[];
    };
    return Object.fromEntries(
      models.filter(({ id }) => id.endsWith("-x")).map(({ id, status }) => [id.slice(0, -2), status]),
    );
  };
  const expected = Object.fromEntries(Object.entries(PROVIDERS).map(([name, { health }]) => [name, health]));
  // The judgement follows the answers.
  let states = await view();
  while (!Bun.deepEquals(states, expected)) {
    await lists(1);
    states = await view();
  }
  expect(states).toEqual(expected);
});

test("lists take no turn of a key", async () => {
  for (let round = 0; round < 2; round++) {
    for (const _ of KEYS) {
      const answer = await app.post("/v1/chat/completions", {
        model: "listed-x",
        messages: [{ role: "user", content: `hello ${chatKeys.length}` }],
      });
      expect(answer.status).toBe(200);
    }
    await lists(1);
  }
  expect(chatKeys).toEqual([...KEYS, ...KEYS]);
});
