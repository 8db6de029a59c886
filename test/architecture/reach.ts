// Finds the tests that reach a source file by imports, the closest first.

import { type FileMap, importsOf } from "./source.ts";

/** Source file → the tests that import it, directly or through other files, each with its number of steps. */
export function testsBySource(files: FileMap): Map<string, { test: string; steps: number }[]> {
  const edges = new Map<string, string[]>();
  for (const [path, text] of files) {
    const targets = importsOf(path, text).flatMap(({ target }) =>
      target !== undefined && files.has(target) ? [target] : [],
    );
    edges.set(path, targets);
  }
  const found = new Map<string, { test: string; steps: number }[]>();
  for (const test of [...files.keys()].filter((path) => path.endsWith(".test.ts"))) {
    for (const [path, steps] of stepsFrom(test, edges)) {
      if (path.startsWith("src/")) found.set(path, [...(found.get(path) ?? []), { test, steps }]);
    }
  }
  for (const tests of found.values()) tests.sort((a, b) => a.steps - b.steps || (a.test < b.test ? -1 : 1));
  return found;
}

function stepsFrom(start: string, edges: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const steps = new Map([[start, 0]]);
  // A map keeps the order of insertion, so the loop visits files breadth first while the map grows.
  for (const [path, count] of steps) {
    for (const next of edges.get(path) ?? []) if (!steps.has(next)) steps.set(next, count + 1);
  }
  return steps;
}
