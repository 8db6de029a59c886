// The warning about a key with an old name reaches whoever can mend it: in `doctor`, in `config` and in the log of a server.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../src/base/version.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { openLog } from "../../src/cli/serve.ts";
import { LiveConfig } from "../../src/config/live.ts";
import { loadConfig } from "../../src/config/load.ts";
import { FakeTerminal } from "../support/terminal.ts";

const cwd = mkdtempSync(join(tmpdir(), "sallyport-renamed-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
writeFileSync(
  join(cwd, "sallyport.yaml"),
  "server: {body_limit: 3MiB}\nlog: {file: gateway.log}\nweb: {render: never}\n",
);
const renamed = [{ from: "server.body_limit", to: "server.max_body", since: VERSION }];
const surroundings = { env: {}, cwd, renamed };
const WARNING = `sallyport.yaml: server.body_limit was renamed to server.max_body in version ${VERSION};`;

async function run(...argv: string[]) {
  const io = new FakeTerminal();
  await runCommandLine(argv, { version: "0", io, surroundings });
  return io;
}

test("doctor counts it as a thing to do", async () => {
  const { checks } = JSON.parse((await run("doctor", "--json")).stdout) as { checks: Record<string, string>[] };
  const found = checks.filter(({ message }) => message?.startsWith(WARNING));
  expect(found).toMatchObject([{ name: "config", status: "warning" }]);
});

test("config says it beside the values, which have the new name", async () => {
  const { stdout, stderr } = await run("config", "--changed");
  expect(stderr).toStartWith(`sallyport: ${WARNING}`);
  expect(stdout).toMatch(/^server\.max_body +3MiB /m);
  expect(stdout).not.toContain("body_limit");
});

test("other commands say it once", async () => {
  const { stderr } = await run("account", "list");
  expect(stderr.split(WARNING)).toHaveLength(2);
});

test("a server writes it to its log, and again what a reload brings", async () => {
  const load = () => loadConfig(surroundings);
  const first = load();
  if (!first.ok) throw new Error(first.problems.join("\n"));
  const live = new LiveConfig(first, load);
  const { log } = openLog(live);
  // Lines are gathered for a moment before they are written.
  await log.flush();
  expect(readFileSync(join(cwd, "gateway.log"), "utf8")).toContain(`configuration: ${WARNING}`);
  expect(live.reload()).toMatchObject({ ok: true });
  expect(live.warnings()).toEqual([expect.stringContaining(WARNING)]);
});
