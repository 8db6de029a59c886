// Conversion of fetched bytes in worker threads, so that a hostile page costs a thread and not the event loop.

import { createPool, type RunOptions, type WorkerPool } from "../workers/pool.ts";
import type { ConvertTask, PageTask, SitemapLines, SitemapTask } from "./convert-task.ts";
import type { Extracted } from "./extract.ts";
import type { SitemapLinks } from "./sitemap-text.ts";

/** Converts in a thread. */
export interface Converter {
  convert(task: PageTask, options: RunOptions): Promise<Extracted>;
  /** Takes the bytes away: tens of megabytes are not copied in passing. */
  readSitemap(task: SitemapTask, options: RunOptions): Promise<SitemapLinks>;
  /** How many conversions run, and how many wait for a thread. */
  load(): { readonly running: number; readonly waiting: number };
  close(): void;
}

/** Of pages that wait for a thread. */
const WAITING_BYTES_MAX = 512 * 1024 * 1024;

/** Starts converting with up to `threads` threads. */
export function createConverter(threads: number): Converter {
  const pool: WorkerPool<ConvertTask, Extracted | SitemapLines> = createPool({
    start: startThread,
    size: threads,
    weigh: ({ bytes }) => bytes.byteLength,
    weightMax: WAITING_BYTES_MAX,
  });
  return {
    convert: async (task, options) => (await pool.run(task, options)) as Extracted,
    readSitemap: async (task, options) => {
      const transfer = [task.bytes.buffer as ArrayBuffer];
      const lines = (await pool.run({ kind: "sitemap", ...task }, { ...options, transfer })) as SitemapLines;
      return { urls: split(lines.urls), sitemaps: split(lines.sitemaps) };
    },
    load: () => pool.load(),
    close: () => pool.close(),
  };
}

function split(lines: string): string[] {
  return lines === "" ? [] : lines.split("\n");
}

function startThread(): Worker {
  // In the built program modules lie under a virtual root, laid out like src/; there the path is taken from that root.
  const isBuilt = import.meta.url.includes("$bunfs") || import.meta.url.includes("~BUN");
  return new Worker(isBuilt ? "./pages/convert-worker.ts" : new URL("./convert-worker.ts", import.meta.url).href);
}
