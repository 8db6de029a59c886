import { describe, expect, test } from "bun:test";
import { configFolder } from "./support.ts";

const { bad, good } = configFolder();
const providers = (text: string | undefined, env: Record<string, string> = {}) => good(text, { env }).providers;
const names = (text: string | undefined, env: Record<string, string> = {}) =>
  providers(text, env).map(({ name }) => name);

describe("which providers there are", () => {
  const env = { OPENAI_API_KEY: "k", XAI_API_KEY: "k", GROQ_API_KEY: " ", AZURE_OPENAI_API_KEY: "k" };
  const cases: [string | undefined, string[]][] = [
    [undefined, ["openai", "xai", "demo"]],
    ["server: {port: 1}", ["openai", "xai", "demo"]],
    ["providers:", ["openai", "xai", "demo"]],
    ["providers: {}", ["demo"]],
    ["providers: {groq: {}}", ["groq", "demo"]],
    ["providers: {demo: {enabled: false}}", []],
    ["providers: {demo: {}, groq: {}}", ["demo", "groq"]],
    ["providers: {demo: , groq: {enabled: false}}", ["demo"]],
  ];
  test.each(cases)("%j", (text, expected) => expect(names(text, env)).toEqual(expected));
});

describe("what a preset fills", () => {
  test("kind and base_url by the entry's name, or by the preset it names", () => {
    expect(providers("providers: {anthropic: {}, mine: {preset: gemini}}")).toMatchObject([
      { name: "anthropic", preset: "anthropic", kind: "anthropic", baseUrl: "https://api.anthropic.com/v1" },
      { name: "mine", preset: "gemini", kind: "gemini", baseUrl: "https://generativelanguage.googleapis.com/v1beta" },
      { name: "demo", kind: "demo", baseUrl: "" },
    ]);
  });
  test("what is written wins; an unknown name speaks openai", () => {
    expect(
      providers(
        "providers: {openai: {kind: openai-responses, base_url: 'http://x/v1/'}, mine: {base_url: 'http://y'}}",
      ),
    ).toMatchObject([
      { preset: "openai", kind: "openai-responses", baseUrl: "http://x/v1" },
      { preset: undefined, kind: "openai", baseUrl: "http://y" },
      {},
    ]);
  });
  const keys: [string, string[]][] = [
    ["{}", ["env-key"]],
    ["{api_key: own}", ["own"]],
    ["{api_keys: [a, b, a]}", ["a", "b"]],
    ["{api_key: a, api_keys: [b]}", ["a", "b"]],
    // The environment's key must not be sent to an address of someone else's choosing.
    ["{base_url: 'http://elsewhere/v1'}", []],
    ["{base_url: 'http://elsewhere/v1', api_key: '${OPENAI_API_KEY}'}", ["env-key"]],
  ];
  test.each(keys)("openai: %s has the keys %j", (entry, expected) => {
    expect(providers(`providers: {openai: ${entry}}`, { OPENAI_API_KEY: "env-key" })[0]?.apiKeys).toEqual(expected);
  });
  const resources: [preset: string, resource: string, variable: string, hasKey: boolean][] = [
    ["databricks", "dbc-1.cloud.databricks.com", "DATABRICKS_TOKEN", true],
    ["databricks", "https://adb-1.2.azuredatabricks.net/", "DATABRICKS_TOKEN", true],
    ["databricks", "elsewhere.example", "DATABRICKS_TOKEN", false],
    ["snowflake", "org-account", "SNOWFLAKE_PAT", true],
    ["snowflake", "elsewhere.example/x?", "SNOWFLAKE_PAT", false],
    ["cloudflare", "0123", "CLOUDFLARE_API_TOKEN", true],
    ["foundry", "mine", "AZURE_API_KEY", true],
    ["foundry", "elsewhere.example#", "AZURE_API_KEY", false],
  ];
  test.each(resources)("%s with the resource %s: its own address has the key of %s: %p", (preset, at, name, hasKey) => {
    const [provider] = providers(`providers: {${preset}: {resource: '${at}'}}`, { [name]: "env-key" });
    expect(provider?.apiKeys).toEqual(hasKey ? ["env-key"] : []);
  });
  const regions: [region: string, hasKey: boolean][] = [
    ["eu-west-1", true],
    ["cn-north-1", true],
    ["eusc-de-east-1", true],
    ["us-iso-east-1", true],
    ["elsewhere.example/", false],
    ["elsewhere.example#", false],
  ];
  test.each(regions)("bedrock in %s: its own address has the key of the environment: %p", (region, hasKey) => {
    const [provider] = providers(`providers: {bedrock: {region: '${region}'}}`, {
      AWS_BEARER_TOKEN_BEDROCK: "env-key",
    });
    expect(provider?.apiKeys).toEqual(hasKey ? ["env-key"] : []);
  });
  const hosts: [string, string][] = [
    ["127.0.0.1", "http://127.0.0.1:11434/v1"],
    ["box:8080", "http://box:8080/v1"],
    [":9999", "http://127.0.0.1:9999/v1"],
    ["0.0.0.0:11434", "http://127.0.0.1:11434/v1"],
    ["[::]", "http://127.0.0.1:11434/v1"],
    ["[::1]:5", "http://[::1]:5/v1"],
    ["https://ollama.example", "https://ollama.example/v1"],
    ["http://box:1/prefix/", "http://box:1/prefix/v1"],
    ["http://box:1/v1", "http://box:1/v1"],
  ];
  test.each(hosts)("OLLAMA_HOST=%s is %s", (host, baseUrl) => {
    expect(providers(undefined, { OLLAMA_HOST: host })[0]).toMatchObject({ name: "ollama", baseUrl, apiKeys: [] });
    expect(providers("providers: {ollama: {}}", { OLLAMA_HOST: host })[0]?.baseUrl).toBe(baseUrl);
  });
});

