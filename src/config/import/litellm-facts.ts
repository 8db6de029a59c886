// What a LiteLLM configuration says about its models: kind, limits, abilities and prices.

import { lookUp } from "../../base/look-up.ts";
import type { Deployment } from "./litellm-providers.ts";
import { reasonOf } from "./litellm-reasons.ts";
import { type Mapping, type Notes, wholeNumberOf } from "./reading.ts";

const isFlag = (value: unknown) => typeof value === "boolean";
const isPrice = (value: unknown) => typeof value === "number" && value >= 0;
const isLimit = (value: unknown) => wholeNumberOf(value) !== undefined;
/** Modes of models that chat, which is the default kind. */
const CHATS: readonly unknown[] = ["chat", "completion", "responses"];

/** Members of `model_info` that are converted, and which values are. */
const CONVERTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  mode: (value) => CHATS.includes(value) || kindOf(value) !== undefined,
  id: () => true,
  max_tokens: isLimit,
  max_input_tokens: isLimit,
  max_output_tokens: isLimit,
  supports_function_calling: isFlag,
  supports_vision: isFlag,
  supports_reasoning: isFlag,
  input_cost_per_token: isPrice,
  output_cost_per_token: isPrice,
  cache_read_input_token_cost: isPrice,
  cache_creation_input_token_cost: isPrice,
};

/** Names what is not carried over of what a deployment says about its model. */
export function noteInfo(deployment: Deployment, notes: Notes): void {
  const { info, at } = deployment;
  for (const [key, value] of Object.entries(info)) {
    const isKept = value === null || lookUp(CONVERTED, key)?.(value) === true;
    if (!isKept) notes.add(`${at}.model_info.${key}`, reasonOf(`model_info.${key}`));
  }
  const hasPrices = ["input_cost_per_token", "output_cost_per_token"].some((key) => isPrice(stated(deployment, key)));
  if (hasPrices && pricesOf(deployment) === undefined)
    notes.add(`${at} (${deployment.name})`, "`models[].prices` needs those of input and of output");
}

function stated({ info, params }: Deployment, key: string): unknown {
  return info[key] ?? params[key] ?? undefined;
}

/** The facts of the model, from the first deployment with any. */
export function statedFacts(members: readonly Deployment[]): Mapping {
  const of = (key: string) => members.map((member) => stated(member, key)).find((one) => one !== undefined);
  const whole = (...keys: string[]) => keys.map((key) => wholeNumberOf(of(key))).find((one) => one !== undefined);
  const flag = (key: string) => [of(key)].find((one) => typeof one === "boolean");
  return Object.fromEntries(
    Object.entries({
      kind: kindOf(of("mode")),
      context_length: whole("max_input_tokens", "max_tokens"),
      max_output_tokens: whole("max_output_tokens"),
      supports_tools: flag("supports_function_calling"),
      supports_vision: flag("supports_vision"),
      supports_reasoning: flag("supports_reasoning"),
    }).filter(([, value]) => value !== undefined),
  );
}

/** LiteLLM's names of kinds. */
const KINDS: Readonly<Record<string, string>> = {
  embedding: "embedding",
  rerank: "rerank",
  audio_transcription: "transcription",
  audio_speech: "speech",
  image_generation: "image",
};

/** Absent for chat, which is the default, and for unknown names. */
function kindOf(mode: unknown): string | undefined {
  return typeof mode === "string" ? lookUp(KINDS, mode) : undefined;
}

/** Kinds whose output costs nothing. */
const INPUT_ONLY: readonly unknown[] = ["embedding", "rerank"];

/** Dollars per token become dollars per million; both are required where there is output. */
export function pricesOf(deployment: Deployment): Mapping | undefined {
  const price = (key: string) => {
    const value = stated(deployment, key);
    return typeof value === "number" && value >= 0 ? Number((value * 1_000_000).toPrecision(12)) : undefined;
  };
  const input = price("input_cost_per_token");
  const output = price("output_cost_per_token");
  const needsOutput = !INPUT_ONLY.includes(stated(deployment, "mode"));
  if (input === undefined || (output === undefined && needsOutput)) return undefined;
  const prices = {
    input,
    output,
    cache_read: price("cache_read_input_token_cost"),
    cache_write: price("cache_creation_input_token_cost"),
  };
  return Object.fromEntries(Object.entries(prices).filter(([, value]) => value !== undefined));
}
