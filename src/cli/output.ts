// Files and folders that a person asked for with an option.

import { mkdirSync } from "node:fs";
import { unwritable } from "../base/unwritable.ts";
import { failure } from "./workspace.ts";

/** Writes a file, and the folders above it. An error names the option. */
export async function writeOutput(option: string, path: string, data: string | Uint8Array): Promise<void> {
  try {
    await Bun.write(path, data);
  } catch (error) {
    throw failure(`--${option}: ${path} cannot be written: ${unwritable(error)}`);
  }
}

/** Makes a folder, unless it is there, and the folders above it. */
export function makeOutputFolder(option: string, path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw failure(`--${option}: the folder ${path} cannot be made: ${unwritable(error)}`);
  }
}
