// A LiteLLM configuration is converted into one that this program loads; what has no counterpart is reported.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importLitellm } from "../../../src/config/import/litellm.ts";
import { loadConfig } from "../../../src/config/load.ts";

const ENV = {
  OPENAI_API_KEY: "sk-o",
  AZURE_API_KEY: "az",
  ANTHROPIC_API_KEY: "sk-ant",
  AZURE_BASE: "https://r.example",
};

/** Imports YAML text and loads the result, which must be a complete configuration. */
function imported(text: string) {
  const made = importLitellm(Bun.YAML.parse(text));
  const file = join(mkdtempSync(join(tmpdir(), "sallyport-import-")), "sallyport.yaml");
  writeFileSync(file, Bun.YAML.stringify(made.config, null, 2));
  const loaded = loadConfig({ file, env: ENV });
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  const models = made.config["models"] as Record<string, unknown>[] | undefined;
  return { ...made, models: models ?? [], loaded: loaded.config };
}

const model = (name: string, params: string, more = "") =>
  `  - {model_name: ${JSON.stringify(name)}, litellm_params: {${params}}${more}}\n`;
const list = (...entries: string[]) => `model_list:\n${entries.join("")}`;

test("a whole configuration with load balancing, fallbacks, aliases and prices", () => {
  const { config, notes, loaded } = imported(`
model_list:
  - model_name: gpt-4o
    litellm_params: {model: azure/gpt-4o-eu, api_base: "https://eu.openai.azure.com/", api_key: os.environ/AZURE_API_KEY, weight: 2}
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, timeout: 30}
    model_info:
      max_input_tokens: 128000
      max_output_tokens: 16384
      supports_function_calling: true
      input_cost_per_token: 0.0000025
      output_cost_per_token: 1.0e-05
      cache_read_input_token_cost: 0.00000125
  - model_name: claude
    litellm_params: {model: claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY}
  - model_name: vectors
    litellm_params: {model: openai/text-embedding-3-small, api_key: os.environ/OPENAI_API_KEY, timeout: 30}
    model_info: {mode: embedding}
litellm_settings: {drop_params: true, num_retries: 2, fallbacks: [{claude: [gpt-4o]}]}
router_settings: {model_group_alias: {gpt-4: gpt-4o}, routing_strategy: least-busy}
general_settings: {master_key: sk-1234}
`);
  const prices = { input: 2.5, output: 10, cache_read: 1.25 };
  expect(config).toEqual({
    providers: {
      azure: {
        preset: "azure",
        base_url: "https://eu.openai.azure.com/openai/v1",
        api_key: `\${AZURE_API_KEY}`,
        discover: false,
        retry: { attempts: 3 },
      },
      openai: {
        preset: "openai",
        api_key: `\${OPENAI_API_KEY}`,
        timeout: { first_byte: "30000ms" },
        discover: false,
        retry: { attempts: 3 },
      },
      anthropic: { preset: "anthropic", api_key: `\${ANTHROPIC_API_KEY}`, discover: false, retry: { attempts: 3 } },
    },
    models: [
      {
        id: "gpt-4o",
        context_length: 128_000,
        max_output_tokens: 16_384,
        supports_tools: true,
        prices,
        routing: "busy",
        aliases: ["gpt-4"],
        routes: [
          { provider: "azure", model: "gpt-4o-eu", priority: 1, weight: 2 },
          { provider: "openai", model: "gpt-4o", priority: 1 },
        ],
      },
      {
        id: "claude",
        routes: [
          { provider: "anthropic", model: "claude-sonnet-4-5", priority: 1 },
          { provider: "azure", model: "gpt-4o-eu", priority: 2, weight: 2, prices },
          { provider: "openai", model: "gpt-4o", priority: 2, prices },
        ],
      },
      {
        id: "vectors",
        kind: "embedding",
        routes: [{ provider: "openai", model: "text-embedding-3-small", priority: 1 }],
      },
    ],
  });
  expect(notes.map((note) => note.split(":")[0]).sort()).toEqual([
    "general_settings.master_key",
    "litellm_settings.drop_params",
    "router_settings.routing_strategy of claude",
  ]);
  expect(loaded.providers.map(({ name }) => name).slice(0, 3)).toEqual(["azure", "openai", "anthropic"]);
});

