// How clients of the responses format name MCP servers, and see what was called.

import { isRecord } from "../../base/json-object.ts";
import type { ServerTool, Tool } from "../../chat/request.ts";
import * as check from "../check.ts";
import type { ListedMcpTool, McpBlock, McpCallBlock, McpFormat, NamedMcpServer } from "../mcp-format.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** Loaded with the first request that needs it. */
export const mcpOfResponses: McpFormat = {
  origin: RESPONSES_ORIGIN,
  named: ({ tools }, body) => {
    const places = new Map(Array.isArray(body["tools"]) ? body["tools"].map((tool, at) => [tool, at]) : []);
    return tools.filter(isServer).map(({ value }) => readServer(value, pathOf(places.get(value))));
  },
  without: ({ tools, extra }, labels) => ({
    tools: tools.filter((tool) => !isServer(tool) || !labels.has(String(tool.value["server_label"]))),
    extra,
  }),
  call: readCall,
  beside: (block) => (block["type"] === "mcp_list_tools" ? { label: String(block["server_label"] ?? "") } : undefined),
  approval: (block) =>
    block["type"] === "mcp_approval_response"
      ? {
          id: String(block["approval_request_id"]),
          approve: block["approve"] === true,
          reason: typeof block["reason"] === "string" ? block["reason"] : "",
        }
      : undefined,
  listed: (label, tools, error) => ({
    id: newId("mcpl"),
    type: "mcp_list_tools",
    server_label: label,
    tools: tools.map(listedTool),
    ...(error === undefined ? {} : { error }),
  }),
  asked: (id, { label, name, input }) => ({
    id,
    type: "mcp_approval_request",
    server_label: label,
    name,
    arguments: input,
  }),
};

function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}

function isServer(tool: Tool): tool is ServerTool {
  if (tool.type !== "server" || tool.origin !== RESPONSES_ORIGIN || tool.name !== "mcp") return false;
  // Connectors and tunnels are the provider's own.
  return tool.value["server_url"] != null || (tool.value["connector_id"] ?? tool.value["tunnel_id"]) == null;
}

function listedTool({ name, description, inputSchema, isReadOnly }: ListedMcpTool): McpBlock {
  return {
    name,
    input_schema: inputSchema,
    // Some clients take these members with a value alone.
    ...(description === undefined ? {} : { description }),
    ...(isReadOnly ? { annotations: { readOnlyHint: true } } : {}),
  };
}

type ToolFilter = (tool: { readonly name: string; readonly isReadOnly: boolean }) => boolean;

/** Where a tool stands in the body; further in, if a namespace or an item of the input has it. */
function pathOf(index: number | undefined): string {
  return index === undefined ? "tools" : check.at("tools", index);
}

function readServer(value: check.Fields, param: string): NamedMcpServer {
  const label = check.need(value, "server_label", check.expectText, param);
  const url = check.maybe(value, "server_url", check.expectText, param);
  const token = check.maybe(value, "authorization", check.expectText, param);
  const allows = filterOf(value["allowed_tools"], check.at(param, "allowed_tools")) ?? (() => true);
  const approval = approvalOf(value["require_approval"], check.at(param, "require_approval"));
  return {
    label,
    url,
    headers: {
      ...headersOf(value["headers"], param),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    param,
    allows,
    needsApproval: approval,
  };
}

function headersOf(value: unknown, param: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  const where = check.at(param, "headers");
  const fields = check.expectFields(value, where);
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => [name.toLowerCase(), check.expectString(text, check.at(where, name))]),
  );
}

/** The tools that a list of names or a filter admits; undefined if nothing is said. */
function filterOf(value: unknown, path: string): ToolFilter | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) {
    const names = new Set(value.map((name, i) => check.expectString(name, check.at(path, i))));
    return ({ name }) => names.has(name);
  }
  const filter = check.expectFields(value, path);
  const named = filterOf(filter["tool_names"], check.at(path, "tool_names"));
  const isReadOnly = check.maybe(filter, "read_only", check.expectBoolean, path);
  return (tool) => (named?.(tool) ?? true) && (isReadOnly === undefined || tool.isReadOnly === isReadOnly);
}

function approvalOf(value: unknown, path: string): NamedMcpServer["needsApproval"] {
  if (value === undefined || value === null) return () => undefined;
  if (typeof value === "string") {
    const isAlways = check.expectOneOf("always", "never")(value, path) === "always";
    return () => isAlways;
  }
  const { always, never } = check.expectFields(value, path);
  const asks = filterOf(always, check.at(path, "always"));
  const spares = filterOf(never, check.at(path, "never"));
  // What neither filter names is asked about, as without a filter.
  return (tool) => (asks?.(tool) === true ? true : spares?.(tool) !== true);
}

function readCall(block: McpBlock): McpCallBlock | undefined {
  const { type, id, call_id: callId, server_label: label, name, arguments: input } = block;
  if (type !== "mcp_call" && type !== "mcp_approval_request") return undefined;
  const call = {
    label: String(label ?? ""),
    callId: String(callId ?? id),
    name: String(name ?? ""),
    input: typeof input === "string" ? input : "{}",
  };
  if (type === "mcp_approval_request") return { ...call, approvalId: String(id) };
  const { output, error, approval_request_id: approvalId } = block;
  return {
    ...call,
    result: resultOf(output, error),
    ...(typeof approvalId === "string" ? { approvalId } : {}),
  };
}

function resultOf(output: unknown, error: unknown): { text: string; isError: boolean } {
  if (error === undefined || error === null) return { text: typeof output === "string" ? output : "", isError: false };
  if (typeof error === "string") return { text: error, isError: true };
  const { message, content } = isRecord(error) ? error : {};
  const first = Array.isArray(content) ? (content[0] as unknown) : undefined;
  const text = isRecord(first) && typeof first["text"] === "string" ? first["text"] : message;
  return { text: typeof text === "string" ? text : "The call failed.", isError: true };
}
