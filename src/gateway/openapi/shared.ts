// Errors, response headers and parameters that the OpenAPI descriptions of several chat endpoints share.

import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/errors.ts";
import type { BodyMember, FormatFields } from "../../wire/fields.ts";
import { MODEL_MEMBER, STREAM_MEMBER, THREAD_FIELDS } from "../../wire/shared-fields.ts";

/** Errors that concern the requested model and its provider. */
export const MODEL_ERRORS: readonly ErrorCode[] = [
  "model_not_found",
  "wrong_model_family",
  "tier_required",
  "unsupported_parameter",
  "content_policy_violation",
  "guardrail_denied",
  "provider_rate_limited",
  "provider_unavailable",
  "provider_auth_failed",
  "provider_model_missing",
  "provider_answer_invalid",
  "provider_circuit_open",
  "provider_timeout",
];

/** The errors of chats. */
export const CHAT_ERRORS: readonly ErrorCode[] = [
  ...MODEL_ERRORS,
  "run_limit_reached",
  "image_input_not_supported",
  // An image that is to be fetched.
  "url_not_allowed",
  "tools_not_supported",
  "max_tokens_exceeded",
  "context_length_exceeded",
  "invalid_compaction",
  "invalid_block",
  "file_not_found",
  "thread_not_found",
  "conversation_not_found",
  "tool_arguments_invalid",
  "provider_stream_interrupted",
];

/** The errors of counts, which are free of the rate limit, but of which an account may only have so many bytes a minute. */
export const COUNT_ERRORS: readonly ErrorCode[] = [
  ...CHAT_ERRORS,
  "rate_limit_exceeded",
  "trial_expired",
  "subscription_inactive",
];

/** Response headers that name the model and the route. */
export const MODEL_HEADERS = {
  "x-sallyport-model": "The catalog id of the model that answered.",
  "x-sallyport-cache":
    "Whether the answer was kept before: `hit; age=SECONDS` or `miss`. Absent if the request was not looked up.",
  "x-sallyport-cost":
    "What a whole answer costs in US dollars, for example `0.00042`. Absent if the prices of the model are unknown, and on streams.",
  "x-sallyport-route": "The provider and upstream model that answered, for example `openai/gpt-4o`.",
};

/** Response headers of chats. */
export const CHAT_HEADERS = {
  ...MODEL_HEADERS,
  "x-sallyport-dropped":
    "The parameters that were left out because this upstream does not support them, separated by commas.",
  "x-sallyport-compaction":
    "How the conversation was shortened: `cleared`, `reused`, `compacted` or `truncated`, followed by `; before=N; after=N` in tokens.",
  "x-sallyport-stop-reason": "The upstream's own stop reason, if the format has a different value for it.",
};

type FormatMembers = Readonly<Record<string, BodyMember>>;

/** The members whose schemas the format's table leaves to this document. */
type Undescribed<Members extends FormatMembers> = {
  [Name in keyof Members]: Members[Name] extends { readonly schema: object } ? never : Name;
}[keyof Members];

/**
 * The schema of a format's requests, by the format's table. `required` adds parameters without which a request is refused, and
 * `names` limits the schema to some members.
 */
export function requestSchema<Members extends FormatMembers>(
  id: string,
  fields: FormatFields<Members>,
  {
    shapes,
    required: alsoRequired = [],
    names,
  }: { shapes: Record<Undescribed<Members>, TSchema>; required?: readonly string[]; names?: readonly string[] },
) {
  const described = Object.entries(fields.described()).filter(([name]) => names?.includes(name) ?? true);
  const properties = described.map(([name, { description, schema, required }]) => {
    const shape: TSchema = schema === undefined ? (shapes as Record<string, TSchema>)[name]! : Type.Unsafe(schema);
    const property = { ...shape, description };
    return [name, required === true || alsoRequired.includes(name) ? property : Type.Optional(property)] as const;
  });
  return Type.Object(Object.fromEntries(properties), { $id: id, additionalProperties: true });
}

/** The parameter `model`. */
export const MODEL = Type.Unsafe<string>({ ...MODEL_MEMBER.schema, description: MODEL_MEMBER.description });

/** Parameters that name a conversation. */
export const THREAD = Object.fromEntries(
  THREAD_FIELDS.fields.map(({ path, rule, description }) => [
    path,
    Type.Optional(Type.Unsafe<string>({ ...rule.schema, description })),
  ]),
);

/** The parameter `stream`. */
export const STREAM = Type.Optional(
  Type.Unsafe<boolean>({ ...STREAM_MEMBER.schema, description: STREAM_MEMBER.description }),
);

/** A JSON Schema that the caller sends. */
export const ANY_SCHEMA = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  description: "A JSON Schema.",
});

/** A parameter that is sent only to providers that support it. For others it is left out and named in `x-sallyport-dropped`. */
export function passedOn(description: string) {
  return Type.Optional(Type.Unknown({ description: `${description} Passed on to providers that support it.` }));
}

/** The format of an error in a stream. */
export const STREAM_ERROR = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      code: Type.String(),
      param: Type.Unsafe<string | null>({ type: ["string", "null"] }),
      request_id: Type.String(),
      details: Type.Optional(Type.Unknown()),
    }),
  },
  { $id: "StreamError", description: "An error that occurred after the stream had begun. It ends the stream." },
);

/** The note about uploads for endpoints that pass forms through. */
export const UPLOAD_LIMITS =
  " Files are streamed to the provider and not stored here. Their size is limited by `server.max_upload`. Send `model` before them; " +
  "after them it is only found within the first 25 MiB. If the provider fails, an upload of up to 25 MiB is sent to the next one.";

/** A file in a form. */
export const FILE_PART = (description: string) =>
  Type.Unsafe<string>({ type: "string", contentMediaType: "application/octet-stream", description });
