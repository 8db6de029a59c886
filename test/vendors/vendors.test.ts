// Every vendor's file is valid, and everything derived from the list includes the vendor: presets, prices, traces,
// model lists, the sample configuration, the schema for editors and the page of providers.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findProvider } from "@pydantic/genai-prices";
import { cloudExample, providerPage, vendorExample } from "../../scripts/reference/providers.ts";
import { KNOWN_NAMES } from "../../src/app/names.ts";
import { packedVendors } from "../../src/catalog/pack-metadata.ts";
import { configJsonSchemaText } from "../../src/config/json-schema.ts";
import { findPreset, presetFacts, presetsOf } from "../../src/config/presets.ts";
import { sampleConfig } from "../../src/config/sample.ts";
import { show } from "../../src/config/show.ts";
import { genAiCallAttributes } from "../../src/telemetry/genai.ts";
import { makeRedactor, REDACTED } from "../../src/telemetry/redact.ts";
import { configureProvider } from "../../src/upstream/configure.ts";
import { CARDS } from "../../src/upstream/providers/index.ts";
import { cloudOrigin, filled } from "../../src/vendors/cloud.ts";
import { FAMILIES, VENDORS } from "../../src/vendors/index.ts";
import { CALLABLE, findVendor, vendorAt } from "../../src/vendors/look-up.ts";
import { modelByName } from "../../src/vendors/model-facts.ts";
import { kindFacts } from "../../src/vendors/protocols.ts";
import type { DiscoveredModel } from "../../src/vendors/vendor.ts";
import { configFolder } from "../config/support.ts";

const { good } = configFolder();
const LISTS = join(import.meta.dir, "model-lists");
/** Their documentation gives addresses that do not end in a version. */
const VERSIONLESS = ["perplexity", "deepinfra", "github"];
const unique = (all: readonly string[]) => expect(new Set(all).size).toBe(all.length);
const PACKED = packedVendors();

test("no two vendors share a name, a variable, a domain or a family", () => {
  expect(CALLABLE.length).toBeGreaterThan(10);
  unique(VENDORS.map(({ name }) => name));
  unique(VENDORS.map(({ title }) => title));
  unique(CALLABLE.flatMap(({ api: { variable } }) => (variable === undefined ? [] : [variable.name])));
  unique(CALLABLE.flatMap(({ api: { domains = [] } }) => domains));
  unique(FAMILIES.map(({ name }) => name));
});

test("every sample of a model list belongs to a vendor", () => {
  const names = readdirSync(LISTS).map((file) => file.replace(/\.json$/, ""));
  expect(names.filter((name) => findVendor(name)?.api.models === undefined)).toEqual([]);
});

describe.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))("%s", (name, vendor) => {
  test("has something to say, under a name that the configuration can have", () => {
    expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(vendor.title).not.toBe("");
    expect(vendor.api !== undefined || (vendor.families ?? []).length > 0).toBe(true);
    for (const family of vendor.families ?? []) expect(FAMILIES).toContain(family);
  });
});

