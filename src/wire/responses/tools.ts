// Reads the tools and the tool choice of the responses format, in its flat form and in the nested form of chat completions.

import { isRecord } from "../../base/json-object.ts";
import type { DeclaredTool } from "../../chat/directions.ts";
import type { CustomTool, FunctionTool, ToolChoice } from "../../chat/request.ts";
import {
  at,
  expectBoolean,
  expectFields,
  expectList,
  expectOneOf,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
  reject,
} from "../check.ts";

/** The protocol's name in `origin`. */
export const RESPONSES_ORIGIN = "openai-responses";

/** Reads the tools in order. The members of a namespace become separate entries with its name. */
export function readTools(value: unknown, path: string): DeclaredTool[] {
  return expectList(value, path).flatMap((element, i) => readTool(expectFields(element, at(path, i)), at(path, i)));
}

function readTool(tool: Fields, path: string, namespace?: string): DeclaredTool[] {
  const type = need(tool, "type", expectText, path);
  const [fields] = inner(tool, type, path);
  const deferred = fields["defer_loading"] === true;
  switch (type) {
    case "function":
      return [{ tool: readFunction(tool, path, namespace), deferred }];
    case "custom":
      return [{ tool: readCustom(tool, path, namespace), deferred }];
    case "namespace": {
      const name = need(tool, "name", expectText, path);
      const where = at(path, "tools");
      return need(tool, "tools", expectList, path).flatMap((element, i) =>
        readTool(expectFields(element, at(where, i)), at(where, i), name),
      );
    }
    default:
      return [{ tool: { type: "server", origin: RESPONSES_ORIGIN, name: type, value: tool }, deferred }];
  }
}

function readFunction(tool: Fields, path: string, namespace: string | undefined): FunctionTool {
  const [fields, where] = inner(tool, "function", path);
  return {
    type: "function",
    name: need(fields, "name", expectText, where),
    ...given({
      description: maybe(fields, "description", expectString, where),
      parameters: maybe(fields, "parameters", expectFields, where),
      strict: maybe(fields, "strict", expectBoolean, where),
      namespace,
    }),
  };
}

function readCustom(tool: Fields, path: string, namespace: string | undefined): CustomTool {
  const [fields, where] = inner(tool, "custom", path);
  return {
    type: "custom",
    name: need(fields, "name", expectText, where),
    ...given({
      description: maybe(fields, "description", expectString, where),
      format: maybe(fields, "format", expectFields, where),
      namespace,
    }),
  };
}

/** The object that contains the members: the one under `key` in the nested form, otherwise the tool itself. */
function inner(fields: Fields, key: string, path: string): [Fields, string] {
  const nested = fields[key];
  return isRecord(nested) ? [nested, at(path, key)] : [fields, path];
}

const MODES = ["auto", "none", "required"] as const;

/** Reads the tool choice; undefined for a tool that the provider runs, which only the protocol's own servers support. */
export function readToolChoice(value: unknown, path: string): ToolChoice | undefined {
  if (typeof value === "string") return { type: expectOneOf(...MODES)(value, path) };
  const choice = expectFields(value, path);
  const type = need(choice, "type", expectText, path);
  switch (type) {
    case "auto":
    case "none":
    case "required":
      return { type };
    case "function":
    case "custom": {
      const [fields, where] = inner(choice, type, path);
      return { type: "tool", name: need(fields, "name", expectText, where), kind: type };
    }
    case "allowed_tools":
      return readAllowed(choice, path);
    default:
      return undefined;
  }
}

function readAllowed(choice: Fields, path: string): ToolChoice {
  const [fields, where] = inner(choice, "allowed_tools", path);
  const tools = at(where, "tools");
  const names = need(fields, "tools", expectList, where).map((element, i) => {
    const tool = expectFields(element, at(tools, i));
    const type = need(tool, "type", expectText, at(tools, i));
    if (type !== "function" && type !== "custom") return type;
    const [named, path] = inner(tool, type, at(tools, i));
    return need(named, "name", expectText, path);
  });
  if (names.length === 0) reject(tools, `Invalid '${tools}': must name at least one tool.`);
  return { type: "allowed", mode: need(fields, "mode", expectOneOf("auto", "required"), where), names };
}
