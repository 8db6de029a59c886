// `sallyport mcp`: the web tools for an agent that starts this program, without a server or a key. Stdout belongs to the
// protocol; messages for people go to stderr.

import { openLocalTools } from "../app/local-tools.ts";
import { serveOnStreams } from "../mcp/stdio.ts";
import type { Command } from "./command.ts";

/** Serves until stdin is closed. */
export const mcpCommand: Command = {
  summary: "serve the web tools to an agent over stdin and stdout",
  examples: ["sallyport mcp --config sallyport.yaml"],
  details:
    "For agents that start their tools themselves (Model Context Protocol over stdio). Search, scrape, map and crawl need\n" +
    "nothing; extract needs a provider with a chat model, decide one with a decision model, in the configuration or the\n" +
    "environment. A running gateway offers the same tools at /mcp.",
  usesProviders: true,
  async run(context) {
    const tools = await openLocalTools(context.config(), (message, fields) => {
      const { error } = fields ?? {};
      context.err(`sallyport: ${message}${error === undefined ? "" : `: ${reasonOf(error)}`}\n`);
    });
    const stop = new AbortController();
    const forget = context.onInterrupt(() => stop.abort());
    try {
      await serveOnStreams(tools, { ...context.streams(), signal: stop.signal });
    } finally {
      forget();
      await tools.close();
    }
    return 0;
  },
};

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
