// `map`: the addresses of a site.

import type { McpTool } from "../tool.ts";

/** The tool `map`. */
export const mapTool: McpTool = {
  name: "map",
  title: "List the addresses of a site",
  description:
    "Lists the addresses of a site from its sitemaps and the links of its root page, without reading the other pages. Use " +
    "it to find the right page of a known site before scrape, with `search` to keep only addresses that hold a word. Set " +
    "`limit`: a large site has thousands. Not for page contents (scrape, crawl) or for the whole web (search).",
  endpoint: "POST /v1/map",
  readOnly: true,
  openWorld: true,
  time: { parameter: "timeout_ms", aliases: ["timeout"], perSecond: 1000 },
  async run(args, { ask }) {
    const answer = await ask({ method: "POST", path: "/v1/map", body: args });
    return { text: (answer["links"] as string[]).join("\n"), data: answer };
  },
};
