// A row of the tables of parameters: the expected handling of one parameter over each upstream protocol.

import type { FormatFields } from "../../../src/wire/fields.ts";

/** A JSON object. */
export type Json = Record<string, unknown>;

/**
 * How a parameter is handled: - `same`: it is sent unchanged, under its own name; - `dropped`: it is not sent, and
 * `x-sallyport-dropped` names it; - `dropped NAMES`: the same, but the header has other names than the row; - `refused`: 400
 * `unsupported_parameter` with its name as `param`, and no upstream is called; - `ours`: the gateway handles it itself, and does
 * not send it unchanged; - `sent or dropped`: its value is somewhere in what the upstream gets, or it is dropped; - an object: the
 * members that the upstream gets instead.
 */
export type Fate = "same" | "dropped" | `dropped ${string}` | "refused" | "ours" | "sent or dropped" | Json;

export interface Row {
  /** The parameter's name, which is a path into the body. The first part is the SDK's parameter. */
  name: string;
  /** The members of the body that contain it. */
  sends: Json;
  chat: Fate;
  responses: Fate;
  claude: Fate;
  gemini: Fate;
}

/** A row: how the parameter is handled with chat, responses, anthropic and gemini upstreams. */
export function row(name: string, sends: Json, chat: Fate, responses: Fate, claude: Fate, gemini: Fate): Row {
  return { name, sends, chat, responses, claude, gemini };
}

/**
 * Rows for the parameters of a format's table for which no row was written by hand: they must be sent under any name, or be
 * reported.
 */
export function rowsOf({ fields }: FormatFields, rows: readonly Row[]): Row[] {
  return fields.flatMap(({ path, rule }) => {
    if (rows.some(({ name, sends }) => name === path || isIn(sends, path))) return [];
    const [first = "", nested] = path.split(".");
    const value = sampleOf(rule.schema);
    const sends = { [first]: nested === undefined ? value : { [nested]: value } };
    const fate = "sent or dropped";
    return [row(path, sends, fate, fate, fate, fate)];
  });
}

/** Rows for the names of the conversation, which the gateway itself keeps. */
export function threadRows(...paths: string[]): Row[] {
  return paths.map((path) => {
    const [first = "", nested] = path.split(".");
    const sends = { [first]: nested === undefined ? "a-thread" : { [nested]: "a-thread" } };
    return row(path, sends, "ours", "ours", "ours", "ours");
  });
}

function isIn(value: unknown, path: string): boolean {
  let inner = value;
  for (const name of path.split(".")) inner = (inner as Json | undefined)?.[name];
  return inner !== undefined;
}

/** A value that the schema allows, and that a request does not contain by chance. */
function sampleOf(schema: Json): unknown {
  const { type, minimum = 0, maximum = 97 } = schema as { type?: string; minimum?: number; maximum?: number };
  switch (type) {
    case "boolean":
      return true;
    case "integer":
      return Math.ceil((minimum + maximum) / 2);
    case "number":
      return minimum + (maximum - minimum) * 0.4375;
    case "array":
      return ["a-sample"];
    case "object":
      return { a_sample: "a-sample" };
    default:
      return "a-sample";
  }
}

export const config = (members: Json): Json => ({ generationConfig: members });
export const schema = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};
export const fn = { name: "f", description: "d", parameters: schema };
export const chatTools = { tools: [{ type: "function", function: fn }] };
export const flatTools = { tools: [{ type: "function", ...fn }] };
export const claudeTools = { tools: [{ name: "f", description: "d", input_schema: schema }] };
export const geminiTools = { tools: [{ functionDeclarations: [{ name: "f", description: "d" }] }] };
/** The function that stands for the gateway's own search. */
export const searches = {
  chat: { tools: [{ type: "function", function: { name: "web_search" } }] },
  responses: { tools: [{ type: "function", name: "web_search" }] },
  claude: { tools: [{ name: "web_search", input_schema: {} }] },
  gemini: { tools: [{ functionDeclarations: [{ name: "web_search" }] }] },
};
/** The search that a provider runs itself, in its own form. */
export const ownSearches = {
  responses: { tools: [{ type: "web_search" }] },
  claude: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
  gemini: { tools: [{ googleSearch: {} }] },
};
export const calls = (mode: Json): Json => ({ toolConfig: { functionCallingConfig: mode } });
/** The second one is always requested, so that clients can send unstored reasoning back. */
export const LOGPROBS = ["message.output_text.logprobs", "reasoning.encrypted_content"];
export const sent = { stop: ["END"] };
