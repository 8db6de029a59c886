// How clients of the messages format name MCP servers, and see what was called.

import { isRecord } from "../../base/json-object.ts";
import type { ChatRequest, ServerTool, Tool } from "../../chat/request.ts";
import * as check from "../check.ts";
import type { McpBlock, McpCallBlock, McpFormat, NamedMcpServer } from "../mcp-format.ts";
import { MESSAGES_ORIGIN } from "./blocks.ts";

const MEMBER = "mcp_servers";
/** The tools that say which of a server's are enabled, in the newer form. */
const TOOLSET = "mcp_toolset";

/** Loaded with the first request that needs it. */
export const mcpOfMessages: McpFormat = {
  origin: MESSAGES_ORIGIN,
  named(chat) {
    const listed = chat.extra[MEMBER];
    if (listed === undefined || listed === null) return [];
    const sets = toolsetsOf(chat);
    return check.expectList(listed, MEMBER).map((element, i) => readServer(element, check.at(MEMBER, i), sets));
  },
  without({ tools, extra }, labels) {
    const { [MEMBER]: listed, ...others } = extra;
    const left = Array.isArray(listed)
      ? listed.filter((server: unknown) => !isRecord(server) || !labels.has(String(server["name"])))
      : [];
    return {
      tools: tools.filter((tool) => !isToolset(tool) || !labels.has(String(tool.value["mcp_server_name"]))),
      extra: left.length === 0 ? others : { ...others, [MEMBER]: left },
    };
  },
  call: readCall,
  // Its use holds both.
  beside: (block) => (block["type"] === "mcp_tool_result" ? { callId: String(block["tool_use_id"]) } : undefined),
};

function isToolset(tool: Tool): tool is ServerTool {
  return tool.type === "server" && tool.origin === MESSAGES_ORIGIN && tool.name === TOOLSET;
}

/** The first set of each server's tools. */
function toolsetsOf({ tools }: ChatRequest): ReadonlyMap<unknown, ServerTool> {
  const sets = new Map<unknown, ServerTool>();
  for (const tool of tools) {
    if (!isToolset(tool)) continue;
    const label = tool.value["mcp_server_name"];
    if (!sets.has(label)) sets.set(label, tool);
  }
  return sets;
}

function readServer(element: unknown, path: string, sets: ReadonlyMap<unknown, ServerTool>): NamedMcpServer {
  const server = check.expectFields(element, path);
  const label = check.need(server, "name", check.expectText, path);
  const token = check.maybe(server, "authorization_token", check.expectText, path);
  const set = sets.get(label);
  const settings = check.maybe(server, "tool_configuration", check.expectFields, path) ?? {};
  return {
    label,
    url: check.maybe(server, "url", check.expectText, path),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    param: path,
    allows: set === undefined ? allowedBy(settings, check.at(path, "tool_configuration")) : enabledBy(set.value),
    // The protocol has no approval.
    needsApproval: () => false,
  };
}

function allowedBy(settings: check.Fields, path: string): NamedMcpServer["allows"] {
  const isEnabled = check.maybe(settings, "enabled", check.expectBoolean, path) ?? true;
  const names = check.maybe(settings, "allowed_tools", check.expectList, path);
  const allowed = names && new Set(names.map((name, i) => check.expectString(name, check.at(path, i))));
  return ({ name }) => isEnabled && (allowed === undefined || allowed.has(name));
}

function enabledBy({ default_config: usual, configs }: check.Fields): NamedMcpServer["allows"] {
  const isOn = (value: unknown) =>
    isRecord(value) && typeof value["enabled"] === "boolean" ? value["enabled"] : undefined;
  const own = isRecord(configs) ? configs : {};
  return ({ name }) => isOn(Object.hasOwn(own, name) ? own[name] : undefined) ?? isOn(usual) ?? true;
}

function readCall(block: McpBlock, resultOf: (id: unknown) => McpBlock | undefined): McpCallBlock | undefined {
  if (block["type"] !== "mcp_tool_use") return undefined;
  const { id, server_name: label, name, input } = block;
  const result = resultOf(id);
  return {
    label: String(label ?? ""),
    callId: String(id),
    name: String(name ?? ""),
    input: JSON.stringify(input ?? {}),
    // The protocol's servers refuse a call without its result; here the model is told.
    result:
      result === undefined
        ? { text: "The call was not finished.", isError: true }
        : { text: textOf(result["content"]), isError: result["is_error"] === true },
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: unknown) => (isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}
