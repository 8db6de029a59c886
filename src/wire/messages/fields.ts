// The members of requests of the messages format.

import { expectBoolean, expectFields, expectInteger, expectString, type Fields, maybe, need } from "../check.ts";
import { field, firstOf, formatFields } from "../fields.ts";
import { MODEL_MEMBER, STREAM_MEMBER, TOP_P_FIELD, threadFields, USAGE_MEMBER } from "../shared-fields.ts";
import { aBoolean, aNumber, anInteger, anObject, aString, aText, stopTexts } from "../values.ts";

const expectBudget = expectInteger(1);

/** The type of reasoning. With `adaptive` and newer types, the model decides. */
function thinkingType(body: Fields): string | undefined {
  const thinking = maybe(body, "thinking", expectFields);
  return thinking && need(thinking, "type", expectString, "thinking");
}

/** The metadata without the members that have a meaning of their own. */
function otherMetadata(body: Fields): Fields | undefined {
  const metadata = maybe(body, "metadata", expectFields);
  if (metadata === undefined) return undefined;
  const { user_id: _user, thread_id: _thread, conversation_id: _conversation, ...others } = metadata;
  return Object.keys(others).length > 0 ? others : undefined;
}

const format = {
  ...anObject.schema,
  properties: {
    type: { ...aString.schema, description: "`json_schema`." },
    schema: { ...anObject.schema, description: "A JSON Schema." },
  },
};

const [thread, conversation] = threadFields(aString);

/** The table of `POST /v1/messages`. */
export const MESSAGES_FIELDS = formatFields({
  members: {
    model: MODEL_MEMBER,
    messages: { description: "The messages of the conversation, oldest first.", required: true },
    system: { description: "The system prompt." },
    tools: { description: "The tools that the model may call." },
    tool_choice: {
      description: "How the model chooses tools: `{type: auto | any | none}` or `{type: tool, name}`.",
      schema: {
        ...anObject.schema,
        properties: {
          type: { ...aString.schema, description: "`auto`, `any`, `tool` or `none`." },
          name: { ...aText.schema, description: "The tool to call." },
          disable_parallel_tool_use: {
            ...aBoolean.schema,
            description: "Whether the model may make only one call in one turn.",
          },
        },
      },
    },
    thinking: {
      description:
        "Whether the model reasons: `{type: enabled, budget_tokens}`, `{type: adaptive}` or `{type: disabled}`. With `display: omitted`, no summary of thoughts is requested.",
      schema: {
        ...anObject.schema,
        properties: { type: aString.schema, budget_tokens: { type: "integer", minimum: 1 }, display: aString.schema },
      },
      watched: true,
    },
    stream: STREAM_MEMBER,
    usage: USAGE_MEMBER,
    output_config: {
      description: "Settings of the answer: `effort`, and `format` with a JSON Schema.",
      schema: { ...anObject.schema, properties: { format } },
      watched: true,
    },
    output_format: {
      description: "The older name of `output_config.format`: `type` and `schema`.",
      schema: format,
    },
    metadata: {
      description:
        "`user_id`, and also `thread_id` or `conversation_id` for clients that cannot send them at the top level.",
      schema: anObject.schema,
    },
  },
  reasoning: {
    effort: field("output_config.effort", aString, "How much the model reasons: `low`, `medium`, `high` or others."),
    budgetTokens: (body) =>
      thinkingType(body) === "enabled"
        ? need(body["thinking"] as Fields, "budget_tokens", expectBudget, "thinking")
        : undefined,
    enabled(body) {
      const type = thinkingType(body);
      return type === undefined ? undefined : type !== "disabled";
    },
    // If the client does not want to see thinking, no summaries are requested, since OpenAI only gives them to verified
    // organisations.
    summary(body) {
      const { display } = maybe(body, "thinking", expectFields) ?? {};
      return display === "omitted" || (thinkingType(body) ?? "disabled") === "disabled" ? undefined : "auto";
    },
  },
  parameters: {
    maxTokens: field(
      "max_tokens",
      // With 0, the request only fills the prompt cache and has no answer.
      anInteger(0),
      "The maximum number of tokens to generate. 0 only fills the prompt cache, if the provider has one.",
    ),
    temperature: field("temperature", aNumber(0, 1), "Randomness."),
    topP: TOP_P_FIELD,
    topK: field("top_k", anInteger(0), "The number of most likely tokens to sample from."),
    stop: field("stop_sequences", stopTexts, "Texts at which generation stops."),
    parallelToolCalls(body) {
      const choice = maybe(body, "tool_choice", expectFields) ?? {};
      const disabled = maybe(choice, "disable_parallel_tool_use", expectBoolean, "tool_choice");
      return disabled === undefined ? undefined : !disabled;
    },
    user: field("metadata.user_id", aString, "Identifies your end user for the provider's abuse checks."),
    metadata: otherMetadata,
    threadId: firstOf(
      thread,
      conversation,
      field("metadata.thread_id", aString, "The same as `thread_id`, for clients that cannot send it."),
      field("metadata.conversation_id", aString, "The same as `conversation_id`, for clients that cannot send it."),
    ),
    presencePenalty: false,
    frequencyPenalty: false,
    seed: false,
    n: false,
    logprobs: false,
    topLogprobs: false,
    logitBias: false,
    store: false,
    serviceTier: false,
    verbosity: false,
    modalities: false,
  },
  foreign: {
    service_tier: "The provider's service tier.",
    speed: "The provider's speed.",
    container: "A container for the provider's tools.",
    mcp_servers: "MCP servers, called by the gateway or by the provider.",
    context_management:
      "Changes that the provider makes to the context: `edits`. The gateway makes them if the provider cannot.",
    compaction: "Compaction that the client requests by the protocol. The gateway does it for providers that cannot.",
    cache_control: "Marks the prompt for the provider's cache.",
    thread: "A stored conversation, with `type` `create` or `continue`.",
    diagnostics: "The provider's diagnostics.",
    billing_policy: "The provider's billing.",
    fallbacks: "Settings for the provider's own fallbacks.",
    fallback_credit_token: "A setting for the provider's own fallbacks.",
    inference_geo: "The region in which the provider runs the model.",
  },
});
