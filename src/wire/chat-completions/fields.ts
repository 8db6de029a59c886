// The members of chat completions requests.

import { eachOf, field, firstOf, formatFields } from "../fields.ts";
import {
  FREQUENCY_PENALTY_FIELD,
  MODEL_MEMBER,
  OPENAI_FOREIGN,
  PRESENCE_PENALTY_FIELD,
  STOP_FIELD,
  STREAM_MEMBER,
  STREAM_OPTIONS_MEMBER,
  TEMPERATURE_FIELD,
  TOP_P_FIELD,
  threadFields,
  USAGE_MEMBER,
} from "../shared-fields.ts";
import { aBoolean, aNumber, anInteger, anObject, aString, aText, strings, type ValueRule } from "../values.ts";
import { MODELS_MAX, NAMES_MAX } from "./routing-options.ts";

const anyNumber = aNumber();

/** Some servers use -1 for "all". */
const topK: ValueRule<number> = {
  check(value, path) {
    const count = atLeastMinusOne.check(value, path);
    return count === -1 ? undefined : count;
  },
  schema: { type: "number", minimum: -1 },
};
const atLeastMinusOne = aNumber(-1);

/** The weights are the provider's to check. */
const weights: ValueRule<Record<string, number>> = {
  check: (value, path) => anObject.check(value, path) as Record<string, number>,
  schema: { type: "object", additionalProperties: anyNumber.schema },
};

const names = (maxItems: number) => ({ type: "array", items: aText.schema, maxItems });

/** The table of `POST /v1/chat/completions`. */
export const CHAT_FIELDS = formatFields({
  members: {
    model: MODEL_MEMBER,
    messages: { description: "The messages of the conversation, oldest first.", required: true },
    stream: STREAM_MEMBER,
    stream_options: STREAM_OPTIONS_MEMBER,
    usage: USAGE_MEMBER,
    tools: { description: "The tools that the model may call." },
    tool_choice: {
      description: "`auto`, `none`, `required`, or the tool to call. The default is `auto` if there are tools.",
      schema: {
        anyOf: [aString.schema, { ...anObject.schema, description: "`{type: function, function: {name}}`" }],
      },
    },
    functions: {
      description: "The older form of `tools`.",
      schema: { type: "array", items: { ...anObject.schema, description: "A function, as in `tools`." } },
    },
    function_call: {
      description: "The older form of `tool_choice`: `auto`, `none`, or `{name}` of the function to call.",
      schema: {},
    },
    response_format: {
      description: "The format that the answer must have.",
      schema: {
        type: "object",
        additionalProperties: true,
        required: ["type"],
        properties: {
          type: { ...aString.schema, description: "The format: `text`, `json_object` or `json_schema`." },
          json_schema: {
            type: "object",
            additionalProperties: true,
            required: ["name"],
            properties: {
              name: aText.schema,
              schema: { ...anObject.schema, description: "A JSON Schema." },
              strict: aBoolean.schema,
              description: aString.schema,
            },
          },
        },
      },
      watched: true,
    },
    reasoning: {
      description: "The form of `reasoning_effort` that OpenRouter uses.",
      schema: anObject.schema,
      watched: true,
    },
  },
  reasoning: {
    effort: firstOf(
      field(
        "reasoning_effort",
        aString,
        "How much the model reasons: `minimal`, `low`, `medium`, `high`, or another value that the model supports.",
      ),
      field("reasoning.effort", aString, "The same as `reasoning_effort`, which takes precedence."),
    ),
    budgetTokens: field("reasoning.max_tokens", anInteger(1), "The number of tokens for reasoning."),
    enabled: field("reasoning.enabled", aBoolean, "Whether the model reasons."),
    summary: false,
  },
  parameters: {
    maxTokens: eachOf(
      field(
        "max_completion_tokens",
        anInteger(1),
        "The maximum number of tokens to generate, at most the model's `max_output_tokens`. If neither limit is given, it is 4096, or the model's limit if that is lower.",
      ),
      field("max_tokens", anInteger(1), "The older name of `max_completion_tokens`, which takes precedence."),
    ),
    temperature: TEMPERATURE_FIELD,
    topP: TOP_P_FIELD,
    topK: field("top_k", topK, "The number of most likely tokens to sample from; -1 means all."),
    n: field("n", anInteger(1, 128, 1), "The number of answers to generate. Most upstreams give only one."),
    stop: STOP_FIELD,
    presencePenalty: PRESENCE_PENALTY_FIELD,
    frequencyPenalty: FREQUENCY_PENALTY_FIELD,
    logitBias: field("logit_bias", weights, "A bias for each token id."),
    logprobs: field("logprobs", aBoolean, "Return log-probabilities."),
    topLogprobs: field(
      "top_logprobs",
      anInteger(0, 20),
      "The number of alternatives to return for each token. Requires `logprobs`.",
    ),
    seed: field("seed", anyNumber, "A seed for repeatable sampling, if the upstream supports it."),
    parallelToolCalls: field("parallel_tool_calls", aBoolean, "Whether the model may make several calls in one turn."),
    verbosity: field("verbosity", aString, "How detailed the answer is: `low`, `medium` or `high`."),
    modalities: field("modalities", strings, "The kinds of output: `text`, `image` for models that draw, `audio`."),
    threadId: firstOf(...threadFields(aText)),
    store: field("store", aBoolean, "Passed on to the provider. It does not affect compaction."),
    metadata: field("metadata", anObject, "Passed on."),
    user: field("user", aString, "Identifies your end user for the provider's abuse checks."),
    serviceTier: field("service_tier", aString, "The provider's service tier."),
  },
  foreign: {
    // These are read by `routingOptions`.
    models: {
      description:
        "The ids of further models, as at OpenRouter. They are asked in this order if `model` cannot answer.",
      schema: names(MODELS_MAX),
    },
    provider: {
      description:
        "Which of the model's providers may answer: `order`, `only` and `allow_fallbacks`, as at OpenRouter. A provider that reads this member itself gets it unchanged.",
      schema: {
        type: "object",
        additionalProperties: true,
        properties: {
          order: { ...names(NAMES_MAX), description: "The names of the providers to try first, in this order." },
          only: { ...names(NAMES_MAX), description: "The names of the only providers that may be used." },
          allow_fallbacks: {
            ...aBoolean.schema,
            default: true,
            description: "Whether other providers may follow those of `order`.",
          },
        },
      },
    },
    audio: "The voice and format of spoken output.",
    prediction: "Text that the answer will mostly repeat.",
    moderation: "Settings for the moderation of the request.",
    web_search_options: "Settings for a web search, by the provider or by the gateway.",
    ...OPENAI_FOREIGN,
  },
});
