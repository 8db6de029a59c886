// The closed list of quirks: facts about a provider that change what may be sent to it, used by vendors' files and by
// `providers.NAME.quirks` of the configuration. A new quirk is one line here. Any other name does not compile, and is
// refused when the configuration is read. An absent quirk means the usual behaviour of the protocol.

import { type Static, Type } from "@sinclair/typebox";

/** Every quirk, with its name in the configuration. */
export const QuirksSchema = Type.Object(
  {
    stream_options: flag("false: `stream_options` is refused."),
    max_tokens_field: words("The name of the output limit.", ["max_tokens", "max_completion_tokens"]),
    return_reasoning_content: flag("true: assistant turns with tool calls must include their `reasoning_content`."),
    loop_reasoning: flag(
      "true: assistant turns with tool calls since the user's last message get their `reasoning_content` back.",
    ),
    plain_reasoning: flag(
      "false: in the Responses API, reasoning items without encrypted content are refused if the provider did not store them.",
    ),
    refuses_reasoning: flag(
      "true: assistant turns with `reasoning_content`, `reasoning` or `reasoning_details` are refused.",
    ),
    image_urls: flag("false: images are sent as base64, never as URLs."),
    refuses: names(
      "Top-level parameters that the provider refuses. They are left out and named in `x-sallyport-dropped`.",
    ),
    refuses_by_model: Type.Optional(
      Type.Record(Type.String({ pattern: "^.+$" }), Type.Unsafe<readonly string[]>(Type.Array(Type.String())), {
        description:
          "Like `refuses`, for some models only: from a model id, in which `*` stands for any text, to parameter names.",
      }),
    ),
    cache_control: flag("true: Anthropic's cache markers on text are supported; otherwise they are left out."),
    cache_breakpoints: flag(
      "true: OpenAI's `prompt_cache_breakpoint` is supported, for models that have it (GPT-5.6 and newer).",
    ),
    automatic_cache: flag("true: Anthropic's `cache_control` at the top level of the request is supported."),
    usage_include: flag(
      "true: `usage: {include: true}` is supported; otherwise it is left out, since usage is always reported.",
    ),
    metadata_needs_store: flag("true: `metadata` is refused if the answer is not stored."),
    tool_call_ids: words("nine: ids of tool calls have nine letters and digits.", ["nine"]),
    tool_choice_words: flag("true: `tool_choice` must be a string, not an object."),
    custom_tools: flag(
      "false: custom (free text) tools and namespaces are not supported, although the protocol has them.",
    ),
    developer_role: flag("false: `developer` messages are sent as `system`."),
    json_schema: flag(
      "false: instead of the response format json_schema, json_object is sent, with the schema as text.",
    ),
    free_model_names: flag("true: the operator chooses the names of models, so a name says nothing about the model."),
    responses: flag("true: the same base URL has the Responses API, for models whose tools need it."),
    route_wishes: flag("true: the provider itself reads `models` and `provider` of a request, as OpenRouter does."),
    rerank: words("The format of rerank requests. Absent: Jina's format, which vLLM and others have too.", [
      "jina",
      "cohere",
      "tei",
      "voyage",
    ]),
    embeddings: words("The format of requests for embeddings. Absent: OpenAI's.", ["openai", "voyage", "jina"]),
    audio: words("The format of requests for speech and transcriptions. Absent: OpenAI's.", [
      "openai",
      "elevenlabs",
      "deepgram",
    ]),
    rerank_path: Type.Optional(
      Type.String({ pattern: "^/", description: "The path of rerank requests below `base_url`. Absent: `/rerank`." }),
    ),
    compaction: flag("false: the protocol's own compaction of conversations is not supported, so the gateway does it."),
    safety_identifier: flag(
      "true: end users are named in `safety_identifier`, and the vendor acts against single ones; otherwise `user` names them.",
    ),
    web_search: flag(
      "true: the provider runs the protocol's own web search and fetch tools; otherwise the gateway does.",
    ),
    threads: flag("false: Anthropic's `thread` is not supported, so the gateway stores the conversation."),
    decision_body: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: "object",
        description: "Members added to the request body of decisions read from probabilities.",
      }),
    ),
  },
  { additionalProperties: false, description: "Facts that change what is sent. Default: the preset's." },
);

/** The quirks of one provider. */
export type Quirks = Readonly<Static<typeof QuirksSchema>>;

function flag(description: string) {
  return Type.Optional(Type.Boolean({ description }));
}

function words<const W extends string>(description: string, choices: readonly W[]) {
  return Type.Optional(Type.Unsafe<W>({ type: "string", enum: choices, description }));
}

function names(description: string) {
  return Type.Optional(Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description })));
}
