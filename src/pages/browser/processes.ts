// The processes of the browsers that this program has started, as the kernel lists them. Linux only.

import { readdirSync, readFileSync } from "node:fs";
import { BEHIND, lowerProcess } from "../../workers/priority.ts";

/** Maximum number of processes that are examined, far more than any browser has. */
const PROCESSES_MAX = 1000;

/**
 * Lowers the priority of the running browsers, and of all processes that they start from now on, below that of the event loop.
 * Where it may (as root outside a container), Chromium still raises the priority of some threads of its pages.
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

/** Ids of a process's children. The kernel lists them by the thread that started them. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      procText(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** The text of a file below /proc; empty if the process has ended. */
export function procText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
