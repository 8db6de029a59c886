// Rules about words: each exported name means one thing.

import type { Finding } from "./rules.ts";
import { codeOf, type FileMap } from "./source.ts";

/** Names that several files may export, each with its reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {};

const EXPORTED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:interface|type|class|enum|const|let|function\*?)\s+([\w$]+)/gm;

/** Exported names that are declared in more than one file of src/. */
export function namesDeclaredTwice(files: FileMap): Finding {
  const declaring = new Map<string, string[]>();
  for (const [path, text] of files) {
    if (!path.startsWith("src/")) continue;
    const names = new Set([...codeOf(text).matchAll(EXPORTED)].map(([, name = ""]) => name));
    for (const name of names) declaring.set(name, [...(declaring.get(name) ?? []), path]);
  }
  const violations = [...declaring]
    .filter(([name, paths]) => paths.length > 1 && SHARED_NAMES[name] === undefined)
    .map(([name, paths]) => `${name} is declared in ${paths.join(" and ")}`);
  return { looked: declaring.size, violations };
}
