import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { ApiError } from "../../src/base/errors.ts";
import { buildCatalog } from "../../src/catalog/models.ts";
import { catalogRoutes } from "../../src/catalog/routes.ts";
import type { TierId } from "../../src/catalog/tiers.ts";

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
    catalogRoutes({
      authenticate(request) {
        const tier = request.headers.get("authorization");
        if (tier === null) throw new ApiError("missing_api_key", "No key.");
        return { tier: tier as TierId };
      },
      catalog: () => catalog,
      tiers: () => ({ free: { rpm: 1 }, pro: { rpm: 2 }, premium: { rpm: 3 } }),
    }),
  );

const get = async (path: string, tier: string | null = "free") => {
  const headers = new Headers(tier === null ? {} : { authorization: tier });
  const response = await app.handle(new Request(`http://localhost${path}`, { headers }));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

// Spec: Model (catalog entry), every field and no other.
const FAST = {
  id: "fast",
  name: "Fast",
  object: "model",
  owned_by: "acme",
  provider: "acme",
  type: "chat",
  tier: "free",
  endpoints: ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions"],
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
};

test("the list has every listed model, those above the tier too, and no hidden one", async () => {
  const { status, body } = await get("/v1/models");
  expect(status).toBe(200);
  expect(body["object"] as string).toBe("list");
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
])("GET %s as %s", async (path, tier, status, want) => {
  const got = await get(path, tier);
  expect(got.status).toBe(status);
  const body = got.body as { id?: string; error?: { code: string } };
  expect(body.id ?? body.error?.code).toBe(want);
});

test("tiers", async () => {
  const { body } = await get("/v1/tiers", "pro");
  expect(body["current"] as string).toBe("pro");
  expect((body["data"] as { models: string[] }[]).map((tier) => tier.models)).toEqual([
    ["fast", "vendor/model:1", "100%"],
    ["fast", "vendor/model:1", "100%"],
    ["fast", "gold", "vendor/model:1", "100%"],
  ]);
});
