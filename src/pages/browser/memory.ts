// Limits the memory of page processes. Scripts, WebAssembly and canvases have no useful limit of their own and can take all
// memory within seconds. The watcher examines the processes of the browsers that this program started and kills those above the
// limit; the caller sees a crashed page. It works on Linux only, because elsewhere sizes cannot be read cheaply.

import { childrenOf, procText } from "./processes.ts";

/** Interval between two checks. A page can take about 100 MB more within it. */
const WATCH_MS = 150;
/** The unit of sizes in `statm`: a memory page has four kilobytes on every platform that runs Chromium. */
const PAGE_BYTES = 4096;
/** Maximum number of processes that are examined, far more than any browser has. */
const PROCESSES_MAX = 1000;

/** A watcher, which runs until it is stopped. */
export interface MemoryWatch {
  start(): void;
  stop(): void;
}

/** Creates a watcher that kills every page process that uses more than `bytesMax`. */
export function watchPages(bytesMax: number): MemoryWatch {
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    start: () => {
      if (process.platform === "linux") timer ??= setInterval(() => endLarge(bytesMax), WATCH_MS);
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

function endLarge(bytesMax: number): void {
  for (const pid of pageProcesses()) {
    const resident = Number(procText(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES;
    if (resident <= bytesMax) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has already ended.
    }
  }
}

/**
 * Ids of the descendant processes that show pages. Chromium marks them in their arguments, which are separated by spaces or NUL
 * bytes.
 */
function pageProcesses(): number[] {
  const found: number[] = [];
  const seen = [process.pid];
  for (let index = 0; index < Math.min(seen.length, PROCESSES_MAX); index++) {
    const pid = seen[index] as number;
    if (index > 0 && /--type=renderer\b/.test(procText(`/proc/${pid}/cmdline`))) found.push(pid);
    else seen.push(...childrenOf(pid));
  }
  return found;
}
