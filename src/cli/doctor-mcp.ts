// Asks the MCP servers of the configuration for their tools.

import type { Config } from "../config/schema.ts";
import type { Finding } from "./doctor-provider.ts";
import { nowMs } from "./workspace.ts";

/** A line for each server. */
export async function checkMcpServers({ mcp: { servers } }: Pick<Config, "mcp">): Promise<Finding[]> {
  if (servers.size === 0) return [];
  const { ServerConnection } = await import("../mcp/servers/connection.ts");
  return Promise.all(
    [...servers].map(async ([name, settings]): Promise<Finding> => {
      const connection = new ServerConnection(name, settings, { nowMs, warn: () => undefined });
      const finding = (status: Finding["status"], message: string) => ({ name: `mcp ${name}`, status, message });
      try {
        const { length } = await connection.tools("call");
        if (length === 0) return finding("warning", `answers, but has no tools that mcp.servers.${name}.tools names`);
        return finding("ok", length === 1 ? "answers, with 1 tool" : `answers, with ${length} tools`);
      } catch (error) {
        return finding("failed", error instanceof Error ? error.message : String(error));
      } finally {
        // Whether it closes cleanly says nothing more.
        await connection.close().catch(() => undefined);
      }
    }),
  );
}
