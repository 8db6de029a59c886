// Locates the modules of our threads and processes, in the sources and in the built program.

import { fileURLToPath } from "node:url";
import { BEHIND, nicenessWord } from "./priority.ts";

// The built program has its modules under a virtual root, laid out like src/.
const isBuilt = import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");

/** Starts a thread. `path` is the module below src/, beginning with "./"; `url` is its location in the sources. */
export function startThread(path: string, url: URL, niceness = BEHIND): Worker {
  // In the built program the path is relative to its root.
  return new Worker(isBuilt ? path : url.href, { argv: [nicenessWord(niceness)] });
}

/** The command of one of our processes. The built program is told by `word` what to run; `url` is its module in the sources. */
export function processCommand(word: string, url: URL): string[] {
  return [process.execPath, isBuilt ? word : fileURLToPath(url)];
}
