// The list of dialects: one line each.

import type { Dialect } from "../dialect.ts";
import { anthropicMessages } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./responses.ts";

/** Every protocol that upstreams are spoken to in. */
export const DIALECTS: readonly Dialect[] = [openaiChat, openaiResponses, anthropicMessages, gemini];
