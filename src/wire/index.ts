// The list of client formats: one line each.

import { chatCompletions } from "./chat-completions/format.ts";
import { completions } from "./completions/format.ts";
import type { WireFormat } from "./format.ts";
import { messages } from "./messages/format.ts";
import { responses } from "./responses/format.ts";

/** Every client format, each with its endpoint. */
export const FORMATS: readonly WireFormat[] = [chatCompletions, responses, messages, completions];
