import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { configFolder } from "./support.ts";

const { cwd, load, good, bad } = configFolder();

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
  const providers: [Record<string, string>, object][] = [
    [{ SALLYPORT_PROVIDERS_MINE_API_KEY: "k" }, { name: "mine", apiKeys: ["k"], baseUrl: "http://x/v1" }],
    [{ SALLYPORT_PROVIDERS_MINE_RETRY_ATTEMPTS: "4" }, { retry: { attempts: 4, baseMs: 1000, maxMs: 8000 } }],
    [
      { SALLYPORT_PROVIDERS_MINE_TIMEOUT_FIRST_BYTE: "9s" },
      { timeoutMs: { connect: 5000, firstByte: 9000, idle: 120_000 } },
    ],
    [{ SALLYPORT_PROVIDERS_MINE_API_KEYS: "a,b" }, { apiKeys: ["a", "b"] }],
    [{ SALLYPORT_PROVIDERS_MINE_QUIRKS: '{"stream_options": false}' }, { quirks: { stream_options: false } }],
    [{ SALLYPORT_PROVIDERS_MINE_QUIRKS_STREAM_OPTIONS: "false" }, { quirks: { stream_options: false } }],
    [{ SALLYPORT_PROVIDERS_MINE: '{"base_url": "http://y/v1"}' }, { baseUrl: "http://y/v1" }],
  ];
  test.each(providers)("%j in a map", (env, expected) => {
    expect(good("providers: {mine: {base_url: 'http://x/v1'}}", { env }).providers[0]).toMatchObject(expected);
  });
  test("an entry that the file does not name", () => {
    const env = { SALLYPORT_PROVIDERS_MY_LLM_BASE_URL: "http://x/v1", SALLYPORT_PROVIDERS_DEMO_ENABLED: "0" };
    const names = (text: string | undefined, more = {}) =>
      good(text, { env: { ...env, ...more } }).providers.map((p) => p.name);
    expect(names(undefined)).toEqual(["my_llm"]);
    expect(names(undefined, { OPENAI_API_KEY: "k" })).toEqual(["openai", "my_llm"]);
    expect(names("providers: {groq: {}}")).toEqual(["groq", "my_llm"]);
  });
  test("a whole map, and names that hold dashes and dots", () => {
    const env = {
      SALLYPORT_PROVIDERS: '{"a-b.c": {"base_url": "http://x/v1"}}',
      SALLYPORT_PROVIDERS_A_B_C_API_KEY: "k",
    };
    expect(good(undefined, { env }).providers.map(({ name, apiKeys }) => [name, ...apiKeys])).toEqual([
      ["a-b.c", "k"],
      ["demo"],
    ]);
  });
  test("an empty variable is none", () => {
    expect(good("server: {port: 5}", { env: { SALLYPORT_SERVER_PORT: "" } }).server.port).toBe(5);
  });
  test("one that names no key is a warning", () => {
    const result = load("", {
      env: { SALLYPORT_SERVER_PROT: "1", SALLYPORT_CONFIG: "", OTHER: "1", SALLYPORT_URL: "u", SALLYPORT_KEY: "k" },
    });
    expect(result).toMatchObject({
      ok: true,
      warnings: ["SALLYPORT_SERVER_PROT is ignored: there is no such configuration key"],
    });
  });
  const wrong: [Record<string, string>, string][] = [
    [
      { SALLYPORT_SERVER_PORT: "abc" },
      'SALLYPORT_SERVER_PORT: server.port: expected a whole number from 0 to 65535, got "abc"',
    ],
    [{ SALLYPORT_SERVER: "abc" }, "SALLYPORT_SERVER: server: expected a group of keys, got text"],
    [
      { SALLYPORT_WEB_PORTS: "80,x" },
      'SALLYPORT_WEB_PORTS: web.ports[1]: expected a whole number from 1 to 65535, got "x"',
    ],
    [{ SALLYPORT_MODELS: "[1" }, "SALLYPORT_MODELS: models: expected a list, got text"],
    [
      { SALLYPORT_EMAIL_SMTP_URL: "hunter2secret" },
      "SALLYPORT_EMAIL_SMTP_URL: email.smtp_url: expected a URL such as smtp://host:587 or smtps://host, got ***",
    ],
  ];
  test.each(wrong)("%j is named in the problem", (env, problem) => {
    expect(bad("", { env })).toEqual([problem]);
  });
  test("a value in the way of an override is reported, not lost", () => {
    expect(bad("server: 5", { env: { SALLYPORT_SERVER_PORT: "1" } })).toEqual([
      "server: expected a group of keys, got a number",
    ]);
  });
  test("an IPv6 address may stand in brackets, wherever it is given", () => {
    for (const config of [
      good("server: {host: '[::1]'}"),
      good("", { host: "[::1]" }),
      good("", { env: { SALLYPORT_SERVER_HOST: "[::1]" } }),
      good("server: {host: '::1'}"),
    ])
      expect(config.server.host).toBe("::1");
  });

  test("options win over variables", () => {
    const env = { SALLYPORT_SERVER_PORT: "9000", SALLYPORT_SERVER_HOST: "::1", SALLYPORT_DATA_DIR: "/elsewhere" };
    const config = good("server: {port: 1}", { env, port: 0, host: "0.0.0.0", dataDir: "d" });
    expect([config.server.port, config.server.host, config.dataDir]).toEqual([0, "0.0.0.0", join(cwd, "d")]);
  });
});

