// Loads configuration texts without a process. The test defines the environment, and files are in a temporary folder.

import { afterAll } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KNOWN_NAMES } from "../../src/app/names.ts";
import { type LoadOptions, loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";

/** A folder and a loader; it is deleted after the test file. */
export function configFolder() {
  const cwd = mkdtempSync(join(tmpdir(), "sallyport-config-"));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));
  let files = 0;
  /** `undefined`: there is no file. */
  function load(text: string | undefined, options: LoadOptions = {}) {
    if (text === undefined) return loadConfig({ env: {}, cwd, names: KNOWN_NAMES, ...options });
    const file = `c${files++}.yaml`;
    writeFileSync(join(cwd, file), text);
    return loadConfig({ env: {}, cwd, file, names: KNOWN_NAMES, ...options });
  }
  function good(text: string | undefined, options: LoadOptions = {}): Config {
    const result = load(text, options);
    if (!result.ok) throw new Error(result.problems.join("\n"));
    return result.config;
  }
  /** The problems, without the file's name. */
  function bad(text: string | undefined, options: LoadOptions = {}): string[] {
    const result = load(text, options);
    return result.ok ? [] : result.problems.map((problem) => problem.replace(/^c\d+\.yaml: /, ""));
  }
  return { cwd, load, good, bad };
}
