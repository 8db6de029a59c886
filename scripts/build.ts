// Builds dist/sallyport: the whole program in one file without dependencies. Usage: bun scripts/build.ts [OUTFILE]

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { buildPages } from "../src/dashboard/server/bundle.ts";

/**
 * At its start, playwright-core reads two JSON files from its own folder, which an executable does not have. The calls
 * that read them are replaced with the content of the files.
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

/** Whether the pages were inserted. A program without them must not be built. */
let embedded = false;

/**
 * The dashboard's pages, built now. The file that builds them at run time is replaced with one that lists the outputs,
 * which the executable contains in their compressed form.
 */
async function embedPages(folder: string): Promise<BunPlugin> {
  // Built before the program, since the bundler would wait for itself within another build.
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
// A running copy keeps the inode of the old file. Overwriting the file would fail with "text file busy".
rmSync(outfile, { force: true });

const pages = mkdtempSync(join(tmpdir(), "sallyport-pages-"));
const built = await Bun.build({
  // Threads are separate entry points. The program finds them by their path below src/.
  entrypoints: [
    "src/main.ts",
    "src/pages/convert/worker.ts",
    "src/pages/robots/worker.ts",
    "src/search/answers/worker.ts",
    "src/web/extract/worker.ts",
  ].map((path) => join(root, path)),
  target: "bun",
  plugins: [inlinePlaywrightFiles, await embedPages(pages)],
  // Bytecode needs the ESM format. With CommonJS, an entry module that exports something crashes at the start.
  format: "esm",
  // Code that is imported on demand stays in separate files inside the executable. In a single file, all of it had to
  // be read at every start, which took 50 ms.
  splitting: true,
  minify: true,
  bytecode: true,
  define: {
    "process.env.NODE_ENV": JSON.stringify("production"),
    SALLYPORT_COMMIT: JSON.stringify(commit()),
  },
  compile: {
    outfile,
    // The directory in which the program is started must not run code or change settings. No `.env`, bunfig.toml
    // preload, tsconfig.json or package.json is read at run time.
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

/** The commit of the working tree, with `-dirty` if it has changes; `unknown` without git. */
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
