// The processes of the browsers that this program has started, as the kernel lists them. Linux only.

import { readdirSync, readFileSync } from "node:fs";
import { BEHIND, lowerProcess } from "../../workers/priority.ts";

/** Far more than browsers have. */
const PROCESSES_MAX = 1000;

/**
 * Puts the browsers started so far behind the event loop, and with them all that they start from now on. Where it may,
 * as root outside of a container, Chromium gives threads of its pages another priority all the same.
 */
export function lowerBrowsers(): void {
  if (process.platform !== "linux") return;
  const pids = childrenOf(process.pid).filter((pid) => /--remote-debugging-p/.test(procText(`/proc/${pid}/cmdline`)));
  for (let index = 0; index < Math.min(pids.length, PROCESSES_MAX); index++) {
    const pid = pids[index] as number;
    lowerProcess(pid, BEHIND);
    pids.push(...childrenOf(pid));
  }
}

/** Each thread has the children that it has started. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      procText(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** A file below /proc; empty for a process that has ended. */
export function procText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
