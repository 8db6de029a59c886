// Reads the tools of the messages format.

import type { DeclaredTool } from "../../chat/directions.ts";
import type { Tool } from "../../chat/request.ts";
import { type Check, expectBoolean, expectFields, expectString, expectText, given, maybe, need } from "../check.ts";
import { cache, MESSAGES_ORIGIN } from "./blocks.ts";

/** Reads a tool and whether it is deferred. */
export const readTool: Check<DeclaredTool> = (value, path) => {
  const tool = expectFields(value, path);
  const type = maybe(tool, "type", expectText, path) ?? "custom";
  const deferred = tool["defer_loading"] === true;
  // The protocol's own servers know a tool with a type of its own, whoever runs it.
  if (type !== "custom")
    return { tool: { type: "server", origin: MESSAGES_ORIGIN, name: type, value: tool }, deferred };
  return {
    tool: {
      type: "function",
      name: need(tool, "name", expectText, path),
      parameters: need(tool, "input_schema", expectFields, path),
      ...given({
        description: maybe(tool, "description", expectString, path),
        strict: maybe(tool, "strict", expectBoolean, path),
      }),
      ...cache(tool, path),
    },
    deferred,
  };
};

/** The name by which a conversation refers to a tool. */
export function toolName(tool: Tool): string {
  return tool.type === "server" && typeof tool.value["name"] === "string" ? tool.value["name"] : tool.name;
}
