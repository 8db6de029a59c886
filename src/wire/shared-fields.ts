// Lines that the tables of several formats share.

import { type BodyMember, field, firstOf } from "./fields.ts";
import { aBoolean, aNumber, aString, oneOrMoreStops, type ValueRule } from "./values.ts";

export const MODEL_MEMBER = {
  description: "The id or alias of a model, as listed by `GET /v1/models`. Upper and lower case are treated alike.",
  schema: { type: "string", minLength: 1 },
  required: true as const,
} satisfies BodyMember;

export const STREAM_MEMBER = {
  description: "Whether to answer with server-sent events while the text is generated.",
  schema: { ...aBoolean.schema, default: false },
} satisfies BodyMember;

/** Read by `wantsUsage`. */
export const STREAM_OPTIONS_MEMBER = {
  description: "Settings of the stream.",
  schema: {
    type: "object",
    additionalProperties: true,
    properties: {
      include_usage: {
        ...aBoolean.schema,
        description: "Whether to send a last chunk with `usage` before `[DONE]`.",
      },
    },
  },
  watched: true as const,
} satisfies BodyMember;

/** Read by `wantsUsage`. */
export const USAGE_MEMBER = {
  description:
    "`{include: true}`, as at OpenRouter: the usage of the answer states its `cost` in US dollars if the prices are known, and streams end with the usage.",
  schema: { type: "object", additionalProperties: true },
} satisfies BodyMember;

/** The name of the conversation, by the format's rule for it. */
export const threadFields = (rule: ValueRule<string>) =>
  [
    field(
      "thread_id",
      rule,
      "A name for the conversation, which you choose. Older messages are then compacted when the history no longer fits the model.",
    ),
    field("conversation_id", rule, "The same as `thread_id`, which takes precedence."),
  ] as const;

export const THREAD_FIELDS = firstOf(...threadFields(aString));
export const STOP_FIELD = field("stop", oneOrMoreStops, "Texts at which generation stops.");
export const TOP_P_FIELD = field("top_p", aNumber(0, 1), "Nucleus sampling.");
export const PRESENCE_PENALTY_FIELD = field(
  "presence_penalty",
  aNumber(-2, 2),
  "Makes tokens that have already appeared less likely.",
);
export const FREQUENCY_PENALTY_FIELD = field(
  "frequency_penalty",
  aNumber(-2, 2),
  "Makes tokens less likely the more often they have appeared.",
);
export const TEMPERATURE_FIELD = field(
  "temperature",
  aNumber(0, 2, 0.7),
  "The sampling temperature. If it is absent, 0.7 is sent to models that do not reason.",
);

/** Members of OpenAI's formats that only providers of OpenAI's formats get. */
export const OPENAI_FOREIGN = {
  prompt_cache_key: "A key that groups requests with the same beginning, so that they use the same prompt cache.",
  prompt_cache_options: "How long a prompt is cached.",
  prompt_cache_retention: "How long a prompt is cached.",
  safety_identifier: "A hashed identifier of your end user.",
};
