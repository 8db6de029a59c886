// What stands in place of the keys of a LiteLLM configuration that are not converted. The place of a key is its path without
// numbers: `litellm_params.rpm`, `router_settings.retry_policy`. A test compares the keys, commands and pages that are named here
// with those that exist.

const KEYS = "make keys and projects with `sallyport key create` and `sallyport project create` (docs/accounts.md)";
const PLANS =
  "limits are those of plans (`tiers.free.rpm`, `.tpm`, `.parallel`, `.budget`), keys and projects (docs/accounts.md)";
const DATABASE =
  "`database.url` names a PostgreSQL database of this program, which starts anew (docs/guides/postgresql.md)";
const REDIS =
  "`redis.url` names a Redis for what nodes share: limits, budgets and kept answers (docs/guides/postgresql.md)";
const OBSERVED =
  "metrics are at GET /metrics, traces go to OTEL_EXPORTER_OTLP_ENDPOINT (docs/guides/metrics.md); requests are in docs/guides/request-log.md";
const ALERTS = "`alerts.mail` and `alerts.webhook` (docs/guides/alerts.md)";
const DEFAULTS = "requests have no defaults here: the client sends it";
const SIGN_IN = "people sign in through `auth.oauth`, programs with keys (docs/accounts.md)";
const CONTENT = "prompts and answers are kept nowhere; `log.prompts` logs them (docs/guides/security.md)";
const GUARDRAILS = "write it as an entry of `guardrails` (docs/guides/guardrails.md)";
const SEARCHED = "`search.engines.NAME.api_key` (docs/search.md)";

