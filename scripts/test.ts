// The whole test suite; further arguments go to `bun test`. Prints failures, what was skipped, and as the last line
// `N passed, N failed, N skipped` from the machine-readable report. With CI=true a skipped browser test is a failure.

import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge } from "./report.ts";

const root = join(import.meta.dir, "..");
const args = process.argv.slice(2);
const report = join(tmpdir(), `sallyport-test-${process.pid}.xml`);

/** On a busy machine a test may wait for its turn; a hang is still noticed. */
const TEST_TIMEOUT_MS = 30_000;

const run = Bun.spawnSync(
  [
    process.execPath,
    "test",
    "--only-failures",
    `--timeout=${TEST_TIMEOUT_MS}`,
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...args,
  ],
  { cwd: root, stdio: ["ignore", "inherit", "inherit"], env: testEnvironment() },
);

const file = Bun.file(report);
const xml = (await file.exists()) ? await file.text() : "";
rmSync(report, { force: true });
const files = args.length > 0 ? [] : [...new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync({ cwd: root })];
const verdict = judge({ xml, exitCode: run.exitCode, files, strict: process.env["CI"] === "true" });
for (const note of verdict.notes) console.log(note);
console.log(`${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`);
process.exit(verdict.failed > 0 ? 1 : 0);

/** Without what would make a result depend on the person who runs it: settings, keys and proxies of their own. */
function testEnvironment(): Record<string, string | undefined> {
  const own = /^SALLYPORT_|_API_KEY$|^OLLAMA_HOST$|^BUN_CONFIG_|^(?:https?|all)_proxy$/i;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(kept), NODE_ENV: "test" };
}
