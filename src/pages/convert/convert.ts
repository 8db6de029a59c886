// Converts fetched bytes in worker threads, so that a hostile page blocks a thread and not the event loop.

import { lazily } from "../../base/lazily.ts";
import { watchOwnLoad } from "../../workers/own-load.ts";
import { createPool, type PoolThread, type RunOptions, type WorkerPool } from "../../workers/pool.ts";
import { BEHIND } from "../../workers/priority.ts";
import { startThread } from "../../workers/start.ts";
import type { ThreadsProcess } from "../../workers/threads-process.ts";
import type { Extracted } from "./extract.ts";
import type { MapLinks, MapLinksTask } from "./map-links.ts";
import { createPdfReader, type PdfReader } from "./pdf-reader.ts";
import type { SiteLinks, SiteLinksTask } from "./site-links.ts";
import type { SitemapLinks } from "./sitemap-text.ts";
import type { ConvertTask, PageTask, PdfTask, SitemapLines, SitemapTask } from "./task.ts";

/** Runs conversions in threads. */
export interface Converter {
  /** Converts a page. Large bodies are transferred to the thread instead of copied. */
  convert(task: PageTask, options: RunOptions): Promise<Extracted>;
  /** Reads a PDF in a separate process. */
  readPdf: PdfReader["read"];
  /** Reads a sitemap. Large bodies are transferred too. */
  readSitemap(task: SitemapTask, options: RunOptions): Promise<SitemapLinks>;
  /** Selects the links that a crawl follows. */
  pickLinks(task: SiteLinksTask, options: RunOptions): Promise<SiteLinks>;
  /** Selects the addresses of a site's pages. */
  mapLinks(task: MapLinksTask, options: RunOptions): Promise<MapLinks>;
  /** The numbers of conversions that run and that wait for a thread. */
  load(): { readonly running: number; readonly waiting: number };
  close(): void;
}

/**
 * The limit of bytes in pages that wait for a thread. Pages of jobs are counted separately, since few of them are in progress.
 */
const WAITING_BYTES_MAX = 128 * 1024 * 1024;

/** The limit of memory for the pages of jobs, for each thread. The largest pages take some hundred megabytes. */
const JOBS_THREAD_MEMORY_MAX = 512 * 1024 * 1024;
/** One thread must be able to convert the largest page. */
const JOBS_MEMORY_MIN = 1024 * 1024 * 1024;
/** There are as many threads as processors. With so few of them, none is left for jobs beside a busy event loop. */
const FEW_THREADS = 2;
/**
 * The share of a processor that tasks of jobs then use. A low priority alone is not enough: tasks then fill every gap, and the
 * loop finds the caches full of their data. Measured beside full crawls with shares of 1, 0.3 and 0.2, chats kept about 75, 75 to
 * 90 and 80 to 87 % of their rate, and crawls read 13, 7 and 5 to 6 pages a second (of 44 without chats).
 */
const SHARE_BESIDE_LOOP = 0.2;

const threadsProcess = lazily(() => {
  const {
    createThreadsProcess,
  }: typeof import("../../workers/threads-process.ts") = require("../../workers/threads-process.ts");
  return createThreadsProcess;
});

type ThreadTask = Exclude<ConvertTask, PdfTask>;
type Pool = WorkerPool<ThreadTask, Extracted | SitemapLines | SiteLinks | MapLinks>;

/**
 * Creates a converter with up to `threads` threads for callers that wait, and as many for jobs, in a process of their own with a low
 * priority. While this process is busy, half of them rest, or on few processors nearly all of the time.
 */
export function createConverter(threads: number): Converter {
  const open = (size: number | (() => number), start: (path: string, url: URL) => PoolThread): Pool =>
    createPool({
      start: () => start("./pages/convert/worker.ts", new URL("./worker.ts", import.meta.url)),
      size,
      weigh: weightOf,
      weightMax: WAITING_BYTES_MAX,
    });
  let process: ThreadsProcess | undefined;
  const startForJobs = (path: string, url: URL) => {
    const memoryMax = Math.max(JOBS_MEMORY_MIN, threads * JOBS_THREAD_MEMORY_MAX);
    process ??= threadsProcess()({ niceness: BEHIND, memoryMax });
    return process.start(path, url);
  };
  const prompt = open(threads, startThread);
  const isBusy = watchOwnLoad();
  const patient = open(() => jobsSize(threads, isBusy()), startForJobs);
  const run = (task: ThreadTask, options: RunOptions) => (options.later === true ? patient : prompt).run(task, options);
  return {
    convert: async (task, options) => (await run(task, { ...options, transfer: handed(task) })) as Extracted,
    readPdf: createPdfReader().read,
    readSitemap: async (task, options) => {
      const lines = (await run({ kind: "sitemap", ...task }, { ...options, transfer: handed(task) })) as SitemapLines;
      const { urls, sitemaps, priorities } = lines;
      return { urls: split(urls), sitemaps: split(sitemaps), ...(priorities === undefined ? {} : { priorities }) };
    },
    pickLinks: async (task, options) => (await run({ kind: "links", ...task }, options)) as SiteLinks,
    mapLinks: async (task, options) => (await run({ kind: "map", ...task }, options)) as MapLinks,
    load: () => {
      const [first, second] = [prompt.load(), patient.load()];
      return { running: first.running + second.running, waiting: first.waiting + second.waiting };
    },
    close: () => {
      prompt.close();
      patient.close();
      process?.close();
    },
  };
}

/** How many pages of jobs are converted at once (see `PoolOptions.size`). `isBusy`: whether this process needs a processor. */
export function jobsSize(threads: number, isBusy: boolean): number {
  if (!isBusy) return threads;
  return threads <= FEW_THREADS ? SHARE_BESIDE_LOOP : Math.ceil(threads / 2);
}

/** The memory that a waiting task holds. */
function weightOf(task: ThreadTask): number {
  if (task.kind === "links") return task.links.length;
  return task.kind === "map" ? task.addresses.length : task.bytes.byteLength;
}

/** Smaller bodies are copied, and so are parts of a buffer, since others use it too. */
const HANDED_BYTES_MIN = 1024 * 1024;

function handed({ bytes }: { bytes: Uint8Array }): ArrayBuffer[] {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength;
  return isWhole && bytes.byteLength >= HANDED_BYTES_MIN ? [bytes.buffer as ArrayBuffer] : [];
}

function split(lines: string): string[] {
  return lines === "" ? [] : lines.split("\n");
}
