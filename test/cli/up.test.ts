// `sallyport up` and `serve` as processes: what a failed start leaves behind, and its output.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programCommand } from "../support/source-program.ts";

// Each test starts the program several times, which takes seconds on a busy machine.
setDefaultTimeout(90_000);

const home = mkdtempSync(join(tmpdir(), "sallyport-up-"));
const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, reusePort: false, fetch: () => new Response("mine") });
afterAll(async () => {
  await taken.stop(true);
  rmSync(home, { recursive: true, force: true });
});

async function sallyport(...argv: string[]) {
  return sallyportWith({}, ...argv);
}

async function sallyportWith(env: Record<string, string>, ...argv: string[]) {
  const child = Bun.spawn([...programCommand(), ...argv], {
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

test("up on a taken port makes no account; the next up shows its password", async () => {
  const data = join(home, "up");
  const refused = await sallyport("up", "--port", String(taken.port), "--data-dir", data);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(`127.0.0.1:${taken.port} is in use`);
  expect(await sallyport("account", "list", "--json", "--data-dir", data)).toMatchObject({ out: "[]\n", code: 0 });
  const made = await sallyport("up", "--once", "--port", "0", "--data-dir", data);
  expect(made.err).toMatch(/Password {13}\w{24}\n/);
  expect(made.err).toMatch(/Dashboard {12}http:\/\/127\.0\.0\.1:\d+\/dashboard\n/);
  expect(made.code).toBe(0);
});

test("up names the providers that it has found", async () => {
  const up = (env: Record<string, string>, name: string) =>
    sallyportWith(env, "up", "--once", "--port", "0", "--data-dir", join(home, name));
  const env = { OPENAI_API_KEY: "sk-x", SALLYPORT_PROVIDERS_OPENAI_DISCOVER: "false", SALLYPORT_HEALTH_PROBE: "off" };
  expect((await up(env, "one")).err).toMatch(/\n {2}Providers {12}openai\n/);
  expect((await up({}, "none")).err).toContain("Providers            none yet: only the demo model answers\n");
});

const FILE = join(home, "file");
writeFileSync(FILE, "");
const FAILURES: [name: string, argv: string[], says: string][] = [
  ["an address that no interface has", ["--host", "192.0.2.1", "--port", "0"], 'no address "192.0.2.1" (--host'],
  ["a name without an address", ["--host", "no-such-host.invalid", "--port", "0"], 'no address "no-such-host.invalid"'],
  ["a file as data directory", ["--port", "0", "--data-dir", FILE], `cannot use ${FILE} as the data directory`],
  [
    "a data directory that cannot be",
    ["--port", "0", "--data-dir", "/proc/x"],
    "cannot create the data directory /proc/x",
  ],
  ["a file above the data directory", ["--port", "0", "--data-dir", join(FILE, "x")], "it is not a directory"],
];
test.each(FAILURES)("serve refuses %s in one line", async (_name, argv, says) => {
  const { out, err, code } = await sallyport("serve", ...argv);
  expect({ out, code, lines: err.trimEnd().split("\n").length }).toEqual({ out: "", code: 1, lines: 1 });
  expect(err).toContain(says);
});
