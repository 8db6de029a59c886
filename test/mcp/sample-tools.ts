// The tools of the sample servers.

import { Server } from "@modelcontextprotocol/server";

const LONG = "t".repeat(200);
/** More tools than a page of the list has. */
const MANY = Array.from({ length: 100 }, (_, at) => `many_${at}`);
const PAGE = 50;

/** Creates a server: it answers, is slow, dies, returns much, asks a person, reports progress, and gets another tool. */
export function sampleServer(): Server {
  const server = new Server({ name: "sample", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });
  const added: string[] = [];
  const names = ["echo", "slow", "die", "much", "ask", "progress", "environment", LONG, "odd name!", "grow", ...MANY];
  server.setRequestHandler("tools/list", async ({ params }) => {
    const from = Number(params?.cursor ?? 0);
    const all = [...names, ...added];
    const tools = all.slice(from, from + PAGE).map((name) => ({ name, inputSchema: { type: "object" as const } }));
    return { tools, ...(from + PAGE < all.length ? { nextCursor: String(from + PAGE) } : {}) };
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const said = (text: string) => ({ content: [{ type: "text" as const, text }] });
    switch (params.name) {
      case "slow":
        await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve, { once: true }));
        return said("late");
      case "die":
        return process.exit(1);
      case "much":
        return said("m".repeat(9_000_000));
      case "grow":
        added.push(`grown_${added.length}`);
        await server.sendToolListChanged();
        return said("more");
      case "environment":
        return said(JSON.stringify(process.env));
      case "progress":
        if (mcpReq._meta?.progressToken !== undefined) {
          const { progressToken } = mcpReq._meta;
          await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress: 1, total: 2, message: "half" },
          });
        }
        return said("done");
      default:
        return { ...said(JSON.stringify(params.arguments ?? {})), structuredContent: { name: params.name } };
    }
  });
  return server;
}
