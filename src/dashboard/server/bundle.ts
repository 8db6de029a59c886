// Builds the pages' script and style from ui/ when the program runs from its sources, and again when they change. In
// the executable this file is replaced with the output of scripts/build.ts, so nothing is built at run time.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { BASE } from "../contract.ts";

/** A file that pages load; its name contains a hash of its content. */
export interface AssetFile {
  readonly type: string;
  /** Compressed with gzip. */
  bytes(): Promise<Uint8Array>;
}

/** All files of the pages. */
export interface Bundle {
  /** Names of the two files that the HTML refers to; they load the others. */
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  readonly files: ReadonlyMap<string, AssetFile>;
}

const UI = join(import.meta.dir, "../ui");
const TYPES: readonly (readonly [string, string])[] = [
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
];

let built: { readonly mark: string; readonly bundle: Promise<Bundle> } | undefined;

/** The current files of the pages. */
export async function bundle(): Promise<Bundle> {
  const mark = await markOf();
  if (built?.mark !== mark) built = { mark, bundle: buildPages() };
  return built.bundle;
}

/** A value that changes whenever a source file changes. */
async function markOf(): Promise<string> {
  const paths = await Array.fromAsync(new Bun.Glob("**/*.{ts,tsx,css,svg}").scan({ cwd: UI, absolute: true }));
  const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  return `${paths.length}:${Math.max(...times)}`;
}

/** Bundles, hashes and compresses the pages. The build of the executable calls it too. */
export async function buildPages(): Promise<Bundle> {
  const result = await Bun.build({
    entrypoints: [join(UI, "main.tsx")],
    target: "browser",
    format: "esm",
    // Pages that few people open are loaded when they are opened.
    splitting: true,
    minify: true,
    publicPath: `${BASE}/assets/`,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    jsx: { runtime: "automatic", importSource: "preact", development: false },
  });
  if (!result.success) throw new Error(`The dashboard could not be built: ${result.logs.join("\n")}`);
  const files = new Map<string, AssetFile>();
  const add = (name: string, content: Uint8Array<ArrayBuffer>) => {
    const type = TYPES.find(([ending]) => name.endsWith(ending))?.[1] ?? "application/octet-stream";
    const packed = Bun.gzipSync(content, { level: 9 });
    files.set(name, { type, bytes: async () => packed });
  };
  const names = { script: "", style: "", icon: "" };
  for (const output of result.outputs) {
    const name = output.path.replace(/^.*[\\/]/, "");
    add(name, new Uint8Array(await output.arrayBuffer()));
    if (output.kind === "entry-point") names.script = name;
    if (name.startsWith("main-") && name.endsWith(".css")) names.style = name;
  }
  const icon = await Bun.file(join(import.meta.dir, "../../http/icon.svg")).bytes();
  names.icon = `icon-${Bun.hash(icon).toString(36)}.svg`;
  add(names.icon, icon);
  return { ...names, files };
}
