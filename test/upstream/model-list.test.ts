// What routers and proxies publish about their models is read for every server that speaks OpenAI's protocols.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { createDiscovery } from "../../src/catalog/discover.ts";
import { configureProvider } from "../../src/upstream/configure.ts";
import { listModels } from "../../src/upstream/list-models.ts";
import type { DiscoveredModel } from "../../src/vendors/vendor.ts";

let lists: Record<string, unknown> = {};
const asked: string[] = [];
let refused: readonly string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    const key = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
    if (refused.includes(key)) return new Response("no", { status: 401 });
    const body = lists[pathname];
    return body === undefined ? new Response("no", { status: 404 }) : Response.json(body);
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.length = 0;
  refused = [];
});

const ROUTED = {
  id: "acme/one",
  name: "One",
  context_length: 65_536,
  top_provider: { context_length: 65_536, max_completion_tokens: 4096 },
  architecture: { input_modalities: ["text"], output_modalities: ["text"] },
  supported_parameters: ["tools"],
  pricing: { prompt: "0.00000015", completion: "0.0000006", input_cache_read: "0.000000075" },
};
const READ = {
  id: "acme/one",
  name: "One",
  contextLength: 65_536,
  maxOutputTokens: 4096,
  supportsTools: true,
  supportsVision: false,
  supportsReasoning: false,
  prices: { input: 0.15, output: 0.6, cacheRead: 0.075 },
};

function list(kind: string, apiKeys = ["k"]): Promise<DiscoveredModel[]> {
  const provider = configureProvider({
    name: "up",
    kind,
    baseUrl: `${server.url}v1`,
    apiKeys,
    headers: {},
    timeoutMs: { connect: 5000, firstByte: 5000, idle: 5000 },
    retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  } as unknown as Parameters<typeof configureProvider>[0]);
  return listModels(provider ?? expect.unreachable(), { signal: AbortSignal.timeout(5000), nowMs: 0 });
}

test.each(["openai", "openai-responses"])("%s: limits, abilities and prices of a router's list", async (kind) => {
  lists = { "/v1/models": { data: [ROUTED] } };
  expect(await list(kind)).toEqual([READ]);
  expect(asked).toEqual(["/v1/models"]);
});

test.each([
  ["nothing", {}],
  ["zeros, as routers write what they do not know", { prompt: "0", completion: "0" }],
  ["a negative price", { prompt: "-1", completion: "-1" }],
  ["words", { prompt: "cheap", completion: "" }],
  ["one price only", { prompt: "0.000001" }],
  ["no object", "free"],
])("no price is read from %s", async (_name, pricing) => {
  lists = { "/v1/models": { data: [{ ...ROUTED, pricing }] } };
  const { prices: _prices, ...rest } = READ;
  expect(await list("openai")).toEqual([rest]);
});

test("a list of ids alone is completed by LiteLLM's second list", async () => {
  lists = {
    "/v1/models": {
      data: [{ id: "gpt", object: "model", created: 1_677_610_602, owned_by: "openai" }, { id: "other" }],
    },
    "/v1/model/info": {
      data: [
        {
          model_name: "gpt",
          model_info: {
            max_input_tokens: 1000,
            max_output_tokens: 100,
            supports_vision: false,
            supports_function_calling: true,
            input_cost_per_token: 0.000002,
            output_cost_per_token: 1e-5,
          },
        },
        { model_name: "not in the first list", model_info: {} },
      ],
    },
  };
  expect(await list("openai")).toEqual([
    {
      id: "gpt",
      contextLength: 1000,
      maxOutputTokens: 100,
      supportsTools: true,
      supportsVision: false,
      prices: { input: 2, output: 10 },
      createdSeconds: 1_677_610_602,
    },
    { id: "other" },
  ]);
});

test.each([
  ["no second list", undefined],
  ["one that is none", { data: 3 }],
])("%s: the ids are enough", async (_name, second) => {
  lists = { "/v1/models": { data: [{ id: "a" }] }, ...(second === undefined ? {} : { "/v1/model/info": second }) };
  expect(await list("openai")).toEqual([{ id: "a" }]);
  expect(asked).toEqual(["/v1/models", "/v1/model/info"]);
});

test("ids with control characters are not offered", async () => {
  const ids = ["ok", "a\u0000b", "a\nb", "a\u2028b", "a\u0085b", "a/b c"];
  const offered: string[][] = [];
  const discovery = createDiscovery({
    providers: () => [{ key: "up" }],
    listModels: () => Promise.resolve(ids.map((id) => ({ id }))),
    changed: (found) => offered.push((found.get("up") ?? []).map(({ id }) => id)),
    failed: () => undefined,
  });
  await discovery.start();
  discovery.stop();
  expect(offered).toEqual([["ok", "a/b c"]]);
});

test.each<[string, string[], number]>([
  ["the first", ["bad", "good"], 2],
  ["all but the last", ["bad", "worse", "good"], 3],
  ["none", ["good", "bad"], 1],
])("keys are tried until one is not refused: %s is refused", async (_name, keys, times) => {
  refused = ["bad", "worse"];
  lists = { "/v1/models": { data: [ROUTED] } };
  expect(await list("openai", keys)).toEqual([READ]);
  expect(asked).toHaveLength(times);
});

test("a list for which all keys are refused fails with that status", async () => {
  refused = ["bad", "worse"];
  const failure = await list("openai", ["bad", "worse"]).catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 401 });
  expect(asked).toHaveLength(2);
});
