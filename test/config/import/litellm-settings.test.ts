// Settings of a LiteLLM configuration that have a counterpart, each in the form of its documentation, and what is said of the others.

import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importLitellm } from "../../../src/config/import/litellm.ts";
import { allReasons } from "../../../src/config/import/litellm-reasons.ts";
import { loadConfig } from "../../../src/config/load.ts";

const ROOT = join(import.meta.dir, "../../..");
const ENV = { KEY: "sk-o", TOKEN: "t" };
/** Everything that was said, for the last test. */
const said = new Set(allReasons());

const MODELS = `model_list:
  - {model_name: small, litellm_params: {model: openai/gpt-4o-mini, api_key: os.environ/KEY}}
  - {model_name: large, litellm_params: {model: openai/gpt-4o, api_key: os.environ/KEY}}
`;
const deployment = (params: string) => `model_list:
  - {model_name: m, litellm_params: {model: openai/x, api_key: os.environ/KEY, ${params}}}
`;

/** Imports the file, which the program must load, and returns the part at `path`. */
function convert(text: string) {
  const { config, notes } = importLitellm(Bun.YAML.parse(text));
  const file = join(mkdtempSync(join(tmpdir(), "sallyport-import-")), "sallyport.yaml");
  writeFileSync(file, Bun.YAML.stringify(config, null, 2));
  const loaded = loadConfig({ file, env: ENV });
  expect(loaded.ok ? [] : loaded.problems).toEqual([]);
  for (const note of notes) said.add(note.slice(note.indexOf(": ") + 2));
  return { config, places: notes.map((note) => note.slice(0, note.indexOf(": "))) };
}

const PROVIDER = { preset: "openai", api_key: "${KEY}", discover: false };

