// `search`: searches the web.

import type { McpTool } from "../tool.ts";

/** The tool `search`. */
export const searchTool: McpTool = {
  name: "search",
  title: "Search the web",
  description:
    "Searches the web with several engines at once and returns titles, addresses and snippets, best first. Use it for " +
    "current facts and for pages whose address you do not know; then read the promising ones with scrape. Set " +
    "`include_content` to get the pages' text at once (slower, long). Keep queries to a few words; set `categories` for " +
    "news, images or science. Not for reading a known page (scrape) or listing a known site (map).",
  endpoint: "POST /v1/search",
  readOnly: true,
  openWorld: true,
  omits: ["data"],
  isOffered: (resources) => resources.hasEngine(),
  async run(args, { ask }) {
    const { data: _, ...answer } = await ask({ method: "POST", path: "/v1/search", body: args });
    return { data: answer };
  },
};
