// Every client format over every protocol of a public mock of the vendors' APIs, which others wrote: whole and streamed answers,
// calls of tools and usage; and the vendors that speak formats of their own for rerank and speech.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LLMock } from "@copilotkit/aimock";
import { startTestApp, type TestApp } from "../support/app.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";

const mock = new LLMock({ port: 0, host: "127.0.0.1" });
let app: TestApp;

const DIALECTS = ["openai", "openai-responses", "anthropic", "gemini", "bedrock"];

beforeAll(async () => {
  mock.on(
    { predicate: ({ tools = [] }) => tools.length > 0 },
    { toolCalls: [{ name: "weather", arguments: '{"city":"Oslo"}' }] },
  );
  mock.onMessage("How is it?", { content: "Cold, but bright." });
  mock.onRerank("q", [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ]);
  await mock.start();
  const provider = (more: object) => ({
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
    breaker: { failures: 1000 },
    ...more,
  });
  const route = (id: string, name: string, more: object = {}) => ({
    id,
    routes: [{ provider: name, model: name === "bedrock" ? "anthropic.claude-sonnet-4-5" : "some-model" }],
    ...more,
  });
  app = await startTestApp({
    key: { rpm: 10_000 },
    config: {
      providers: {
        openai: provider({ kind: "openai", base_url: `${mock.url}/v1` }),
        "openai-responses": provider({ kind: "openai-responses", base_url: `${mock.url}/v1` }),
        anthropic: provider({ kind: "anthropic", base_url: `${mock.url}/v1` }),
        gemini: provider({ kind: "gemini", base_url: `${mock.url}/v1beta` }),
        bedrock: provider({ preset: "bedrock", base_url: mock.url, region: "us-east-1" }),
        cohere: provider({ preset: "cohere", base_url: `${mock.url}/compatibility/v1` }),
      },
      models: [
        ...DIALECTS.map((name) => route(`of-${name}`, name)),
        route("ranks", "cohere", { kind: "rerank" }),
        route("embeds", "openai", { kind: "embedding" }),
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await mock.stop();
});

describe.each(DIALECTS)("over %s", (dialect) => {
  describe.each(CLIENT_FORMATS.map((format) => [format.name, format] as const))("%s", (_name, format) => {
    const ask = async (options: { stream: boolean; tools: boolean }) => {
      const response = await app.post(format.path, { ...format.body(options), model: `of-${dialect}` });
      const text = await response.text();
      expect([response.status, response.status === 200 ? "" : text]).toEqual([200, ""]);
      return options.stream ? format.streamed(text) : format.whole(JSON.parse(text));
    };

    // The mock's stream of InvokeModel lacks the member `bytes` in base64, which Amazon's frames have, and its Responses have no
    // `sequence_number`, which the order of a relayed stream is checked by.
    const isOdd = dialect === "bedrock" || (dialect === "openai-responses" && dialect === format.name);
    const MODES = isOdd ? [false] : [false, true];

    test.each(MODES)("text, streamed: %p", async (stream) => {
      const heard = await ask({ stream, tools: false });
      expect(heard.text).toBe("Cold, but bright.");
      expect(heard.calls).toEqual([]);
    });

    test.each(MODES)("a call of a tool, streamed: %p", async (stream) => {
      if (format.isTextOnly === true || format.noTools === true) return;
      const heard = await ask({ stream, tools: true });
      expect(heard.calls).toEqual([{ name: "weather", args: { city: "Oslo" } }]);
    });
  });
});

test("rerank and embeddings", async () => {
  const ranked = await app.post("/v1/rerank", { model: "ranks", query: "q", documents: ["a", "b"] });
  const { results } = (await ranked.json()) as { results: { index: number; relevance_score: number }[] };
  expect(results.map(({ index }) => index)).toEqual([1, 0]);
  const vectors = await app.post("/v1/embeddings", { model: "embeds", input: "a", dimensions: 8 });
  const { data } = (await vectors.json()) as { data: { embedding: number[] }[] };
  expect(data[0]?.embedding.every((one) => typeof one === "number")).toBe(true);
});
