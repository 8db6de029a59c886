// The members of requests of the responses format.

import { expectListOf, expectString, type Fields, maybe } from "../check.ts";
import { field, firstOf, formatFields } from "../fields.ts";
import {
  FREQUENCY_PENALTY_FIELD,
  MODEL_MEMBER,
  OPENAI_FOREIGN,
  PRESENCE_PENALTY_FIELD,
  STREAM_MEMBER,
  TEMPERATURE_FIELD,
  THREAD_FIELDS,
  TOP_P_FIELD,
  USAGE_MEMBER,
} from "../shared-fields.ts";
import { aBoolean, anInteger, anObject, aString, aText, strings } from "../values.ts";

/** The entry of `include` that requests log probabilities. */
export const INCLUDE_LOGPROBS = "message.output_text.logprobs";

const alternatives = anInteger(0, 20);
const expectStrings = expectListOf(expectString);

/** The entries of `include`. */
export function includeOf(body: Fields): readonly string[] {
  return maybe(body, "include", expectStrings) ?? [];
}

/** The table of `POST /v1/responses`. */
export const RESPONSES_FIELDS = formatFields({
  members: {
    model: MODEL_MEMBER,
    input: {
      description: "Text or a list of items. It may be absent only if `prompt` or `conversation` is present.",
    },
    instructions: {
      description: "The system prompt.",
      schema: { anyOf: [aString.schema, { type: "null" }] },
    },
    stream: STREAM_MEMBER,
    usage: USAGE_MEMBER,
    tools: {
      description: "The tools that the model may call: functions, custom tools, and tools that the provider runs.",
      schema: {
        type: "array",
        items: {
          ...anObject.schema,
          description: "A tool, flat (`{type, name, parameters}`) or nested as in chat completions.",
        },
      },
    },
    tool_choice: {
      description: "`auto`, `none`, `required`, or the tool to call.",
      schema: {
        anyOf: [aString.schema, { ...anObject.schema, description: "The tool to call: `{type: function, name}`." }],
      },
    },
    reasoning: {
      description: "How the model reasons: `effort` and `summary`, which older clients call `generate_summary`.",
      schema: anObject.schema,
      watched: true,
    },
    text: {
      description: "Settings of the text: `format` (`text`, `json_object`, `json_schema`) and `verbosity`.",
      schema: {
        ...anObject.schema,
        properties: {
          format: {
            ...anObject.schema,
            description: "The format of the answer: `text`, `json_object` or `json_schema`.",
            properties: {
              type: aString.schema,
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
    include: {
      description: "As `reasoning.encrypted_content`, `message.output_text.logprobs`.",
      schema: strings.schema,
    },
    previous_response_id: {
      description: "The id of the stored answer to continue. It must belong to your account.",
      schema: aText.schema,
    },
    conversation: {
      description:
        "The id of the stored conversation that the request continues, or `{id}`. It must belong to your account.",
      schema: { anyOf: [aString.schema, { ...anObject.schema, description: "`{id}` of the conversation." }] },
    },
    // The gateway itself reads these.
    background: { description: "Answer later. Passed on to providers that support it.", schema: {} },
    stream_options: {
      description: "`include_obfuscation`, which is passed on to providers that support it.",
      schema: anObject.schema,
      watched: true,
    },
  },
  reasoning: {
    effort: field(
      "reasoning.effort",
      aString,
      "How much the model reasons: `minimal`, `low`, `medium`, `high` or others.",
    ),
    summary: firstOf(
      field("reasoning.summary", aString, "Whether reasoning is summarized: `auto`, `concise` or `detailed`."),
      field("reasoning.generate_summary", aString, "The older name of `summary`."),
    ),
    budgetTokens: false,
    enabled: false,
  },
  parameters: {
    maxTokens: field("max_output_tokens", anInteger(1), "The maximum number of tokens to generate."),
    temperature: TEMPERATURE_FIELD,
    topP: TOP_P_FIELD,
    topK: false,
    presencePenalty: PRESENCE_PENALTY_FIELD,
    frequencyPenalty: FREQUENCY_PENALTY_FIELD,
    logprobs: (body) =>
      includeOf(body).includes(INCLUDE_LOGPROBS) || (maybe(body, "top_logprobs", alternatives.check) ?? 0) > 0
        ? true
        : undefined,
    topLogprobs: field("top_logprobs", alternatives, "The number of alternatives to return for each token."),
    parallelToolCalls: field("parallel_tool_calls", aBoolean, "Whether the model may make several calls in one turn."),
    verbosity: field("text.verbosity", aString, "How detailed the answer is: `low`, `medium` or `high`."),
    modalities: false,
    store: field(
      "store",
      aBoolean,
      "Whether to store the answer, so that it can be read and continued. The default is set in the gateway's configuration.",
    ),
    threadId: THREAD_FIELDS,
    metadata: field("metadata", anObject, "Your own key-value pairs, which the answer repeats."),
    user: field("user", aString, "Your end user."),
    serviceTier: field("service_tier", aString, "The provider's service tier."),
    seed: false,
    stop: false,
    n: false,
    logitBias: false,
  },
  foreign: {
    prompt: "A prompt that is stored at the provider.",
    context_management:
      "Compaction that the client requests by the protocol. The gateway does it for providers that cannot.",
    truncation: "How to handle input that is too long.",
    max_tool_calls: "The maximum number of calls of the provider's own tools.",
    moderation: "Settings for the moderation of the request.",
    access_programs: "Access programs of the provider.",
    client_metadata: "Metadata about the client.",
    image: "Settings for generated images.",
    ...OPENAI_FOREIGN,
  },
});
