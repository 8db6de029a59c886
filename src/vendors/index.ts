// The list of model families: one line each. The first whose pattern fits a name has it.

import { claude } from "./anthropic.ts";
import { deepseekModels } from "./deepseek.ts";
import { gemini } from "./google.ts";
import { minimax } from "./minimax.ts";
import { mistralModels } from "./mistral.ts";
import type { ModelFamily } from "./model-family.ts";
import { kimi } from "./moonshot.ts";
import { codex, gpt, gptOss, oSeries } from "./openai.ts";
import { qwen } from "./qwen.ts";
import { grok } from "./xai.ts";
import { glm } from "./zhipu.ts";

/** Every family that something is known of. */
export const FAMILIES: readonly ModelFamily[] = [
  claude,
  gptOss,
  codex,
  gpt,
  oSeries,
  gemini,
  grok,
  // Before the others, whose distillations carry both names.
  deepseekModels,
  mistralModels,
  qwen,
  glm,
  kimi,
  minimax,
];
