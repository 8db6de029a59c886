// Reads source files as text for the architecture rules: import lines (type-only ones count), and code without comments.

import { posix } from "node:path";

/** Repository path (`src/base/ids.ts`) → text. */
export type FileMap = ReadonlyMap<string, string>;

/** The files below `folders` in `root` that contain code, styles or pages. */
export async function readFiles(root: string, folders: readonly string[]): Promise<FileMap> {
  const files = new Map<string, string>();
  for (const folder of folders) {
    for await (const path of new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scan({ cwd: root })) {
      files.set(path.replaceAll("\\", "/"), await Bun.file(`${root}/${path}`).text());
    }
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The same function of a file, which remembers what it has found: the rules ask about each file many times, and a copy of the
 * repository differs from it in a few files.
 */
export function remembered<Found>(find: (path: string, text: string) => Found): (path: string, text: string) => Found {
  const known = new Map<string, { path: string; found: Found }>();
  return (path, text) => {
    const last = known.get(text);
    if (last?.path === path) return last.found;
    const found = find(path, text);
    known.set(text, { path, found });
    return found;
  };
}

/** One import: the text in quotes, and if that is relative, the path in the repository. */
export interface Import {
  from: string;
  specifier: string;
  /** Undefined for packages and built-in modules. */
  target: string | undefined;
}

const IMPORT_SHAPES: readonly RegExp[] = [
  /^[ \t]*(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']/gm,
  /^[ \t]*import\s*["']([^"']+)["']/gm,
  /\bimport\s*\(\s*["'`]([^"'`]+)["'`]/g,
  /\brequire(?:\.resolve)?\s*\(\s*["'`]([^"'`]+)["'`]/g,
  // The entry file of a worker counts as an import too.
  /\bnew\s+(?:URL|Worker)\s*\(\s*["'`](\.{1,2}\/[^"'`]+)["'`]/g,
];

/** Every import of a file, in any form that TypeScript allows. */
export const importsOf: (path: string, text: string) => readonly Import[] = remembered((path, text) => {
  const code = codeOf(text);
  const found = IMPORT_SHAPES.flatMap((shape) => [...code.matchAll(shape)].map((match) => match[1] ?? ""));
  return found.map((specifier) => ({
    from: path,
    specifier,
    target: specifier.startsWith(".") ? posix.normalize(posix.join(posix.dirname(path), specifier)) : undefined,
  }));
});

/** The text without comments; line numbers stay the same. In doubt, text is kept, so that no violation is hidden. */
export function codeOf(text: string): string {
  return withoutComments("", text);
}

const withoutComments = remembered((_path, text) => {
  const withoutBlocks = text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (block) => block.replace(/[^\n]/g, ""));
  return withoutBlocks
    .split("\n")
    .map((line) => (/^\s*\/\//.test(line) ? "" : withoutTrailingComment(line)))
    .join("\n");
});

function withoutTrailingComment(line: string): string {
  const at = line.lastIndexOf(" // ");
  if (at < 0) return line;
  // An odd number of quotes before it means that it is inside a string.
  const quotes = line.slice(0, at).match(/["'`]/g)?.length ?? 0;
  return quotes % 2 === 0 ? line.slice(0, at) : line;
}
