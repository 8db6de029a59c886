// The MCP servers of a LiteLLM configuration. Source: docs.litellm.ai/docs/mcp.

import { lookUp } from "../../base/look-up.ts";
import { fileTextOf, fileTextsOf, fileValuesOf, type Mapping, mappingOf, type Notes, textsOf } from "./reading.ts";

/** Members that are converted, or that only describe the server. */
const CARRIED = new Set([
  "url",
  "transport",
  "command",
  "args",
  "env",
  "auth_type",
  "auth_value",
  "authentication_token",
  "static_headers",
  "headers",
  "allowed_tools",
  "description",
]);

/** Headers that carry a token, by kind of authentication. */
const TOKENS: Readonly<Record<string, (token: string) => Readonly<Record<string, string>>>> = {
  bearer_token: (token) => ({ Authorization: `Bearer ${token}` }),
  authorization: (token) => ({ Authorization: token }),
  api_key: (token) => ({ "X-API-Key": token }),
};

/** The `mcp` of the file; undefined if there are no servers. */
export function mcpSection(given: unknown, notes: Notes): Mapping | undefined {
  const servers: Record<string, Mapping> = {};
  if (given !== undefined && mappingOf(given) === undefined) notes.add("mcp_servers", "expected servers by name");
  for (const [name, value] of Object.entries(mappingOf(given) ?? {})) {
    const server = serverOf(name, mappingOf(value) ?? {}, notes);
    if (server !== undefined) servers[name] = server;
  }
  return Object.keys(servers).length === 0 ? undefined : { servers };
}

function serverOf(name: string, given: Mapping, notes: Notes): Mapping | undefined {
  const at = `mcp_servers.${name}`;
  const { url, command, transport } = given;
  const isRemote = typeof url === "string" && url !== "";
  if (name.includes("__") || !/^[\w.-]{1,64}$/.test(name)) {
    notes.add(at, "add it to `mcp.servers` under a name of letters, digits and single '_' (docs/guides/mcp.md)");
    return undefined;
  }
  if (transport === "sse" || (transport === undefined && isRemote && /\/sse\/?$/.test(url))) {
    notes.add(at, "servers over SSE are not supported: use its address over streamable HTTP in `mcp.servers.NAME.url`");
    return undefined;
  }
  if (!isRemote && (typeof command !== "string" || command === "")) {
    notes.add(at, "needs a url or a command in `mcp.servers` (docs/guides/mcp.md)");
    return undefined;
  }
  for (const key of Object.keys(given)) if (!CARRIED.has(key)) notes.add(`${at}.${key}`, reasonFor(key));
  const tools = textsOf(given["allowed_tools"]).filter((tool) => tool !== "");
  const allowed = tools.length === 0 ? {} : { tools: tools.map(fileTextOf) };
  if (!isRemote) {
    const env = fileTextsOf(given["env"]);
    return {
      command: [fileTextOf(String(command)), ...fileValuesOf(given["args"])],
      ...(Object.keys(env).length === 0 ? {} : { env }),
      ...allowed,
    };
  }
  const headers = {
    ...authOf(at, given, notes),
    ...fileTextsOf(given["headers"]),
    ...fileTextsOf(given["static_headers"]),
  };
  return { url: fileTextOf(url), ...(Object.keys(headers).length === 0 ? {} : { headers }), ...allowed };
}

function authOf(at: string, given: Mapping, notes: Notes): Readonly<Record<string, string>> {
  const kind = given["auth_type"];
  if (kind === undefined || kind === "none") return {};
  const token = given["auth_value"] ?? given["authentication_token"];
  const header = typeof kind === "string" ? lookUp(TOKENS, kind) : undefined;
  if (header !== undefined && typeof token === "string") return header(fileTextOf(token));
  notes.add(`${at}.auth_type`, "put a token into `mcp.servers.NAME.headers` (docs/guides/mcp.md)");
  return {};
}

function reasonFor(key: string): string | undefined {
  if (key === "disallowed_tools") return "`mcp.servers.NAME.tools` lists the tools that are offered";
  if (
    /^(?:access_groups|mcp_access_groups|allow_all_keys|available_on_public_internet|allowed_params|teams)$/.test(key)
  )
    return "`mcp.servers.NAME.tiers`, and keys made with `--mcp` (docs/guides/mcp.md)";
  if (
    /^(?:extra_headers|client_id|client_secret|authorization_url|token_url|registration_url|scopes|oauth2?_.*)$/.test(
      key,
    )
  )
    return "a server gets the headers of `mcp.servers.NAME.headers`, never those of clients (docs/guides/mcp.md)";
  if (key === "alias" || key === "server_name") return "a server of `mcp.servers` has one name (docs/guides/mcp.md)";
  return undefined;
}
