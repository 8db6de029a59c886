// Which code a start evaluates: what the entry imports statically, directly or through other files. What a function imports
// or requires when it runs is not part of it.

import { posix } from "node:path";
import { codeOf, type FileMap } from "./source.ts";

/** What a start evaluates. */
export interface StartCode {
  /** Our own files, each with the length of its code. */
  readonly files: ReadonlyMap<string, number>;
  /** Packages and modules of the platform, each with a file that imports it. */
  readonly outside: ReadonlyMap<string, string>;
}

/** An import or a re-export at the top of a file; one of types alone is nothing at run time. */
const STATIC_IMPORT = /^(?:import|export)\b(?!\s+type\b)(?:[^"'`;]*?\bfrom)?\s*["']([^"']+)["']/gm;

/** Follows the imports of `entries` through `files`. */
export function startCode(files: FileMap, entries: readonly string[]): StartCode {
  const seen = new Map<string, number>();
  const outside = new Map<string, string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    const code = codeOf(files.get(path) ?? "");
    seen.set(path, code.length);
    for (const [, specifier = ""] of code.matchAll(STATIC_IMPORT)) {
      if (!specifier.startsWith(".")) outside.set(packageOf(specifier), path);
      else waiting.push(posix.normalize(posix.join(posix.dirname(path), specifier)));
    }
  }
  return { files: seen, outside };
}

/** `drizzle-orm/bun-sqlite` is of `drizzle-orm`; modules of the platform are named whole. */
function packageOf(specifier: string): string {
  if (/^(?:node|bun):/.test(specifier)) return specifier;
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}
