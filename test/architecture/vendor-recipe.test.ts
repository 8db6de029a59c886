// Adds an unknown vendor in a copy of the repository: one file, one line in the list (with its import) and a sample of
// its model list. Everything else must include it automatically, and a second place that names it must be refused.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Copy, copyRepository } from "./recipe.ts";
import { RULES } from "./rules.ts";
import { readFiles } from "./source.ts";

const FILE = `// Avian: a vendor whose prices are public and that is not in the list.

import { type ModelFamily, version } from "./model-family.ts";
import type { Vendor } from "./vendor.ts";

const waferModels: ModelFamily = {
  name: "wafer",
  pattern: /wafer-(?<major>\\d)/,
  rules: [{ from: version(2), facts: { reasons: true }, source: "example.com", seen: "2026-11" }],
};

/** Avian. */
export const avian: Vendor = {
  name: "avian",
  title: "Avian",
  families: [waferModels],
  api: {
    kind: "openai",
    baseUrl: "https://api.avian.io/v1",
    domains: ["avian.io"],
    traceName: "avian",
    variable: { name: "AVIAN_API_KEY", holds: "key", alone: true },
    keyBegins: "csk-",
    dialects: { "openai-chat": { max_tokens_field: "max_completion_tokens", refuses: ["logit_bias"] } },
    auth: { header: "x-wafer-key" },
    models: { path: "/models", facts: { contextLength: "limits.window" } },
    figures: { prices: "avian" },
  },
};
`;

const SAMPLE = JSON.stringify({
  list: { data: [{ id: "wafer-2", limits: { window: 8192 } }, { id: "wafer-embed" }] },
  read: [
    { id: "wafer-2", contextLength: 8192 },
    { id: "wafer-embed", kind: "embedding" },
  ],
});

/** Reads what each part of the program contains about the new vendor. */
const QUESTIONS = `
import { costMicros } from "./src/catalog/prices.ts";
import { loadMetadata } from "./src/catalog/metadata.ts";
import { KNOWN_NAMES } from "./src/app/names.ts";
import { configJsonSchemaText } from "./src/config/json-schema.ts";
import { loadConfig } from "./src/config/load.ts";
import { sampleConfig } from "./src/config/sample.ts";
import { genAiCallAttributes } from "./src/telemetry/genai.ts";
import { configureProvider } from "./src/upstream/configure.ts";
import { refusedFor } from "./src/upstream/quirks.ts";
import { factsOf } from "./src/vendors/model-facts.ts";

const loaded = loadConfig({ env: { AVIAN_API_KEY: "key-of-mine" }, cwd: "/" });
if (!loaded.ok) throw new Error(loaded.problems.join());
const [entry] = loaded.config.providers;
const provider = configureProvider(entry!)!;
const { name, baseUrl, quirks, card, dialect } = provider;
const prices = (await loadMetadata())(baseUrl, "Meta-Llama-3.1-70B-Instruct")?.prices;
console.log(JSON.stringify({
  preset: [name, baseUrl, dialect.name, entry!.apiKeys],
  credential: card.headers("key-of-mine"),
  refused: refusedFor({ model: "m", quirks }, undefined),
  schema: configJsonSchemaText(KNOWN_NAMES).includes('"avian"'),
  sample: sampleConfig({ dataDir: "d", host: "h", port: 1, providers: ["avian"] }).includes("\${AVIAN_API_KEY}"),
  costs: costMicros(prices, { inputTokens: 1000, outputTokens: 1000 } as never) > 0,
  traced: genAiCallAttributes({ baseUrl, dialect: dialect.name, model: "m", stream: false })["gen_ai.provider.name"],
  reasons: [factsOf("avian/wafer-1").reasons, factsOf("wafer-2").reasons],
}));
`;

/** The tests that loop over the list, and those that compare generated files with it. */
const SUITES = [
  "test/vendors",
  "test/upstream/providers.test.ts",
  "test/config/presets.test.ts",
  "test/config/sample.test.ts",
];
const LIST = "src/vendors/index.ts";
const TIMEOUT_MS = 120_000;
/** Where nothing of a vendor may stand. */
const SECOND_PLACES = [
  ["src/telemetry/names.ts", 'export const NAMES = { "avian.io": "avian" };'],
  ["src/catalog/names.ts", 'export const PRICED = ["avian"];'],
  ["src/config/names.ts", 'export const VARIABLE = "AVIAN_API_KEY";'],
] as const;

let copy: Copy;
beforeAll(() => {
  copy = copyRepository();
  copy.add("src/vendors/avian.ts", FILE);
  copy.addLine(LIST, "./deepseek.ts", 'import { avian } from "./avian.ts";');
  copy.addLine(LIST, "  ollama,", "  avian,");
});
afterAll(() => copy.remove());

const rules = async () => {
  const files = await readFiles(copy.dir, ["src", "test", "scripts"]);
  return RULES.flatMap((rule) => rule.check(files).violations);
};

describe("a provider in one file and one line", () => {
  test(
    "is known to configuration, requests, prices, traces and model rules",
    async () => {
      copy.add("questions.ts", QUESTIONS);
      const { ok, text } = await copy.bun("questions.ts");
      if (!ok) expect.unreachable(text);
      expect(JSON.parse(text)).toEqual({
        preset: ["avian", "https://api.avian.io/v1", "openai-chat", ["key-of-mine"]],
        credential: { "x-wafer-key": "key-of-mine" },
        refused: ["logit_bias"],
        schema: true,
        sample: true,
        costs: true,
        traced: "avian",
        reasons: [false, true],
      });
    },
    TIMEOUT_MS,
  );

  test(
    "is not taken without a sample of its model list",
    async () => {
      const { ok, text } = await copy.bun("test", "test/vendors/vendors.test.ts", "-t", "the API of avian");
      expect([ok, text]).toEqual([false, expect.stringContaining("There is no sample of its model list")]);
    },
    TIMEOUT_MS,
  );

  test(
    "passes every suite with it, once the pages are written anew",
    async () => {
      copy.add("test/vendors/model-lists/avian.json", SAMPLE);
      expect(await copy.bun("scripts/generate.ts")).toMatchObject({ ok: true });
      const { ok, text } = await copy.bun("test", ...SUITES);
      if (!ok) expect.unreachable(text);
      for (const suite of ["the API of avian", "avian (openai-chat)"]) expect(text).toContain(suite);
    },
    TIMEOUT_MS,
  );

  test("breaks no rule of the house", async () => expect(await rules()).toEqual([]));

  // The rule takes its words from the list, so the rule of the copy is used.
  test(
    "is refused a second place",
    async () => {
      for (const [path, line] of SECOND_PLACES)
        copy.add(path, `// What is known elsewhere.\n\n/** A second place. */\n${line}\n`);
      const { ok, text } = await copy.bun(
        "test",
        "test/architecture/rules.test.ts",
        "-t",
        "only vendors names a vendor",
      );
      expect(ok).toBe(false);
      for (const [path] of SECOND_PLACES) expect(text).toContain(`${path}:4: names `);
    },
    TIMEOUT_MS,
  );
});
