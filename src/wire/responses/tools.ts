// Reads the tools and the tool choice of the responses format, in its flat form and in the nested form of chat completions.

import { isRecord } from "../../base/json-object.ts";
import type { DeclaredTool } from "../../chat/directions.ts";
import type { CustomTool, FunctionTool, ToolChoice } from "../../chat/request.ts";
import * as check from "../check.ts";

/** The protocol's name in `origin`. */
export const RESPONSES_ORIGIN = "openai-responses";

/** Reads the tools in order. The members of a namespace become separate entries with its name. */
export function readTools(value: unknown, path: string): DeclaredTool[] {
  return check
    .expectList(value, path)
    .flatMap((element, i) => readTool(check.expectFields(element, check.at(path, i)), check.at(path, i)));
}

function readTool(tool: check.Fields, path: string, namespace?: string): DeclaredTool[] {
  const type = check.need(tool, "type", check.expectText, path);
  const [fields] = inner(tool, type, path);
  const deferred = fields["defer_loading"] === true;
  switch (type) {
    case "function":
      return [{ tool: readFunction(tool, path, namespace), deferred }];
    case "custom":
      return [{ tool: readCustom(tool, path, namespace), deferred }];
    case "namespace": {
      const name = check.need(tool, "name", check.expectText, path);
      const where = check.at(path, "tools");
      return check
        .need(tool, "tools", check.expectList, path)
        .flatMap((element, i) => readTool(check.expectFields(element, check.at(where, i)), check.at(where, i), name));
    }
    default:
      return [{ tool: { type: "server", origin: RESPONSES_ORIGIN, name: type, value: tool }, deferred }];
  }
}

function readFunction(tool: check.Fields, path: string, namespace: string | undefined): FunctionTool {
  const [fields, where] = inner(tool, "function", path);
  return {
    type: "function",
    name: check.need(fields, "name", check.expectText, where),
    ...check.given({
      description: check.maybe(fields, "description", check.expectString, where),
      parameters: check.maybe(fields, "parameters", check.expectFields, where),
      strict: check.maybe(fields, "strict", check.expectBoolean, where),
      namespace,
    }),
  };
}

function readCustom(tool: check.Fields, path: string, namespace: string | undefined): CustomTool {
  const [fields, where] = inner(tool, "custom", path);
  return {
    type: "custom",
    name: check.need(fields, "name", check.expectText, where),
    ...check.given({
      description: check.maybe(fields, "description", check.expectString, where),
      format: check.maybe(fields, "format", check.expectFields, where),
      namespace,
    }),
  };
}

/** The object that contains the members: the one under `key` in the nested form, otherwise the tool itself. */
function inner(fields: check.Fields, key: string, path: string): [check.Fields, string] {
  const nested = fields[key];
  return isRecord(nested) ? [nested, check.at(path, key)] : [fields, path];
}

const MODES = ["auto", "none", "required"] as const;

/** Reads the tool choice; undefined for a tool that the provider runs, which only the protocol's own servers support. */
export function readToolChoice(value: unknown, path: string): ToolChoice | undefined {
  if (typeof value === "string") return { type: check.expectOneOf(...MODES)(value, path) };
  const choice = check.expectFields(value, path);
  const type = check.need(choice, "type", check.expectText, path);
  switch (type) {
    case "auto":
    case "none":
    case "required":
      return { type };
    case "function":
    case "custom": {
      const [fields, where] = inner(choice, type, path);
      return { type: "tool", name: check.need(fields, "name", check.expectText, where), kind: type };
    }
    case "allowed_tools":
      return readAllowed(choice, path);
    default:
      return undefined;
  }
}

function readAllowed(choice: check.Fields, path: string): ToolChoice {
  const [fields, where] = inner(choice, "allowed_tools", path);
  const tools = check.at(where, "tools");
  const names = check.need(fields, "tools", check.expectList, where).map((element, i) => {
    const tool = check.expectFields(element, check.at(tools, i));
    const type = check.need(tool, "type", check.expectText, check.at(tools, i));
    if (type !== "function" && type !== "custom") return type;
    const [named, path] = inner(tool, type, check.at(tools, i));
    return check.need(named, "name", check.expectText, path);
  });
  if (names.length === 0) check.reject(tools, `Invalid '${tools}': must name at least one tool.`);
  return { type: "allowed", mode: check.need(fields, "mode", check.expectOneOf("auto", "required"), where), names };
}
