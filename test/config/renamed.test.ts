// Renamed keys: every road by which a value comes in understands the old name as long as it must, and says the new one.

import { describe, expect, test } from "bun:test";
import { VERSION } from "../../src/base/version.ts";
import { describeConfig } from "../../src/config/origin.ts";
import { isUnderstood, RENAMED, type RenamedKey, refusedFrom } from "../../src/config/renamed.ts";
import { ConfigFile } from "../../src/config/schema.ts";
import { configFolder } from "./support.ts";

const { load, good, bad } = configFolder();

/** Keys that were never called so: one in its group, a group, one from another group, one in a map, one in a list, one long gone. */
const renamed: readonly RenamedKey[] = [
  { from: "server.body_limit", to: "server.max_body", since: VERSION },
  { from: "server.upkeep", to: "server.maintenance", since: VERSION },
  { from: "logging.style", to: "log.format", since: VERSION },
  { from: "providers.NAME.address", to: "providers.NAME.base_url", since: VERSION },
  { from: "models[].title", to: "models[].name", since: VERSION },
  { from: "server.listen", to: "server.host", since: "0.0.1" },
];
const END = refusedFrom({ from: "", to: "", since: VERSION });

const warning = (old: string, now: string) =>
  `${old} was renamed to ${now} in version ${VERSION}; version ${END} no longer reads the old name`;

/** The same settings by each road: the file, variables for single keys, and variables with groups and lists as JSON. */
const PROVIDER = { kind: "openai", api_key: "k" };
const MODEL = { id: "m", routes: [{ provider: "mine" }] };
const FILE = {
  server: { body_limit: "3MiB", upkeep: { enabled: true } },
  logging: { style: "json" },
  providers: { mine: { ...PROVIDER, address: "http://127.0.0.1:1/v1" } },
  models: [{ ...MODEL, title: "My model" }],
};
const roads: [string, string, Record<string, string>, string[]][] = [
  [
    "the file",
    JSON.stringify(FILE),
    {},
    [
      warning("c.yaml: server.body_limit", "server.max_body"),
      warning("c.yaml: server.upkeep", "server.maintenance"),
      warning("c.yaml: logging.style", "log.format"),
      warning("c.yaml: providers.mine.address", "providers.mine.base_url"),
      warning("c.yaml: models[0].title", "models[0].name"),
    ],
  ],
  [
    "a variable for each key",
    JSON.stringify({ providers: { mine: PROVIDER }, models: [{ ...MODEL, name: "My model" }] }),
    {
      SALLYPORT_SERVER_BODY_LIMIT: "3MiB",
      SALLYPORT_SERVER_UPKEEP_ENABLED: "true",
      SALLYPORT_LOGGING_STYLE: "json",
      SALLYPORT_PROVIDERS_MINE_ADDRESS: "http://127.0.0.1:1/v1",
    },
    [
      warning("SALLYPORT_LOGGING_STYLE", "SALLYPORT_LOG_FORMAT"),
      warning("SALLYPORT_PROVIDERS_MINE_ADDRESS", "SALLYPORT_PROVIDERS_MINE_BASE_URL"),
      warning("SALLYPORT_SERVER_BODY_LIMIT", "SALLYPORT_SERVER_MAX_BODY"),
      warning("SALLYPORT_SERVER_UPKEEP", "SALLYPORT_SERVER_MAINTENANCE"),
    ],
  ],
  [
    "variables with groups",
    "",
    {
      SALLYPORT_SERVER: JSON.stringify({ body_limit: "3MiB" }),
      SALLYPORT_SERVER_UPKEEP: JSON.stringify({ enabled: true }),
      SALLYPORT_LOGGING: JSON.stringify(FILE.logging),
      SALLYPORT_PROVIDERS: JSON.stringify(FILE.providers),
      SALLYPORT_MODELS: JSON.stringify(FILE.models),
    },
    [
      warning("SALLYPORT_LOGGING: logging.style", "log.format"),
      warning("SALLYPORT_MODELS: models[0].title", "models[0].name"),
      warning("SALLYPORT_PROVIDERS: providers.mine.address", "providers.mine.base_url"),
      warning("SALLYPORT_SERVER: server.body_limit", "server.max_body"),
      warning("SALLYPORT_SERVER_UPKEEP", "SALLYPORT_SERVER_MAINTENANCE"),
    ],
  ],
];

describe("an old name that is understood", () => {
  test.each(roads)("in %s has its effect and a warning with the new name", (_, text, env, warnings) => {
    const result = load(text, { env, renamed });
    if (!result.ok) throw new Error(result.problems.join("\n"));
    const { server, log, providers, models } = result.config;
    expect([server.maxBodyBytes, server.maintenance.enabled, log.format]).toEqual([3 * 1024 * 1024, true, "json"]);
    expect([providers[0]?.baseUrl, models[0]?.name]).toEqual(["http://127.0.0.1:1/v1", "My model"]);
    expect(result.warnings.map((line) => line.replace(/^c\d+/, "c"))).toEqual(warnings);
  });

  test("the value of a variable wins over the file's, whichever of them has the old name", () => {
    const bytes = (text: string, env: Record<string, string>) => good(text, { env, renamed }).server.maxBodyBytes;
    expect(bytes("server: {body_limit: 1MiB}", { SALLYPORT_SERVER_MAX_BODY: "2MiB" })).toBe(2 * 1024 * 1024);
    expect(bytes("server: {max_body: 1MiB}", { SALLYPORT_SERVER_BODY_LIMIT: "2MiB" })).toBe(2 * 1024 * 1024);
  });

  test("the new name is shown with the line and the variable of the old one", () => {
    const env = { SALLYPORT_LOGGING_STYLE: "json", SALLYPORT_SERVER_UPKEEP: '{"enabled": true}' };
    const result = load("server:\n  port: 0\n  body_limit: 3MiB\n", { env, renamed });
    if (!result.ok) throw new Error(result.problems.join("\n"));
    const values = new Map(describeConfig(result.origin, result.config, []).map((one) => [one.key, one]));
    expect(values.get("server.max_body")).toMatchObject({ value: "3MiB", source: { kind: "file", line: 3 } });
    expect(values.get("log.format")?.source).toMatchObject({ kind: "variable", name: "SALLYPORT_LOGGING_STYLE" });
    const { name } = values.get("server.maintenance.enabled")?.source ?? {};
    expect(name).toBe("SALLYPORT_SERVER_UPKEEP");
    expect([...values.keys()].filter((key) => /body_limit|upkeep|logging/.test(key))).toEqual([]);
  });
});

