// `extract`: structured data from pages.

import type { McpTool } from "../tool.ts";

/** The tool `extract`. */
export const extractTool: McpTool = {
  name: "extract",
  title: "Extract data from pages",
  description:
    "Reads up to 20 pages and returns what they say as JSON, in the shape of `schema` or as the prompt asks, each field " +
    "with the words of the page that it comes from. What no page says is null, never guessed. Use it for prices, dates, " +
    "names or tables in a fixed shape; use scrape when you want the text. Where it answers with status `processing`, " +
    "give its `job_id` to crawl_status.",
  endpoint: "POST /v1/extract",
  readOnly: true,
  openWorld: true,
  time: { parameter: "timeout_seconds", aliases: ["timeoutSeconds"], perSecond: 1 },
  isOffered: (resources) => resources.hasModel(),
  run: async (args, { askForJob }) => ({
    data: await askForJob({ method: "POST", path: "/v1/extract", body: args }),
  }),
};
