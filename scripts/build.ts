// Makes dist/sallyport: the whole program in one file that needs nothing beside it. Usage: bun scripts/build.ts [OUTFILE]

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { buildPages } from "../src/dashboard/server/bundle.ts";

/**
 * playwright-core reads two JSON files from its own folder when it starts; in one executable there is no such folder.
 * They are put in place of the calls that read them.
 */
const inlinePlaywrightFiles: BunPlugin = {
  name: "inline-playwright-files",
  setup(build) {
    build.onLoad({ filter: /playwright-core[\\/]lib[\\/]coreBundle\.js$/ }, async ({ path }) => {
      const folder = join(dirname(path), "..");
      let replaced = 0;
      const contents = (await Bun.file(path).text()).replace(
        /require\((?:import_\w+\.default|import_\w+|path\w*)\.join\(packageRoot,\s*"(package|browsers)\.json"\)\)/g,
        (_, name: string) => {
          replaced++;
          return JSON.stringify(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
        },
      );
      if (replaced < 2) throw new Error("playwright-core reads its files in another way now: look at scripts/build.ts");
      return { contents, loader: "js" };
    });
  },
};

/** Whether the pages took their place: a program without them is not to be made. */
let embedded = false;

/**
 * The dashboard's pages, built now: the file that would build them at run time is replaced by one that names the outputs,
 * which the executable carries compressed as they are served.
 */
async function embedPages(folder: string): Promise<BunPlugin> {
  // Before the other build, not within it: the bundler waits for itself there.
  const { script, style, icon, files } = await buildPages();
  const imports: string[] = [];
  const entries: string[] = [];
  for (const [name, { type, bytes }] of files) {
    const path = join(folder, `${name}.gz`);
    await Bun.write(path, await bytes());
    const at = entries.length;
    imports.push(`import file${at} from ${JSON.stringify(path)} with { type: "file" };`);
    entries.push(`[${JSON.stringify(name)}, { type: ${JSON.stringify(type)}, bytes: kept(file${at}) }]`);
  }
  const contents = `${imports.join("\n")}
    function kept(path) {
      let read;
      return () => (read ??= Bun.file(path).bytes());
    }
    const pages = { ...${JSON.stringify({ script, style, icon })}, files: new Map([${entries.join(", ")}]) };
    export const bundle = async () => pages;`;
  return {
    name: "embed-pages",
    setup(build) {
      build.onLoad({ filter: /src[\\/]dashboard[\\/]server[\\/]bundle\.ts$/ }, () => {
        embedded = true;
        return { contents, loader: "js" };
      });
    },
  };
}

const root = join(import.meta.dir, "..");
const outfile = resolve(process.argv[2] ?? join(root, "dist/sallyport"));
const started = performance.now();

mkdirSync(dirname(outfile), { recursive: true });
// A running copy keeps the old file's inode; writing over it would fail with "text file busy".
rmSync(outfile, { force: true });

const pages = mkdtempSync(join(tmpdir(), "sallyport-pages-"));
const built = await Bun.build({
  // Threads are entries of their own; the program finds them by their path below src/.
  entrypoints: [
    "src/main.ts",
    "src/pages/convert/worker.ts",
    "src/pages/robots/worker.ts",
    "src/search/answers/worker.ts",
    "src/web/extract/worker.ts",
  ].map((path) => join(root, path)),
  target: "bun",
  plugins: [inlinePlaywrightFiles, await embedPages(pages)],
  // Bytecode needs the esm format: with the other one an entry module that exports something crashes at start.
  format: "esm",
  // Code that is imported when it is needed stays in files of its own inside the executable: in one file it all had to be
  // read at every start, which cost 50 ms.
  splitting: true,
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

rmSync(pages, { recursive: true, force: true });

for (const log of built.logs) console.error(String(log));
if (!built.success) process.exit(1);
if (!embedded)
  throw new Error("The file that bundles the dashboard is elsewhere now: look at embedPages in scripts/build.ts");
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
