// `sallyport scrape`: one page from a terminal, without a server or a key.
import { scrape as scrapePage } from "../web/scrape.ts";
import type { Command } from "./command.ts";
import { progressLine, withWebTools } from "./web-tools.ts";

/** Prints the page in the formats asked for; a screenshot as base64 PNG. */
export const scrape: Command = {
  summary: "read one web page as Markdown",
  usage: "URL [--format F]… [--full-page] [--timeout-ms N]",
  args: [1, 1],
  options: [
    { name: "format", value: "F", multiple: true, summary: "markdown (default), html, links or screenshot" },
    { name: "full-page", summary: "screenshot of the whole page; with the other formats, navigation and footers too" },
    { name: "documents", summary: "read PDF, text, JSON, XML and feeds too" },
    { name: "timeout-ms", value: "N", summary: "how long it may take (default 60000)" },
  ],
  async run(context) {
    const { flags, args } = context;
    const formats = flags.all("format");
    const line = progressLine(context);
    line.show(`reading ${args[0]}`);
    const answer = await withWebTools(context, "scrape", (tools, signal) =>
      scrapePage(
        {
          url: args[0],
          ...(formats.length > 0 ? { formats } : {}),
          full_page: flags.has("full-page"),
          only_main_content: !flags.has("full-page"),
          documents: flags.has("documents"),
          timeout_ms: flags.integer("timeout-ms", 1000, 300_000),
        },
        tools,
        { signal, accountId: "" },
      ),
    ).finally(line.clear);
    const { warning } = answer["data"] as { readonly warning?: string };
    if (warning !== undefined) line.note(warning);
    if (flags.has("json")) context.out(`${JSON.stringify(answer)}\n`);
    else context.out(plain(answer["data"] as Record<string, unknown>));
    return 0;
  },
};

function plain(data: Readonly<Record<string, unknown>>): string {
  const parts = [
    data["markdown"],
    data["html"],
    (data["links"] as string[] | undefined)?.join("\n"),
    data["screenshot"],
  ];
  return `${parts.filter((part) => typeof part === "string" && part !== "").join("\n\n")}\n`;
}
