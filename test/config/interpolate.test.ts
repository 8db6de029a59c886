import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { interpolate } from "../../src/config/interpolate.ts";
import { configFolder } from "./support.ts";

const files: Record<string, string> = { "/run/secrets/x": "from file\n", "rel.txt": "a\r\n", two: "a\n\n" };
const surroundings = {
  env: { A: "one", B: "", C: "${A}", PORT: "9" },
  readFile: (path: string) => {
    const text = files[path];
    if (text === undefined) throw new Error("not there");
    return text;
  },
};

describe("interpolation", () => {
  const cases: [string, string][] = [
    ["plain", "plain"],
    ["${A}", "one"],
    ["x${A}y${A}z", "xoneyonez"],
    ["${A:-other}", "one"],
    ["${B:-other}", "other"],
    ["${Z:-other}", "other"],
    ["${Z:-}", ""],
    ["${Z:-a:-b c}", "a:-b c"],
    ["${B}", ""],
    // Inserted text is not interpolated again.
    ["${C}", "${A}"],
    ["$${A}", "${A}"],
    ["$$${A}", "$${A}"],
    ["a$b $A {A} }", "a$b $A {A} }"],
    ["${file:/run/secrets/x}", "from file"],
    ["${file:rel.txt}!", "a!"],
    ["${file:two}", "a\n"],
  ];
  test.each(cases)("%s is %j", (text, expected) => {
    expect(interpolate(text, surroundings)).toMatchObject({ text: expected });
  });
  const wrong: [string, string][] = [
    ["${Z}", "the environment variable Z is not set"],
    ["${file:nowhere}", "cannot read the file nowhere (not there)"],
    ["${A", "an unclosed ${"],
    ["${}", '"${}" is not ${NAME}, ${NAME:-default} or ${file:/path}'],
    ["${1A}", '"${1A}" is not'],
    ["${A-b}", '"${A-b}" is not'],
  ];
  test.each(wrong)("%s: %s", (text, problem) => {
    expect(interpolate(text, surroundings)).toStartWith(problem);
  });
  test("text without ${ is untouched, and $${ escapes any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const escaped = text.replaceAll("${", () => "$${");
        const result = interpolate(escaped, surroundings);
        // A $ before an escape becomes part of it; all other text stays unchanged.
        if (!text.includes("$${")) expect(result).toMatchObject({ text, changed: false });
      }),
    );
  });
  test("any value of a variable arrives as it is, between any texts", () => {
    const plain = fc.string().filter((text) => !text.includes("$"));
    fc.assert(
      fc.property(plain, fc.string(), plain, (before, value, after) => {
        const result = interpolate(`${before}\${V}${after}`, { ...surroundings, env: { V: value } });
        expect(result).toEqual({ text: before + value + after, changed: true, secret: false });
      }),
    );
  });
});

describe("in a configuration", () => {
  const { cwd, good, bad } = configFolder();
  test("a value that is put in becomes the type of its key", () => {
    const env = {
      PORT: "9000",
      ON: "true",
      T: "5s",
      LIST: "github,gitlab",
      PROBE: "off",
      SHARE: "0.5",
      N: "123",
      JSON: '["1.1.1.1:53"]',
    };
    const config = good(
      `
server: {port: "\${PORT}", drain_timeout: "\${T}", maintenance: {enabled: "\${ON}", message: "\${N}"}}
compaction: {threshold: "\${SHARE}", enabled: "\${OFF:-false}", keep_last: "\${K:-1}\${K:-2}"}
health: {probe: "\${PROBE}"}
search: {only: "\${LIST}"}
web: {dns: "\${JSON}", ports: "\${NONE:-}"}
`,
      { env },
    );
    expect(config.server).toMatchObject({
      port: 9000,
      drainTimeoutMs: 5000,
      maintenance: { enabled: true, message: "123" },
    });
    expect(config.compaction).toMatchObject({ threshold: 0.5, enabled: false, keepLast: 12 });
    expect(config.health.probe).toBe("off");
    expect([config.search.only, config.web.dns, config.web.ports]).toEqual([["github", "gitlab"], ["1.1.1.1:53"], []]);
  });
  test("everywhere: lists, headers, quirks", () => {
    const [provider] = good(
      "providers: {x: {base_url: 'http://${H}/v1', api_keys: ['${K}'], headers: {X-A: 'a ${K}'}, quirks: {refuses: ['${K}'], decision_body: {a: ['${K}', 1], b: {c: '${K}'}}}}}",
      { env: { H: "host", K: "v" } },
    ).providers;
    expect(provider).toMatchObject({
      baseUrl: "http://host/v1",
      apiKeys: ["v"],
      headers: { "X-A": "a v" },
      quirks: { refuses: ["v"], decision_body: { a: ["v", 1], b: { c: "v" } } },
    });
  });
  test("a file is looked for beside the configuration", () => {
    writeFileSync(join(cwd, "secret"), "the-key\n");
    expect(good("providers: {openai: {api_key: '${file:secret}'}}").providers[0]?.apiKeys).toEqual(["the-key"]);
    expect(good(`providers: {openai: {api_key: '\${file:${join(cwd, "secret")}}'}}`).providers[0]?.apiKeys).toEqual([
      "the-key",
    ]);
  });
  const wrong: [string, string][] = [
    ["server: {port: '${Z}'}", "server.port: the environment variable Z is not set"],
    ["server: {port: '${A}'}", 'server.port: expected a whole number from 0 to 65535, got "one"'],
    ["server: {port: '${SOME_TOKEN}'}", "server.port: expected a whole number from 0 to 65535, got ***"],
    ["server: {port: '${file:pw}'}", "server.port: expected a whole number from 0 to 65535, got ***"],
    ["web: {dns: '${Z}'}", "web.dns: the environment variable Z is not set"],
    [
      "providers: {x: {base_url: 'http://x', quirks: {decision_body: {a: '${Z}'}}}}",
      "providers.x.quirks.decision_body.a: the environment variable Z is not set",
    ],
  ];
  test.each(wrong)("%s", (text, problem) => {
    writeFileSync(join(cwd, "pw"), "hunter2");
    expect(bad(text, { env: { A: "one", SOME_TOKEN: "hunter2" } })).toEqual([problem]);
  });
});
