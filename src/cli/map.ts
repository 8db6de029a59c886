// `sallyport map`: the addresses of a site, one per line.

import { mapSite } from "../web/map.ts";
import type { Command } from "./command.ts";
import { progressLine, typedUrl, withWebTools } from "./web-tools.ts";

/** Prints the addresses. */
export const mapCommand: Command = {
  summary: "list the addresses of a site",
  examples: ["sallyport map https://example.com/ --search docs"],
  usage: "URL [--search S] [--limit N]",
  args: [1, 1],
  options: [
    { name: "search", value: "S", summary: "only addresses that contain this" },
    { name: "limit", value: "N", summary: "maximum number of links (default 5000)" },
  ],
  async run(context) {
    const { flags, args, config } = context;
    const body = { url: typedUrl(args[0] ?? ""), search: flags.text("search"), limit: flags.integer("limit", 1, 5000) };
    const { userAgent } = config().web;
    const line = progressLine(context);
    line.show(`looking for the pages of ${args[0]}`);
    const answer = await withWebTools(context, "map", (tools, signal) =>
      mapSite(body, { ...tools, userAgent: () => userAgent }, { signal, accountId: "" }),
    ).finally(line.clear);
    if (flags.has("json")) context.out(`${JSON.stringify(answer)}\n`);
    else context.out((answer["links"] as string[]).map((link) => `${link}\n`).join(""));
    return 0;
  },
};
