import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogProviders, configuredModels, discoveredProviders, tierGrants } from "../../src/catalog/from-config.ts";
import { buildCatalog } from "../../src/catalog/models.ts";
import { loadConfig } from "../../src/config/load.ts";

const cwd = mkdtempSync(join(tmpdir(), "sallyport-catalog-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function load(text: string) {
  writeFileSync(join(cwd, "c.yaml"), text);
  const result = loadConfig({ env: {}, cwd, file: "c.yaml" });
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}

const config = load(`
tiers:
  free: { rpm: 5, trial: 0s }
  pro: { rpm: 9, trial: 2d }
providers:
  up: { base_url: "http://127.0.0.1:1/v1", discover_tier: pro, model_defaults: { context_length: 4096 } }
  quiet: { base_url: "http://127.0.0.1:2/v1", discover: false }
  judge: { base_url: "http://127.0.0.1:3/v1", kind: systemone }
models:
  - id: bare
    routes: [{ provider: up }]
  - id: full
    name: Full
    owned_by: acme
    tier: premium
    visibility: hidden
    aliases: [f]
    max_output_tokens: 10
    supports_vision: false
    prices: { input: 1.5, output: 6, cache_read: 0.25 }
    routes:
      - { provider: quiet, model: q, priority: 2, weight: 3 }
      - { provider: up, model: u }
`);

test("configured models, with empty texts as unsaid", () => {
  const catalog = buildCatalog({
    models: configuredModels(config),
    providers: catalogProviders(config),
    discovered: new Map([["up", [{ id: "found" }]]]),
    metadata: () => undefined,
  });
  const [bare, full, found] = catalog.models;
  expect(bare).toMatchObject({ id: "bare", name: "bare", ownedBy: "up", tier: "free", contextLength: 4096 });
  expect(bare?.routes).toEqual([{ provider: "up", model: "bare", priority: 1, weight: 1 }]);
  expect(full).toMatchObject({
    name: "Full",
    ownedBy: "acme",
    tier: "premium",
    visibility: "hidden",
    aliases: ["f"],
    maxOutputTokens: 10,
    supportsVision: false,
    supportsTools: true,
    prices: { input: 1.5, output: 6, cacheRead: 0.25 },
    known: { maxOutputTokens: true, supportsVision: true, supportsTools: false },
  });
  expect(full?.routes.map((route) => [route.provider, route.model, route.weight])).toEqual([
    ["up", "u", 1],
    ["quiet", "q", 3],
  ]);
  expect(found).toMatchObject({ id: "found", tier: "pro", ownedBy: "up", contextLength: 4096 });
});

test("only chat providers with discovery on are asked", () => {
  expect(discoveredProviders(config).map((provider) => provider.name)).toEqual(["up", "demo"]);
  expect(catalogProviders(config).map(({ key, demo }) => [key, demo])).toEqual([
    ["up", false],
    ["quiet", false],
    ["judge", false],
    ["demo", true],
  ]);
});

test("the configuration sets the rate and the trial of each plan", () => {
  expect(tierGrants(config)).toMatchObject({
    free: { rpm: 5, trialMs: undefined },
    pro: { rpm: 9, trialMs: 2 * 86_400_000 },
    premium: { rpm: 600, trialMs: undefined },
  });
});
