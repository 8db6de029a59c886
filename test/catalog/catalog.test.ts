import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/base/errors.ts";
import { modelInfo } from "../../src/catalog/model-info.ts";
import { buildCatalog, type CatalogInput, UNKNOWN_MODEL } from "../../src/catalog/models.ts";
import { requireModel, requireVisibleModel, resolveModel } from "../../src/catalog/resolve.ts";
import { modelView } from "../../src/catalog/view.ts";

const input = (over: Partial<CatalogInput> = {}): CatalogInput => ({
  models: [],
  providers: [
    { key: "alpha", discoverTier: "free" },
    { key: "beta", discoverTier: "pro", modelDefaults: { maxOutputTokens: 777 } },
    { key: "demo", discoverTier: "free", demo: true },
  ],
  discovered: new Map(),
  metadata: () => undefined,
  ...over,
});

const lists = (by: Record<string, string[]>) =>
  new Map(Object.entries(by).map(([key, ids]) => [key, ids.map((id) => ({ id }))]));

const code = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.apiCode}`;
    throw error;
  }
  return "ok";
};

describe("building", () => {
  test("inferred facts are shown where nothing is known, and never count as known", () => {
    const inferred = { contextLength: 9, maxOutputTokens: 8, supportsTools: false, supportsVision: false };
    const model = (entry: object, kind?: "embedding") =>
      buildCatalog(
        input({
          discovered: new Map([["alpha", [{ id: "x", ...entry, ...(kind && { kind }) }]]]),
          metadata: () => ({ inferred }),
        }),
      ).models[0]!;
    const unknown = model({});
    expect(unknown).toMatchObject(UNKNOWN_MODEL);
    expect(Object.values(unknown.known)).toEqual([false, false, false, false, false]);
    expect(modelView(unknown)).toMatchObject({
      context_length: 9,
      max_output_tokens: 8,
      supports_tools: false,
      capabilities: ["text"],
      pricing: { prompt: "0", completion: "0" },
      inferred: [
        "context_length",
        "context_window",
        "max_output_tokens",
        "max_completion_tokens",
        "supports_tools",
        "supports_vision",
      ],
    });
    expect(modelInfo([unknown]).data[0]?.model_info).toMatchObject({ max_tokens: 8, input_cost_per_token: null });
    const half = model({ contextLength: 5, supportsVision: true });
    expect(modelView(half)).toMatchObject({ context_length: 5, max_output_tokens: 8, supports_vision: true });
    expect(half.inferred).toEqual({ maxOutputTokens: 8, supportsTools: false });
    expect(model({}, "embedding").inferred).toEqual({});
  });

  test("one id at several providers is one model with several routes in config order", () => {
    const { models } = buildCatalog(input({ discovered: lists({ beta: ["x", "y"], alpha: ["x"] }) }));
    expect(models.map((model) => model.id)).toEqual(["x", "y"]);
    expect(models[0]).toMatchObject({
      ownedBy: "alpha",
      tier: "free",
      routes: [
        { provider: "alpha", model: "x", priority: 1, weight: 1 },
        { provider: "beta", model: "x", priority: 2, weight: 1 },
      ],
    });
    expect(models[1]).toMatchObject({ ownedBy: "beta", tier: "pro" });
  });

  test("the demo stands in for nobody, whichever comes first", () => {
    for (const order of [
      ["demo", "alpha"],
      ["alpha", "demo"],
    ]) {
      const { models } = buildCatalog(
        input({
          providers: order.map((key) => ({ key, demo: key === "demo" })),
          discovered: lists({ alpha: ["x"], demo: ["x", "demo-echo"] }),
        }),
      );
      expect(models.find((model) => model.id === "x")?.routes.map((route) => route.provider)).toEqual(["alpha"]);
      expect(models.find((model) => model.id === "demo-echo")?.routes).toHaveLength(1);
    }
  });

  test("a configured model wins over a discovered one and may borrow its routes", () => {
    const { models } = buildCatalog(
      input({
        models: [
          { id: "x", name: "Ex", tier: "premium" },
          { id: "z", routes: [{ provider: "beta", model: "zz", priority: 2 }, { provider: "alpha" }] },
        ],
        discovered: lists({ alpha: ["x"], beta: ["x"] }),
      }),
    );
    expect(models.map((model) => [model.id, model.name, model.tier])).toEqual([
      ["x", "Ex", "premium"],
      ["z", "z", "free"],
    ]);
    expect(models[0]?.routes.map((route) => route.provider)).toEqual(["alpha", "beta"]);
    expect(models[1]?.routes).toEqual([
      { provider: "alpha", model: "z", priority: 1, weight: 1 },
      { provider: "beta", model: "zz", priority: 2, weight: 1 },
    ]);
  });

  test.each([
    ["no routes, not discovered", { id: "gone" }, []],
    ["routes to a provider that is not configured", { id: "gone", routes: [{ provider: "nobody" }] }, []],
    ["owned by a provider", { id: "mine", ownedBy: "beta" }, ["beta"]],
  ])("a model without routes: %s", (_name, entry, providers) => {
    const { models } = buildCatalog(input({ models: [entry] }));
    expect(models.flatMap((model) => model.routes.map((route) => route.provider))).toEqual(providers);
  });

  test("facts: config, then the provider's word, then public knowledge, then the provider's defaults", () => {
    const { models } = buildCatalog(
      input({
        models: [{ id: "x", contextLength: 1, routes: [{ provider: "beta", model: "up" }] }],
        discovered: new Map([["beta", [{ id: "y", contextLength: 5, supportsVision: false }]]]),
        metadata: (id) => ({ contextLength: 2, supportsTools: id === "up", supportsVision: true }),
      }),
    );
    expect(models[0]).toMatchObject({ contextLength: 1, supportsTools: true, maxOutputTokens: 777 });
    expect(models[1]).toMatchObject({ contextLength: 5, supportsTools: false, supportsVision: false });
    expect(models[0]?.known).toEqual({
      contextLength: true,
      maxOutputTokens: true,
      supportsTools: true,
      supportsVision: true,
      supportsReasoning: false,
    });
  });

  test("nothing known: the contract's defaults, not enforced", () => {
    const { models } = buildCatalog(input({ discovered: lists({ alpha: ["x"] }) }));
    expect(models[0]).toMatchObject(UNKNOWN_MODEL);
    expect(Object.values(models[0]!.known)).toEqual([false, false, false, false, false]);
  });
});

describe("resolving", () => {
  const catalog = buildCatalog(
    input({
      models: [
        {
          id: "fast",
          ownedBy: "acme",
          aliases: ["fast-latest", "Shared"],
          routes: [{ provider: "alpha", model: "m" }],
        },
        { id: "FAST", routes: [{ provider: "beta", model: "m" }] },
        { id: "slow", aliases: ["shared", "fast"], routes: [{ provider: "alpha" }, { provider: "beta" }] },
        { id: "secret", visibility: "hidden", tier: "pro", aliases: ["s"], routes: [{ provider: "alpha" }] },
        { id: "gold", tier: "premium", routes: [{ provider: "alpha" }] },
        { id: "100%/odd", routes: [{ provider: "alpha" }] },
      ],
      discovered: lists({ alpha: ["vendor/model:free"] }),
    }),
  );

  test.each([
    ["fast", "fast", ["alpha"]],
    ["FAST", "FAST", ["beta"]],
    ["Fast", "fast", ["alpha"]],
    ["fast-latest", "fast", ["alpha"]],
    ["FAST-LATEST", "fast", ["alpha"]],
    ["Shared", "fast", ["alpha"]],
    ["shared", "slow", ["alpha", "beta"]],
    ["acme/fast", "fast", ["alpha"]],
    ["ACME/Fast-Latest", "fast", ["alpha"]],
    ["beta/slow", "slow", ["beta"]],
    ["BETA/SLOW", "slow", ["beta"]],
    ["alpha/slow", "slow", ["alpha"]],
    ["alpha/shared", "slow", ["alpha"]],
    ["alpha/SHARED", "fast", ["alpha"]],
    ["vendor/model:free", "vendor/model:free", ["alpha"]],
    ["alpha/vendor/model:free", "vendor/model:free", ["alpha"]],
    ["100%/odd", "100%/odd", ["alpha"]],
    ["secret", "secret", ["alpha"]],
    ["s", "secret", ["alpha"]],
    ["beta/fast", "FAST", ["beta"]],
    ["acme/FAST-latest", "fast", ["alpha"]],
    ["fast:latest", "fast", ["alpha"]],
    ["beta/slow:LATEST", "slow", ["beta"]],
    ["fast:latest:latest", undefined, []],
    [":latest", undefined, []],
    ["acme/slow", undefined, []],
    ["nobody", undefined, []],
    ["", undefined, []],
    ["/", undefined, []],
    ["/fast", undefined, []],
    ["alpha/", undefined, []],
    ["__proto__", undefined, []],
  ])("%p", (id, want, providers) => {
    const found = resolveModel(catalog, id);
    expect(found?.model.id).toBe(want as string);
    expect((found?.routes ?? []).map((route) => route.provider)).toEqual(providers as string[]);
  });

  test("any spelling of case of an id resolves, with or without its provider", () => {
    fc.assert(
      fc.property(fc.constantFrom(...catalog.models), fc.array(fc.boolean()), fc.boolean(), (model, ups, prefixed) => {
        const plain = prefixed ? `${model.routes[0]!.provider}/${model.id}` : model.id;
        const id = [...plain].map((c, at) => (ups[at] ? c.toUpperCase() : c.toLowerCase())).join("");
        expect(resolveModel(catalog, id)?.model.id.toLowerCase()).toBe(model.id.toLowerCase());
      }),
    );
  });

  const isDecisionModel = (id: string) => id === "decide-latest";
  test.each([
    ["free", "fast", "ok"],
    ["free", "gold", "403 tier_required"],
    ["pro", "gold", "403 tier_required"],
    ["premium", "gold", "ok"],
    ["free", "secret", "404 model_not_found"],
    ["pro", "secret", "ok"],
    ["premium", "nobody", "404 model_not_found"],
    ["free", "decide-latest", "400 wrong_model_family"],
  ] as const)("using as %s: %s is %s", (tier, id, want) => {
    expect(code(() => requireModel(catalog, id, { tier, isDecisionModel }))).toBe(want);
  });

  test.each([
    ["free", "gold", "ok"],
    ["free", "secret", "404 model_not_found"],
    ["pro", "secret", "ok"],
    ["free", "decide-latest", "404 model_not_found"],
  ] as const)("looking as %s: %s is %s", (tier, id, want) => {
    expect(code(() => requireVisibleModel(catalog, id, { tier }))).toBe(want);
  });

  test("the message of a refusal names what helps", () => {
    const say = (id: string) => {
      try {
        requireModel(catalog, id, { tier: "free", isDecisionModel });
      } catch (error) {
        return String((error as Error).message);
      }
      return "";
    };
    expect(say("gold")).toContain("premium");
    expect(say("decide-latest")).toContain("/v1/systemone");
    expect(say("x".repeat(10_000)).length).toBeLessThan(300);
  });
});