test.each([
  [
    "the cache",
    "litellm_settings: {cache: true, cache_params: {type: local, ttl: 600}}",
    { cache: { mode: "on", ttl: "600000ms" } },
    ["litellm_settings.cache"],
  ],
  [
    "a cache that clients ask for, on Redis",
    "litellm_settings: {cache: true, cache_params: {type: redis, host: localhost, port: 6379, mode: default_off, default_in_redis_ttl: 60}}",
    { cache: { mode: "ask", ttl: "60000ms" } },
    ["litellm_settings.cache", "litellm_settings.cache_params.host", "litellm_settings.cache_params.port"],
  ],
  [
    "a cache of similar requests",
    "litellm_settings: {cache: true, cache_params: {type: redis-semantic, similarity_threshold: 0.8}}",
    { cache: { mode: "on" } },
    [
      "litellm_settings.cache",
      "litellm_settings.cache_params.type",
      "litellm_settings.cache_params.similarity_threshold",
    ],
  ],
  ["no cache", "litellm_settings: {cache: false}", { cache: undefined }, []],
  [
    "logs as JSON",
    "litellm_settings: {json_logs: true, set_verbose: true}",
    { log: { format: "json", level: "debug" } },
    [],
  ],
  ["the size of requests", "general_settings: {max_request_size_mb: 32}", { server: { max_body: "32MiB" } }, []],
  [
    "a size that is too large",
    "general_settings: {max_request_size_mb: 5000}",
    { server: undefined },
    ["general_settings.max_request_size_mb"],
  ],
  [
    "health checks",
    "general_settings: {background_health_checks: true, health_check_interval: 300}",
    { health: { interval: "300000ms" } },
    ["general_settings.background_health_checks"],
  ],
  [
    "how long usage is kept",
    "general_settings: {maximum_spend_logs_retention_period: 14d}",
    { usage: { rollup_after: "14d" } },
    [],
  ],
  [
    "time limits, retries and cooldowns of all providers",
    "router_settings: {timeout: 30, num_retries: 1, allowed_fails: 3, cooldown_time: 30}\nlitellm_settings: {request_timeout: 60, num_retries: 5}",
    {
      providers: {
        openai: {
          ...PROVIDER,
          timeout: { first_byte: "30000ms" },
          retry: { attempts: 2 },
          breaker: { failures: 4, window: "60s", cooldown: "30000ms" },
        },
      },
    },
    [],
  ],
  [
    "a time limit that is a variable",
    "litellm_settings: {request_timeout: os.environ/TIMEOUT}",
    { providers: { openai: PROVIDER } },
    ["litellm_settings.request_timeout"],
  ],
  [
    "MCP servers",
    `mcp_servers:
  deepwiki: {url: "https://mcp.deepwiki.com/mcp", transport: http, description: Wikis}
  github: {url: "https://api.githubcopilot.com/mcp", auth_type: bearer_token, auth_value: os.environ/TOKEN, static_headers: {X-Team: red}, allowed_tools: [search]}
  local: {transport: stdio, command: npx, args: ["-y", server, 8080], env: {TOKEN: os.environ/TOKEN, PORT: 1}, disallowed_tools: [rm]}
  old: {url: "http://localhost:8000/sse"}
  signed: {url: "https://mcp.example/mcp", auth_type: oauth2, client_id: x}`,
    {
      mcp: {
        servers: {
          deepwiki: { url: "https://mcp.deepwiki.com/mcp" },
          github: {
            url: "https://api.githubcopilot.com/mcp",
            headers: { Authorization: "Bearer ${TOKEN}", "X-Team": "red" },
            tools: ["search"],
          },
          local: { command: ["npx", "-y", "server", "8080"], env: { TOKEN: "${TOKEN}", PORT: "1" } },
          signed: { url: "https://mcp.example/mcp" },
        },
      },
    },
    [
      "mcp_servers.local.disallowed_tools",
      "mcp_servers.old",
      "mcp_servers.signed.client_id",
      "mcp_servers.signed.auth_type",
    ],
  ],
  [
    "Presidio with its entities",
    `guardrails:
  - guardrail_name: presidio pii
    litellm_params: {guardrail: presidio, mode: [pre_call, post_call], default_on: true, pii_entities_config: {CREDIT_CARD: BLOCK, EMAIL_ADDRESS: MASK, US_SSN: MASK}}`,
    {
      guardrails: [
        { name: "presidio-pii", on: ["input", "output"], check: { kind: "pii", find: ["card"] }, action: "deny" },
        {
          name: "presidio-pii-2",
          on: ["input", "output"],
          check: { kind: "pii", find: ["email"] },
          action: "mask",
          restore: false,
        },
      ],
    },
    ["guardrails[0] (presidio pii).pii_entities_config.US_SSN"],
  ],
  [
    "Presidio without entities, with placeholders that become values again",
    `guardrails: [{guardrail_name: pii, litellm_params: {guardrail: presidio, mode: pre_call, output_parse_pii: true}}]`,
    {
      guardrails: [
        {
          name: "pii",
          on: ["input"],
          check: { kind: "pii", find: ["email", "phone", "card", "iban", "ip"] },
          action: "mask",
        },
      ],
    },
    ["guardrails[0] (pii)", "guardrails[0] (pii)"],
  ],
  [
    "secrets",
    "guardrails: [{guardrail_name: s, litellm_params: {guardrail: hide-secrets, mode: pre_call, default_on: true}}]",
    {
      guardrails: [
        { name: "s", on: ["input"], check: { kind: "pii", find: ["secret"] }, action: "mask", restore: false },
      ],
    },
    [],
  ],
  [
    "the content filter",
    `guardrails:
  - guardrail_name: filter
    litellm_params:
      guardrail: litellm_content_filter
      mode: pre_call
      default_on: true
      patterns:
        - {pattern_type: prebuilt, pattern_name: email, action: MASK}
        - {pattern_type: prebuilt, pattern_name: us_ssn, action: BLOCK}
        - {pattern_type: regex, pattern: '\\b[A-Z]{3}-\\d{4}\\b', name: employee_id, action: MASK}
        - {pattern_type: regex, pattern: '(?<!a)b', name: behind, action: MASK}
      blocked_words:
        - {keyword: confidential, action: BLOCK, description: x}
      categories: [{category: harmful_violence, enabled: true}]`,
    {
      guardrails: [
        { name: "filter", on: ["input"], check: { kind: "pii", find: ["email"] }, action: "mask", restore: false },
        {
          name: "filter-2",
          on: ["input"],
          check: { kind: "pattern", patterns: { EMPLOYEE_ID: "\\b[A-Z]{3}-\\d{4}\\b" } },
          action: "mask",
          restore: false,
        },
        { name: "filter-3", on: ["input"], check: { kind: "words", words: ["confidential"] }, action: "deny" },
      ],
    },
    ["guardrails[0] (filter).patterns[1]", "guardrails[0] (filter).patterns[3]", "guardrails[0] (filter).categories"],
  ],
  [
    "guardrails of others, and for tools alone",
    `guardrails:
  - {guardrail_name: a, litellm_params: {guardrail: lakera_v2, mode: pre_call}}
  - {guardrail_name: b, litellm_params: {guardrail: presidio, mode: pre_mcp_call}}`,
    { guardrails: undefined },
    ["guardrails[0] (a)", "guardrails[1] (b)"],
  ],
])("settings of the file are converted, or named: %s", (_what, settings, part, places) => {
  const { config, places: noted } = convert(`${MODELS}${settings}\n`);
  for (const [key, value] of Object.entries(part)) expect(config[key]).toEqual(value);
  expect(noted).toEqual(places);
});

