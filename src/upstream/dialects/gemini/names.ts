// The rules of Gemini's API for the names of tools.

import type { NameRules } from "../../../chat/tools.ts";

/** Gemini answers 400 to other tool names (google-gemini/gemini-cli#2966). */
export const GEMINI_NAMES: NameRules = { leadingLetter: true };
