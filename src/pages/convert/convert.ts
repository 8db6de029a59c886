// Conversion of fetched bytes in worker threads, so that a hostile page costs a thread and not the event loop.

import { createPool, type RunOptions, type WorkerPool } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import type { Extracted } from "./extract.ts";
import { createPdfReader, type PdfReader } from "./pdf-reader.ts";
import type { SiteLinks, SiteLinksTask } from "./site-links.ts";
import type { SitemapLinks } from "./sitemap-text.ts";
import type { ConvertTask, PageTask, PdfTask, SitemapLines, SitemapTask } from "./task.ts";

/** Converts in a thread. */
export interface Converter {
  /** Takes large bodies away: they are not copied in passing. */
  convert(task: PageTask, options: RunOptions): Promise<Extracted>;
  /** In a process of its own. */
  readPdf: PdfReader["read"];
  /** Takes large bodies away too. */
  readSitemap(task: SitemapTask, options: RunOptions): Promise<SitemapLinks>;
  /** What a crawl goes on with. */
  pickLinks(task: SiteLinksTask, options: RunOptions): Promise<SiteLinks>;
  /** How many conversions run, and how many wait for a thread. */
  load(): { readonly running: number; readonly waiting: number };
  close(): void;
}

/** Of pages that wait for a thread; those of jobs, of which few are under way, beside them. */
const WAITING_BYTES_MAX = 128 * 1024 * 1024;

/** Starts converting with up to `threads` threads. */
export function createConverter(threads: number): Converter {
  const pool: WorkerPool<Exclude<ConvertTask, PdfTask>, Extracted | SitemapLines | SiteLinks> = createPool({
    start: () => startThread("./pages/convert/worker.ts", new URL("./worker.ts", import.meta.url)),
    size: threads,
    weigh: (task) => (task.kind === "links" ? task.links.length : task.bytes.byteLength),
    weightMax: WAITING_BYTES_MAX,
  });
  return {
    convert: async (task, options) => (await pool.run(task, { ...options, transfer: handed(task) })) as Extracted,
    readPdf: createPdfReader().read,
    readSitemap: async (task, options) => {
      const lines = (await pool.run(
        { kind: "sitemap", ...task },
        { ...options, transfer: handed(task) },
      )) as SitemapLines;
      return { urls: split(lines.urls), sitemaps: split(lines.sitemaps) };
    },
    pickLinks: async (task, options) => (await pool.run({ kind: "links", ...task }, options)) as SiteLinks,
    load: () => pool.load(),
    close: () => pool.close(),
  };
}

/** Smaller ones may be a part of a buffer that others use. */
const HANDED_BYTES_MIN = 1024 * 1024;

function handed({ bytes }: { bytes: Uint8Array }): ArrayBuffer[] {
  return bytes.byteLength < HANDED_BYTES_MIN ? [] : [bytes.buffer as ArrayBuffer];
}

function split(lines: string): string[] {
  return lines === "" ? [] : lines.split("\n");
}
