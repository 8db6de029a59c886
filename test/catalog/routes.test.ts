import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { ApiError } from "../../src/base/errors.ts";
import { buildCatalog } from "../../src/catalog/models.ts";
import { CATALOG_ENDPOINTS } from "../../src/catalog/routes.ts";
import type { TierId } from "../../src/config/schema.ts";
import { endpointRoutes } from "../../src/http/served-endpoint.ts";

const catalog = buildCatalog({
  models: [
    {
      id: "fast",
      name: "Fast",
      ownedBy: "acme",
      description: "Quick.",
      aliases: ["f"],
      contextLength: 1000,
      maxOutputTokens: 100,
      supportsTools: true,
      supportsVision: false,
      supportsReasoning: true,
      prices: { input: 0.05, output: 12, cacheRead: 0.005 },
      createdSeconds: 1_700_000_000,
      routes: [{ provider: "alpha", model: "m" }],
    },
    { id: "gold", tier: "premium", routes: [{ provider: "alpha" }] },
    { id: "secret", tier: "pro", visibility: "hidden", routes: [{ provider: "alpha" }] },
    { id: "vendor/model:1", routes: [{ provider: "alpha" }] },
    { id: "100%", routes: [{ provider: "alpha" }] },
  ],
  providers: [{ key: "alpha" }],
  discovered: new Map(),
  metadata: () => undefined,
});

const app = new Elysia()
  .onError(({ error }) =>
    error instanceof ApiError ? Response.json({ error: error.body() }, { status: error.status }) : undefined,
  )
  .use(
    endpointRoutes(CATALOG_ENDPOINTS, {
      authenticate(request) {
        const tier = request.headers.get("authorization");
        if (tier === null) throw new ApiError("missing_api_key", "No key.");
        return { tier: tier as TierId };
      },
      catalog: () => catalog,
      bodyLimits: () => ({ maxBytes: 10_000, valuesMax: 1000 }),
      tiers: () => ({ free: { rpm: 1 }, pro: { rpm: 2 }, premium: { rpm: 3 } }),
    })(),
  );