const BOTH = "which is given too; remove";
const wrong: [string, string, Record<string, string>, string[]][] = [
  [
    "both names in the file",
    "server: {body_limit: 1MiB, max_body: 1MiB}",
    {},
    [`server.body_limit was renamed to server.max_body, ${BOTH} server.body_limit`],
  ],
  [
    "both names in a list",
    "models: [{id: m, title: a, name: b, routes: [{provider: demo}]}]",
    {},
    [`models[0].title was renamed to models[0].name, ${BOTH} models[0].title`],
  ],
  [
    "both groups, even with other keys",
    "server: {upkeep: {enabled: true}, maintenance: {retry_after: 1s}}",
    {},
    [`server.upkeep was renamed to server.maintenance, ${BOTH} server.upkeep`],
  ],
  [
    "both names as variables",
    "",
    { SALLYPORT_SERVER_BODY_LIMIT: "1MiB", SALLYPORT_SERVER_MAX_BODY: "1MiB" },
    [
      `environment: SALLYPORT_SERVER_BODY_LIMIT was renamed to SALLYPORT_SERVER_MAX_BODY, ${BOTH} SALLYPORT_SERVER_BODY_LIMIT`,
    ],
  ],
  [
    "both names in a variable's group",
    "",
    { SALLYPORT_SERVER: '{"body_limit": "1MiB", "max_body": "1MiB"}' },
    [`SALLYPORT_SERVER: server.body_limit was renamed to server.max_body, ${BOTH} server.body_limit`],
  ],
  [
    "a wrong value under an old name",
    "server: {body_limit: much}",
    {},
    ['server.max_body: expected a size such as 64KiB or 20MiB, got "much" (given as server.body_limit)'],
  ],
  [
    "a wrong value in a variable with an old name",
    "",
    { SALLYPORT_LOGGING_STYLE: "loud" },
    ['SALLYPORT_LOGGING_STYLE: log.format: expected one of auto, json, pretty, got "loud"'],
  ],
  [
    "an old name that this version no longer reads",
    "server: {listen: 127.0.0.1}",
    {},
    ["server.listen was renamed to server.host in version 0.0.1"],
  ],
  [
    "a variable with an old name that this version no longer reads",
    "",
    { SALLYPORT_SERVER_LISTEN: "127.0.0.1" },
    ["environment: SALLYPORT_SERVER_LISTEN was renamed to SALLYPORT_SERVER_HOST in version 0.0.1"],
  ],
];
test.each(wrong)("%s: refused by name", (_, text, env, problems) => {
  expect(bad(text, { env, renamed })).toEqual(problems);
});

test("an old name holds until the next version that may break something", () => {
  const ends = ["0.1.0", "0.9.3", "1.0.0", "2.7.1"].map((since) => refusedFrom({ from: "", to: "", since }));
  expect(ends).toEqual(["0.2.0", "0.10.0", "2.0.0", "3.0.0"]);
  const [major = 0, minor = 0] = VERSION.split(".").map(Number);
  expect(isUnderstood({ from: "", to: "", since: VERSION })).toBe(true);
  expect(isUnderstood({ from: "", to: "", since: `${major}.${minor + 1}.0` })).toBe(true);
  expect(isUnderstood({ from: "", to: "", since: "0.0.1" })).toBe(false);
});

test("every renamed key of the program leads to a present one, and its old name is no key", () => {
  const keys = keysOfReference();
  expect(keys).toEqual(expect.arrayContaining(["server.port", "providers.NAME.base_url", "models[].name"]));
  for (const { from, to } of RENAMED) {
    expect(keys).toContain(to);
    expect(keys).not.toContain(from);
  }
});

/** Every key as the reference writes it. */
function keysOfReference(): string[] {
  const keys: string[] = [];
  const walk = (node: ReturnType<typeof nodeOf>, key: string) => {
    keys.push(key);
    for (const [name, child] of Object.entries(node.properties ?? {}))
      walk(nodeOf(child), key === "" ? name : `${key}.${name}`);
    for (const child of Object.values(node.patternProperties ?? {})) walk(nodeOf(child), `${key}.NAME`);
    if (node.items !== undefined) walk(nodeOf(node.items), `${key}[]`);
  };
  walk(nodeOf(ConfigFile), "");
  return keys;
}

function nodeOf(schema: object) {
  return schema as { properties?: Record<string, object>; patternProperties?: Record<string, object>; items?: object };
}