test("routes through a provider that is switched off are left out, and models without a route with them", () => {
  const config = good(`
providers: {a: {base_url: 'http://x'}, b: {base_url: 'http://x', enabled: false}}
models:
  - {id: both, routes: [{provider: b}, {provider: a, model: z, priority: 2, weight: 0.5}]}
  - {id: gone, routes: [{provider: b}]}
decisions: {models: [{id: d, backend: {routes: [{provider: b}]}}]}`);
  expect(config.models.map(({ id, ownedBy, routes }) => [id, ownedBy, routes])).toEqual([
    ["both", "b", [{ provider: "a", model: "z", priority: 2, weight: 0.5 }]],
  ]);
  expect(config.decisions.models).toEqual([]);
});

describe("what authenticates calls", () => {
  const env = { AWS_REGION: "eu-west-1", AWS_SECRET_ACCESS_KEY: "variable-secret", HOME: "/home/a", OTHER: "x" };
  const of = (entry: string) =>
    providers(`providers: {mine: {base_url: 'http://x/v1', ${entry}}}`, env)[0]?.credentials;
  test.each<[string, Record<string, unknown>]>([
    ["", { kind: "key", environment: {} }],
    ["credentials: {kind: aws}, api_key: k", { kind: "key", environment: {} }],
    ["credentials: {kind: aws}", { kind: "aws", region: "eu-west-1" }],
    ["credentials: {kind: aws}, region: us-east-2", { kind: "aws", region: "us-east-2" }],
    ["credentials: {kind: google, file: /f}", { kind: "google", file: "/f", json: "", metadata: false }],
    ["credentials: {kind: entra, tenant: t, client_id: c}", { kind: "entra", tenant: "t", clientId: "c", scope: "" }],
  ])("{%s}", (entry, expected) => expect(of(entry)).toMatchObject(expected));

  test("the variables of the clouds' tools alone are handed on", () => {
    const { OTHER: _other, ...known } = env;
    expect(of("credentials: {kind: entra}")?.environment).toEqual(known);
  });

  test("signatures need a region", () => {
    expect(bad("providers: {mine: {base_url: 'http://x/v1', credentials: {kind: aws}}}").join("\n")).toContain(
      "providers.mine.region: is required, or AWS_REGION",
    );
  });
});