const get = async (path: string, tier: string | null = "free", more: Record<string, string> = {}) => {
  const headers = new Headers(tier === null ? more : { ...more, authorization: tier });
  const response = await app.handle(new Request(`http://localhost${path}`, { headers }));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

// Every field of docs/reference/http-api.md#get-v1models.
const FAST = {
  id: "fast",
  name: "Fast",
  object: "model",
  owned_by: "acme",
  provider: "acme",
  type: "chat",
  tier: "free",
  endpoints: [
    ...["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions"],
    ...["/api/chat", "/api/generate", "/v1beta/generateContent"],
  ],
  capabilities: ["text", "tool_use", "reasoning"],
  input_modalities: ["text"],
  output_modalities: ["text"],
  context_length: 1000,
  context_window: 1000,
  max_output_tokens: 100,
  max_completion_tokens: 100,
  supports_tools: true,
  supports_vision: false,
  supports_reasoning: true,
  description: "Quick.",
  visibility: "list",
  created: 1_700_000_000,
  display_name: "Fast",
  created_at: "2023-11-14T22:13:20Z",
  pricing: { prompt: "0.00000005", completion: "0.000012", input_cache_read: "0.000000005" },
  top_provider: { context_length: 1000, max_completion_tokens: 100, is_moderated: false },
  architecture: {
    modality: "text->text",
    input_modalities: ["text"],
    output_modalities: ["text"],
    tokenizer: "Other",
    instruct_type: null,
  },
  supported_parameters: [
    "max_tokens",
    "max_completion_tokens",
    "reasoning",
    "reasoning_effort",
    "response_format",
    "structured_outputs",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
  ],
  canonical_slug: "fast",
  default_parameters: null,
  per_request_limits: null,
  supported_voices: null,
  shutdown_date: null,
  inferred: [],
  links: { details: "/v1/models/fast" },
};

/** What Anthropic's clients get in addition, or in place of the same members. */
const FAST_MEMBERS = {
  type: "model",
  capabilities: {
    image_input: { supported: false },
    thinking: { supported: true, types: { adaptive: { supported: true } } },
    effort: { supported: true, high: { supported: true }, xhigh: { supported: false } },
  },
  lifecycle: "active",
  deprecated_at: null,
  retires_at: null,
  line: null,
  max_input_tokens: 1000,
  max_tokens: 100,
};

test("one entry is the list's entry, and Anthropic's clients get the members of their format in both", async () => {
  expect((await get("/v1/models/fast")).body).toEqual(FAST);
  const version = { "anthropic-version": "2023-06-01" };
  expect((await get("/v1/models/fast", "free", version)).body).toMatchObject({ ...FAST, ...FAST_MEMBERS });
  const list = (await get("/v1/models", "free", version)).body;
  expect((list["data"] as unknown[])[0]).toMatchObject({ ...FAST, ...FAST_MEMBERS });
  expect(list).toMatchObject({
    has_more: false,
    first_id: "fast",
    last_id: "100%",
    total_count: 4,
    links: { next: null },
  });
});

test("a model without known facts has values of the right types", async () => {
  expect((await get("/v1/models/gold")).body).toMatchObject({
    created: 0,
    created_at: "1970-01-01T00:00:00Z",
    display_name: "gold",
    pricing: { prompt: "0", completion: "0" },
  });
});

test("the list has every listed model, those above the tier too, and no hidden one", async () => {
  const { status, body } = await get("/v1/models");
  expect(status).toBe(200);
  expect(body).toMatchObject({ object: "list", has_more: false, first_id: "fast", last_id: "100%" });
  const data = body["data"] as { id: string }[];
  expect(data.map((model) => model.id)).toEqual(["fast", "gold", "vendor/model:1", "100%"]);
  expect(data[0]).toEqual(FAST);
});

test.each([
  ["/v1/models/fast", "free", 200, "fast"],
  ["/v1/models/FAST", "free", 200, "fast"],
  ["/v1/models/f", "free", 200, "fast"],
  ["/v1/models/acme/fast", "free", 200, "fast"],
  ["/v1/models/acme%2Ffast?x=1", "free", 200, "fast"],
  ["/v1/models/%66ast", "free", 200, "fast"],
  ["/v1/models/gold", "free", 200, "gold"],
  ["/v1/models/vendor/model:1", "free", 200, "vendor/model:1"],
  ["/v1/models/vendor%2fmodel%3A1", "free", 200, "vendor/model:1"],
  ["/v1/models/alpha/vendor/model:1", "free", 200, "vendor/model:1"],
  ["/v1/models/100%25", "free", 200, "100%"],
  ["/v1/models/100%", "free", 200, "100%"],
  ["/v1/models/secret", "pro", 200, "secret"],
  ["/v1/models/secret", "free", 404, "model_not_found"],
  ["/v1/models/nobody", "premium", 404, "model_not_found"],
  ["/v1/models/%ff%", "premium", 404, "model_not_found"],
  [`/v1/models/${"a".repeat(5000)}`, "premium", 404, "model_not_found"],
  ["/v1/models/nobody", null, 401, "missing_api_key"],
  ["/v1/models", null, 401, "missing_api_key"],
  ["/v1/tiers", null, 401, "missing_api_key"],
])("GET %s as %p", async (path, tier, status, want) => {
  const got = await get(path, tier);
  expect(got.status).toBe(status);
  const body = got.body as { id?: string; error?: { code: string } };
  expect(body.id ?? body.error?.code).toBe(want);
});

test("the list of plans has the models of each plan and the caller's own plan", async () => {
  const { body } = await get("/v1/tiers", "pro");
  expect(body["current"] as string).toBe("pro");
  expect((body["data"] as { models: string[] }[]).map((tier) => tier.models)).toEqual([
    ["fast", "vendor/model:1", "100%"],
    ["fast", "vendor/model:1", "100%"],
    ["fast", "gold", "vendor/model:1", "100%"],
  ]);
});
