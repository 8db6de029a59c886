// The list of tools, with one line for each, in the order in which clients see them.

import type { McpTool } from "../tool.ts";
import { crawlTool } from "./crawl.ts";
import { crawlStatusTool } from "./crawl-status.ts";
import { decideTool } from "./decide.ts";
import { extractTool } from "./extract.ts";
import { llmstxtTool } from "./llmstxt.ts";
import { mapTool } from "./map.ts";
import { scrapeTool } from "./scrape.ts";
import { searchTool } from "./search.ts";

/** All tools. */
export const TOOLS: readonly McpTool[] = [
  searchTool,
  scrapeTool,
  mapTool,
  crawlTool,
  crawlStatusTool,
  extractTool,
  llmstxtTool,
  decideTool,
];
