// Performs a recipe in a copy of the repository: writes new files, adds lines to lists, and runs tests there.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
/** The parts of the repository that sources and tests need. */
const COPIED = ["src", "test", "scripts", "docs", "package.json", "tsconfig.json", "bunfig.toml", "README.md"];

/** Time limit of one test in a copy. The tests around it have limits of their own, so it only has to be long enough. */
const TEST_MS = 90_000;

/** A copy that may be changed. */
export interface Copy {
  readonly dir: string;
  /** Writes a new file and creates its folders. */
  add(path: string, text: string): void;
  /** Inserts a line above the first line that contains `mark`. */
  addLine(path: string, mark: string, line: string): void;
  /** Replaces the only match of a pattern. */
  replace(path: string, pattern: RegExp, text: string): void;
  /** Runs Bun in the copy. */
  bun(...args: string[]): Promise<{ readonly ok: boolean; readonly text: string }>;
  remove(): void;
}

/** Creates a copy. Remove it when the test ends. */
export function copyRepository(): Copy {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-recipe-"));
  for (const name of COPIED) cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
  return {
    dir,
    add(path, text) {
      const file = join(dir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    },
    addLine(path, mark, line) {
      const file = join(dir, path);
      const lines = readFileSync(file, "utf8").split("\n");
      const at = lines.findIndex((one) => one.includes(mark));
      if (at < 0) throw new Error(`${path} has no line with ${mark}`);
      lines.splice(at, 0, line);
      writeFileSync(file, lines.join("\n"));
    },
    replace(path, pattern, text) {
      const file = join(dir, path);
      const before = readFileSync(file, "utf8");
      const after = before.replace(pattern, text);
      if (after === before) throw new Error(`${path} has nothing like ${pattern}`);
      writeFileSync(file, after);
    },
    async bun(...args) {
      const limits = args[0] === "test" ? ["--timeout", String(TEST_MS)] : [];
      const run = Bun.spawn([process.execPath, ...args, ...limits], { cwd: dir, stdout: "pipe", stderr: "pipe" });
      const texts = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
      return { ok: (await run.exited) === 0, text: texts.join("\n") };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
