// Makes dist/sallyport: the whole program in one file that needs nothing beside it. Usage: bun scripts/build.ts [OUTFILE]

import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = join(import.meta.dir, "..");
const outfile = resolve(process.argv[2] ?? join(root, "dist/sallyport"));
const started = performance.now();

mkdirSync(dirname(outfile), { recursive: true });
// A running copy keeps the old file's inode; writing over it would fail with "text file busy".
rmSync(outfile, { force: true });

const built = await Bun.build({
  // Threads are entries of their own; the program finds them by their path below src/.
  entrypoints: [join(root, "src/main.ts"), join(root, "src/pages/convert-worker.ts")],
  target: "bun",
  // Bytecode needs the esm format: with the other one an entry module that exports something crashes at start.
  format: "esm",
  minify: true,
  bytecode: true,
  define: {
    "process.env.NODE_ENV": JSON.stringify("production"),
    SALLYPORT_COMMIT: JSON.stringify(commit()),
  },
  compile: {
    outfile,
    // The directory the program is started in must not run code or change settings: no `.env`, no preload from a
    // bunfig.toml, no tsconfig.json or package.json is read at run time.
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
  },
});

for (const log of built.logs) console.error(String(log));
if (!built.success) process.exit(1);
const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
console.log(`${outfile}  ${megabytes} MB in ${((performance.now() - started) / 1000).toFixed(1)} s`);

/** The commit the tree stands at, `-dirty` when it has changes; `unknown` where there is no git. */
function commit(): string {
  const ask = (...args: string[]) => {
    try {
      const run = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
      return run.success ? run.stdout.toString().trim() : undefined;
    } catch {
      return undefined; // No git on this machine.
    }
  };
  const head = ask("rev-parse", "--short=12", "HEAD");
  if (head === undefined || head === "") return "unknown";
  return ask("status", "--porcelain", "--untracked-files=no") === "" ? head : `${head}-dirty`;
}
