// Builds the program here and in a copy of the repository in another folder, and compares the bytes.
// Usage: bun scripts/reproduce.ts [--built FILE]; with it, FILE is what was built here.
//
// The copy has the same commit and the same changes. The last line is `N passed, N failed`.

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "..");
/** On the same disk, so that packages are linked and not copied; deeper than the repository, so that no path has the same length. */
const work = join(root, ".cache/reproduce");
const copy = join(work, "in/another/folder");

function run(cwd: string, ...command: string[]): string {
  const done = Bun.spawnSync(command, { cwd, stderr: "inherit" });
  if (!done.success) throw new Error(`${command.join(" ")} failed in ${cwd}`);
  return done.stdout.toString();
}

const [flag, given] = process.argv.slice(2);
if (flag !== undefined && (flag !== "--built" || given === undefined || !existsSync(given))) {
  console.error("usage: bun scripts/reproduce.ts [--built FILE]");
  process.exit(2);
}

/** Builds the program in a folder, and returns the path. */
function built(folder: string, outfile: string): string {
  run(folder, process.execPath, "scripts/build.ts", outfile);
  return outfile;
}

async function sumOf(file: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
}

rmSync(work, { recursive: true, force: true });
try {
  for (const name of run(root, "git", "ls-files", "-z").split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    cpSync(join(root, name), join(copy, name));
  }
  for (const folder of [".git", "node_modules"]) run(root, "cp", "-al", join(root, folder), join(copy, folder));
  const here = given ?? built(root, join(work, "one/sallyport"));
  const sums = [await sumOf(here), await sumOf(built(copy, join(work, "two/sallyport")))];
  const isSame = sums[0] === sums[1];
  console.log(isSame ? `two builds in two folders: ${sums[0]}` : `two builds differ: ${sums.join(", ")}`);
  console.log(isSame ? "1 passed, 0 failed" : "0 passed, 1 failed");
  process.exitCode = isSame ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