test.each([
  ["a larger model", "litellm_settings: {context_window_fallbacks: [{small: [large]}]}", { larger: "large" }, []],
  [
    "several larger models, and one that is not there",
    "router_settings: {context_window_fallbacks: [{small: [gone, large, small]}, {gone: [large]}]}",
    { larger: "large" },
    ["context_window_fallbacks of small", "context_window_fallbacks of small", "context_window_fallbacks"],
  ],
  [
    "other names",
    "litellm_settings: {model_alias_map: {tiny: small}}\nrouter_settings: {model_group_alias: {mini: {model: small, hidden: true}}}",
    { aliases: ["tiny", "mini"] },
    [],
  ],
  ["a strategy with one route", "router_settings: {routing_strategy: latency-based-routing}", {}, []],
  [
    "an unknown strategy",
    "router_settings: {routing_strategy: usage-based-routing-v2}",
    {},
    ["router_settings.routing_strategy"],
  ],
])("settings of models are converted, or named: %s", (_what, settings, part, places) => {
  const { config, places: noted } = convert(`${MODELS}${settings}\n`);
  const [small] = config["models"] as Record<string, unknown>[];
  expect(small).toEqual({ id: "small", routes: [{ provider: "openai", model: "gpt-4o-mini", priority: 1 }], ...part });
  expect(noted).toEqual(places);
});

test.each([
  ["simple-shuffle", undefined],
  ["least-busy", "busy"],
  ["latency-based-routing", "latency"],
  ["cost-based-routing", "cost"],
])("the strategy %s, where deployments share a name", (strategy, routing) => {
  const twice = MODELS.replace("model_name: large", "model_name: small");
  const { config, places } = convert(`${twice}router_settings: {routing_strategy: ${strategy}}\n`);
  expect((config["models"] as Record<string, unknown>[]).map((model) => model["routing"])).toEqual([routing]);
  expect(places).toEqual([]);
});

test("what a deployment has of its own counts before what all have", () => {
  const { config, places } = convert(
    `${deployment("timeout: 5, max_retries: 0")}router_settings: {timeout: 30, num_retries: 3}\n`,
  );
  expect(config["providers"]).toEqual({
    openai: { ...PROVIDER, timeout: { first_byte: "5000ms" }, retry: { attempts: 1 } },
  });
  expect(places).toEqual([]);
});

const priced = (name: string, model: string, info: string) =>
  `  - {model_name: ${name}, litellm_params: {model: openai/${model}, api_key: os.environ/KEY}, model_info: {${info}}}\n`;
const cost = (input: number, output: number) =>
  `input_cost_per_token: ${input / 1e6}, output_cost_per_token: ${output / 1e6}`;

test("deployments that cost differently, and fallbacks, have prices of their own", () => {
  const list = [
    priced("a", "x", cost(1, 2)),
    priced("a", "y", cost(3, 4)),
    priced("b", "z", cost(5, 6)),
    priced("c", "v", "mode: embedding, input_cost_per_token: 0.000001"),
    priced("d", "w", "input_cost_per_token: 0.000001, max_tokens: many, supports_vision: null"),
  ];
  const { config, places } = convert(
    `model_list:\n${list.join("")}router_settings: {fallbacks: [{b: [a]}], redis_db: null}\n`,
  );
  const route = (model: string, priority: number, input?: number, output?: number) => ({
    ...{ provider: "openai", model, priority },
    ...(input === undefined ? {} : { prices: { input, output } }),
  });
  expect(config["models"]).toEqual([
    { id: "a", routes: [route("x", 1, 1, 2), route("y", 1, 3, 4)] },
    { id: "b", routes: [route("z", 1, 5, 6), route("x", 2, 1, 2), route("y", 2, 3, 4)] },
    { id: "c", kind: "embedding", prices: { input: 1 }, routes: [route("v", 1)] },
    { id: "d", routes: [route("w", 1)] },
  ]);
  expect(places).toEqual(["model_list[4].model_info.max_tokens", "model_list[4] (d)"]);
});

