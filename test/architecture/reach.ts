// Finds the tests of a source file: those with its name, and those that reach it by imports, the closest first.

import { basename } from "node:path";
import { type FileMap, importsOf } from "./source.ts";

/** Files that run outside the tests' process (in a browser, or in a program that a test starts), with tests that run them. */
export const RUN_ELSEWHERE: readonly (readonly [where: RegExp, tests: readonly string[]])[] = [
  [/^src\/dashboard\/ui\//, ["test/dashboard/browser.test.ts", "test/dashboard/every-page.test.ts"]],
  [/^src\/(?:main|cli\/(?:authorities|io|notify|restart))\.ts$/, ["test/cli/up.test.ts", "test/cli/tls.test.ts"]],
];

/** The tests of a source file, each with the reason: the closest first, those of its own room before all others. */
export function testsOf(path: string, files: FileMap): { test: string; because: string }[] {
  const named = testsOfName(path, files).map((test) => ({ test, because: "its name" }));
  const [, room = ""] = path.split("/");
  const isOwn = ({ test }: { test: string }) => test.startsWith(`test/${room}/`);
  const reaching = testsBySource(files).get(path) ?? [];
  const ownFirst = [...reaching.filter(isOwn), ...reaching.filter((one) => !isOwn(one))];
  const importing = ownFirst.map(({ test, steps }) => ({
    test,
    because: `imports it${steps === 1 ? "" : ` in ${steps} steps`}`,
  }));
  const running = RUN_ELSEWHERE.filter(([where]) => where.test(path)).flatMap(([, tests]) =>
    tests.map((test) => ({ test, because: "runs it" })),
  );
  const all = new Map<string, { test: string; because: string }>();
  for (const one of [...named, ...running, ...importing]) if (!all.has(one.test)) all.set(one.test, one);
  return [...all.values()];
}

/** The tests of the file's room with its name, or with a name that begins with it: `jobs-pages.test.ts` for `jobs.tsx`. */
function testsOfName(path: string, files: FileMap): string[] {
  const [, room = ""] = path.split("/");
  const stem = basename(path).replace(/\.tsx?$/, "");
  const isNamed = (test: string) => {
    const name = basename(test, ".test.ts");
    return test.endsWith(".test.ts") && (name === stem || name.startsWith(`${stem}-`));
  };
  return [...files.keys()].filter((test) => test.startsWith(`test/${room}/`) && isNamed(test));
}

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
