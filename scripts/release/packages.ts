// The packages that are inside the program, as the bundler sees them, with their licences.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = join(import.meta.dir, "../..");

/** A package of which something is inside the program. */
export interface Inside {
  readonly name: string;
  readonly version: string;
  /** As its package.json names it, in the form of SPDX. */
  readonly licence: string;
  /** The texts of its licence files, in the order of their names. */
  readonly texts: readonly string[];
}

/** Finds the packages by bundling the program without writing it, and the pages of the dashboard. Sorted by name. */
export async function packagesInside(entrypoints: readonly string[]): Promise<Inside[]> {
  const bundles = [
    { entrypoints: entrypoints.map((path) => join(root, path)), target: "bun" },
    { entrypoints: [join(root, "src/dashboard/ui/main.tsx")], target: "browser" },
  ] as const;
  const folders = new Set<string>();
  for (const { entrypoints: from, target } of bundles) {
    const built = await Bun.build({ entrypoints: [...from], target, format: "esm", splitting: true, metafile: true });
    // The paths are relative to the working directory.
    for (const path of Object.keys(built.metafile?.inputs ?? {})) {
      if (path.includes("node_modules/")) folders.add(packageFolder(resolve(path)));
    }
  }
  if (folders.size === 0) throw new Error("The bundler named no package: look at scripts/release/packages.ts");
  return [...folders]
    .map(inside)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
}

function packageFolder(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    // Some packages have files of this name in their folders, which say only what kind of modules there are.
    if (existsSync(file) && "version" in (JSON.parse(readFileSync(file, "utf8")) as object)) return folder;
    if (folder === dirname(folder)) throw new Error(`${path} belongs to no package`);
  }
}

function inside(folder: string): Inside {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string;
    version: string;
    license?: string | { type: string };
  };
  const licence = typeof about.license === "string" ? about.license : (about.license?.type ?? "NOASSERTION");
  const texts = readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|notice|copying|thirdparty)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim());
  return { name: about.name, version: about.version, licence, texts };
}

/** What `sallyport licenses` prints: equal texts once, under the packages that have them. */
export function licenceTexts(own: string, packages: readonly Inside[]): string {
  const holders = new Map<string, string[]>();
  for (const { name, version, licence, texts } of packages) {
    const text =
      texts.length > 0 ? texts.join("\n\n") : `The package has no licence file; its package.json says: ${licence}`;
    holders.set(text, [...(holders.get(text) ?? []), `${name} ${version} (${licence})`]);
  }
  const rule = "-".repeat(80);
  const parts = [...holders].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  return [
    `Sallyport\n\n${own.trim()}\n`,
    "Bun, the runtime (MIT; it contains JavaScriptCore and other parts, see https://bun.com/docs/project/licensing)\n",
    ...parts,
  ].join(`\n${rule}\n\n`);
}
