// How long tools wait. Most clients give up on a call after a minute, and an answer that nobody reads is wasted work. Without a
// time limit in its arguments, a tool therefore answers earlier.

import type { JsonRecord, McpTool } from "./tool.ts";

const SECONDS = 50;

/** The arguments, with the default time limit if they have none. */
export function withTime(args: JsonRecord, { time }: Pick<McpTool, "time">): JsonRecord {
  if (time === undefined) return args;
  const { parameter, aliases = [], perSecond } = time;
  const isGiven = [parameter, ...aliases].some((name) => args[name] !== undefined && args[name] !== null);
  return isGiven ? args : { ...args, [parameter]: SECONDS * perSecond };
}

/** The schema with the same default. */
export function withTimeDefault(input: JsonRecord, { time }: Pick<McpTool, "time">): JsonRecord {
  if (time === undefined) return input;
  const { parameter, perSecond } = time;
  const properties = input["properties"] as Record<string, JsonRecord>;
  return {
    ...input,
    properties: { ...properties, [parameter]: { ...properties[parameter], default: SECONDS * perSecond } },
  };
}
