// What to do about each public error code: one or two sentences, shown in the reference.

import type { ErrorCode } from "./errors.ts";

type WebFeature = "search" | "scrape" | "crawl" | "map" | "extract" | "llmstxt";

function webHelp<F extends WebFeature>(feature: F) {
  return {
    [`${feature}_timeout`]: "It took longer than `timeout_ms` or the limit for jobs. Allow more time, or ask for less.",
    [`${feature}_upstream_error`]: "A site or engine answered with an error or not at all. Try again later.",
    [`${feature}_unavailable`]:
      "A resource that it needs is busy or unavailable. Try again after `Retry-After`, or in a minute.",
    [`${feature}_internal_error`]: "The gateway has failed. Report the error with the request id.",
  } as Record<`${F}_${"timeout" | "upstream_error" | "unavailable" | "internal_error"}`, string>;
}

/** code → what to do. */
export const ERROR_HELP: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "Correct the field named by the message and `param`.",
  invalid_json: "Send a JSON object with `Content-Type: application/json`.",
  wrong_model_family: "The endpoint does not accept this kind of model. Use the endpoint that the message names.",
  image_input_not_supported:
    "Leave the image out, or choose a model that accepts images according to `GET /v1/models`.",
  tools_not_supported: "Leave the tools out, or choose a model that supports them.",
  max_tokens_exceeded: "Request at most as many tokens as the message says.",
  mcp_server_unavailable: "Try again later. The operator finds the cause in the log.",
  invalid_block:
    "Send blocks of web searches and pages as they were received, with the same account, or leave them out of the history.",
  unsupported_parameter: "Leave the parameter out, or choose a model whose provider supports it.",
  content_policy_violation:
    "The provider refuses the content. Change it: the same request is refused again. Where the provider names a code of its own, that is shown.",
  guardrail_denied:
    "The operator does not allow this content; `details.guardrail` names the rule. Change the request: the same one is denied again.",
  context_length_exceeded: "Shorten the conversation, or choose a model with a larger context.",
  previous_response_not_found: "The response has expired or belongs to another account. Send the whole conversation.",
  invalid_compaction:
    "The shortened history is damaged or was not created by this gateway. Send the whole conversation.",
  invalid_redirect_uri: "Use a `redirect_uri` that the configuration allows.",
  invalid_state: "The sign-in was started in another browser or too long ago. Start again.",
  invalid_code: "The code is wrong, has been used or has expired. Request a new one.",
  url_not_allowed: "Use a public http or https address. An operator can allow others with `web.allow_hosts`.",
  route_not_found: "Check the path and the method.",
  not_offered: "This service has no such endpoint. The message names an alternative if there is one.",
  model_not_found: "Use an id from `GET /v1/models`, which lists the models that this key may use.",
  response_not_found: "It has expired, was deleted or belongs to another account.",
  thread_not_found: "It has expired, was deleted or belongs to another account. Send the whole conversation.",
  conversation_not_found: "It has expired, was deleted or belongs to another account. Begin a new one.",
  conversation_item_not_found: "It was deleted or belongs to another conversation.",
  file_not_found: "It was deleted or belongs to another account.",
  oauth_provider_not_found: "Use a sign-in provider that the configuration names (`auth.oauth`).",
  session_not_found: "It has already ended.",
  key_not_found: "It was deleted or belongs to another account.",
  account_not_found: "Check the id.",
  invite_not_found: "It was used, withdrawn or has expired. Ask for a new one.",
  generation_not_found: "It is no chat, is older than the request log, or belongs to another account.",
  job_not_found: "It has expired, was deleted or belongs to another account.",
  crawl_job_not_found: "It has expired, was deleted or belongs to another account.",
  extract_job_not_found: "It has expired, was deleted or belongs to another account.",
  llmstxt_job_not_found: "It has expired, was deleted or belongs to another account.",
  method_not_allowed: "Use a method that the `Allow` header names.",
  request_timeout: "The body arrived too slowly, or the client disconnected. Send it again.",
  request_too_large: "Send less: the message names the limit (`server.max_body`, `server.max_body_values`, storage).",
  context_too_large: "Send less, or choose a model with a larger context.",
  invalid_question: "Correct the question named by `param`.",
  scrape_failed: "The page cannot be read. The message says why and what would help.",
  upgrade_required: "Connect by WebSocket, or use another method: this address is only for connections.",
  websocket_stream_limit_reached: "Use one of the lanes of this connection, or open another connection.",
  websocket_connection_limit_reached: "Open another connection, and send the whole conversation again.",
  missing_api_key: "Send the key as `Authorization: Bearer …` or `x-api-key`.",
  invalid_api_key: "The key is misspelt, was revoked or has expired. Create a new one.",
  missing_token: "Sign in, and send the access token as `Authorization: Bearer …`.",
  invalid_token: "Sign in again.",
  expired_token: "Get a new access token with the refresh token.",
  invalid_credentials: "Check the name and the password.",
  invalid_refresh_token: "Sign in again.",
  expired_refresh_token: "Sign in again.",
  refresh_token_reused:
    "A refresh token works once. Its session was ended, since another person may have the token. Sign in again.",
  trial_expired: "The account's trial is over. Ask the operator of this gateway to extend it.",
  subscription_inactive: "The account's subscription has ended. Ask the operator of this gateway to extend it.",
  budget_exceeded: "The budget of the key or account is spent. Wait until it renews, or ask for more.",
  tier_required: "The model or feature belongs to a higher plan.",
  provider_not_found: "Use the name of a provider in the configuration.",
  management_key_required:
    "The endpoint manages keys and takes a management key (`sk-m-…`). Create one with `sallyport key create --manage`.",
  management_key_not_allowed: "A management key (`sk-m-…`) manages keys only. Send an ordinary key.",
  key_disabled: "The key was disabled. Whoever manages it can enable it again.",
  address_not_allowed: "The key may be used from certain addresses only, and the request came from another.",
  permission_denied: "The key may not do this. An administrator can create a key that may.",
  storage_not_allowed:
    "The key was created with `--no-store`, so nothing is stored for it. Use another key, or send what is needed with each request.",
  email_not_verified: "Verify the account's e-mail address first.",
  signup_closed: "Only the operator can create accounts (`auth.signup`).",
  invite_required: "Sign up with an invitation link.",
  origin_not_allowed: "A browser sent the request from another site. Use the API with a key instead.",
  rate_limit_exceeded: "Wait as long as `Retry-After` says. `x-ratelimit-*` headers show what is left.",
  provider_rate_limited: "The provider limits this gateway. Wait as long as `Retry-After` says.",
  code_recently_sent: "A mail was already sent. Check your inbox, or wait as long as `Retry-After` says.",
  too_many_attempts: "Wait as long as `Retry-After` says.",
  internal_error: "The gateway has failed. Report the error with the request id.",
  not_implemented: "The gateway does not offer this.",
  provider_unavailable: "No route of the model answered. Try again; operators see the attempts in the request log.",
  provider_auth_failed: "The provider refused the gateway's credentials. Operators: run `sallyport doctor`.",
  provider_model_missing: "The provider does not know the model. Operators: correct the route.",
  provider_stream_interrupted: "The answer was interrupted. Retry.",
  provider_answer_invalid: "The provider's answer violates its protocol. Retry, or choose another model.",
  tool_arguments_invalid: "The model called a tool with arguments that are not valid JSON. Retry.",
  provider_circuit_open: "The provider has failed repeatedly and is suspended. Wait as long as `Retry-After` says.",
  service_maintenance: "Wait as long as `Retry-After` says.",
  server_busy: "The gateway is at capacity. Wait as long as `Retry-After` says.",
  decision_unavailable: "The decision model could not answer all questions. Try again after `Retry-After`.",
  provider_timeout: "The provider took too long. Try again, or request less.",
  ...webHelp("search"),
  ...webHelp("scrape"),
  ...webHelp("crawl"),
  ...webHelp("map"),
  ...webHelp("extract"),
  ...webHelp("llmstxt"),
};