/** In this order; the first that fits counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  // Deployments.
  [
    /^litellm_params\.(?:rpm|tpm|max_parallel_requests|default_api_key_[rt]pm_limit)$/,
    `${PLANS}; the load of a model is shared by \`weight\` and \`models[].routing\``,
  ],
  [/^litellm_params\.(?:max_budget|budget_duration)$/, `a deployment has no budget: ${PLANS}`],
  [/^litellm_params\.api_version$/, "the v1 path of the API needs none"],
  [/^litellm_params\.tags$/, "requests are not routed by tags, which only group costs here (docs/guides/providers.md)"],
  [/\.stream_timeout$/, "`providers.NAME.timeout.first_byte` holds for streams too, `.idle` between their parts"],
  [
    /^litellm_params\.timeout$|^(?:router_settings\.timeout|litellm_settings\.request_timeout)$/,
    "expected a number of seconds: set `providers.NAME.timeout.first_byte`",
  ],
  [/\.(?:num_retries|max_retries)$/, "expected a whole number: set `providers.NAME.retry.attempts`"],
  [/^litellm_params\.(?:weight|order)$/, "expected a number: set `models[].routes[].weight` or `.priority`"],
  [/\.drop_params$/, "always so here: what a provider does not take is left out and named in a header"],
  [/\.additional_drop_params$/, "`providers.NAME.quirks.refuses_by_model`"],
  [/^litellm_params\.cache_control_injection_points$/, "the client marks what is to be cached (`cache_control`)"],
  [
    /^litellm_params\.(?:aws_role_name|aws_session_name|aws_web_identity_token|aws_sts_endpoint)$/,
    "roles come from the machine or from the variables of the cloud's own tools (`providers.NAME.credentials`)",
  ],
  [
    /^litellm_params\.(?:azure_ad_token|azure_scope)$/,
    "`providers.NAME.credentials` with tenant, client_id and client_secret",
  ],
  [
    /^litellm_params\.(?:input|output)_cost_per_(?:second|character|image|pixel|query)$/,
    "`models[].prices`: per_minute, per_image, per_million_characters or per_request",
  ],
  [/^litellm_params\.(?:input|output|cache).*_cost.*$/, "`models[].prices`"],
  [
    /^litellm_params\.(?:temperature|top_p|max_tokens|max_completion_tokens|stop|seed|n|stream|user|metadata|response_format|reasoning_effort|thinking|extra_body|presence_penalty|frequency_penalty|tools|tool_choice)$/,
    DEFAULTS,
  ],
  [/^litellm_params\.mock_response$/, "the preset `demo` answers without a provider (docs/reference/providers.md)"],
  [
    /^litellm_params\.(?:ssl_verify|ssl_certificate)$|_settings\.(?:ssl_verify|ssl_certificate)$/,
    "`net.ca_file` names further certificate authorities",
  ],
  [
    /^litellm_params\.use_in_pass_through$/,
    "keys made with `--passthrough` may call any path of a provider (docs/accounts.md)",
  ],
  // Information on models.
  [
    /^model_info\.base_model$/,
    "only prices and limits there: set `models[].prices` and `.context_length` if they are not known",
  ],
  [
    /^model_info\.(?:access_groups|team_id|team_public_model_name)$/,
    "`models[].tier` and the models that a key may use (docs/accounts.md)",
  ],
  [/^model_info\.(?:health_check_.*|disable_background_health_check)$/, "`health.probe` and `health.interval`"],
  [/^model_info\.mode$/, "`models[].kind` is chat, embedding, rerank, transcription, speech or image"],
  [/^model_info\.max_.*tokens$/, "expected a whole number: set `models[].context_length` or `.max_output_tokens`"],
  [
    /^model_info\.supports_(?:function_calling|vision|reasoning)$/,
    "expected true or false: set `models[].supports_tools`, `.supports_vision` or `.supports_reasoning`",
  ],
  [/^model_info\..*cost/, "`models[].prices`"],
  // Routing.
  [/\.routing_strategy(?:_args)?$/, "`models[].routing`: priority, latency, cost or busy (docs/guides/providers.md)"],
  [
    /\.(?:retry_policy|model_group_retry_policy|retry_after)$/,
    "one number for all errors: `providers.NAME.retry.attempts`, `.base` and `.max`",
  ],
  [
    /\.(?:allowed_fails|allowed_fails_policy|cooldown_time|disable_cooldowns)$/,
    "`providers.NAME.breaker`: failures, window and cooldown",
  ],
  [
    /\.content_policy_fallbacks$/,
    "a refusal is passed to the client; `fallbacks` are further routes, `models[].larger` is for long requests",
  ],
  [/\.max_fallbacks$/, "every route of a model may be tried"],
  [
    /\.enable_pre_call_checks?$/,
    "always so: requests longer than `models[].context_length` go to `models[].larger` or are refused",
  ],
  [
    /\.(?:enable_tag_filtering|tag_filtering_match_any)$/,
    "requests are not routed by tags, which only group costs here (docs/guides/providers.md)",
  ],
  [/\.provider_budget_config$|\.tag_budget_config$/, `providers and tags have no budget: ${PLANS}`],
  [/\.default_litellm_params$/, DEFAULTS],
  [/\.(?:default_)?max_parallel_requests$|\.global_max_parallel_requests$/, PLANS],
  [
    /^router_settings\.optional_pre_call_checks$/,
    "a conversation stays on its route anyway (docs/guides/providers.md)",
  ],
  // The library's settings.
  [
    /\.(?:cache_responses|cache|caching_groups|enable_caching_on_provider_specific_optional_params)$/,
    "`cache.mode` (docs/guides/cache.md)",
  ],
  [
    /\.cache_params\.(?:similarity_threshold|.*semantic.*|.*embedding_model)$/,
    "only equal requests get an answer again (docs/guides/cache.md)",
  ],
  [/\.cache_params\.supported_call_types$/, "`cache.mode` holds for chats and embeddings alike (docs/guides/cache.md)"],
  [
    /\.cache_params\.(?:s3_.*|gcs_.*|qdrant_.*|disk_cache_dir|type)$/,
    "answers are kept in the database, or on `redis.url` (docs/guides/cache.md)",
  ],
  [/\.cache_params(?:\..*)?$|\.redis_[a-z_]+$|\.cache_kwargs$|\.use_redis_transaction_buffer$/, REDIS],
  [
    /_settings\.(?:.*callbacks?|.*callback_params|langfuse_.*|redact_user_api_key_info|prometheus_.*|custom_prometheus_.*|disable_end_user_cost_tracking.*)$|^callback_settings$/,
    OBSERVED,
  ],
  [/\.(?:turn_off_message_logging|store_prompts_in_spend_logs)$/, CONTENT],
  [
    /^litellm_settings\.(?:max_budget|budget_duration|max_user_budget|internal_user_budget_duration|max_internal_user_budget)$/,
    PLANS,
  ],
  [
    /^litellm_settings\.(?:default_internal_user_params|default_team_params|default_team_settings|upperbound_key_generate_params|default_key_generate_params|key_generation_settings|max_end_user_budget)$/,
    `${PLANS}; ${KEYS}`,
  ],
  [/^litellm_settings\.guardrails$/, GUARDRAILS],
  [/^litellm_settings\.enable_json_schema_validation$/, "a guardrail of the kind schema (docs/guides/guardrails.md)"],
  [/^litellm_settings\.modify_params$/, "always so: requests are written as their provider expects them"],
  [/^litellm_settings\.mcp_aliases$/, "a server of `mcp.servers` has one name (docs/guides/mcp.md)"],
  // The server's settings.
  [/^general_settings\.master_key$/, `${KEYS}, or on the dashboard`],
  [
    /^general_settings\.(?:database_.*|store_model_in_db|supported_db_objects|allow_requests_on_db_unavailable|disable_prisma_schema_update)$/,
    DATABASE,
  ],
  [/^general_settings\.(?:alert.*|spend_report_frequency)$|^general_settings\.slack_.*$/, ALERTS],
  [
    /^general_settings\.(?:pass_through_endpoints|use_client_credentials_pass_through_routes)$/,
    "keys made with `--passthrough` may call any path of a provider at /v1/upstream/PROVIDER/ (docs/accounts.md)",
  ],
  [
    /^general_settings\.(?:enable_jwt_auth|litellm_jwtauth|enable_oauth2_.*|oauth2_.*|custom_auth.*|custom_sso|ui_access_mode|allow_user_auth)$/,
    SIGN_IN,
  ],
  [
    /^general_settings\.(?:key_management_.*|use_azure_key_vault|use_google_kms)$/,
    "values may be `${NAME}` or `${file:PATH}`: let the secret manager provide variables or files (docs/reference/configuration.md)",
  ],
  [
    /^general_settings\.(?:use_x_forwarded_for)$/,
    "`server.trusted_proxies` lists the proxies whose X-Forwarded-For counts",
  ],
  [
    /^general_settings\.(?:allowed_ips|custom_key_generate|default_team_disabled|service_account_settings|allowed_routes|admin_only_routes|public_routes)$/,
    KEYS,
  ],
  [
    /^general_settings\.background_health_checks$/,
    "`health.probe: chat` asks each model for a token; otherwise traffic and the provider's list count",
  ],
  [/^general_settings\.health_check_interval$/, "expected a number of seconds: set `health.interval`"],
  [/^general_settings\.maximum_spend_logs_retention_(?:period|interval)$/, "`usage.rollup_after`"],
  [/^general_settings\.max_request_size_mb$/, "`server.max_body`, at most 1GiB"],
  [
    /^general_settings\.(?:proxy_batch_write_at|disable_spend_logs|disable_spend_updates)$/,
    "usage is always recorded; `usage.flush` says how often it is written",
  ],
  [/^general_settings\.litellm_key_header_name$/, "keys come as Authorization, x-api-key, x-goog-api-key or api-key"],
  [/^general_settings\.(?:completion_model|embedding_model|image_generation_model|moderation_model)$/, DEFAULTS],
  // Other groups.
  [/^environment_variables$/, "set them where the program is started"],
  [/^include$/, "import each of these files, and put the results together"],
  [/^search_tools$/, SEARCHED],
  [/^(?:policies|policy_attachments|prompt_injection_params)$/, GUARDRAILS],
  [/^mcp_tools$/, "only tools of MCP servers: `mcp.servers` (docs/guides/mcp.md)"],
  [
    /^(?:vector_store_registry|files_settings|finetune_settings|assistant_settings|prompts|agent_list)$/,
    "not offered (docs/guides/not-offered.md)",
  ],
];

/** What to do instead; undefined for a key without a counterpart. */
export function reasonOf(place: string): string | undefined {
  // Names come from the file, and no key of this length is known.
  if (place.length > 200) return undefined;
  return REASONS.find(([places]) => places.test(place))?.[1];
}

/** All of them, for the test that compares them with what exists. */
export function allReasons(): readonly string[] {
  return REASONS.map(([, reason]) => reason);
}
