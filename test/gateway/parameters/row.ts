// A row of the tables of parameters: the expected handling of one parameter over each upstream protocol.

/** A JSON object. */
export type Json = Record<string, unknown>;

/**
 * How a parameter is handled: - `same`: it is sent unchanged, under its own name; - `dropped`: it is not sent, and
 * `x-sallyport-dropped` names it; - `dropped NAMES`: the same, but the header has other names than the row; - `refused`: 400
 * `unsupported_parameter` with its name as `param`, and no upstream is called; - `ours`: the gateway handles it itself, and does
 * not send it unchanged; - an object: the members that the upstream gets instead.
 */
export type Fate = "same" | "dropped" | `dropped ${string}` | "refused" | "ours" | Json;

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
export const calls = (mode: Json): Json => ({ toolConfig: { functionCallingConfig: mode } });
/** The second one is always requested, so that clients can send unstored reasoning back. */
export const LOGPROBS = ["message.output_text.logprobs", "reasoning.encrypted_content"];
export const sent = { stop: ["END"] };
