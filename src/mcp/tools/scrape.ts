// `scrape`: reads one page.

import type { JsonRecord, McpTool } from "../tool.ts";

/** The tool `scrape`. */
export const scrapeTool: McpTool = {
  name: "scrape",
  title: "Read a web page",
  description:
    "Reads one web page, in a browser where it needs one, and returns its main content as clean Markdown. Use it when you " +
    "know the address. Ask for `links`, `html` or `screenshot` in `formats` where Markdown is not enough, and set " +
    "`documents` for PDF, JSON and feeds. Set `only_main_content` to false when something on the page is missing from the " +
    "answer. Not for whole sites (crawl), for finding pages (search, map) or for fields in a fixed shape (extract).",
  endpoint: "POST /v1/scrape",
  readOnly: true,
  openWorld: true,
  time: { parameter: "timeout_ms", aliases: ["timeout"], perSecond: 1000 },
  async run(args, { ask }) {
    const answer = await ask({ method: "POST", path: "/v1/scrape", body: args });
    const { screenshot, ...page } = answer["data"] as JsonRecord;
    return {
      text: textOf(page),
      data: { ...answer, data: page },
      ...(typeof screenshot === "string" ? { images: [screenshot] } : {}),
    };
  },
};

function textOf({ markdown, html, links, warning, metadata }: JsonRecord): string {
  const { statusCode } = metadata as JsonRecord;
  const notes = [
    ...(typeof warning === "string" ? [warning] : []),
    ...(typeof statusCode === "number" && statusCode >= 400 ? [`The site answered ${statusCode}.`] : []),
  ];
  const parts = [
    ...(notes.length > 0 ? [`[${notes.join(" ")}]`] : []),
    markdown,
    html,
    (links as string[] | undefined)?.join("\n"),
  ];
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n\n");
}
