import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../src/base/ids.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { loadConfig } from "../../src/config/load.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

async function init(argv: string[], options: { env?: Record<string, string>; cwd?: string; answers?: string[] } = {}) {
  const { env = {}, cwd = tempDir(), answers } = options;
  const io = new FakeTerminal(answers === undefined ? {} : { answers, interactive: true });
  const code = await runCommandLine(["init", ...argv], { version: "0", io, surroundings: { env, cwd } });
  return { code, cwd, out: io.stdout, err: io.stderr };
}

function loaded(cwd: string, env: Record<string, string>) {
  const result = loadConfig({ cwd, env });
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result;
}

describe("init", () => {
  test("--yes: a file with the keys that are found, an admin account and a key that lives", async () => {
    const env = { GROQ_API_KEY: "gsk-secret", OPENAI_API_KEY: "sk-secret" };
    const { code, cwd, out } = await init(["--yes", "--json"], { env });
    expect(code).toBe(0);
    const printed = JSON.parse(out);
    expect(printed).toMatchObject({ config: join(cwd, "sallyport.yaml"), wrote: true });
    const text = readFileSync(join(cwd, "sallyport.yaml"), "utf8");
    expect(text).toStartWith("# yaml-language-server: $schema=./sallyport.schema.json\n");
    expect(text).not.toContain("sk-secret");
    expect(text).toContain("    api_key: ${OPENAI_API_KEY}\n");
    expect(statSync(join(cwd, "sallyport.yaml")).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(cwd, "sallyport.schema.json"), "utf8"))).toHaveProperty("properties.server");
    const { config } = loaded(cwd, env);
    expect(config.providers.map(({ name, apiKeys }) => [name, ...apiKeys])).toEqual([
      ["openai", "sk-secret"],
      ["groq", "gsk-secret"],
      ["demo"],
    ]);
    const store = openStore({ dataDir: join(cwd, "data"), create: false });
    const key = await keyStore(store).findLiveKey(sha256Hex(printed.account.key));
    store.close();
    expect(key).toMatchObject({ account: { admin: true, tier: "premium" } });
  });

  test("a second time keeps the file and the account", async () => {
    const { cwd } = await init(["--yes"]);
    const before = readFileSync(join(cwd, "sallyport.yaml"), "utf8");
    const { code, out } = await init(["--yes", "--json"], { cwd });
    expect([code, JSON.parse(out)]).toEqual([0, { config: join(cwd, "sallyport.yaml"), wrote: false, account: null }]);
    expect(readFileSync(join(cwd, "sallyport.yaml"), "utf8")).toBe(before);
  });

  test("a second time says which flags it did not use", async () => {
    const { cwd } = await init(["--yes"]);
    const { code, out, err } = await init(["--yes", "--email", "b@x.example", "--username", "b"], { cwd });
    expect([code, out]).toEqual([0, expect.stringContaining("Kept the existing accounts")]);
    expect(err.split("\n").map((line) => line.slice(0, line.indexOf(":", 11)))).toEqual([
      "sallyport: --email b@x.example was not used",
      "sallyport: --username b was not used",
      "",
    ]);
  });

  test("a second time asks for no name that nobody would use", async () => {
    const { cwd } = await init(["--yes"]);
    const { code, err } = await init([], { cwd, answers: [] });
    expect([code, err]).toEqual([0, ""]);
  });

  test("asks, asks again after a mistake, and takes what was said", async () => {
    const env = { OPENAI_API_KEY: "sk-a", GROQ_API_KEY: "gsk-b" };
    const answers = ["0.0.0.0", "x", "9000", "store", "no", "", "me@x.example", "two words", "me"];
    const { code, cwd, out, err } = await init([], { env, answers });
    expect(err).toContain("Expected a number from 0 to 65535.");
    expect(err).toContain("Use groq (GROQ_API_KEY is set), yes or no [yes]: ");
    expect(code).toBe(0);
    expect(out).toContain("e-mail     me@x.example\n  user name  me\n");
    const { config } = loaded(cwd, env);
    expect([config.server.host, config.server.port, config.dataDir]).toEqual(["0.0.0.0", 9000, join(cwd, "store")]);
    expect(config.providers.map(({ name }) => name)).toEqual(["groq", "demo"]);
  });

  const refusals: [string, string[], string[] | undefined, number, string][] = [
    ["no terminal and no --yes", [], undefined, 2, "run it in a terminal, or with --yes"],
    ["input that ends", [], ["127.0.0.1"], 1, "the input ended"],
    ["a person who cannot", [], ["127.0.0.1", "a", "b", "c"], 1, 'no valid answer to "Port"'],
    ["a bad address", ["--yes", "--email", "nonsense"], undefined, 2, "--email: That is not an e-mail address."],
  ];
  test.each(refusals)("%s makes no account", async (_, argv, answers, exit, message) => {
    const { code, cwd, err } = await init(argv, answers === undefined ? {} : { answers });
    expect(code).toBe(exit);
    expect(err.trimEnd().split("\n").at(-1)).toContain(message);
    expect(existsSync(join(cwd, "data"))).toBe(false);
  });

  test("a file that is there and wrong is reported", async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, "sallyport.yaml"), "prot: 1\n");
    const { code, err } = await init(["--yes"], { cwd });
    expect([code, err]).toEqual([1, "sallyport.yaml: prot: unknown key\n"]);
  });
});
