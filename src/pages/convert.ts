// Conversion of fetched bytes in worker threads, so that a hostile page costs a thread and not the event loop.

import { createPool, type RunOptions, type WorkerPool } from "../workers/pool.ts";
import type { ConvertTask } from "./convert-task.ts";
import type { Extracted } from "./extract.ts";

/** Converts in a thread. */
export interface Converter {
  convert(task: ConvertTask, options: RunOptions): Promise<Extracted>;
  close(): void;
}

/** Starts converting with up to `threads` threads. */
export function createConverter(threads: number): Converter {
  const pool: WorkerPool<ConvertTask, Extracted> = createPool({ start: startThread, size: threads });
  return { convert: (task, options) => pool.run(task, options), close: () => pool.close() };
}

function startThread(): Worker {
  // In the built program modules lie under a virtual root, laid out like src/; there the path is taken from that root.
  const isBuilt = import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");
  return new Worker(isBuilt ? "./pages/convert-worker.ts" : new URL("./convert-worker.ts", import.meta.url).href);
}
