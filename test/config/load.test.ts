import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadOptions, loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "sallyport-config-"));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

let files = 0;
function load(text: string | undefined, options: LoadOptions = {}) {
  if (text === undefined) return loadConfig({ env: {}, cwd, ...options });
  const file = `c${files++}.yaml`;
  writeFileSync(join(cwd, file), text);
  return loadConfig({ env: {}, cwd, file, ...options });
}

function good(text: string | undefined, options: LoadOptions = {}): Config {
  const result = load(text, options);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}

/** The problems without the file's name. */
function bad(text: string, options: LoadOptions = {}): string[] {
  const result = load(text, options);
  return result.ok ? [] : result.problems.map((problem) => problem.replace(/^c\d+\.yaml: /, ""));
}

describe("without a file", () => {
  test("the demo provider alone", () => {
    const config = good(undefined);
    expect(config.providers.map(({ name, kind }) => [name, kind])).toEqual([["demo", "demo"]]);
    expect(config.server.port).toBe(8787);
    expect(config.dataDir).toBe(join(cwd, "data"));
  });
  const variables: [string, string, string][] = [
    ["OPENAI_API_KEY", "openai", "https://api.openai.com/v1"],
    ["ANTHROPIC_API_KEY", "anthropic", "https://api.anthropic.com/v1"],
    ["GEMINI_API_KEY", "gemini", "https://generativelanguage.googleapis.com/v1beta"],
    ["OPENROUTER_API_KEY", "openrouter", "https://openrouter.ai/api/v1"],
    ["GROQ_API_KEY", "groq", "https://api.groq.com/openai/v1"],
    ["MISTRAL_API_KEY", "mistral", "https://api.mistral.ai/v1"],
    ["DEEPSEEK_API_KEY", "deepseek", "https://api.deepseek.com/v1"],
    ["XAI_API_KEY", "xai", "https://api.x.ai/v1"],
    ["TOGETHER_API_KEY", "together", "https://api.together.xyz/v1"],
    ["FIREWORKS_API_KEY", "fireworks", "https://api.fireworks.ai/inference/v1"],
    ["TYPESAFE_API_KEY", "typesafe", "https://api.typesafe.ai/v1"],
  ];
  test.each(variables)("%s makes %s", (variable, name, baseUrl) => {
    const [first, ...rest] = good(undefined, { env: { [variable]: " the-key " } }).providers;
    expect(first).toMatchObject({ name, preset: name, baseUrl, apiKeys: ["the-key"] });
    expect(rest.map((provider) => provider.name)).toEqual(["demo"]);
  });
});

describe("overrides win over the file", () => {
  test("variables of every depth and type", () => {
    const env = {
      SALLYPORT_SERVER_PORT: "9000",
      SALLYPORT_SERVER_MAINTENANCE_ENABLED: "true",
      SALLYPORT_DATA_DIR: "/elsewhere",
      SALLYPORT_SERVER_MAX_BODY: "1MiB",
      SALLYPORT_SERVER_TRUSTED_PROXIES: "10.0.0.0/8, 127.0.0.1",
      SALLYPORT_COMPACTION_THRESHOLD: "0.5",
    };
    const config = good("server: {port: 1, max_body: 2MiB}\ndata_dir: here", { env });
    expect(config.server).toMatchObject({
      port: 9000,
      maxBodyBytes: 2 ** 20,
      trustedProxies: ["10.0.0.0/8", "127.0.0.1"],
    });
    expect(config.server.maintenance.enabled).toBe(true);
    expect(config.dataDir).toBe("/elsewhere");
    expect(config.compaction.threshold).toBe(0.5);
  });
  test("options win over variables", () => {
    const env = { SALLYPORT_SERVER_PORT: "9000", SALLYPORT_SERVER_HOST: "::1", SALLYPORT_DATA_DIR: "/elsewhere" };
    const config = good("server: {port: 1}", { env, port: 0, host: "0.0.0.0", dataDir: "d" });
    expect([config.server.port, config.server.host, config.dataDir]).toEqual([0, "0.0.0.0", join(cwd, "d")]);
  });
});

describe("problems", () => {
  test("the contract's own line, with the file's name", () => {
    writeFileSync(join(cwd, "sallyport.yaml"), "providers:\n  openai:\n    base_url: foo\n");
    const result = loadConfig({ env: {}, cwd });
    expect(result).toEqual({
      ok: false,
      problems: ['sallyport.yaml: providers.openai.base_url: expected a URL, got "foo"'],
    });
    rmSync(join(cwd, "sallyport.yaml"));
  });
  test("all of them at once", () => {
    expect(bad("server: {port: x, hots: a}\nlog: {level: loud}")).toEqual([
      "server.hots: unknown key (did you mean server.host?)",
      'server.port: expected a whole number from 0 to 65535, got "x"',
      'log.level: expected one of debug, info, warn, error, got "loud"',
    ]);
  });
});