describe("the provider of a deployment", () => {
  test.each([
    ["a name alone", "model: gpt-4o", { preset: "openai" }],
    ["a name of a family", "model: claude-opus-4-1", { preset: "anthropic" }],
    ["a prefix", "model: groq/llama-3.3-70b", { preset: "groq" }],
    ["another prefix than the vendor's name", "model: together_ai/meta/llama", { preset: "together" }],
    ["the provider told apart", "model: llama3, custom_llm_provider: ollama", { preset: "ollama" }],
    [
      "a server of one's own",
      "model: hosted_vllm/q, api_base: 'http://gpu:8000/v1'",
      { preset: "vllm", base_url: "http://gpu:8000/v1" },
    ],
    [
      "an address without a path",
      "model: ollama_chat/q, api_base: 'http://gpu:11434'",
      { preset: "ollama", base_url: "http://gpu:11434/v1" },
    ],
    [
      "an address of Anthropic's kind",
      "model: anthropic/claude-x, api_base: 'https://proxy.example'",
      { preset: "anthropic", base_url: "https://proxy.example/v1" },
    ],
    [
      "an address in a variable",
      "model: openai/x, api_base: os.environ/AZURE_BASE",
      { preset: "openai", base_url: `\${AZURE_BASE}` },
    ],
    [
      "an unknown prefix with an address",
      "model: acme/m, api_base: 'https://acme.example/v1'",
      { kind: "openai", base_url: "https://acme.example/v1" },
    ],
    [
      "headers",
      "model: openai/x, organization: org-1, extra_headers: {X-A: os.environ/OPENAI_API_KEY}",
      { preset: "openai", headers: { "X-A": `\${OPENAI_API_KEY}`, "OpenAI-Organization": "org-1" } },
    ],
  ])("%s", (_what, params, entry) => {
    const { config } = imported(list(model("m", params)));
    expect(Object.values(config["providers"] as object)).toEqual([{ ...entry, discover: false }]);
  });

  test("deployments with one address and key share it, others are numbered", () => {
    const key = "api_key: os.environ/OPENAI_API_KEY";
    const { config, models } = imported(
      list(
        model("a", `model: openai/x, ${key}`),
        model("b", `model: openai/y, ${key}`),
        model("c", "model: openai/x, api_key: os.environ/AZURE_API_KEY"),
      ),
    );
    expect(Object.keys(config["providers"] as object)).toEqual(["openai", "openai-2"]);
    expect(models.map(({ routes }) => (routes as { provider: string }[])[0]?.provider)).toEqual([
      "openai",
      "openai",
      "openai-2",
    ]);
  });

  test("a pattern lists the provider's models", () => {
    const { config, models } = imported(list(model("openai/*", "model: openai/*, api_key: os.environ/OPENAI_API_KEY")));
    expect(config["providers"]).toEqual({
      openai: { preset: "openai", api_key: `\${OPENAI_API_KEY}`, discover: true },
    });
    expect(models).toEqual([]);
  });

  test("a credential by its name", () => {
    const { config, notes } = imported(
      `${list(model("m", "model: openai/x, litellm_credential_name: shared"))}credential_list: [{credential_name: shared, credential_values: {api_key: os.environ/OPENAI_API_KEY}}]\n`,
    );
    expect(config["providers"]).toEqual({
      openai: { preset: "openai", api_key: `\${OPENAI_API_KEY}`, discover: false },
    });
    expect(notes).toEqual([]);
  });
});

describe("what is named because it cannot be carried over", () => {
  const one = list(model("m", "model: openai/x"));
  test.each([
    [
      "a provider that is not known",
      list(model("m", "model: openai/x"), model("n", "model: bedrock/claude")),
      "model_list[1] (n)",
    ],
    ["an entry without a model", list(model("m", "model: openai/x"), "  - {model_name: n}\n"), "model_list[1]"],
    ["a parameter", list(model("m", "model: openai/x, rpm: 6, temperature: 0")), "model_list[0].litellm_params.rpm"],
    [
      "information",
      list(model("m", "model: openai/x", ", model_info: {base_model: y}")),
      "model_list[0].model_info.base_model",
    ],
    [
      "a key in the file",
      list(model("m", "model: openai/x, api_key: sk-plain")),
      "model_list[0].litellm_params.api_key",
    ],
    ["a setting", `${one}litellm_settings: {force_ipv4: true}\n`, "litellm_settings.force_ipv4"],
    ["a group of settings", `${one}vector_store_registry: []\n`, "vector_store_registry"],
    ["a fallback to nothing", `${one}router_settings: {fallbacks: [{m: [gone]}]}\n`, "fallbacks of m"],
    ["a fallback of nothing", `${one}router_settings: {fallbacks: [{gone: [m]}]}\n`, "fallbacks"],
    ["a fallback with parameters", `${one}router_settings: {fallbacks: [{m: [{model: x}]}]}\n`, "fallbacks of m"],
    [
      "an alias of nothing",
      `${one}router_settings: {model_group_alias: {a: gone}}\n`,
      "router_settings.model_group_alias",
    ],
  ])("%s", (_what, text, place) => {
    expect(imported(text).notes.map((note) => note.slice(0, note.indexOf(": ")))).toContain(place);
  });

  test("a cloud keeps its region and its keys", () => {
    const params =
      "model: bedrock/m, aws_region_name: us-east-1, aws_access_key_id: id, aws_secret_access_key: os.environ/KEY";
    const { config, notes } = importLitellm(Bun.YAML.parse(list(model("m", params))));
    const credentials = { access_key_id: "id", secret_access_key: "${KEY}" };
    expect(config["providers"]).toEqual({
      bedrock: { preset: "bedrock", region: "us-east-1", credentials, discover: false },
    });
    expect(notes).toEqual([]);
  });

  test("names with line ends stay within their line", () => {
    const { notes } = importLitellm({ model_list: [{ model_name: "a\nb", litellm_params: { model: "none\n/x" } }] });
    expect(notes.every((note) => !/\n/.test(note))).toBe(true);
  });
});

test.each([
  ["a list", []],
  ["nothing", undefined],
  ["no models", { model_list: [] }],
  ["models that are none", { model_list: "all" }],
])("%s is no configuration", (_what, file) => {
  expect(() => importLitellm(file)).toThrow(/expected/);
});
