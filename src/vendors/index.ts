// The list of vendors: one line each. The providers found in the environment and those of the sample configuration are
// in this order.

import { alibaba } from "./alibaba.ts";
import { anthropic } from "./anthropic.ts";
import { azure } from "./azure.ts";
import { baseten } from "./baseten.ts";
import { bedrock, bedrockMantle } from "./bedrock.ts";
import { cerebras } from "./cerebras.ts";
import { cloudflare } from "./cloudflare.ts";
import { cohere } from "./cohere.ts";
import { databricks } from "./databricks.ts";
import { deepgram } from "./deepgram.ts";
import { deepinfra } from "./deepinfra.ts";
import { deepseek } from "./deepseek.ts";
import { demo } from "./demo.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { fireworks } from "./fireworks.ts";
import { foundry } from "./foundry.ts";
import { githubModels } from "./github.ts";
import { google } from "./google.ts";
import { groq } from "./groq.ts";
import { helicone } from "./helicone.ts";
import { huggingface } from "./huggingface.ts";
import { hyperbolic } from "./hyperbolic.ts";
import { jina } from "./jina.ts";
import { litellm } from "./litellm.ts";
import { llamacpp } from "./llamacpp.ts";
import { lmstudio } from "./lmstudio.ts";
import { minimax } from "./minimax.ts";
import { mistral } from "./mistral.ts";
import type { ModelFamily } from "./model-family.ts";
import { moonshot } from "./moonshot.ts";
import { nebius } from "./nebius.ts";
import { novita } from "./novita.ts";
import { nvidia } from "./nvidia.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import { perplexity } from "./perplexity.ts";
import { portkey } from "./portkey.ts";
import { sambanova } from "./sambanova.ts";
import { siliconflow } from "./siliconflow.ts";
import { snowflake } from "./snowflake.ts";
import { stepfun } from "./stepfun.ts";
import { together } from "./together.ts";
import { typesafe } from "./typesafe.ts";
import type { Vendor } from "./vendor.ts";
import { vercel } from "./vercel.ts";
import { vertex } from "./vertex.ts";
import { vllm } from "./vllm.ts";
import { volcengine } from "./volcengine.ts";
import { voyage } from "./voyage.ts";
import { xai } from "./xai.ts";
import { zai } from "./zai.ts";
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
  perplexity,
  cohere,
  cerebras,
  sambanova,
  nvidia,
  huggingface,
  deepinfra,
  novita,
  nebius,
  hyperbolic,
  baseten,
  cloudflare,
  githubModels,
  databricks,
  snowflake,
  vercel,
  litellm,
  portkey,
  helicone,
  zai,
  siliconflow,
  volcengine,
  stepfun,
  deepgram,
  elevenlabs,
  jina,
  voyage,
];

const families = VENDORS.flatMap((vendor) => vendor.families ?? []);

/** Every family of models. The first whose pattern matches a name applies. */
export const FAMILIES: readonly ModelFamily[] = [
  ...families.filter(({ leads }) => leads === true),
  ...families.filter(({ leads }) => leads !== true),
];
