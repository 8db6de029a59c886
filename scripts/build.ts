// Builds dist/sallyport: the whole program in one file without dependencies. Usage: bun scripts/build.ts [OUTFILE]
//
// Two builds of one commit give the same bytes, in whatever folder and at whatever time, if the outputs have the same name
// (`scripts/reproduce.ts` tries it): embedded files come from one fixed place, and no path of this machine gets into the program.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { buildPages } from "../src/dashboard/server/bundle.ts";
import { type Inside, licenceTexts, packagesInside } from "./release/packages.ts";

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

/**
 * The dashboard's pages, built now. The file that builds them at run time is replaced with one that lists the outputs,
 * which the executable contains in their compressed form.
 */
async function embedPages(embedded: () => void): Promise<BunPlugin> {
  // Built before the program, since the bundler would wait for itself within another build.
  const { script, style, icon, files } = await buildPages();
  const imports: string[] = [];
  const entries: string[] = [];
  for (const [name, { type, bytes }] of files) {
    const path = await embeddedFile(`${name}.gz`, await bytes());
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
        embedded();
        return { contents, loader: "js" };
      });
    },
  };
}

/** The licences of all packages inside, compressed. */
async function embedLicences(packages: readonly Inside[]): Promise<BunPlugin> {
  const texts = licenceTexts(await Bun.file(join(root, "LICENSE")).text(), packages);
  const path = await embeddedText("licences", Buffer.from(texts));
  const contents = `import file from ${JSON.stringify(path)} with { type: "file" };
    export const licenceTexts = async () => new TextDecoder().decode(Bun.gunzipSync(await Bun.file(file).bytes()));`;
  return {
    name: "embed-licences",
    setup(build) {
      build.onLoad({ filter: /src[\\/]cli[\\/]licence-texts\.ts$/ }, () => ({ contents, loader: "js" }));
    },
  };
}

/**
 * The browser's driver is nearly half of all code, and most programs never start a browser. It is embedded as compressed text and
 * read when a browser is started; as bytecode it would take fifteen megabytes.
 */
async function embedDriver(): Promise<BunPlugin> {
  const built = await Bun.build({
    entrypoints: ["./node_modules/playwright-core/index.js"],
    target: "bun",
    format: "cjs",
    minify: true,
    define: PLACES,
    plugins: [inlinePlaywrightFiles],
  });
  const [output, ...others] = built.outputs;
  if (output === undefined || others.length > 0)
    throw new Error("playwright-core is no longer one file: look at embedDriver");
  const path = await embeddedText("driver", new Uint8Array(await output.arrayBuffer()));
  const contents = `import file from ${JSON.stringify(path)} with { type: "file" };
    import { createRequire } from "node:module";
    const source = new TextDecoder().decode(Bun.gunzipSync(await Bun.file(file).bytes()));
    const made = { exports: {} };
    const folder = import.meta.dir;
    (0, eval)(source.slice(source.indexOf("(function")))(made.exports, createRequire(import.meta.url), made, import.meta.path, folder);
    export const { chromium } = made.exports;`;
  return {
    name: "embed-driver",
    setup(build) {
      build.onLoad({ filter: /playwright-core[\\/]index\.m?js$/ }, () => ({ contents, loader: "js" }));
    },
  };
}

const root = join(import.meta.dir, "..");

/**
 * Where files lie that are embedded. The names of chunks are made of their content and of the paths of what they import, relative to
 * the working directory.
 */
const EMBEDDED = join(root, ".cache/embedded");

/** What packages ask for the place of their files: the machine that built the program has nothing to do with it. */
const PLACES = { __dirname: JSON.stringify("/sallyport"), __filename: JSON.stringify("/sallyport/module.js") };

/** Writes a file that is embedded and returns its path. Another build may read it at the same time. */
async function embeddedFile(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(EMBEDDED, name);
  const part = `${path}.${process.pid}`;
  await Bun.write(part, bytes);
  renameSync(part, path);
  return path;
}

