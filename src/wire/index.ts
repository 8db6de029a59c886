// The list of client formats, with one line for each.

import { chatCompletionsFormat } from "./chat-completions/format.ts";
import { completionsFormat } from "./completions/format.ts";
import type { WireFormat } from "./format.ts";
import { geminiFormat } from "./gemini/format.ts";
import { messagesFormat } from "./messages/format.ts";
import { ollamaChatFormat, ollamaGenerateFormat } from "./ollama/format.ts";
import { responsesFormat } from "./responses/format.ts";

/** All client formats, each with its endpoint. */
export const WIRE_FORMATS: readonly WireFormat[] = [
  chatCompletionsFormat,
  responsesFormat,
  messagesFormat,
  completionsFormat,
  ollamaChatFormat,
  ollamaGenerateFormat,
  geminiFormat,
];
