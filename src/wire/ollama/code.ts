// What the two formats of Ollama's API do: their tables, how they read a body, and how they write an answer.

import { CHAT_NAMES } from "../chat-completions/members.ts";
import type { AnswerContext, WireFormat } from "../format.ts";
import { known } from "../unread.ts";
import { encodeOllama, OllamaWriter, type Shape } from "./answer.ts";
import { decodeOllamaChat, decodeOllamaGenerate } from "./decode.ts";
import { OLLAMA_CHAT_FIELDS, OLLAMA_GENERATE_FIELDS } from "./fields.ts";

const THINK = ["think"];

/** The part of a format that is loaded with its first request. */
type FormatCode = Pick<WireFormat, "fields" | "names" | "reads" | "decode" | "encode" | "writer">;

function formatCode(shape: Shape, fields: WireFormat["fields"], decode: WireFormat["decode"]): FormatCode {
  const shown = shape === "chat" ? { messages: MESSAGE, tools: TOOL } : {};
  return {
    fields,
    names: { ...CHAT_NAMES, ...fields.names, response_format: ["format"], reasoning: THINK, reasoning_effort: THINK },
    reads: known({ holds: { ...fields.shapes, ...shown } }),
    decode,
    encode: (result, exchange) => encodeOllama(shape, result, exchange),
    writer: (exchange: AnswerContext) => new OllamaWriter(shape, exchange),
  };
}

const MESSAGE = { reads: "role content images thinking tool_calls tool_name tool_call_id name" };
const TOOL = { reads: "type", holds: { function: { reads: "name description parameters" } } };

/** `POST /api/chat`. */
export const CHAT = formatCode("chat", OLLAMA_CHAT_FIELDS, decodeOllamaChat);
/** `POST /api/generate`. */
export const GENERATE = formatCode("generate", OLLAMA_GENERATE_FIELDS, decodeOllamaGenerate);
