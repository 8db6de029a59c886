// The schemas of endpoints in the form in which tools show them: plain JSON Schema without names and references.

import type { ApiEndpoint } from "../http/endpoint.ts";
import type { EndpointSchemas, JsonRecord, McpTool } from "./tool.ts";
import { withTimeDefault } from "./waiting.ts";

/** Lists of tools are not rate limited, so their common part is computed once. */
const made = new WeakMap<readonly ApiEndpoint[], Map<McpTool, EndpointSchemas>>();

/** The parameters and the answer of a tool's endpoint. They are shared and must not be changed. */
export function schemasOf(tool: McpTool, endpoints: readonly ApiEndpoint[]): EndpointSchemas {
  const known = made.get(endpoints) ?? new Map<McpTool, EndpointSchemas>();
  made.set(endpoints, known);
  const schemas = known.get(tool) ?? makeSchemas(tool, endpoints);
  known.set(tool, schemas);
  return schemas;
}

function makeSchemas(tool: McpTool, endpoints: readonly ApiEndpoint[]): EndpointSchemas {
  const found = endpoints.find(({ method, path }) => `${method} ${path}` === tool.endpoint);
  if (found?.answer.schema === undefined) throw new Error(`No endpoint ${tool.endpoint} with a schema.`);
  const input = found.body === undefined ? { type: "object", properties: {} } : plain(found.body.schema);
  return {
    input: withTimeDefault(input, tool),
    output: without(plain(found.answer.schema), tool.omits ?? []),
  };
}

function plain(schema: unknown): JsonRecord {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (name === "$id" ? undefined : value)),
  ) as JsonRecord;
}

function without({ properties, required, ...rest }: JsonRecord, names: readonly string[]): JsonRecord {
  const kept = Object.entries(properties as JsonRecord).filter(([name]) => !names.includes(name));
  const needed = (required as string[] | undefined)?.filter((name) => !names.includes(name));
  return { ...rest, properties: Object.fromEntries(kept), ...(needed === undefined ? {} : { required: needed }) };
}
