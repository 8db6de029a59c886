// The files for supervisors, judged by systemd's own verifier, and what the program tells systemd.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchdPlist, systemUnit, userUnit } from "../../src/cli/service-files.ts";
import { problemOfUnit } from "../../src/cli/service-install.ts";

setDefaultTimeout(90_000);

const MAIN = join(import.meta.dir, "../../src/main.ts");
const home = mkdtempSync(join(tmpdir(), "sallyport-service-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const plan = { program: ["/bin/true"], config: "/etc/sally port/100%.yaml", dataDir: "/var/lib/sallyport" };
const hasAnalyzer = Bun.which("systemd-analyze") !== null;

function analyze(text: string, ...words: string[]) {
  const file = join(home, "sallyport.service");
  writeFileSync(file, text);
  const { exitCode, stdout, stderr } = Bun.spawnSync(["systemd-analyze", ...words, file]);
  return { exitCode, said: stdout.toString() + stderr.toString() };
}

test.skipIf(!hasAnalyzer).each([
  ["system", systemUnit(plan)],
  ["user", userUnit(plan)],
] as const)("systemd finds nothing wrong with the %s unit", (_, text) => {
  expect(text).toContain('serve --config "/etc/sally port/100%%.yaml" --data-dir /var/lib/sallyport\n');
  const { exitCode, said } = analyze(text, "verify");
  expect([exitCode, said.split("\n").filter((line) => line.includes("sallyport.service"))]).toEqual([0, []]);
});

test.skipIf(!hasAnalyzer)("the system unit's exposure is at most 2.0", () => {
  const { exitCode, said } = analyze(systemUnit(plan), "security", "--offline=true", "--threshold=20", "--no-pager");
  expect([exitCode, /Overall exposure level.*: ([\d.]+)/.exec(said)?.[1]]).toEqual([0, expect.any(String)]);
});

test("a path cannot add a line to a unit", () => {
  const text = systemUnit({ ...plan, config: '/etc/a\nExecStartPre=/bin/evil "b".yaml' });
  expect(text).toContain('--config "/etc/a\\x0aExecStartPre=/bin/evil \\"b\\".yaml" --data-dir');
  expect(text.split("\n").filter((line) => line.startsWith("Exec")).length).toBe(2);
});

test("the upgrade of a large database is not taken for a start that hangs", () => {
  for (const text of [systemUnit(plan), userUnit(plan)]) expect(text).toContain("\nTimeoutStartSec=1h\n");
});

test("a unit that could not start is refused", () => {
  const plan = {
    program: ["/usr/local/bin/sallyport"],
    config: "/etc/sallyport/a.yaml",
    dataDir: "/var/lib/sallyport",
  };
  expect(problemOfUnit(plan)).toBeUndefined();
  expect(problemOfUnit({ ...plan, dataDir: "/var/lib/sallyport/one" })).toBeUndefined();
  expect(problemOfUnit({ ...plan, program: ["/home/ann/.local/bin/sallyport"] })).toContain("/home/ann/.local/bin");
  expect(problemOfUnit({ ...plan, config: "/root/a.yaml" })).toContain("/root/a.yaml");
  expect(problemOfUnit({ ...plan, dataDir: "/srv/data" })).toContain("/var/lib/sallyport");
});

test("a word of the agent is escaped", () => {
  expect(launchdPlist({ ...plan, config: "/a&b" })).toContain("    <string>/a&amp;b</string>\n");
});

const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True: print(s.recv(4096).decode(), flush=True)`;

test.skipIf(Bun.which("python3") === null)("systemd hears of readiness, life, a reload and the stop", async () => {
  const address = join(home, "notify");
  const receiver = Bun.spawn(["python3", "-c", RECEIVER, address], { stdout: "pipe", stderr: "inherit" });
  const reader = receiver.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (wanted: RegExp) => {
    while (!wanted.test(text)) {
      const { done, value = "" } = await reader.read();
      if (done) throw new Error(text);
      text += value;
    }
  };
  await until(/bound/);
  const child = Bun.spawn([process.execPath, MAIN, "serve", "--port", "0", "--data-dir", join(home, "data")], {
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, NOTIFY_SOCKET: address, WATCHDOG_USEC: "100000" },
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    await until(/READY=1/);
    await until(/WATCHDOG=1/);
    child.kill("SIGHUP");
    await until(/RELOADING=1[\s\S]*READY=1/);
    child.kill("SIGTERM");
    await until(/STOPPING=1/);
    expect(await child.exited).toBe(0);
  } finally {
    child.kill("SIGKILL");
    receiver.kill();
  }
});

test("a user's unit is written once, and replaced only when that is asked for", async () => {
  const run = (...words: string[]) => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: home };
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      [process.execPath, MAIN, "service", "install", "--user", ...words],
      { env, cwd: home },
    );
    return { exitCode, said: stdout.toString() + stderr.toString() };
  };
  const file = join(home, ".config/systemd/user/sallyport.service");
  expect(run()).toMatchObject({ exitCode: 0, said: expect.stringContaining(`Wrote ${file}.`) });
  expect(readFileSync(file, "utf8")).toContain("WantedBy=default.target");
  expect(run()).toMatchObject({ exitCode: 1, said: expect.stringContaining("exists") });
  expect(run("--force", "--config", "my.yaml", "--data-dir", "./data").exitCode).toBe(0);
  const text = readFileSync(file, "utf8");
  expect(text).toContain(` serve --config ${join(home, "my.yaml")} --data-dir ${join(home, "data")}\n`);
});
