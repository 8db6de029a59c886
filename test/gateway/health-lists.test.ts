// What health says of models by their providers' lists: these are asked at every interval, and nothing is claimed of what nobody
// looked at.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
const asked: Record<string, number> = {};
let more = Promise.withResolvers<void>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const name = new URL(request.url).pathname.split("/")[1] ?? "";
    asked[name] = (asked[name] ?? 0) + 1;
    more.resolve();
    more = Promise.withResolvers<void>();
    if (name === "up") return Response.json({ object: "list", data: [{ id: "up-x", object: "model" }] });
    return new Response("{}", { status: name === "broken" ? 500 : 404 });
  },
});
const NAMES = ["up", "broken", "unlisted"];

beforeAll(async () => {
  const provider = (name: string) => ({
    kind: "openai",
    base_url: `http://127.0.0.1:${server.port}/${name}/v1`,
    api_key: "k",
    discover: name !== "unlisted",
  });
  app = await startTestApp({
    config: {
      health: { interval: "1s", probe: "models" },
      providers: Object.fromEntries(NAMES.map((name) => [name, provider(name)])),
      models: NAMES.map((name) => ({ id: `${name}-x`, routes: [{ provider: name, model: `${name}-x` }] })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await server.stop(true);
});

test("lists are asked at every interval, and models are healthy, unavailable or unknown by them", async () => {
  while (["up", "broken"].some((name) => (asked[name] ?? 0) < 2)) await more.promise;
  const view = async () =>
    (await (await fetch(`${app.url}/v1/status/models`)).json()) as {
      models: { id: string; status: string; last_checked: string }[];
    };
  let { models } = await view();
  while (models.length === 0) ({ models } = await view());
  const own = models.filter(({ id }) => NAMES.includes(id.replace("-x", "")));
  const states = Object.fromEntries(own.map(({ id, status }) => [id, status]));
  expect(states).toEqual({ "up-x": "healthy", "broken-x": "unavailable", "unlisted-x": "unknown" });
});
