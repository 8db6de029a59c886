// Commands beside a service run without the variables and secret files of its providers, which are often not those of this
// shell; commands that talk to providers need them.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/run.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

const MISSING = "providers.openai.api_key: the environment variable OPENAI_API_KEY is not set";

async function run(cwd: string, ...argv: string[]) {
  const io = new FakeTerminal();
  const code = await runCommandLine(argv, { version: "1", io, surroundings: { env: {}, cwd } });
  return { code, out: io.stdout, err: io.stderr };
}

function folder(): string {
  const cwd = tempDir();
  const file =
    "providers:\n  openai: { api_key: '${OPENAI_API_KEY}' }\n  other:\n    preset: vllm\n    base_url: '${file:no-such-file}'\n";
  writeFileSync(join(cwd, "sallyport.yaml"), file);
  return cwd;
}

test("commands that use no provider run, and warn once of each value", async () => {
  const cwd = folder();
  const made = await run(cwd, "account", "create", "--email", "a@example.com", "--username", "a", "--json");
  expect(made.code).toBe(0);
  expect(made.err.split("\n").filter((line) => line.includes(MISSING))).toHaveLength(1);
  for (const argv of [
    ["account", "list"],
    ["key", "create", "--account", "a@example.com", "--name", "k"],
    ["key", "list", "--account", "a@example.com"],
    ["logs"],
    ["backup", join(cwd, "copy.tar")],
    ["config"],
    ["decisions", "list"],
    ["openapi"],
  ])
    expect([argv.join(" "), (await run(cwd, ...argv)).code]).toEqual([argv.join(" "), 0]);
});

test("commands that talk to providers, and other sections, are refused as before", async () => {
  const cwd = folder();
  for (const argv of [["serve"], ["up"], ["doctor"], ["mcp"]]) {
    const { out, err } = await run(cwd, ...argv);
    expect([argv.join(" "), (out + err).includes(MISSING)]).toEqual([argv.join(" "), true]);
    expect(err).not.toContain("not needed");
  }
  writeFileSync(join(cwd, "sallyport.yaml"), "server: { public_url: '${PUBLIC_URL}' }\n");
  const { code, err } = await run(cwd, "account", "list");
  expect(code).toBe(1);
  expect(err).toContain("server.public_url: the environment variable PUBLIC_URL is not set");
});
