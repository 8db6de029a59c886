// The program as one bundle of the sources, for tests that start it: reading a thousand files at each start takes several times
// as long as the start itself. It is built once for each state of the sources, by whichever test needs it first.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { BunPlugin } from "bun";

const ROOT = join(import.meta.dir, "../..");
/** Below the packages, so that the bundle finds those that it does not contain. */
const BUILT = join(ROOT, "node_modules/.cache/sallyport-program");
/** A test that started before the sources changed may still run its program for this long. */
const KEPT_MS = 3_600_000;
/** What a bundle depends on beside the sources. */
const ALSO = ["package.json", "bun.lock", "tsconfig.json"];

let command: readonly string[] | undefined;

/** The command that starts the program: the compiled one if TEST_BINARY names it, otherwise the sources in a bundle. */
export function programCommand(): readonly string[] {
  const binary = process.env["TEST_BINARY"];
  command ??= binary === undefined ? [process.execPath, bundled()] : [binary];
  return command;
}

function bundled(): string {
  const folder = join(BUILT, stateOfSources());
  const main = join(folder, "src/main.js");
  if (existsSync(main)) return main;
  mkdirSync(BUILT, { recursive: true });
  forgetOld();
  // Tests of other processes may build it as well: only a whole bundle has the name, and the first one stays.
  const own = mkdtempSync(join(BUILT, "unfinished-"));
  const built = Bun.spawnSync([process.execPath, import.meta.path, own, folder], { cwd: ROOT, stderr: "pipe" });
  if (!built.success) throw new Error(`the program was not built: ${built.stderr.toString()}`);
  try {
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(main)) throw error;
  }
  return main;
}

/** A name for all that the bundle is made from; it contains the manual too. */
function stateOfSources(): string {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version).update(readFileSync(import.meta.path));
  const sources = [...new Bun.Glob("{src,docs,patches}/**/*").scanSync({ cwd: ROOT })].sort();
  for (const path of [...ALSO, ...sources]) {
    const file = join(ROOT, path);
    if (existsSync(file)) hash.update(`${path}\0`).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 32);
}

function forgetOld(): void {
  for (const name of readdirSync(BUILT)) {
    const folder = join(BUILT, name);
    // Another process may have removed it meanwhile.
    const changed = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** How the sources name a module that runs as a thread or as a process of its own. */
const OWN_MODULE = /new URL\("\.\/([\w-]+)\.ts", import\.meta\.url\)/g;

/** All modules that are started, of the program itself. */
async function startedModules(): Promise<string[]> {
  const found = [join(ROOT, "src/main.ts")];
  for (const path of new Bun.Glob("src/**/*.ts").scanSync({ cwd: ROOT, absolute: true }))
    for (const [, name] of (await Bun.file(path).text()).matchAll(OWN_MODULE))
      found.push(join(dirname(path), `${name}.ts`));
  return [...new Set(found)];
}

/** Threads and processes are found in the bundle, which `folder` will be; the dashboard and files of data in the sources. */
const placesIn = (folder: string): BunPlugin => ({
  name: "places",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.tsx?$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const beside = dirname(path);
      const contents = text
        .replaceAll(OWN_MODULE, (_, name: string) => {
          const module = join(folder, relative(ROOT, beside), `${name}.js`);
          return `new URL(${JSON.stringify(pathToFileURL(module).href)})`;
        })
        .replaceAll(/^import (\w+) from "([^"]+)" with \{ type: "file" \};$/gm, (_, name: string, file: string) => {
          return `const ${name} = ${JSON.stringify(join(beside, file))};`;
        })
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dir", JSON.stringify(beside));
      // Without an answer Bun reads the file itself.
      return contents === text ? undefined : { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
    });
  },
});

if (import.meta.main) {
  const [outdir = "", folder = ""] = process.argv.slice(2);
  const built = await Bun.build({
    entrypoints: await startedModules(),
    outdir,
    root: ROOT,
    target: "bun",
    splitting: true,
    // It reads files of its own folder.
    external: ["playwright-core"],
    plugins: [placesIn(folder)],
  });
  for (const log of built.logs) console.error(String(log));
}
