// The members of requests of the legacy completions format.

import { expectFields, expectNumber, maybe } from "../check.ts";
import { field, formatFields } from "../fields.ts";
import {
  FREQUENCY_PENALTY_FIELD,
  MODEL_MEMBER,
  PRESENCE_PENALTY_FIELD,
  STOP_FIELD,
  STREAM_MEMBER,
  STREAM_OPTIONS_MEMBER,
  THREAD_FIELDS,
  TOP_P_FIELD,
  USAGE_MEMBER,
} from "../shared-fields.ts";
import { aNumber, anInteger, aString, type ValueRule } from "../values.ts";

const expectWeight = expectNumber(-100, 100);

const weights: ValueRule<Record<string, number>> = {
  check(value, path) {
    const bias: Record<string, number> = {};
    for (const [token, weight] of Object.entries(expectFields(value, path))) {
      bias[token] = expectWeight(weight, `${path}.${token}`);
    }
    return bias;
  },
  schema: { type: "object", additionalProperties: { type: "number", minimum: -100, maximum: 100 } },
};

const alternatives = anInteger(0, 20);

/** The table of `POST /v1/completions`. */
export const COMPLETIONS_FIELDS = formatFields({
  members: {
    model: MODEL_MEMBER,
    prompt: {
      description:
        "The text to continue. If there are several prompts, each is answered by the choice with its `index`.",
      schema: {
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
        ],
      },
      required: true,
    },
    stream: STREAM_MEMBER,
    stream_options: STREAM_OPTIONS_MEMBER,
    usage: USAGE_MEMBER,
    echo: { description: "Whether to put the prompt before the answer.", schema: { type: "boolean" } },
    suffix: { description: "Must be empty, because inserting text is not supported.", schema: { type: "string" } },
  },
  parameters: {
    maxTokens: field("max_tokens", anInteger(1), "The maximum number of tokens to generate."),
    temperature: field("temperature", aNumber(0, 2, 0.7), "The sampling temperature. If it is absent, 0.7 is sent."),
    topP: TOP_P_FIELD,
    topK: false,
    n: field("n", anInteger(1, 128, 1), "How many answers."),
    // The number of alternatives also requests log probabilities.
    logprobs: (body) => (maybe(body, "logprobs", alternatives.check) === undefined ? undefined : true),
    topLogprobs: field("logprobs", alternatives, "The number of alternatives to return for each token."),
    stop: STOP_FIELD,
    presencePenalty: PRESENCE_PENALTY_FIELD,
    frequencyPenalty: FREQUENCY_PENALTY_FIELD,
    logitBias: field("logit_bias", weights, "A bias for each token id."),
    seed: field("seed", anInteger(), "For repeatable sampling."),
    user: field("user", aString, "Your end user."),
    threadId: THREAD_FIELDS,
    parallelToolCalls: false,
    metadata: false,
    store: false,
    serviceTier: false,
    verbosity: false,
    modalities: false,
  },
  reasoning: { effort: false, budgetTokens: false, enabled: false, summary: false },
  foreign: {
    best_of: { description: "Accepted without effect. Only one answer is generated.", schema: {} },
  },
});
