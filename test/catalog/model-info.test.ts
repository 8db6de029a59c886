import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { startUpstream } from "../support/upstream.ts";

const upstream = startUpstream();
const route = (model: string) => [{ provider: "up", model }];
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "sk-up", discover: false } },
    models: [
      {
        id: "priced",
        context_length: 200_000,
        max_output_tokens: 8000,
        supports_tools: true,
        supports_vision: false,
        prices: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
        routes: route("a"),
      },
      { id: "vectors", kind: "embedding", routes: route("b") },
      { id: "hidden", visibility: "hidden", routes: route("c") },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

test("listed models in LiteLLM's shape, with prices per token", async () => {
  const response = await app.call("/v1/model/info");
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as { data: { model_name: string; model_info: Record<string, unknown> }[] };
  const info = (name: string) => data.find(({ model_name }) => model_name === name)?.model_info;
  expect(info("priced")).toMatchObject({
    mode: "chat",
    max_tokens: 8000,
    max_input_tokens: 200_000,
    max_output_tokens: 8000,
    supports_function_calling: true,
    supports_vision: false,
    supports_prompt_caching: true,
    input_cost_per_token: 3e-6,
    output_cost_per_token: 15e-6,
    cache_read_input_token_cost: 0.3e-6,
    cache_creation_input_token_cost: 3.75e-6,
  });
  expect(info("vectors")).toMatchObject({ mode: "embedding", input_cost_per_token: null });
  expect(info("hidden")).toBeUndefined();
});

test("a key is needed", async () => {
  expect((await fetch(`${app.url}/v1/model/info`)).status).toBe(401);
});
