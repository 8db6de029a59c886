// The backends: one line each.

import type { BackendKind, DecisionBackend } from "./backend.ts";
import { logprobs } from "./logprobs.ts";
import { openaiDecisions } from "./openai-decisions.ts";
import { systemone } from "./systemone.ts";
import { verbalized } from "./verbalized.ts";

/** By the word the configuration uses. */
export const BACKENDS: Readonly<Record<BackendKind, DecisionBackend>> = {
  systemone,
  "openai-decisions": openaiDecisions,
  logprobs,
  verbalized,
};
