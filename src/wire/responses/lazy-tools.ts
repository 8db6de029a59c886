// The code for items of tools that the gateway runs, which few answers need.

import { lazily } from "../../base/lazily.ts";

/** Loaded with the first answer in which the gateway ran a tool. */
export const responsesTools = lazily(() => {
  const { callItemOf, urlCitation, ServerItems }: typeof import("./server-tools.ts") = require("./server-tools.ts");
  const serverItems = (stream: ConstructorParameters<typeof ServerItems>[0]) => new ServerItems(stream);
  return { callItemOf, urlCitation, serverItems };
});

/** Loaded with the first request that names an MCP server. */
export const responsesMcp = lazily(() => {
  const { mcpOfResponses }: typeof import("./mcp.ts") = require("./mcp.ts");
  return mcpOfResponses;
});
