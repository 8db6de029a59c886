// What the format of Gemini's API does: how it reads a body, and how it writes an answer.

import { geminiEnvelope } from "../../chat/gemini-shapes.ts";
import { CHAT_NAMES } from "../chat-completions/members.ts";
import type { ClientNames } from "../client-names.ts";
import { known, type ObjectShape } from "../unread.ts";
import { encodeGemini, GeminiWriter } from "./answer.ts";
import { decodeGemini, decodeGeminiInSteps } from "./decode.ts";
import { geminiEntries } from "./entries.ts";
import { GEMINI_FIELDS } from "./fields.ts";
import { openContents } from "./seals.ts";
import { usualNames } from "./spelling.ts";

const CONFIG = "generationConfig";
const THINKING = [`${CONFIG}.thinkingConfig`];
const LIMIT = [`${CONFIG}.maxOutputTokens`];

const NAMES: ClientNames = {
  ...CHAT_NAMES,
  ...GEMINI_FIELDS.names,
  max_tokens: LIMIT,
  max_completion_tokens: LIMIT,
  max_output_tokens: LIMIT,
  response_format: [`${CONFIG}.responseJsonSchema`, `${CONFIG}.responseSchema`, `${CONFIG}.responseMimeType`],
  tool_choice: ["toolConfig"],
  reasoning: THINKING,
  reasoning_effort: THINKING,
  "thinking.budget_tokens": THINKING,
  detail: [""],
};

const PART: ObjectShape = {
  reads: "text thought thoughtSignature functionCall executableCode codeExecutionResult",
  holds: {
    inlineData: { reads: "mimeType data displayName" },
    fileData: { reads: "mimeType fileUri displayName" },
    functionResponse: { reads: "id name response parts scheduling" },
  },
};
/** Tools that the provider runs are reported by their kinds. */
const TOOL: ObjectShape = {
  reads:
    "googleSearch googleSearchRetrieval codeExecution urlContext fileSearch computerUse googleMaps mcpServers enterpriseWebSearch retrieval",
  holds: {
    functionDeclarations: { reads: "name description parameters parametersJsonSchema response responseJsonSchema" },
  },
};

/** The part of the format that is loaded with its first request. */
export const GEMINI_CODE = {
  fields: GEMINI_FIELDS,
  names: NAMES,
  reads: known({
    holds: { ...GEMINI_FIELDS.shapes, contents: { reads: "role", holds: { parts: PART } }, tools: TOOL },
  }),
  decode: decodeGemini,
  decodeInSteps: decodeGeminiInSteps,
  encode: encodeGemini,
  writer: (exchange: ConstructorParameters<typeof GeminiWriter>[0]) => new GeminiWriter(exchange),
  envelope: geminiEnvelope,
  entries: geminiEntries,
  openSeals: openContents,
  usualNames,
};
