// `sallyport crawl`: a site as Markdown, to stdout or as files. Ends with the program; the server's crawls survive it.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JobTimeout } from "../jobs/kind.ts";
import { crawlKind } from "../web/crawl.ts";
import { CRAWL_LIMIT, CRAWL_LIMIT_MAX, readCrawl } from "../web/crawl-jobs.ts";
import { LOCAL_JOB, type MemoryCrawlStore, memoryCrawlStore, type VisitedPage } from "../web/memory-crawl-store.ts";
import { createPageNames, markdownOf } from "../web/page-files.ts";
import type { Command, Context } from "./command.ts";
import { Interrupted } from "./failure.ts";
import { makeOutputFolder } from "./output.ts";
import { progressLine, typedUrl, withWebTools } from "./web-tools.ts";
import { failure, nowMs } from "./workspace.ts";

/** Prints the pages, or writes each to a Markdown file as it arrives. */
export const crawlCommand: Command = {
  summary: "read a site as Markdown",
  examples: ["sallyport crawl https://example.com/docs/ --limit 50 --include '/docs/**' --out docs"],
  usage: "URL [--limit N] [--max-depth N] [--include G]… [--exclude G]… [--out DIR]",
  args: [1, 1],
  options: [
    { name: "limit", value: "N", summary: "maximum number of pages, up to 100 (default 10)" },
    {
      name: "max-depth",
      value: "N",
      summary: "maximum number of links away from the root, up to 10 (default: no limit)",
    },
    {
      name: "include",
      value: "G",
      multiple: true,
      summary: "only paths that match: * matches within a segment, ** across segments",
    },
    { name: "exclude", value: "G", multiple: true, summary: "exclude paths that match" },
    { name: "documents", summary: "also read PDF, text, JSON, XML and feeds" },
    { name: "out", value: "DIR", summary: "write one Markdown file per page into this folder" },
  ],
  async run(context) {
    const folder = context.flags.text("out");
    const files = folder === undefined ? undefined : pageFiles(folder);
    const limit = context.flags.integer("limit", 1, CRAWL_LIMIT_MAX) ?? CRAWL_LIMIT;
    const line = progressLine(context);
    const store: MemoryCrawlStore = memoryCrawlStore((page, isRoot) => {
      const written = page === undefined || page.failed ? undefined : files?.write(page);
      // A root that cannot be read ends the crawl, whose failure says why.
      if (page?.failed === true && !isRoot) line.note(`${page.url}: ${page.body["message"]}`);
      if (written !== undefined && !context.flags.has("json")) line.print(written);
      line.show(`${Number(store.progress["completed"] ?? 0)} of at most ${limit}  ${page?.url ?? ""}`);
    });
    const startedMs = nowMs();
    const failed = await runCrawl(context, store)
      .then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      .finally(line.clear);
    // Pages read before a crawl ran out of time, or was stopped, are kept, as on the server; without any, only the failure is
    // reported.
    if (failed !== undefined && goodPages(store).length === 0) throw failed.error;
    const seconds = ((nowMs() - startedMs) / 1000).toFixed(1);
    line.sum(`${summaryOf(store)} in ${seconds} s${files === undefined ? "" : files.summary()}`);
    const status = failed === undefined ? "completed" : failed.error instanceof Interrupted ? "cancelled" : "failed";
    if (context.flags.has("json")) context.out(`${JSON.stringify({ ...jsonOf(store), status })}\n`);
    else if (files === undefined) for (const page of goodPages(store)) context.out(`${markdownOf(page)}\n`);
    if (failed !== undefined) throw failed.error;
    return 0;
  },
};

function summaryOf(store: MemoryCrawlStore): string {
  const read = goodPages(store).length;
  const failed = store.pages.length - read;
  return `${read} page${read === 1 ? "" : "s"} read${failed === 0 ? "" : `, ${failed} failed`}`;
}

async function runCrawl(context: Context, store: MemoryCrawlStore): Promise<void> {
  const { flags, args } = context;
  const { web } = context.config();
  const input = () =>
    readCrawl({
      url: typedUrl(args[0] ?? ""),
      limit: flags.integer("limit", 1, CRAWL_LIMIT_MAX),
      max_depth: flags.integer("max-depth", 1, 10),
      include_paths: flags.all("include"),
      exclude_paths: flags.all("exclude"),
      documents: flags.has("documents"),
    });
  const outcome = await withWebTools(context, "crawl", async (tools, signal) => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new JobTimeout("The crawl exceeded its time limit.")), web.jobTimeoutMs);
    const job = {
      ...LOCAL_JOB,
      input: { ...input() },
      progress: {},
      createdAtMs: nowMs(),
      winding: signal,
      saveProgress: async () => undefined,
    };
    const problem = (_message: string, error: unknown) => context.err(`sallyport: ${String(error)}\n`);
    try {
      const kind = crawlKind({ ...tools, store, settings: () => web, problem });
      return await kind.run(job, AbortSignal.any([signal, limit.signal]));
    } finally {
      clearTimeout(timer);
    }
  });
  if (outcome.state === "failed") throw failure(outcome.error.message);
}

function goodPages({ pages }: MemoryCrawlStore): VisitedPage[] {
  return pages.filter(({ failed }) => !failed);
}

/** The API's view of a finished crawl. */
function jsonOf(store: MemoryCrawlStore): Record<string, unknown> {
  const { completed, credits } = store.progress;
  return {
    success: true,
    total: completed,
    completed,
    creditsUsed: credits,
    data: goodPages(store).map(({ body: { keys: _, ...body } }) => body),
    errors: store.pages.filter(({ failed }) => failed).map(({ url, body }) => ({ url, ...body })),
  };
}

interface PageFiles {
  /** Returns the path of the page's file. */
  write(page: VisitedPage): string;
  /** Where they are, and whether files of an earlier crawl were replaced. */
  summary(): string;
}

/** Writes pages into a folder. */
function pageFiles(folder: string): PageFiles {
  makeOutputFolder("out", folder);
  const nameOf = createPageNames();
  let replaced = 0;
  return {
    write: (page) => {
      const path = join(folder, nameOf(page.url));
      if (existsSync(path)) replaced++;
      writeFileSync(path, markdownOf(page));
      return path;
    },
    summary: () =>
      `, written to ${folder}${replaced === 0 ? "" : ` (replaced ${replaced} older file${replaced === 1 ? "" : "s"})`}`,
  };
}
