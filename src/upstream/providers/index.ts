// The list of provider cards: one line each.

import type { ProviderCard } from "../provider.ts";
import { anthropic } from "./anthropic.ts";
import { azure, azureByResponses } from "./azure.ts";
import { deepseek } from "./deepseek.ts";
import { fireworks } from "./fireworks.ts";
import { gemini } from "./gemini.ts";
import { groq } from "./groq.ts";
import { llamacpp } from "./llamacpp.ts";
import { lmstudio } from "./lmstudio.ts";
import { mistral } from "./mistral.ts";
import { ollama } from "./ollama.ts";
import { openai, openaiByResponses } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import { together } from "./together.ts";
import { vllm } from "./vllm.ts";
import { xai } from "./xai.ts";

/** What is known of vendors, by the preset names of the configuration; several dialects of a vendor are several cards. */
export const CARDS: readonly ProviderCard[] = [
  openai,
  openaiByResponses,
  anthropic,
  gemini,
  openrouter,
  groq,
  mistral,
  deepseek,
  xai,
  together,
  fireworks,
  ollama,
  lmstudio,
  vllm,
  llamacpp,
  azure,
  azureByResponses,
];
