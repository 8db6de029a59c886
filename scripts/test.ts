// Runs the whole test suite; further arguments are passed to `bun test`. `--binary FILE` runs the tests of clients
// against that compiled program. `--seed N|random` makes property tests draw other values than the fixed ones. Prints
// failures and skipped tests, and as the last line `N passed, N failed, N skipped` from the machine-readable report.
// With CI=true a skipped test is a failure. A file with a failure is run once more by itself: what fails again has
// failed, and what passes then is named. An answer that the OpenAPI document does not name is a failure too.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { undocumented } from "./answers.ts";
import { filesToRepeat, judge, type SecondRun } from "./report.ts";

const root = join(import.meta.dir, "..");
const args = process.argv.slice(2);
const binary = takeBinary();
const seed = takeSeed();

/** On a busy machine a test may have to wait, but a test that hangs must end. */
const TEST_TIMEOUT_MS = 90_000;
/**
 * The limit of files that run in parallel. Each worker has its own browsers and gateways, and more of them would need
 * more memory.
 */
const WORKERS_MAX = 4;
/**
 * How long each file takes, so that the longest are not started last. `npm test -- --update-timings` writes them anew; a file that is
 * missing counts as an average one.
 */
const DURATIONS = "scripts/test-durations.json";

/**
 * The folder for files in memory. Databases of tests write to the disk at each commit, which takes longer than the tests themselves.
 */
const MEMORY_FOLDER = "/dev/shm";
/** What must be free of it, and of the memory, since the programs under test need that too. */
const MEMORY_FREE_MIN = 4 * 1024 ** 3;
const temporary = temporaryInMemory();

/** The failed requests that the tested programs answered, for the comparison with the OpenAPI document. */
const answers = join(tmpdir(), `sallyport-test-${process.pid}-${crypto.randomUUID()}.answers`);

// Passing tests print nothing, so without this line the run would seem to hang.
const all = asked().length;
if (all > 1) console.log(`running ${all} test files; only failures are printed on the way, the sum at the end`);
const run = await runTests(args);
// Only the runner knows which tests a flag excludes.
const hasFlags = args.some((arg) => arg.startsWith("-"));
const files = hasFlags ? [] : asked();
const again: SecondRun[] = [];
// On a stalled machine a correct test may fail, so each file with a failure is run once more by itself.
for (const file of hasFlags ? [] : filesToRepeat(run.xml, files)) {
  console.log(`running again, alone: ${file}`);
  again.push({ file, ...(await runTests([file])) });
}
const unknown = existsSync(answers) ? undocumented(readFileSync(answers, "utf8")) : [];
rmSync(answers, { force: true });
if (temporary !== undefined) await removed(temporary);
const strict = process.env["CI"] === "true";
const verdict = judge({ ...run, files, strict, again, undocumented: unknown });
for (const note of verdict.notes) console.log(note);
console.log(`${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`);
process.exit(verdict.failed > 0 ? 1 : 0);

async function runTests(given: readonly string[]): Promise<{ xml: string; exitCode: number }> {
  const report = join(tmpdir(), `sallyport-test-${process.pid}-${crypto.randomUUID()}.xml`);
  const { exitCode } = Bun.spawnSync(
    [
      process.execPath,
      "test",
      "--only-failures",
      `--timeout=${TEST_TIMEOUT_MS}`,
      // One more than there are processors, since tests wait for browsers, databases and other processes.
      `--parallel=${Math.min(WORKERS_MAX, availableParallelism() + 1)}`,
      `--timings=${DURATIONS}`,
      // Creating a new global object for each file would increase the time by half.
      "--no-isolate",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...given,
    ],
    { cwd: root, stdio: ["ignore", "inherit", "inherit"], env: testEnvironment() },
  );
  const written = Bun.file(report);
  const xml = (await written.exists()) ? await written.text() : "";
  rmSync(report, { force: true });
  return { xml, exitCode };
}

/** The files that must run: all, or those that the arguments name. */
function asked(): string[] {
  const all = [...new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync({ cwd: root })];
  const under = (file: string, arg: string) => file === arg || file.startsWith(`${arg.replace(/\/+$/, "")}/`);
  return args.length === 0 ? all : all.filter((file) => args.some((arg) => under(file, arg)));
}

/** Removes `--binary FILE`, which the runner does not know. */
function takeBinary(): string | undefined {
  const at = args.indexOf("--binary");
  if (at < 0) return undefined;
  const [, file = ""] = args.splice(at, 2);
  if (file === "" || !existsSync(file)) {
    console.error(`there is no program ${JSON.stringify(file)}: bun run build makes it`);
    process.exit(2);
  }
  return resolve(file);
}

/** Removes `--seed N` or `--seed random`, and prints the seed, so that a failure can be repeated. */
function takeSeed(): string | undefined {
  const at = args.indexOf("--seed");
  if (at < 0) return undefined;
  const [, given = ""] = args.splice(at, 2);
  const number = given === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (given === "" || !Number.isInteger(number)) {
    console.error(`--seed takes a whole number or "random", not ${JSON.stringify(given)}`);
    process.exit(2);
  }
  console.log(`seed ${number}`);
  return String(number);
}

/** The environment without the settings, keys and proxies of the person who runs the tests. */
function testEnvironment(): Record<string, string | undefined> {
  const own = /^SALLYPORT_|^TEST_BINARY$|^TEST_SEED$|_API_KEY$|^OLLAMA_HOST$|^BUN_CONFIG_|^(?:https?|all)_proxy$/i;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  const tested = binary === undefined ? {} : { TEST_BINARY: binary };
  const drawn = seed === undefined ? {} : { TEST_SEED: seed };
  const place = temporary === undefined ? {} : { TMPDIR: temporary };
  return { ...Object.fromEntries(kept), NODE_ENV: "test", TEST_ANSWERS: answers, ...place, ...tested, ...drawn };
}

/** Servers that end with the tests may still be removing files of theirs. */
async function removed(folder: string): Promise<void> {
  for (let tries = 0; tries < 50 && existsSync(folder); tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // It is tried again.
    }
    if (existsSync(folder)) await Bun.sleep(100);
  }
}

/** A folder in memory for the temporary files of the tests, where there is enough of it and programs may be started from it. */
function temporaryInMemory(): string | undefined {
  try {
    const mounted = readFileSync("/proc/mounts", "utf8").split("\n");
    const [, , kind, options = ""] = mounted.find((line) => line.split(" ")[1] === MEMORY_FOLDER)?.split(" ") ?? [];
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    const isEnough = Math.min(bavail * bsize, freemem()) >= MEMORY_FREE_MIN;
    if (kind !== "tmpfs" || options.split(",").includes("noexec") || !isEnough) return undefined;
    const folder = mkdtempSync(join(MEMORY_FOLDER, "sallyport-"));
    // A database server runs as another user.
    chmodSync(folder, 0o1777);
    return folder;
  } catch {
    // There is none on other systems, and in some containers nobody may write to it.
    return undefined;
  }
}
