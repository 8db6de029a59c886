// The closed list of quirks: facts about a provider that change what may be sent to it, used by vendors' files and by
// `providers.NAME.quirks` of the configuration. A new quirk is one line here. Any other name does not compile, and is
// refused when the configuration is read. An absent quirk means the usual behaviour of the protocol.

import { type Static, Type } from "@sinclair/typebox";

/** Every quirk, as the configuration writes it. */
export const QuirksSchema = Type.Object(
  {
    stream_options: flag("false: `stream_options` is refused."),
    max_tokens_field: words("The name of the output limit.", ["max_tokens", "max_completion_tokens"]),
    return_reasoning_content: flag("true: assistant turns with tool calls must carry their `reasoning_content` back."),
    refuses_reasoning: flag(
      "true: assistant turns with `reasoning_content`, `reasoning` or `reasoning_details` are refused.",
    ),
    image_urls: flag("false: images go as base64, never as URLs."),
    refuses: names("Top-level parameters that are refused: left out and named in `x-sallyport-dropped`."),
    refuses_by_model: Type.Optional(
      Type.Record(Type.String({ pattern: "^.+$" }), Type.Unsafe<readonly string[]>(Type.Array(Type.String())), {
        description: "The same for some models only: a model id with `*` for anything, to parameter names.",
      }),
    ),
    cache_control: flag("true: Anthropic's cache markers on text are known; elsewhere they are left out."),
    automatic_cache: flag("true: Anthropic's `cache_control` on the request itself is known."),
    usage_include: flag("true: `usage: {include: true}` is known; elsewhere it is left out, as usage always comes."),
    metadata_needs_store: flag("true: `metadata` is refused where the answer is not stored."),
    tool_call_ids: words("nine: ids of tool calls are nine letters and digits.", ["nine"]),
    tool_choice_words: flag("true: `tool_choice` must be a word."),
    custom_tools: flag("false: no custom (free text) tools or namespaces, though the protocol has them."),
    developer_role: flag("false: `developer` messages go up as `system`."),
    json_schema: flag("false: instead of a json_schema response format goes json_object, with the schema as text."),
    free_model_names: flag("true: model names are the operator's own and say nothing of the model."),
    responses: flag("true: the same base URL serves the Responses API, for models whose tools need it."),
    route_wishes: flag(
      "true: `models` and `provider` of a request are the provider's own to read, as OpenRouter does.",
    ),
    rerank: words("The words in which texts are ranked; absent: Jina's, as vLLM and others have them.", [
      "jina",
      "cohere",
      "tei",
    ]),
    compaction: flag("false: the protocol's own compaction of conversations is not known; it is done here."),
    threads: flag("false: Anthropic's `thread` is not known; the conversation is held here."),
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
