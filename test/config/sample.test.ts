import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv";
import { KNOWN_NAMES } from "../../src/app/names.ts";
import { configJsonSchema } from "../../src/config/json-schema.ts";
import { loadConfig } from "../../src/config/load.ts";
import { findPreset, PRESET_NAMES } from "../../src/config/presets.ts";
import { sampleConfig } from "../../src/config/sample.ts";
import type { Config } from "../../src/config/schema.ts";

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(configJsonSchema(KNOWN_NAMES));
const problems = (text: string) =>
  validate(Bun.YAML.parse(text)) ? [] : (validate.errors ?? []).map((e) => e.instancePath);

/** The sample with every commented-out key enabled. */
const uncommented = (text: string) => text.replaceAll(/^(\s*)# (?=\s*(?:- )?(?:[a-z_]+:|\{))/gm, "$1");

test("the sample says what holds without it: put in, its commented-out keys change nothing", () => {
  const choices = { host: "127.0.0.1", port: 8787, dataDir: "./data", providers: ["openai"] } as const;
  const env = { OPENAI_API_KEY: "k" };
  const cwd = mkdtempSync(join(tmpdir(), "sallyport-sample-"));
  const load = (text: string) => {
    writeFileSync(join(cwd, "sallyport.yaml"), text);
    const result = loadConfig({ env, cwd });
    return result.ok ? result.config : result.problems;
  };
  const plain = load("");
  expect(plain).toHaveProperty("server.port", 8787);
  expect(load(sampleConfig(choices))).toEqual(plain);
  // `models` contains an example instead of its default.
  const all = uncommented(sampleConfig(choices));
  expect(all).toContain("\n    retry: # ");
  expect(all.split("\n").filter((line) => line.length > 120)).toEqual([]);
  expect(all).toContain("\n  keep_last: 6 #");
  expect(load(all)).toEqual({ ...(plain as Config), models: (load(all) as Config).models });
  rmSync(cwd, { recursive: true });
});

describe("the JSON Schema for editors", () => {
  test("takes the sample, also with everything that is commented out", () => {
    const sample = sampleConfig({ host: "::1", port: 1, dataDir: "d", providers: ["openai", "ollama"] });
    expect(problems(sample)).toEqual([]);
    expect(problems(uncommented(sample))).toEqual([]);
  });
  const accepted = [
    "server: {port: '${PORT}', drain_timeout: '${D:-3s}', max_body: 1MiB}",
    "server:\nproviders:\n  openai:\nmodels:",
    "providers: {anything: {base_url: 'http://x/v1', headers: {X-Y: z}, quirks: {refuses: [a], decision_body: {b: [1, {c: 2}]}}}}",
    "models: [{id: a, routes: [{provider: p}]}]",
    "auth: {oauth: {okta: {issuer: 'https://x', client_id: a, client_secret: b}}}",
    "health: {probe: 'off'}",
  ];
  test.each(accepted)("takes %s", (text) => expect(problems(text)).toEqual([]));
  const refused: [string, string][] = [
    ["prot: 1", ""],
    ["server: {prot: 1}", "/server"],
    ["server: {port: 70000}", "/server/port"],
    ["server: {drain_timeout: 5}", "/server/drain_timeout"],
    ["server: {drain_timeout: 5 minutes}", "/server/drain_timeout"],
    ["log: {level: loud}", "/log/level"],
    ["models: [{id: a}]", "/models/0"],
    ["models: [{id: a, routes: []}]", "/models/0/routes"],
    ["providers: {'a b': {}}", "/providers"],
    ["providers: {a: {headers: {'x y': z}}}", "/providers/a/headers"],
  ];
  test.each(refused)("refuses %s at %s", (text, path) => expect(problems(text)).toContain(path));
});

test("every preset that the environment can switch on is written with the variable that holds its key", () => {
  for (const name of PRESET_NAMES) {
    const preset = findPreset(name);
    if (preset?.zeroFile !== true) continue;
    const text = sampleConfig({ host: "h", port: 1, dataDir: "d", providers: [name] });
    expect(text).toContain(preset.variable ?? "?");
    expect(Bun.YAML.parse(text)).toHaveProperty(["providers", name]);
  }
});
