// `sallyport import litellm`: what it writes, where, and what it refuses.

import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/run.ts";
import { loadConfig } from "../../src/config/load.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

function place(text: string) {
  const cwd = tempDir();
  const source = join(cwd, "config.yaml");
  writeFileSync(source, text);
  const run = async (...argv: string[]) => {
    const io = new FakeTerminal();
    const surroundings = { env: {}, cwd };
    const code = await runCommandLine(["import", "litellm", ...argv], { version: "0", io, surroundings });
    return { code, out: io.stdout, err: io.stderr };
  };
  return { source, run, at: (name: string) => join(cwd, name) };
}

const SMALL = `model_list:
  - model_name: m
    litellm_params: {model: openai/x, api_key: os.environ/MY_KEY, rpm: 5}
`;
const NOTE =
  "model_list[0].litellm_params.rpm: limits are those of plans (`tiers.free.rpm`, `.tpm`, `.parallel`, `.budget`), keys and projects (docs/accounts.md); the load of a model is shared by `weight` and `models[].routing`";

test("the imported configuration is printed, with what it lacks as comments and on stderr", async () => {
  const { source, run } = place(SMALL);
  const { code, out, err } = await run(source);
  expect(code).toBe(0);
  expect(err).toBe(`not carried over: ${NOTE}\n`);
  expect(out).toContain(`# - ${NOTE}\n`);
  expect(Bun.YAML.parse(out)).toMatchObject({ models: [{ id: "m", routes: [{ provider: "openai", model: "x" }] }] });
});

test("the imported configuration is written to a new file that only its owner reads and that the program loads", async () => {
  const { source, run, at } = place(SMALL);
  const file = at("sallyport.yaml");
  const { code, out, err } = await run(source, "--out", file);
  expect([code, out]).toEqual([0, ""]);
  expect(err).toContain(`sallyport doctor --config ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(loadConfig({ file, env: { MY_KEY: "sk-o" } })).toMatchObject({ ok: true });
});

test("as JSON with its notes", async () => {
  const { source, run } = place(SMALL);
  const { out, err } = await run(source, "--json");
  expect(JSON.parse(out)).toEqual({
    config: { providers: expect.anything(), models: expect.anything() },
    notes: [NOTE],
  });
  expect(err).toBe("");
});

test("no file is written over", async () => {
  const { source, run, at } = place(SMALL);
  writeFileSync(at("there.yaml"), "mine");
  const { code, err } = await run(source, "--out", at("there.yaml"));
  expect([code, err]).toEqual([1, expect.stringContaining("already exists")]);
  expect(readFileSync(at("there.yaml"), "utf8")).toBe("mine");
});

test.each([
  ["no such file", "", "nothing.yaml", "cannot read nothing.yaml: ENOENT"],
  ["no YAML", "a: [", undefined, "not YAML"],
  ["no models", "a: 1", undefined, "model_list: expected a list"],
])("%s: one line and exit 1", async (_what, text, file, said) => {
  const { source, run } = place(text);
  const { code, out, err } = await run(file ?? source);
  expect([code, out, err.trim().split("\n").length]).toEqual([1, "", 1]);
  expect(err).toContain(said);
});
