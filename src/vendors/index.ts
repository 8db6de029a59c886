// The list of vendors: one line each. The providers found in the environment and those of the sample configuration are
// in this order.

import { alibaba } from "./alibaba.ts";
import { anthropic } from "./anthropic.ts";
import { azure } from "./azure.ts";
import { bedrock, bedrockMantle } from "./bedrock.ts";
import { deepseek } from "./deepseek.ts";
import { demo } from "./demo.ts";
import { fireworks } from "./fireworks.ts";
import { foundry } from "./foundry.ts";
import { google } from "./google.ts";
import { groq } from "./groq.ts";
import { llamacpp } from "./llamacpp.ts";
import { lmstudio } from "./lmstudio.ts";
import { minimax } from "./minimax.ts";
import { mistral } from "./mistral.ts";
import type { ModelFamily } from "./model-family.ts";
import { moonshot } from "./moonshot.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import { together } from "./together.ts";
import { typesafe } from "./typesafe.ts";
import type { Vendor } from "./vendor.ts";
import { vertex } from "./vertex.ts";
import { vllm } from "./vllm.ts";
import { xai } from "./xai.ts";
import { zhipu } from "./zhipu.ts";

/** Every known vendor. */
export const VENDORS: readonly Vendor[] = [
  openai,
  anthropic,
  google,
  openrouter,
  groq,
  mistral,
  deepseek,
  xai,
  together,
  fireworks,
  ollama,
  typesafe,
  lmstudio,
  vllm,
  llamacpp,
  azure,
  demo,
  alibaba,
  zhipu,
  moonshot,
  minimax,
  bedrock,
  bedrockMantle,
  vertex,
  foundry,
];

const families = VENDORS.flatMap((vendor) => vendor.families ?? []);

/** Every family of models. The first whose pattern matches a name applies. */
export const FAMILIES: readonly ModelFamily[] = [
  ...families.filter(({ leads }) => leads === true),
  ...families.filter(({ leads }) => leads !== true),
];
