// `sallyport crawl`: a site as Markdown, to stdout or as files. Ends with the program; the server's crawls survive it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../base/ids.ts";
import { type CrawlInput, checkGlobs, crawlKind } from "../web/crawl.ts";
import { memoryCrawlStore } from "../web/memory-crawl-store.ts";
import { readUrl } from "../web/params.ts";
import type { Command, Context } from "./command.ts";
import { progressLine, withWebTools } from "./web-tools.ts";
import { failure, nowMs } from "./workspace.ts";

interface CrawledPage {
  readonly url: string;
  readonly failed: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** File names longer than this are cut and told apart by a hash. */
const NAME_CHARS_MAX = 100;

/** Prints the pages, or writes one Markdown file for each. */
export const crawl: Command = {
  summary: "read a site as Markdown",
  usage: "URL [--limit N] [--max-depth N] [--include G]… [--exclude G]… [--out DIR]",
  args: [1, 1],
  options: [
    { name: "limit", value: "N", summary: "pages at most, up to 100 (default 10)" },
    { name: "max-depth", value: "N", summary: "links away from the root at most, up to 10" },
    { name: "include", value: "G", multiple: true, summary: "only paths like this: * within a segment, ** across" },
    { name: "exclude", value: "G", multiple: true, summary: "no paths like this" },
    { name: "out", value: "DIR", summary: "write one Markdown file per page into this folder" },
  ],
  async run(context) {
    const line = progressLine(context);
    const { pages, error } = await withWebTools(context, "crawl", async (tools, signal) => {
      const input = readInput(context);
      const store = memoryCrawlStore(({ url }) =>
        line.show(`${store.pages.length} read, ${store.ahead()} ahead  ${url}`),
      );
      const kind = crawlKind({ ...tools, store, settings: () => context.config().web });
      const job = {
        id: "local",
        accountId: "local",
        input: { ...input },
        progress: {},
        createdAtMs: nowMs(),
        saveProgress: async () => undefined,
      };
      const outcome = await kind.run(job, signal);
      return { pages: store.pages, error: outcome.state === "failed" ? outcome.error.message : undefined };
    });
    line.clear();
    for (const { url, body } of pages.filter((page) => page.failed)) context.err(`${url}: ${body["message"]}\n`);
    const good = pages.filter((page) => !page.failed);
    if (error !== undefined) throw failure(error);
    const folder = context.flags.text("out");
    if (folder !== undefined) writePages(context, folder, good);
    else if (context.flags.has("json"))
      context.out(`${JSON.stringify({ success: true, data: good.map(plainBody) })}\n`);
    else for (const page of good) context.out(`<!-- ${page.url} -->\n\n${page.body["markdown"]}\n\n`);
    return 0;
  },
};

function readInput(context: Context): CrawlInput {
  const { flags, args } = context;
  const [includePaths, excludePaths] = [flags.all("include"), flags.all("exclude")];
  checkGlobs(includePaths, "--include");
  checkGlobs(excludePaths, "--exclude");
  return {
    url: readUrl({ url: args[0] }),
    limit: flags.integer("limit", 1, 100) ?? 10,
    maxDepth: flags.integer("max-depth", 1, 10) ?? null,
    includePaths,
    excludePaths,
    formats: ["markdown"],
    fullPage: false,
    onlyMainContent: true,
    documents: false,
  };
}

function writePages(context: Context, folder: string, pages: readonly CrawledPage[]): void {
  mkdirSync(folder, { recursive: true });
  const names = new Set<string>();
  for (const page of pages) {
    let name = fileName(page.url);
    if (names.has(name)) name = `${name.slice(0, -3)}-${sha256Hex(page.url).slice(0, 8)}.md`;
    names.add(name);
    writeFileSync(join(folder, name), `<!-- ${page.url} -->\n\n${page.body["markdown"]}\n`);
    context.out(`${join(folder, name)}\n`);
  }
}

/** A name that no address can lead out of the folder. */
function fileName(address: string): string {
  const url = new URL(address);
  const plain = `${url.pathname}${url.search}`.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  const name = plain === "" ? "index" : plain;
  return name.length <= NAME_CHARS_MAX
    ? `${name}.md`
    : `${name.slice(0, NAME_CHARS_MAX - 9)}-${sha256Hex(address).slice(0, 8)}.md`;
}

function plainBody({ body: { key: _, ...body } }: CrawledPage): Record<string, unknown> {
  return body;
}
