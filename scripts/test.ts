// The whole test suite. Further arguments go to `bun test`. The last line is `N passed, N failed, N skipped`, counted
// from the machine-readable report, for readers that do not know bun's own summary.
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const report = join(tmpdir(), `sallyport-test-${process.pid}.xml`);
const run = Bun.spawnSync(
  [process.execPath, "test", "--reporter=junit", `--reporter-outfile=${report}`, ...process.argv.slice(2)],
  { stdio: ["inherit", "inherit", "inherit"], env: { ...process.env, NODE_ENV: "test" } },
);
const file = Bun.file(report);
const xml = (await file.exists()) ? await file.text() : "";
rmSync(report, { force: true });
const suite = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
const tests = count("tests");
const failed = count("failures") + count("errors");
const skipped = count("skipped");
console.log(`${tests - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);
process.exit(run.exitCode !== 0 ? run.exitCode : failed > 0 || tests === 0 ? 1 : 0);
