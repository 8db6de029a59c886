// A row of the tables of parameters: the expected handling of one parameter over each upstream protocol.

/** A JSON object. */
export type Json = Record<string, unknown>;

/**
 * What becomes of a parameter:
 * - `same`: it goes up as it is, under its own name;
 * - `dropped`: it stays here and is named in `x-sallyport-dropped`;
 * - `dropped NAMES`: the same, under other names than the row's;
 * - `refused`: 400 `unsupported_parameter` with its name as `param`, and no upstream is asked;
 * - `ours`: the gateway answers for it, and neither sends it as it is nor leaves it undone;
 * - an object: members that the upstream gets for it.
 */
export type Fate = "same" | "dropped" | `dropped ${string}` | "refused" | "ours" | Json;

export interface Row {
  /** Its name: a path into the body. The first part is the SDK's parameter. */
  name: string;
  /** Members of the body that carry it. */
  sends: Json;
  chat: Fate;
  responses: Fate;
  claude: Fate;
  gemini: Fate;
}

/** A row: the fates over chat, responses, anthropic and gemini upstreams. */
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
/** The second is asked for always, so that unstored reasoning can be handed back. */
export const LOGPROBS = ["message.output_text.logprobs", "reasoning.encrypted_content"];
export const sent = { stop: ["END"] };
