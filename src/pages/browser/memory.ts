// Pages may take as much memory as the machine has within seconds: scripts, WebAssembly and canvases have no limit of their
// own that would help. This watches the processes of the browsers that this program has started, and ends the one of a
// page that takes too much; to its reader it is a page that crashes. Linux only: elsewhere nothing tells the sizes cheaply.

import { childrenOf, procText } from "./processes.ts";

/** Between two looks; a page takes some 100 MB more meanwhile. */
const WATCH_MS = 150;
/** The kernel's unit in `statm`: four kilobytes wherever Chromium runs. */
const PAGE_BYTES = 4096;
/** Far more than browsers have. */
const PROCESSES_MAX = 1000;

/** Watches until it is told to stop. */
export interface MemoryWatch {
  start(): void;
  stop(): void;
}

/** Makes one that ends every process for pages with more than `bytesMax`. */
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
      // It has ended by itself.
    }
  }
}

/** Processes below this one that show pages; Chromium's say so in their arguments, parted by spaces or by zeros. */
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