describe("which file", () => {
  const text = (port: number) => `server: {port: ${port}}`;
  test("--config, else SALLYPORT_CONFIG, else ./sallyport.yaml, else none", () => {
    const home = join(cwd, "which");
    mkdirSync(home);
    const port = (options: { file?: string; env?: Record<string, string> }) => {
      const result = loadConfig({ env: {}, cwd: home, ...options });
      return result.ok ? [result.config.server.port, result.file] : result.problems;
    };
    expect(port({})).toEqual([8787, undefined]);
    writeFileSync(join(home, "sallyport.yaml"), text(1));
    writeFileSync(join(home, "b.yaml"), text(2));
    writeFileSync(join(home, "c.yaml"), text(3));
    expect(port({})).toEqual([1, "sallyport.yaml"]);
    expect(port({ env: { SALLYPORT_CONFIG: "" } })).toEqual([1, "sallyport.yaml"]);
    expect(port({ env: { SALLYPORT_CONFIG: "b.yaml" } })).toEqual([2, "b.yaml"]);
    expect(port({ env: { SALLYPORT_CONFIG: "b.yaml" }, file: join(home, "c.yaml") })).toEqual([
      3,
      join(home, "c.yaml"),
    ]);
  });
  test("one that is named must be there and be a file", () => {
    expect(load(undefined, { file: "none.yaml" })).toMatchObject({
      problems: [expect.stringMatching(/^none\.yaml: cannot be read/)],
    });
    expect(load(undefined, { env: { SALLYPORT_CONFIG: "." } })).toEqual({
      ok: false,
      problems: [".: cannot be read (not a file)"],
    });
  });
  test("JSON is read too, and may name its schema", () => {
    expect(good('{"$schema": "./x.json", "server": {"port": 5}}').server.port).toBe(5);
  });
  const nothing = ["", "# only a comment\n", "server:\n", "\uFEFF", "{}", "models: null\nproviders:"];
  test.each(nothing)("%j says nothing and everything has its default", (text) => {
    expect(good(text)).toEqual(good(undefined));
  });
  const broken: [string, string][] = [
    ["a: [1", "line 1: not YAML"],
    ["server:\n  port: 1\n  host: a: b\n", "line 3: not YAML"],
    ["server:\n\tport: 1", "line 2: not YAML: Tab characters"],
    ['a: [\n  1,\n  2\n]\nb: "two\n  lines"\nc: 1\nd: a: b\ne: [\n1\n]\n', "line 8: not YAML"],
    ["providers: {a: {api_key: ${KEY}}}", 'inside [ ] and { } write "${NAME}" in quotes'],
    ["- 1", "expected a group of keys, got a list"],
    ["just text", "expected a group of keys, got text"],
    ["a: 1\n---\nb: 1", "expected a group of keys, got a list"],
  ];
  test.each(broken)("%j: %s", (text, message) => {
    const problems = bad(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });
});

test("a wrong line in a long file is found without reading the file once for each line", () => {
  const [problem] = bad(`a: b: c\n${"x: [1, 2, 3]\n".repeat(120_000)}`);
  expect(problem).toContain("line 1: not YAML");
}, 30_000);

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

test("a value that no provider needs has its default while its variable is missing", () => {
  const text = `providers: { openai: { timeout: { idle: "\${NO_IDLE}" }, retry: { base: "\${NO_BASE}" } } }`;
  const [provider] = good(text, { providers: "unused" }).providers;
  const [usual] = good("providers: { openai: {} }").providers;
  expect(provider?.timeoutMs).toEqual(usual?.timeoutMs as NonNullable<typeof usual>["timeoutMs"]);
  expect(provider?.retry).toEqual(usual?.retry as NonNullable<typeof usual>["retry"]);
});
