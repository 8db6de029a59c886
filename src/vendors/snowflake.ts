// Snowflake Cortex. Source: docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api (chat completions for all models,
// Messages for Claude; a programmatic access token as bearer for both; `max_tokens` is refused; no model list) (2026-11).

import type { Vendor } from "./vendor.ts";

const CORTEX = "/api/v2/cortex/v1";

export const snowflake: Vendor = {
  name: "snowflake",
  title: "Snowflake Cortex",
  api: {
    kind: "openai",
    baseUrl: "",
    domains: ["snowflakecomputing.com"],
    traceName: "snowflake",
    variable: { name: "SNOWFLAKE_PAT", holds: "key", alone: false },
    auth: { header: "authorization", bearer: true },
    dialects: {
      "openai-chat": { max_tokens_field: "max_completion_tokens", developer_role: false },
      "anthropic-messages": {},
    },
    signsThinking: true,
    cloud: {
      origins: [{ origin: "https://{resource}.snowflakecomputing.com" }],
      places: { resource: { variables: ["SNOWFLAKE_ACCOUNT", "SNOWFLAKE_ACCOUNT_IDENTIFIER"] } },
      credential: "key",
      offers: [
        {
          models: /^claude/i,
          protocols: ["anthropic-messages", "openai-chat"],
          path: CORTEX,
          example: "claude-sonnet-4-5",
        },
        { protocols: ["openai-chat"], path: CORTEX, example: "openai-gpt-4.1" },
      ],
    },
    note: "Needs `resource`, the account's identifier.",
  },
};
