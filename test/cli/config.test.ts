// `sallyport config`: the effective configuration, with the origin of each value.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/run.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

async function config(...args: string[]) {
  const cwd = tempDir();
  writeFileSync(
    join(cwd, "sallyport.yaml"),
    "server:\n  port: 9911\nlog: { level: ${LEVEL} }\n".replace("${LEVEL}", '"${LEVEL}"'),
  );
  const env = { LEVEL: "warn", OPENAI_API_KEY: "sk-of-the-environment", SALLYPORT_SERVER_HOST: "0.0.0.0" };
  const io = new FakeTerminal();
  const code = await runCommandLine(["config", ...args], { version: "1", io, surroundings: { env, cwd } });
  return { code, out: io.stdout.replaceAll(`${cwd}/`, ""), err: io.stderr };
}

test("each value stands with its source, secrets hidden", async () => {
  const { code, out } = await config("--changed");
  expect(code).toBe(0);
  const lines = out
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ {2,}/g, "  "));
  expect(lines).toContain("server.host  0.0.0.0  (SALLYPORT_SERVER_HOST)");
  expect(lines).toContain("server.port  9911  (sallyport.yaml:2)");
  expect(lines).toContain("log.level  warn  (sallyport.yaml:3, ${LEVEL})");
  expect(lines).toContain("providers.openai.api_key  [hidden]  (OPENAI_API_KEY)");
  expect(out).not.toContain("(default)");
  expect(out).not.toContain("sk-of");
});

test("a part of a key narrows it down; nothing found is said", async () => {
  const { out } = await config("server.metrics");
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" ")[0]),
  ).toEqual(["server.metrics.enabled", "server.metrics.token"]);
  expect(await config("check")).toEqual({
    code: 0,
    out: "",
    err: 'The configuration is valid and has no key that contains "check". Without KEY every key is printed.\n',
  });
});

test("the configuration is printed as JSON", async () => {
  const { out } = await config("server.port", "--json");
  expect(JSON.parse(out)).toMatchObject({
    file: "sallyport.yaml",
    values: [{ key: "server.port", value: "9911", source: { kind: "file", line: 2, through: [] } }],
  });
});
