// `sallyport scrape`: reads one page on a terminal, without a server or a key.

import type { Explanation } from "../web/page-view.ts";
import { scrape as scrapePage } from "../web/scrape.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./failure.ts";
import { writeOutput } from "./output.ts";
import { progressLine, typedUrl, withWebTools } from "./web-tools.ts";

/** Prints the page in the requested formats (a screenshot as base64 PNG), or writes it to a file. */
export const scrapeCommand: Command = {
  summary: "read one web page as Markdown",
  examples: [
    "sallyport scrape https://example.com/",
    "sallyport scrape https://example.com/ --format screenshot --out page.png",
  ],
  usage: "URL [--format F]… [--full-page] [--timeout-ms N] [--out FILE]",
  args: [1, 1],
  options: [
    { name: "format", value: "F", multiple: true, summary: "markdown (default), html, links or screenshot" },
    { name: "full-page", summary: "screenshot of the whole page; with the other formats, navigation and footers too" },
    { name: "documents", summary: "also read PDF, text, JSON, XML and feeds" },
    {
      name: "explain",
      summary: "explain for each part of the page why it was kept or removed, instead of printing the page",
    },
    { name: "timeout-ms", value: "N", summary: "time limit in milliseconds (default 60000)" },
    {
      name: "out",
      value: "FILE",
      summary: "write to this file instead of stdout; a screenshot needs a name that ends in .png",
    },
  ],
  async run(context) {
    const { flags, args } = context;
    const file = flags.text("out");
    const formats = formatsOf(flags.all("format"), file);
    const line = progressLine(context);
    line.show(`reading ${args[0]}`);
    const answer = await withWebTools(context, "scrape", (tools, signal) =>
      scrapePage(
        {
          url: typedUrl(args[0] ?? ""),
          ...(formats.length > 0 ? { formats } : {}),
          full_page: flags.has("full-page"),
          only_main_content: !flags.has("full-page"),
          documents: flags.has("documents"),
          timeout_ms: flags.integer("timeout-ms", 1000, 300_000),
        },
        tools,
        { signal, accountId: "", keyId: "", requestId: "", explain: flags.has("explain") },
      ),
    ).finally(line.clear);
    const data = answer["data"] as Record<string, unknown>;
    const { warning } = data;
    if (typeof warning === "string") line.note(warning);
    const text = () =>
      flags.has("json") ? `${JSON.stringify(answer)}\n` : flags.has("explain") ? explained(data) : plain(data);
    if (file === undefined) context.out(text());
    else await writeOutput("out", file, isPicture(file) ? Buffer.from(String(data["screenshot"]), "base64") : text());
    return 0;
  },
};

/** The requested formats. A UsageError if a screenshot and text are to share a file. */
function formatsOf(asked: readonly string[], file: string | undefined): readonly string[] {
  if (file === undefined) return asked;
  const wantsPicture = isPicture(file);
  if (wantsPicture ? asked.some((format) => format !== "screenshot") : asked.includes("screenshot")) {
    throw new UsageError(`--out: a screenshot must be the only format and its file must end in .png; got "${file}"`);
  }
  return wantsPicture ? ["screenshot"] : asked;
}

function isPicture(file: string): boolean {
  return file.toLowerCase().endsWith(".png");
}

/** The line width of an explanation if the terminal's width is unknown. */
const TEXT_CHARS = 72;

/** A line per part, in the order of the page: the decision, its probability of being main content, its start and the reason. */
function explained(data: Readonly<Record<string, unknown>>): string {
  const { parts, removals } = (data["explanation"] ?? { parts: [], removals: [] }) as Explanation;
  const lines = parts.map(({ kept, verdict, element, text, step, because }) => {
    const reason = step === "choice" ? "" : `  (${because})`;
    return `${kept ? "keep" : "drop"} ${verdict.toFixed(2)}  ${cut(text, TEXT_CHARS)}  [${cut(element, 40)}]${reason}`;
  });
  const before = removals
    .filter(({ step, text }) => step !== "main-content" && text !== "")
    .map(({ step, element, text }) => `drop       ${cut(text, TEXT_CHARS)}  [${cut(element, 40)}]  (${step})`);
  const kept = parts.filter((part) => part.kept).length;
  const sum = `${kept} of ${parts.length} parts kept; the number is the probability that a part is main content.`;
  return `${[...(before.length > 0 ? ["Never examined:", ...before, ""] : []), ...lines, "", sum].join("\n")}\n`;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}

function plain(data: Readonly<Record<string, unknown>>): string {
  const parts = [
    data["markdown"],
    data["html"],
    (data["links"] as string[] | undefined)?.join("\n"),
    data["screenshot"],
  ];
  return `${parts.filter((part) => typeof part === "string" && part !== "").join("\n\n")}\n`;
}
