// Reads the tools and the tool choice of a chat completions request.

import { isRecord } from "../../base/json-object.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../chat/request.ts";
import {
  at,
  type Check,
  expectBoolean,
  expectFields,
  expectListOf,
  expectOneOf,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
} from "../check.ts";

const ORIGIN = "openai-chat";

/** The tools of the request, including those in the legacy form. */
export function toolsOf(body: Fields): Tool[] {
  const tools = maybe(body, "tools", expectListOf(toolOf)) ?? [];
  // The legacy form of tools.
  const legacy = maybe(body, "functions", expectListOf(functionOf)) ?? [];
  return [...tools, ...legacy];
}

const toolOf: Check<Tool> = (value, path) => {
  const fields = expectFields(value, path);
  const type = need(fields, "type", expectText, path);
  if (type === "function") {
    return {
      ...functionOf(need(fields, "function", expectFields, path), at(path, "function")),
      ...given({ cacheControl: maybe(fields, "cache_control", expectFields, path) }),
    };
  }
  if (type === "custom") {
    const inner = at(path, "custom");
    const custom = need(fields, "custom", expectFields, path);
    return {
      type: "custom",
      name: need(custom, "name", expectText, inner),
      ...given({
        description: maybe(custom, "description", expectString, inner),
        format: maybe(custom, "format", expectFields, inner),
      }),
    };
  }
  return { type: "server", origin: ORIGIN, name: type, value: fields };
};

const functionOf: Check<FunctionTool> = (value, path) => {
  const fields = expectFields(value, path);
  return {
    type: "function",
    name: need(fields, "name", expectText, path),
    ...given({
      description: maybe(fields, "description", expectString, path),
      parameters: maybe(fields, "parameters", expectFields, path),
      strict: maybe(fields, "strict", expectBoolean, path),
    }),
  };
};

/** The tool choice, including the legacy form. */
export function toolChoiceOf(body: Fields): ToolChoice | undefined {
  const value = body["tool_choice"] ?? body["function_call"];
  const path = body["tool_choice"] === undefined ? "function_call" : "tool_choice";
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") {
    const word = expectOneOf("auto", "none", "required", "any")(value, path);
    // `any` is Mistral's name for `required`.
    return { type: word === "any" ? "required" : word };
  }
  const fields = expectFields(value, path);
  if (path === "function_call") return { type: "tool", name: need(fields, "name", expectText, path) };
  const type = need(fields, "type", expectOneOf("function", "custom", "allowed_tools"), path);
  if (type === "allowed_tools") return allowedOf(need(fields, type, expectFields, path), at(path, type));
  const named = need(fields, type, expectFields, path);
  return { type: "tool", name: need(named, "name", expectText, at(path, type)), kind: type };
}

function allowedOf(fields: Fields, path: string): ToolChoice {
  const mode = maybe(fields, "mode", expectOneOf("auto", "required"), path) ?? "auto";
  const names = need(fields, "tools", expectListOf(expectFields), path).map((tool, i) => {
    const inner = `${path}.tools[${i}]`;
    const holder = [tool["function"], tool["custom"]].find(isRecord) ?? tool;
    const type = tool["type"];
    // A tool that the provider runs is chosen by its type alone.
    const isServer = typeof type === "string" && type !== "function" && type !== "custom";
    return isServer ? type : need(holder, "name", expectText, inner);
  });
  return { type: "allowed", mode, names };
}
