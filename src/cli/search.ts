// `sallyport search`: queries the search engines, without a server or a key.

import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { CATEGORIES } from "../search/engine.ts";
import { ENGINES } from "../search/engines/index.ts";
import { createSearch } from "../search/run.ts";
import { LIMIT_MAX, searchWeb } from "../web/search.ts";
import type { WebTools } from "../web/tools.ts";
import type { Command, Context } from "./command.ts";
import { progressLine, withWebTools } from "./web-tools.ts";

/** Prints the hits, the best first. */
export const searchCommand: Command = {
  summary: "search the web",
  examples: [
    "sallyport search 'how to bake rye bread' --limit 5",
    "sallyport search 'bun sqlite' --category it --json",
  ],
  usage: "QUERY [--category C] [--limit N] [--content]",
  args: [1, 100],
  options: [
    { name: "category", value: "C", summary: `${CATEGORIES.join(", ")} (default: general)` },
    { name: "limit", value: "N", summary: "maximum number of hits (default 5)" },
    { name: "content", summary: "with the text of each page as Markdown" },
    { name: "language", value: "L", summary: "language, such as de or pt-BR (default: guessed from the query)" },
    { name: "timeout-seconds", value: "N", summary: "time limit in seconds (default 30)" },
  ],
  async run(context) {
    const { flags, args } = context;
    const query = args.join(" ");
    const line = progressLine(context);
    line.show(`searching for ${query}`);
    const body = {
      text_query: query,
      categories: flags.text("category"),
      limit: flags.integer("limit", 1, LIMIT_MAX),
      include_content: flags.has("content"),
      language: flags.text("language"),
      timeout_seconds: flags.integer("timeout-seconds", 5, 60),
    };
    const answer = await withWebTools(context, "search", (tools, signal) => {
      const engines = searchWith(tools, context.config(), context);
      return searchWeb(body, { search: engines, pages: tools }, { signal, accountId: "" }).finally(engines.close);
    }).finally(line.clear);
    for (const { name, reason } of answer["unresponsive_engines"] as { name: string; reason: string }[])
      line.note(`${name} did not answer: ${reason}`);
    if (flags.has("json")) context.out(`${JSON.stringify(answer)}\n`);
    else context.out(shown(answer["results"] as Shown[]));
    return 0;
  },
};

/** The engines, while a command runs. */
export function searchWith(tools: Pick<WebTools, "fetch">, config: Config, { err }: Pick<Context, "err">) {
  return createSearch({
    config: () => config,
    clock: systemClock,
    fetch: tools.fetch,
    engines: ENGINES,
    unexpected: (message, error) => err(`sallyport: ${message}: ${String(error)}\n`),
  });
}

interface Shown {
  readonly url: string;
  readonly title: string;
  readonly content: string;
  readonly full_content?: string;
}

function shown(results: readonly Shown[]): string {
  if (results.length === 0) return "No results.\n";
  const hits = results.map(({ url, title, content, full_content: text }, index) => {
    const lines = [`${index + 1}. ${title}`, `   ${url}`, ...(content === "" ? [] : [`   ${content}`])];
    return `${lines.join("\n")}\n${text === undefined ? "" : `\n${text.trim()}\n`}`;
  });
  return hits.join("\n");
}
