// The list of dialects, with one line for each.

import type { Dialect } from "../dialect.ts";
import { anthropicMessages } from "./anthropic/dialect.ts";
import { gemini } from "./gemini/dialect.ts";
import { openaiChat } from "./openai-chat/dialect.ts";
import { openaiResponses } from "./responses/dialect.ts";

/** All upstream protocols. */
export const DIALECTS: readonly Dialect[] = [openaiChat, openaiResponses, anthropicMessages, gemini];