/** The same for a text, compressed. */
async function embeddedText(name: string, text: Uint8Array<ArrayBuffer>): Promise<string> {
  refuseOwnPlace(name, text);
  return embeddedFile(`${name}.gz`, Bun.gzipSync(text, { level: 9 }));
}

/** The folders whose files get into the program. */
const SOURCES = ["node_modules", "src", "docs", ".cache"] as const;

/**
 * Throws if the bytes hold the path of a file of this repository, which would be another one on another machine. The folder alone says
 * nothing: `/app/` and `/src/` stand in every program, as the runtime has words with them.
 */
export function refuseOwnPlace(name: string, bytes: Uint8Array, folder = resolve(root)): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = Math.max(...SOURCES.map((source) => text.indexOf(`${folder}/${source}/`)));
  if (at < 0) return;
  const around = text.toString("latin1", Math.max(0, at - 100), at + 100);
  throw new Error(
    `${name} holds a path of this machine, look at PLACES in scripts/build.ts: ${JSON.stringify(around)}`,
  );
}

/** The program and its threads, which it finds by their paths below src/. */
const ENTRIES = [
  "src/main.ts",
  "src/pages/convert/worker.ts",
  "src/pages/robots/worker.ts",
  "src/search/answers/worker.ts",
  "src/web/extract/worker.ts",
];

/** What is built, and for which machine. */
export interface BuildOptions {
  readonly outfile: string;
  /** A target of the bundler such as `bun-linux-arm64-musl`, and the file of its runtime. Absent: this machine's own. */
  readonly target?: Bun.Build.CompileTarget;
  readonly runtime?: string;
  /** What `packagesOfProgram` returned, where several programs are built. */
  readonly packages?: readonly Inside[];
}

/** The packages of which something is inside the program. */
export function packagesOfProgram(): Promise<readonly Inside[]> {
  return packagesInside(ENTRIES);
}

/** Builds the program into one executable. Throws if that fails. */
export async function buildProgram({ outfile, target, runtime, packages }: BuildOptions): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  // A running copy keeps the inode of the old file. Overwriting the file would fail with "text file busy".
  rmSync(outfile, { force: true });
  mkdirSync(EMBEDDED, { recursive: true });
  process.chdir(root);
  // A program without its pages must not be built.
  let embedded = false;
  const built = await Bun.build({
    // Relative: the names of chunks hold the paths of the entries.
    entrypoints: ENTRIES.map((path) => `./${path}`),
    target: "bun",
    plugins: [
      await embedDriver(),
      await embedLicences(packages ?? (await packagesOfProgram())),
      await embedPages(() => {
        embedded = true;
      }),
    ],
    // Bytecode needs the ESM format. With CommonJS, an entry module that exports something crashes at the start.
    format: "esm",
    // Code that is imported on demand stays in separate files inside the executable. In a single file, all of it had to
    // be read at every start, which took 50 ms.
    splitting: true,
    minify: true,
    bytecode: true,
    define: {
      ...PLACES,
      "process.env.NODE_ENV": JSON.stringify("production"),
      SALLYPORT_COMMIT: JSON.stringify(commit()),
    },
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      ...(runtime === undefined ? {} : { executablePath: runtime }),
      // The directory in which the program is started must not run code or change settings. No `.env`, bunfig.toml
      // preload, tsconfig.json or package.json is read at run time.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (!built.success) throw new Error(built.logs.map(String).join("\n"));
  for (const log of built.logs) console.error(String(log));
  refuseOwnPlace(basename(outfile), readFileSync(outfile));
  if (!embedded)
    throw new Error("The file that bundles the dashboard is elsewhere now: look at embedPages in scripts/build.ts");
}

/** The commit of the working tree, with `-dirty` if it has changes; `unknown` without git. */
export function commit(): string {
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

if (import.meta.main) {
  const outfile = resolve(process.argv[2] ?? join(root, "dist/sallyport"));
  const started = performance.now();
  await buildProgram({ outfile });
  const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
  console.log(`${outfile}  ${megabytes} MB in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