test("a service account of Google's cloud", () => {
  const convertAccount = (value: string) => {
    const params = `model: vertex_ai/gemini-x, vertex_project: p, vertex_location: global, vertex_credentials: ${value}`;
    const { config, notes } = importLitellm(
      Bun.YAML.parse(`model_list: [{model_name: m, litellm_params: {${params}}}]`),
    );
    for (const note of notes) said.add(note);
    return [config["providers"], notes.length];
  };
  const expected = (credentials: object) => ({
    vertex: { preset: "vertex", region: "global", project: "p", credentials, discover: false },
  });
  expect(convertAccount("/run/key.json")).toEqual([expected({ file: "/run/key.json" }), 0]);
  expect(convertAccount("os.environ/ACCOUNT")).toEqual([expected({ json: "${ACCOUNT}" }), 1]);
});

/** Documented settings without a counterpart of their own: each must say where to look. */
const DOCUMENTED = {
  general_settings: `master_key database_url database_connection_pool_limit store_model_in_db allowed_routes enable_jwt_auth
    custom_auth alerting alerting_threshold pass_through_endpoints max_parallel_requests global_max_parallel_requests
    use_x_forwarded_for key_management_system store_prompts_in_spend_logs proxy_batch_write_at allowed_ips completion_model
    litellm_key_header_name`,
  router_settings: `routing_strategy_args redis_host redis_password redis_port enable_pre_call_checks disable_cooldowns
    enable_tag_filtering retry_policy allowed_fails_policy content_policy_fallbacks stream_timeout max_fallbacks
    default_max_parallel_requests default_litellm_params provider_budget_config optional_pre_call_checks`,
  litellm_settings: `success_callback failure_callback callbacks service_callbacks turn_off_message_logging langfuse_default_tags
    drop_params max_budget budget_duration default_internal_user_params default_team_settings upperbound_key_generate_params
    key_generation_settings mcp_aliases enable_json_schema_validation content_policy_fallbacks guardrails modify_params
    s3_callback_params tag_budget_config ssl_verify redact_user_api_key_info`,
};

test("every documented setting that is not converted says where to look", () => {
  const bare: string[] = [];
  for (const [group, keys] of Object.entries(DOCUMENTED)) {
    for (const key of keys.split(/\s+/)) {
      const { notes } = importLitellm(Bun.YAML.parse(`${MODELS}${group}: {${key}: [x]}\n`));
      if (
        notes.length !== 1 ||
        !notes[0]?.startsWith(`${group}.${key}: `) ||
        notes[0].endsWith("has no counterpart here")
      )
        bare.push(`${group}.${key}: ${notes.join(" | ")}`);
    }
  }
  const params = `rpm tpm max_parallel_requests max_budget tags stream_timeout temperature max_tokens api_version
    cache_control_injection_points additional_drop_params aws_role_name mock_response`;
  for (const key of params.split(/\s+/)) {
    const { notes } = importLitellm(Bun.YAML.parse(deployment(`${key}: x`)));
    if (notes.length !== 1 || notes[0]?.endsWith("has no counterpart here")) bare.push(`${key}: ${notes.join(" | ")}`);
  }
  expect(bare).toEqual([]);
});

test("the keys, commands and pages that notes name exist", () => {
  const reference = readFileSync(join(ROOT, "docs/reference/configuration.md"), "utf8");
  const commands = readFileSync(join(ROOT, "docs/reference/cli.md"), "utf8");
  const wrong: string[] = [];
  let looked = 0;
  for (const text of said) {
    for (const [page] of text.matchAll(/docs\/[\w/-]+\.md/g)) if (!existsSync(join(ROOT, page))) wrong.push(page);
    let before = "";
    for (const [, quoted = ""] of text.matchAll(/`([^`]+)`/g)) {
      const [name = ""] = quoted.split(": ");
      const isPart = /^\.[a-z_]+$/.test(name);
      const key = isPart ? before.replace(/\.[a-z_]+$/, name) : name;
      const isKey = /^[a-z_]+(?:\[\])?(?:\.[A-Za-z_]+(?:\[\])?)+$/.test(key);
      if (isKey) before = key;
      const isThere = isKey
        ? reference.includes(`| \`${key}\` |`) || reference.includes(`| \`${key}.`)
        : /^(?:sallyport |--)/.test(name)
          ? commands.includes(name)
          : true;
      if (isKey) looked++;
      if (!isThere) wrong.push(`${quoted} in: ${text}`);
    }
  }
  expect(looked).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});
