// The list of client formats: one line each.

import { chatCompletions } from "./chat-completions.ts";
import { completions } from "./completions.ts";
import type { WireFormat } from "./format.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

/** Every client format, each with its endpoint. */
export const FORMATS: readonly WireFormat[] = [chatCompletions, responses, messages, completions];
