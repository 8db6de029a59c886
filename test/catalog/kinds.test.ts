// Kinds of models: where the kind comes from, how the catalog shows it, and that endpoints refuse models of another kind.

import { describe, expect, test } from "bun:test";
import { configuredModels } from "../../src/catalog/from-config.ts";
import { KINDS } from "../../src/catalog/kinds.ts";
import { buildCatalog, type CatalogInput } from "../../src/catalog/models.ts";
import { requireModel, resolveModel } from "../../src/catalog/resolve.ts";
import { modelListView, modelView } from "../../src/catalog/view.ts";
import { kindByName, MODEL_KINDS, type ModelKind } from "../../src/vendors/model-kind.ts";
import type { DiscoveredModel } from "../../src/vendors/vendor.ts";
import { configFolder } from "../config/support.ts";

const { good, bad } = configFolder();

describe("a name says its kind", () => {
  test.each([
    ["text-embedding-3-small", "embedding"],
    ["Qwen/Qwen3-Embedding-8B", "embedding"],
    ["nomic-embed-text:latest", "embedding"],
    ["BAAI/bge-reranker-v2-m3", "rerank"],
    ["rerank-v3.5", "rerank"],
    ["whisper-large-v3-turbo", "transcription"],
    ["gpt-4o-mini-transcribe", "transcription"],
    ["tts-1-hd", "speech"],
    ["gpt-4o-mini-tts", "speech"],
    ["playai-tts", "speech"],
    ["gpt-image-1", "image"],
    ["black-forest-labs/FLUX.1-dev", "image"],
    ["imagen-4.0-generate-001", "image"],
    ["omni-moderation-latest", "other"],
    ["gpt-realtime", "other"],
    ["sora-2", "other"],
    ["gpt-5-mini", undefined],
    ["claude-opus-5-5", undefined],
    ["llama-3.3-70b-versatile", undefined],
    ["gemini-2.5-flash", undefined],
  ] as const)("%s: %p", (id, kind) => expect(kindByName(id)).toBe(kind));
});

const input = (over: Partial<CatalogInput>): CatalogInput => ({
  models: [],
  providers: [{ key: "p" }],
  discovered: new Map(),
  metadata: () => undefined,
  ...over,
});
const configured = (models: CatalogInput["models"]) => buildCatalog(input({ models }));
const discovered = (...models: DiscoveredModel[]) => buildCatalog(input({ discovered: new Map([["p", models]]) }));
const routes = (model: string) => [{ provider: "p", model }];

describe("who says it", () => {
  test.each([
    ["the configuration", [{ id: "m", kind: "rerank", routes: routes("text-embedding-x") }], "rerank"],
    ["the configuration, against the name", [{ id: "m", kind: "chat", routes: routes("flux-talk") }], "chat"],
    ["the upstream's name for it", [{ id: "vectors", routes: routes("text-embedding-3-small") }], "embedding"],
    ["not its id here", [{ id: "embedder", routes: routes("gpt-5") }], "chat"],
    ["nobody", [{ id: "m", routes: routes("m") }], "chat"],
    ["a name of no kind that is here", [{ id: "m", routes: routes("llama-guard-4") }], "chat"],
  ] satisfies [string, CatalogInput["models"], ModelKind][])("%s", (_name, models, kind) => {
    expect(configured(models).models[0]?.kind).toBe(kind);
  });

  test("the provider's list, and its silence means chat", () => {
    const list = [{ id: "a", kind: "embedding" as const }, { id: "embed-chat" }];
    expect(discovered(...list).models.map(({ id, kind }) => [id, kind])).toEqual([
      ["a", "embedding"],
      ["embed-chat", "chat"],
    ]);
    const both = buildCatalog(input({ models: [{ id: "embed-chat" }], discovered: new Map([["p", list]]) }));
    expect(both.models[0]).toMatchObject({ id: "embed-chat", kind: "chat" });
  });

  test("a configuration names a kind that there is", () => {
    const model = (kind: string) => `models: [{id: m, kind: ${kind}, routes: [{provider: demo}]}]`;
    for (const kind of MODEL_KINDS) expect(configuredModels(good(model(kind)))[0]?.kind).toBe(kind);
    expect(configuredModels(good("models: [{id: m, routes: [{provider: demo}]}]"))[0]?.kind).toBeUndefined();
    expect(bad(model("embeddings")).join()).toContain("models[0].kind: expected one of chat, embedding, rerank");
  });
});

describe.each(MODEL_KINDS)("%s", (kind) => {
  const { models } = configured([{ id: "m", kind, routes: routes("m") }]);
  const served = KINDS[kind].endpoints.length > 0;

  test("is shown with its kind and its endpoints, and cannot call tools unless it chats", () => {
    expect(modelView(models[0]!)).toMatchObject({
      type: kind,
      endpoints: KINDS[kind].endpoints,
      supports_tools: kind === "chat",
      architecture: { input_modalities: expect.any(Array), output_modalities: KINDS[kind].output },
    });
    expect(modelView(models[0]!, { anthropic: true }).type).toBe("model");
  });

  test("is listed where an endpoint takes it or the operator lists it, and found in any case", () => {
    const catalog = discovered({ id: "m", kind });
    expect(modelListView(catalog.models).data.map(({ id }) => id)).toEqual(served ? ["m"] : []);
    expect(resolveModel(catalog, "m")?.model.kind).toBe(kind);
    const listed = configured([{ id: "m", kind, visibility: "list", routes: routes("m") }]);
    expect(modelListView(listed.models).data[0]?.type).toBe(kind);
  });

  test.each(MODEL_KINDS)("at an endpoint for %s", (wanted) => {
    const use = { tier: "free" as const, isDecisionModel: () => false, kind: wanted };
    const require = () => requireModel(discovered({ id: "m", kind }), "m", use);
    if (wanted === kind) expect(require().model.id).toBe("m");
    else expect(require).toThrow(`"m" is ${KINDS[kind].called} model.`);
  });
});

test("a hidden model above the caller's plan does not tell its kind", () => {
  const catalog = configured([{ id: "m", kind: "image", tier: "premium", visibility: "hidden", routes: routes("m") }]);
  expect(() => requireModel(catalog, "m", { tier: "free", isDecisionModel: () => false })).toThrow("does not exist");
});
