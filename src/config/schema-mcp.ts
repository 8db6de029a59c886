// The keys of `mcp`.

import { Type } from "@sinclair/typebox";
import { duration, entry, flag, formatted, list, map, section } from "./fields.ts";
import { TIER_IDS } from "./schema-server.ts";

const Server = entry("A server: either `url` or `command`.", {
  url: formatted("url", "The address of a server over streamable HTTP."),
  headers: Type.Record(
    Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
    Type.String({ secret: true, blank: true, format: "header" }),
    { additionalProperties: false, description: "Request headers, such as Authorization.", default: {} },
  ),
  command: list("The program of a server over stdio, and its arguments. The gateway starts it.", Type.String()),
  env: Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.String({ secret: true, blank: true }), {
    additionalProperties: false,
    description: "Environment variables of the program, beside HOME, PATH and the like.",
    default: {},
  }),
  tools: Type.Array(Type.String({ minLength: 1 }), {
    description: "The tools to offer; `*` stands for any text.",
    default: ["*"],
  }),
  tiers: list("The plans whose keys may use it. Empty: all.", Type.Union(TIER_IDS.map((id) => Type.Literal(id)))),
  timeout: duration("Time limit of a call.", "30s"),
  auto: flag("Whether every chat of these plans gets its tools. Clients do not see the calls.", false),
});

export const McpSection = section("Other MCP servers, whose tools stand on `/mcp` as `NAME__tool`.", {
  servers: map("By name.", Server),
  clients_may_name: flag("Whether a chat may name an MCP server by its address.", false),
});
