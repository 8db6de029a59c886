// The capabilities of this gateway, which clients can read when they start. Documented at
// docs/reference/http-api.md#get-v1capabilities.

/** The body of `GET /v1/capabilities`. */
export const CAPABILITIES = {
  service: "sallyport",
  api_version: "v1",
  compatibility: {
    chat_completions: true,
    responses_compat: true,
    responses_native_events: true,
    legacy_completions: true,
    moderations: false,
    streaming_sse: true,
    stream_include_usage: true,
    max_completion_tokens: true,
    request_id_header: true,
    mcp: true,
  },
} as const;
