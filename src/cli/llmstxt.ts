// `sallyport llmstxt`: builds the llms.txt of a site, which models read. The work ends with the program, unlike a
// server's jobs.

import { systemClock } from "../base/clock.ts";
import { JobTimeout } from "../jobs/kind.ts";
import { LLMSTXT_URLS, LLMSTXT_URLS_MAX, readLlmstxt } from "../web/llmstxt/jobs.ts";
import { llmstxtKind } from "../web/llmstxt/kind.ts";
import { LOCAL_JOB, memoryCrawlStore } from "../web/memory-crawl-store.ts";
import type { Command, Context } from "./command.ts";
import { writeOutput } from "./output.ts";
import { type ProgressLine, progressLine, typedUrl, withWebTools } from "./web-tools.ts";
import { failure, nowMs } from "./workspace.ts";

/** Prints the file, or the one with the full text. */
export const llmstxt: Command = {
  summary: "write the llms.txt of a site",
  examples: ["sallyport llmstxt https://example.com/ --max-urls 30 --out llms.txt"],
  usage: "URL [--max-urls N] [--full] [--out FILE]",
  args: [1, 1],
  options: [
    {
      name: "max-urls",
      value: "N",
      summary: `maximum number of pages, up to ${LLMSTXT_URLS_MAX} (default ${LLMSTXT_URLS})`,
    },
    { name: "full", summary: "print llms-full.txt, which has the text of every page" },
    { name: "out", value: "FILE", summary: "write to this file instead of stdout" },
  ],
  usesProviders: true,
  async run(context) {
    const { flags } = context;
    const line = progressLine(context);
    const answer = await generate(context, line).finally(line.clear);
    const text = flags.has("json")
      ? `${JSON.stringify({ success: true, status: "completed", ...answer })}\n`
      : String(answer[flags.has("full") ? "llmsfulltxt" : "llmstxt"]);
    const file = flags.text("out");
    if (file === undefined) context.out(text);
    else await writeOutput("out", file, text);
    return 0;
  },
};

async function generate(context: Context, line: ProgressLine): Promise<Readonly<Record<string, unknown>>> {
  const { flags, args } = context;
  const { web } = context.config();
  const input = () =>
    readLlmstxt({
      url: typedUrl(args[0] ?? ""),
      max_urls: flags.integer("max-urls", 1, LLMSTXT_URLS_MAX),
      show_full_text: flags.has("full"),
    });
  const show = (progress: Readonly<Record<string, unknown>>, url = "") =>
    line.show(`${progress["stage"]}: ${progress["completed"]} of ${progress["total"]} pages  ${url}`);
  const memory = memoryCrawlStore((page) => {
    if (page?.failed === true) line.note(`${page.url}: ${page.body["message"]}`);
    show(memory.progress, page?.url);
  });
  const outcome = await withWebTools(context, "llmstxt", async (tools, signal) => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new JobTimeout("The job exceeded its time limit.")), web.jobTimeoutMs);
    const job = {
      ...LOCAL_JOB,
      input: { ...input() },
      progress: {},
      createdAtMs: nowMs(),
      winding: signal,
      saveProgress: async (progress: Readonly<Record<string, unknown>>) => show(progress),
    };
    const kind = llmstxtKind({
      ...tools,
      store: { ...memory, listPages: async () => [...memory.pages] },
      clock: systemClock,
      userAgent: () => web.userAgent,
      settings: () => web,
      problem: (_message, error) => context.err(`sallyport: ${String(error)}\n`),
    });
    try {
      return await kind.run(job, AbortSignal.any([signal, limit.signal]));
    } finally {
      clearTimeout(timer);
    }
  });
  if (outcome.state === "failed") throw failure(outcome.error.message);
  return outcome.result ?? {};
}
