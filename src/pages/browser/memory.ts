// Limits the memory of page processes. Scripts, WebAssembly and canvases have no useful limit of their own and can take all
// memory within seconds. This watches the processes of the browsers that this program started and kills those that take too
// much; to the reader of the page this is a crash. Linux only: elsewhere sizes cannot be read cheaply.

import { childrenOf, procText } from "./processes.ts";

/** Interval between two checks; a page takes about 100 MB more meanwhile. */
const WATCH_MS = 150;
/** The kernel's unit in `statm`: four kilobytes on every platform that runs Chromium. */
const PAGE_BYTES = 4096;
/** Far more than any browser has. */
const PROCESSES_MAX = 1000;

/** Watches until it is stopped. */
export interface MemoryWatch {
  start(): void;
  stop(): void;
}

/** Creates a watcher that kills every page process with more than `bytesMax`. */
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
      // The process has ended by itself.
    }
  }
}

/** Descendant processes that show pages; Chromium marks them in their arguments, separated by spaces or NUL bytes. */
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