describe.each(CALLABLE.map((vendor) => [vendor.name, vendor] as const))("the API of %s", (name, { title, api }) => {
  test("has an address with a version, on its own domain or on this machine", () => {
    if (api.baseUrl === "") {
      expect(api.embedded !== undefined || api.note !== undefined).toBe(true);
      return;
    }
    const { protocol, hostname, pathname } = new URL(api.baseUrl);
    expect(VERSIONLESS.includes(name) || /\/v\d\w*$/.test(pathname)).toBe(true);
    if (api.domains === undefined) expect([protocol, hostname]).toEqual(["http:", "127.0.0.1"]);
    else expect([protocol, vendorAt(hostname)?.name]).toEqual(["https:", name]);
  });

  test("speaks the protocol of its kind, with quirks that there are", () => {
    const { dialect } = kindFacts(api.kind);
    expect(Object.keys(api.dialects)).toEqual(dialect === undefined ? [] : expect.arrayContaining([dialect]));
    for (const quirks of Object.values(api.dialects)) {
      const entry = { base_url: "http://x/v1", quirks };
      expect(good(JSON.stringify({ providers: { x: entry } })).providers[0]?.quirks).toEqual(quirks);
    }
    const cards = CARDS.filter((card) => card.name === name);
    expect(cards).toHaveLength(api.embedded === undefined ? Object.keys(api.dialects).length : 0);
  });

  test("is a preset, by its variable too", () => {
    expect(findPreset(name)).toMatchObject({ kind: api.kind, baseUrl: api.baseUrl });
    expect(configJsonSchemaText(KNOWN_NAMES)).toContain(`"${name}"`);
    expect(providerPage()).toContain(`| ${title} | \`${name}\` |`);
    const { variable } = api;
    if (variable === undefined) return;
    expect(variable.name).toMatch(/^[A-Z][A-Z0-9_]+$/);
    const env = { [variable.name]: "http://value/v1" };
    expect(presetsOf(env)).toEqual(variable.alone ? [name] : []);
    const facts = presetFacts(name, env);
    expect(variable.holds === "key" ? facts?.apiKey : facts?.baseUrl).toBe("http://value/v1");
    if (!variable.alone) return;
    const sample = sampleConfig({ dataDir: "d", host: "h", port: 1, providers: [name] });
    expect(sample).toContain(`\n  ${name}:`);
    expect(sample).toContain(variable.name);
  });

  test("has an example on the page that can be loaded, with an address for each model, if it is a cloud", () => {
    const { cloud } = api;
    if (cloud === undefined) return;
    const example = cloudExample(name);
    expect(providerPage()).toContain(example);
    const [config] = good(example).providers;
    expect(config).toMatchObject({ name, preset: name, credentials: { kind: cloud.credential } });
    const provider = configureProvider(config!);
    expect(new URL(provider!.baseUrl).protocol).toBe("https:");
    for (const { example: model, protocols, path } of cloud.offers) {
      const found = provider!.forModel!(model, { responses: false });
      expect(found.dialect.name).toBe(protocols[0]!);
      expect(found.baseUrl).not.toContain("{");
      expect(found.baseUrl.endsWith(path.slice(path.lastIndexOf("}") + 1))).toBe(true);
    }
  });

  test("has an example on the page that can be loaded, if it is no cloud", () => {
    if (api.cloud !== undefined || api.embedded !== undefined) return;
    const example = vendorExample(name);
    expect(providerPage()).toContain(`\`\`\`yaml\n${example}\n`);
    const { providers, models } = good(example);
    expect(providers[0]).toMatchObject({ name, preset: name });
    if (api.models === undefined && Object.keys(api.dialects).length > 0) expect(models).toHaveLength(1);
  });

  test("has keys that are shown and logged nowhere", () => {
    if (api.keyBegins === undefined) return;
    const key = `${api.keyBegins}Ab3_dEf6`;
    expect(show(`where ${key}`)).toBe("***");
    const redact = makeRedactor([]);
    expect(redact(`refused ${key}, as before`)).toBe(`refused ${REDACTED}, as before`);
    expect(redact(`/models?to=%2Fx%3Fk%3D${key}`)).toBe(`/models?to=%2Fx%3Fk%3D${REDACTED}`);
  });

  test("is traced by its own name", () => {
    expect(api.traceName === undefined).toBe(api.domains === undefined);
    for (const domain of api.domains ?? []) {
      for (const host of [domain, `eu.${domain}`]) {
        const call = { baseUrl: `https://${host}/v1`, dialect: "openai-chat", model: "m", stream: false };
        expect(genAiCallAttributes(call)["gen_ai.provider.name"]).toBe(api.traceName!);
      }
      const other = { baseUrl: `https://not${domain}/v1`, dialect: "openai-chat", model: "m", stream: false };
      expect(genAiCallAttributes(other)["gen_ai.provider.name"]).toBe("openai");
    }
  });

  test("has prices where the packages know it", () => {
    const known = api.figures === undefined ? undefined : findProvider({ providerId: api.figures.prices });
    expect(known === undefined).toBe(api.figures === undefined);
    const places = { region: "us-east-1", resource: "mine", project: "p" };
    const own =
      api.cloud === undefined
        ? `https://${api.domains?.[0]}/v1`
        : filled(cloudOrigin(api.cloud, places) + api.cloud.offers[0]!.path, places);
    const address = api.baseUrl === "" ? own : api.baseUrl;
    const packed = PACKED.find(({ url }) => new RegExp(`^${url}`).test(address));
    // Free models, and models that are not priced by the token, have no price.
    const priced = packed?.models.filter(({ prices }) => prices !== undefined) ?? [];
    expect(priced.length).toBeGreaterThanOrEqual((known?.models.length ?? 0) / 2);
  });

  test("says all that it needs for a model list, with a sample of one", async () => {
    if (api.models === undefined) return;
    const path = join(LISTS, `${name}.json`);
    if (!(await Bun.file(path).exists())) expect.unreachable(`There is no sample of its model list: ${path}`);
    const { list, read } = (await Bun.file(path).json()) as { list: unknown; read: DiscoveredModel[] };
    expect(read.length).toBeGreaterThan(0);
    for (const card of CARDS.filter((one) => one.name === name)) expect(card.parseModels?.(list)).toEqual(read);
    // The sample contains a value for each place that the file names.
    const seen = new Set(read.flatMap((model) => Object.keys(model)));
    for (const fact of Object.keys(api.models.facts ?? {})) expect([...seen]).toContain(fact);
  });
});

describe.each(FAMILIES.map((family) => [family.name, family] as const))("the family %s", (_name, family) => {
  test("is found by a name of its own where another family's name stands beside it, if it leads", () => {
    if (family.leads !== true) return;
    for (const other of FAMILIES) {
      if (other.leads !== true) expect(modelByName(`${family.name}-distill-${other.name}-1`).family).toBe(family.name);
    }
  });
});
