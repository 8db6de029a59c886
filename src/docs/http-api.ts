// The HTTP API as text for people: the document's endpoints by group, each as Markdown. Anchors are operation names, which
// are stable.

import type { Json } from "./schemas.ts";
import { table } from "./table.ts";

/** An endpoint of the document, with its path. */
export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  /** Its part of the document. */
  readonly is: Json;
}

/** A group of endpoints. */
export interface ApiGroup {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly ApiOperation[];
}

/** The groups in the document's order. */
export function groupsOf(document: Json): ApiGroup[] {
  const operations = Object.entries(document["paths"] as Record<string, Record<string, Json>>).flatMap(
    ([path, item]): ApiOperation[] =>
      Object.entries(item).map(([method, is]) => ({ method: method.toUpperCase(), path, is })),
  );
  return (document["tags"] as { name: string; description: string }[]).map((tag) => ({
    ...tag,
    operations: operations.filter(({ is }) => (is["tags"] as string[])[0] === tag.name),
  }));
}

/** The endpoint's anchor. */
export function anchorOf({ is }: ApiOperation): string {
  return String(is["operationId"]).toLowerCase();
}

/** A group's name in addresses: letters, digits and hyphens alone, since programs that find links in text stop at an apostrophe. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(/[^a-z0-9]+/g, "-");
}

/** One endpoint, under a third-level heading and its anchor. */
export function operationMarkdown(document: Json, operation: ApiOperation): string {
  const { method, path, is } = operation;
  const parameters = (is["parameters"] as Json[] | undefined) ?? [];
  const body = (is["requestBody"] as { content: Record<string, Json> } | undefined)?.content;
  const [type, sent] = Object.entries(body ?? {})[0] ?? [];
  const examples = Object.values((sent?.["examples"] as Record<string, { value: unknown }> | undefined) ?? {});
  return [
    `<a id="${anchorOf(operation)}"></a>`,
    `### \`${method} ${path}\``,
    `**${String(is["summary"]).replace(/\?$/, "")}${/\?$/.test(String(is["summary"])) ? "?" : "."}** ${is["description"]}`,
    `Needs: ${credential(is["security"] as Json[])}`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ["parameter", "in", "type", ""],
            parameters.map((one) => parameterRow(document, one)),
          ),
        ]),
    ...(sent === undefined ? [] : [bodyText(document, String(type), sent["schema"] as Json)]),
    ...examples.slice(0, 1).map(({ value }) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``),
    ...answers(document, is["responses"] as Record<string, Json>),
  ].join("\n\n");
}

function credential(security: readonly Json[]): string {
  if (security.length === 0) return "nothing.";
  return `${security.map(credentialName).join(" or ")}.`;
}

/** How an entry of an operation's `security` is called. */
function credentialName(scheme: Json): string {
  if ("apiKey" in scheme) return "an API key";
  return "managementKey" in scheme ? "a management key" : "an access token";
}

function parameterRow(document: Json, parameter: Json): string[] {
  const name = `\`${parameter["name"]}\`${parameter["required"] === true ? " (required)" : ""}`;
  return [
    name,
    String(parameter["in"]),
    typeText(document, parameter["schema"] as Json),
    String(parameter["description"] ?? ""),
  ];
}

function bodyText(document: Json, type: string, schema: Json): string {
  const { properties = {}, required = [] } = follow(document, schema) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, member]) => [
    `\`${name}\`${required.includes(name) ? " (required)" : ""}`,
    typeText(document, member),
    String(follow(document, member)["description"] ?? ""),
  ]);
  return `Body, \`${type}\`:\n\n${table(["member", "type", ""], rows)}`;
}

function answers(document: Json, responses: Record<string, Json>): string[] {
  const good = Object.entries(responses).filter(([status]) => /^[23]/.test(status));
  const bad = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
  return [
    ...good.map(([status, is]) => {
      const content = (is["content"] as Record<string, Json> | undefined) ?? {};
      const forms = Object.entries(content).map(([type, { schema }]) => formText(document, type, schema as Json));
      return [`Answers ${status}: ${is["description"]}`, ...forms].join("\n\n");
    }),
    ...(bad.length === 0
      ? []
      : [
          `Fails with:\n\n${table(
            ["status", "codes"],
            bad.map(([status, is]) => [status, String(is["description"])]),
          )}`,
        ]),
  ];
}

function formText(document: Json, type: string, schema: Json): string {
  const { properties } = follow(document, schema) as { properties?: Record<string, Json> };
  if (properties === undefined) return `\`${type}\`: ${typeText(document, schema)}`;
  const rows = Object.entries(properties).map(([name, member]) => [
    `\`${name}\``,
    typeText(document, member),
    String(follow(document, member)["description"] ?? ""),
  ]);
  return `\`${type}\`:\n\n${table(["member", "type", ""], rows)}`;
}

/** The schema with its reference resolved. */
function follow(document: Json, schema: Json): Json {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  let at: unknown = document;
  for (const name of $ref.slice(2).split("/")) at = (at as Json)[name];
  return at as Json;
}

/** A short description of a value: `integer 1–20, default 5`. */
function typeText(document: Json, given: Json): string {
  const schema = follow(document, given);
  const { minimum, maximum, minItems, maxItems, maxLength } = schema;
  const notes = [
    range(minimum, maximum),
    range(minItems, maxItems, "items"),
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
    schema["default"] === undefined ? "" : `default \`${JSON.stringify(schema["default"])}\``,
  ].filter((note) => note !== "");
  return [kind(document, schema), ...notes].join(", ");
}

function range(least: unknown, most: unknown, of = ""): string {
  const unit = of === "" ? "" : ` ${of}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? "" : `at most ${most}${unit}`;
}

function kind(document: Json, schema: Json): string {
  const { type, anyOf, items } = schema;
  if (schema["const"] !== undefined) return `\`${JSON.stringify(schema["const"])}\``;
  if (Array.isArray(schema["enum"])) return (schema["enum"] as unknown[]).map((one) => `\`${one}\``).join(", ");
  if (Array.isArray(anyOf)) {
    return [...new Set((anyOf as Json[]).map((one) => kind(document, follow(document, one))))].join(" or ");
  }
  if (type === "array") return `list of ${kind(document, follow(document, (items ?? {}) as Json))}`;
  return typeof type === "string" ? type : "anything";
}
