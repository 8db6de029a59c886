// Reads the tools and the tool choice of a chat completions request.

import { isRecord } from "../../base/json-object.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../chat/request.ts";
import * as check from "../check.ts";

const ORIGIN = "openai-chat";

/** The tools of the request, including those in the legacy form. */
export function toolsOf(body: check.Fields): Tool[] {
  const tools = check.maybe(body, "tools", expectTools) ?? [];
  // The legacy form of tools.
  const legacy = check.maybe(body, "functions", expectFunctions);
  return legacy === undefined ? tools : [...tools, ...legacy];
}

const expectTools: check.Check<Tool[]> = (value, path) => check.expectListOf(toolOf)(value, path);
const expectFunctions: check.Check<Tool[]> = (value, path) => check.expectListOf(functionOf)(value, path);

const toolOf: check.Check<Tool> = (value, path) => {
  const fields = check.expectFields(value, path);
  const type = check.need(fields, "type", check.expectText, path);
  if (type === "function") {
    return {
      ...functionOf(check.need(fields, "function", check.expectFields, path), check.at(path, "function")),
      ...check.given({ cacheControl: check.maybe(fields, "cache_control", check.expectFields, path) }),
    };
  }
  if (type === "custom") {
    const inner = check.at(path, "custom");
    const custom = check.need(fields, "custom", check.expectFields, path);
    return {
      type: "custom",
      name: check.need(custom, "name", check.expectText, inner),
      ...check.given({
        description: check.maybe(custom, "description", check.expectString, inner),
        format: check.maybe(custom, "format", check.expectFields, inner),
      }),
    };
  }
  return { type: "server", origin: ORIGIN, name: type, value: fields };
};

const functionOf: check.Check<FunctionTool> = (value, path) => {
  const fields = check.expectFields(value, path);
  return {
    type: "function",
    name: check.need(fields, "name", check.expectText, path),
    ...check.given({
      description: check.maybe(fields, "description", check.expectString, path),
      parameters: check.maybe(fields, "parameters", check.expectFields, path),
      strict: check.maybe(fields, "strict", check.expectBoolean, path),
    }),
  };
};

/** The tool choice, including the legacy form. */
export function toolChoiceOf(body: check.Fields): ToolChoice | undefined {
  const value = body["tool_choice"] ?? body["function_call"];
  const path = body["tool_choice"] === undefined ? "function_call" : "tool_choice";
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") {
    const word = check.expectOneOf("auto", "none", "required", "any")(value, path);
    // `any` is Mistral's name for `required`.
    return { type: word === "any" ? "required" : word };
  }
  const fields = check.expectFields(value, path);
  if (path === "function_call") return { type: "tool", name: check.need(fields, "name", check.expectText, path) };
  const type = check.need(fields, "type", check.expectOneOf("function", "custom", "allowed_tools"), path);
  if (type === "allowed_tools")
    return allowedOf(check.need(fields, type, check.expectFields, path), check.at(path, type));
  const named = check.need(fields, type, check.expectFields, path);
  return { type: "tool", name: check.need(named, "name", check.expectText, check.at(path, type)), kind: type };
}

function allowedOf(fields: check.Fields, path: string): ToolChoice {
  const mode = check.maybe(fields, "mode", check.expectOneOf("auto", "required"), path) ?? "auto";
  const names = check.need(fields, "tools", check.expectListOf(check.expectFields), path).map((tool, i) => {
    const inner = `${path}.tools[${i}]`;
    const holder = [tool["function"], tool["custom"]].find(isRecord) ?? tool;
    const type = tool["type"];
    // A tool that the provider runs is chosen by its type alone.
    const isServer = typeof type === "string" && type !== "function" && type !== "custom";
    return isServer ? type : check.need(holder, "name", check.expectText, inner);
  });
  return { type: "allowed", mode, names };
}
