// Where the module of a thread or a process of our own lies, in the sources and in the built program.

import { fileURLToPath } from "node:url";
import { BEHIND, nicenessWord } from "./priority.ts";

// In the built program modules lie under a virtual root, laid out like src/.
const isBuilt = import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");

/** Starts a thread. `path` is the module's below src/, with a dot and a slash before it; `url` where it lies in the sources. */
export function startThread(path: string, url: URL, niceness = BEHIND): Worker {
  // In the built program the path is taken from its root.
  return new Worker(isBuilt ? path : url.href, { argv: [nicenessWord(niceness)] });
}

/** The command of a process of our own. The built program is told by `word` what it is to be; `url` is its module in the sources. */
export function processCommand(word: string, url: URL): string[] {
  return [process.execPath, isBuilt ? word : fileURLToPath(url)];
}
