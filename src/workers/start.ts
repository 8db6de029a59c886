// Finds the modules of this program's threads and processes, in the sources and in the built program.

import { fileURLToPath } from "node:url";
import { BEHIND, nicenessWord } from "./priority.ts";

// The modules of the built program are under a virtual root, in the same folders as in src/.
const isBuilt = import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");

/** Starts a thread. `path` is the module below src/, beginning with "./"; `url` is its location in the sources. */
export function startThread(path: string, url: URL, niceness = BEHIND): Worker {
  // In the built program the path is relative to its root.
  return new Worker(isBuilt ? path : url.href, { argv: [nicenessWord(niceness)] });
}

/**
 * The command line of one of this program's processes. The built program is told by `word` what to run; `url` is the module in
 * the sources.
 */
export function processCommand(word: string, url: URL): string[] {
  return [process.execPath, isBuilt ? word : fileURLToPath(url)];
}
