// The protocols whose providers may have a web search of their own that clients of other protocols can use. In chat completions the
// search belongs to single models and vendors, so that there is no form that all of them know.

import type { OwnSearch } from "../own-search.ts";
import { ANTHROPIC } from "./anthropic/messages.ts";
import { anthropicSearch } from "./anthropic/search.ts";
import { GEMINI } from "./gemini/contents.ts";
import { geminiSearch } from "./gemini/search.ts";
import { RESPONSES } from "./responses/input.ts";
import { responsesSearch } from "./responses/search.ts";

/** By the name of the dialect. */
export const OWN_SEARCHES: ReadonlyMap<string, OwnSearch> = new Map([
  [ANTHROPIC, anthropicSearch],
  [RESPONSES, responsesSearch],
  [GEMINI, geminiSearch],
]);
