// What people are told of the mistakes that are easily made when a gateway is new.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

let app: TestApp;
let refusing: FakeUpstream;
const elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => answerOf(new URL(request.url)) });

/** A provider without a list, and one that refuses the key. */
function answerOf({ pathname }: URL): Response {
  return new Response("{}", { status: pathname.startsWith("/refusing/") ? 401 : 404 });
}

beforeAll(async () => {
  refusing = startUpstream();
  const gone = refusing.baseUrl;
  await refusing.stop();
  const at = `http://127.0.0.1:${elsewhere.port}`;
  app = await startTestApp({
    config: {
      providers: {
        refusing: { kind: "openai", base_url: `${at}/refusing/v1`, api_key: "sk-wrong" },
        short: { kind: "openai", base_url: at, api_key: "k" },
        gone: { kind: "openai", base_url: gone, api_key: "k" },
      },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await elsewhere.stop(true);
});

test("the log says of a provider without a list what to look at, and shows no stack", async () => {
  // Lists are asked for at the start; the start waits for none of them.
  await app.call("/v1/models");
  const lines = () => app.logs.filter(({ msg }) => msg === "a provider's model list could not be fetched");
  while (lines().length < 3) {
    await app.flushLogs();
    await new Promise(setImmediate);
  }
  expect(Object.fromEntries(lines().map(({ provider, error }) => [provider, error]))).toEqual({
    refusing: "status 401: check providers.refusing.api_key",
    short: "status 404: check providers.short.base_url, or set discover: false if it has no list",
    gone: expect.stringMatching(/^\w+: is it running, and is providers\.gone\.base_url correct\?$/),
  });
});

test("a wrong key is answered with the header by which clients do not try again", async () => {
  for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
    const response = await app.call(path, { method: "POST", body: "{}", headers: { authorization: "Bearer sk-no" } });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([401, "false"]);
  }
});

const messageOf = async (path: string) => {
  const response = await app.call(path, { method: "POST", body: "{}" });
  expect(response.status).toBe(404);
  const { error } = (await response.json()) as { error: string | { message: string } };
  return typeof error === "string" ? error : error.message;
};

test.each([
  ["/v1/v1/messages", "/v1"],
  ["/v1/v1/v1/messages", "/v1"],
  ["/typesafe/v1/v1/systemone", "/v1"],
  ["/decide/typesafe/v1/v1/systemone", "/v1"],
  ["/v1beta/v1beta/models/small:generateContent", "/v1beta"],
  ["/v2/v2/scrapes", "/v2"],
  ["/openai/openai/v1/chat/completions", "/openai"],
  ["/typesafe/v1/typesafe/v1/systemone", "/typesafe/v1"],
])("an address that holds a part of the base URL twice is told which: %s", async (path, part) => {
  expect(await messageOf(path)).toBe(
    `No endpoint POST ${path}. ${part} is in it twice: set the base URL of the client without it.`,
  );
});

test.each(["/openai/v1/v1/chat/completions", "/anthropic/v1/v1/messages", "/api/v1/v1/messages"])(
  "so is one below the prefix of another service: %s",
  async (path) => {
    expect(await messageOf(path)).toEndWith(" /v1 is in it twice: set the base URL of the client without it.");
  },
);

test.each(["/v1/chat/completion", "/v1/nothing/chat/chat/x", "/v12/v1/messages", "/v1/v1"])(
  "an address that nobody has gets no such hint: %s",
  async (path) => {
    expect(await messageOf(path)).toBe(`No endpoint POST ${path}.`);
  },
);
