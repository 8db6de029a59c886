// `llmstxt`: a site's guide for language models.

import type { McpTool } from "../tool.ts";

/** The tool `llmstxt`. */
export const llmstxtTool: McpTool = {
  name: "llmstxt",
  title: "Write the llms.txt of a site",
  description:
    "Writes an llms.txt for a site: its most useful pages in sections, with a sentence on each. Use it for a quick " +
    "overview of a documentation site before reading single pages with scrape. `show_full_text` adds the pages' own texts, " +
    "which is long. Where it answers with status `processing`, give its `job_id` to crawl_status.",
  endpoint: "POST /v1/llmstxt",
  readOnly: true,
  openWorld: true,
  omits: ["data"],
  time: { parameter: "timeout_seconds", aliases: ["timeoutSeconds"], perSecond: 1 },
  async run(args, { askForJob }) {
    const { data: _, ...job } = await askForJob({ method: "POST", path: "/v1/llmstxt", body: args });
    const files = [job["llmstxt"], job["llmsfulltxt"]].filter((file) => typeof file === "string");
    return files.length === 0 ? { data: job } : { text: files.join("\n\n"), data: job };
  },
};
