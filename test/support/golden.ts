// Golden files of one JSON value each. UPDATE_GOLDEN=1 writes them anew; otherwise a missing file is a failure.

import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of all golden files. */
export const GOLDEN = join(import.meta.dir, "../golden");

/** Expects that a value is that of a golden file, as JSON. */
export function compareGolden(file: string, value: unknown): void {
  const path = join(GOLDEN, file);
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (Bun.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(text).toBe(readFileSync(path, "utf8"));
}
