// The keys of `server`, `log`, `usage`, `health`, `responses`, `compaction` and `tiers`.

import { Type } from "@sinclair/typebox";
import {
  age,
  choice,
  duration,
  element,
  entry,
  flag,
  formatted,
  integer,
  list,
  number,
  optional,
  section,
  size,
  text,
} from "./fields.ts";

const GIB = 1024 ** 3;

/** `redis` */
export const RedisSection = section("What nodes share beside the database: rate windows and reserved budgets.", {
  url: formatted("redis", "redis:// or rediss:// URL of a Redis that all nodes use. Empty: in memory.", "", {
    secret: true,
  }),
  on_failure: choice(
    "What happens while Redis cannot be reached. local: each node admits its share of a limit, at least one request. closed: requests are answered with 503 and Retry-After.",
    "local",
    ["local", "closed"],
  ),
});

/** `database` */
export const DatabaseSection = section("Where accounts, keys, usage, jobs and other data are stored.", {
  url: formatted(
    "postgres",
    "PostgreSQL, as postgres://USER:PASSWORD@HOST/NAME; uploads and secrets are stored there too. Empty: SQLite in data_dir.",
    "",
    { secret: true },
  ),
});

/** `node` */
export const NodeSection = section("Identifies this program among those that share a database.", {
  name: text(
    "A name that is unique among nodes and stays the same after a restart. Empty: the host's name and a number.",
    "",
  ),
});

/** `server` */
export const ServerSection = section("How the gateway listens and answers.", {
  host: formatted("host", "Address to listen on; 0.0.0.0 for every IPv4 interface.", "127.0.0.1"),
  port: integer("Port to listen on; 0 picks a free one.", 8787, { minimum: 0, maximum: 65_535 }),
  public_url: formatted(
    "url",
    "Base of the links in mails and of OAuth redirects. Empty: the request's own origin, else the listening address.",
  ),
  dashboard_url: formatted("url", "Where the dashboard is reached. Empty: public_url + /dashboard."),
  max_body: size("Larger request bodies are refused with 413. Counts the decompressed bytes.", "20MiB", {
    least: 1024,
    most: GIB,
  }),
  max_upload: size(
    "Larger uploads to the audio and image endpoints, and larger bodies of passthrough, are refused with 413. They pass through and are not held in memory.",
    "512MiB",
    { least: 1024, most: 1024 * GIB },
  ),
  max_body_values: integer(
    "JSON bodies with more objects, lists and strings (including keys) are refused with 413; ten other values count as one. Bodies above 512 KiB are also refused if their strings below 64 KiB have more than sixteen times as many escapes.",
    100_000,
    { minimum: 1000, maximum: 100_000_000 },
  ),
  body_budget: size(
    "Limit for the total size of all request bodies in memory, from before they are read until they are answered. Further requests wait up to 30 s, then get 503. One account may use at most two thirds. The memory used is about three times as much. As much is divided between the open WebSockets for messages that have not fully arrived: while many are open, the longest message of each is shorter, and a longer one closes its connection with 1009.",
    "128MiB",
    { least: 1024 ** 2, most: 1024 * GIB },
  ),
  drain_delay: duration(
    "How long a stopping program still accepts requests while /readyz says 503, so that load balancers leave it first.",
    "0s",
    0,
  ),
  drain_timeout: duration("How long open requests and streams may continue after SIGTERM or SIGINT.", "30s", 0),
  request_timeout: duration("The overall deadline of a request that is not streaming.", "10m"),
  maintenance: section("While on, /v1/* answers 503 (auth, status, stats and capabilities still work).", {
    enabled: flag("Turns maintenance on.", false),
    retry_after: duration("The Retry-After header of these answers.", "60s", 1000),
    message: text("Message for clients. Empty: a default sentence."),
  }),
  allowed_origins: list(
    "Origins of pages, such as https://app.example.com, that may call /mcp beside the gateway's own.",
    element("page_origin"),
  ),
  reuse_port: flag("Several processes of this machine share the port; needs database.url and redis.url.", false),
  tls: section("A certificate for a gateway without a reverse proxy. SIGHUP reads the files again.", {
    cert: text("PEM file of the certificate, followed by those of its issuers. Empty: plain HTTP.", ""),
    key: text("PEM file of the certificate's private key.", ""),
  }),
  trusted_proxies: list("Networks whose X-Forwarded-For header is trusted.", element("cidr")),
  metrics: section("GET /metrics, Prometheus text.", {
    enabled: flag("Offers /metrics.", true),
    token: text("If set, /metrics requires this bearer token.", "", { secret: true }),
  }),
});

/** `net` */
export const NetSection = section("Calls of the gateway to other servers.", {
  ca_file: text(
    "PEM file of certificate authorities that are trusted besides the usual ones, for providers, mail, databases and web pages. The browser does not read it.",
    "",
  ),
});

/** `log` */
export const LogSection = section("What is logged, and where to.", {
  level: choice("The lowest level that is logged.", "info", ["debug", "info", "warn", "error"]),
  format: choice("auto: pretty on a terminal, JSON lines elsewhere.", "auto", ["auto", "json", "pretty"]),
  file: text(
    "File that logs are added to; empty: stderr. SIGHUP opens it anew, after a program has moved it away (logrotate).",
    "",
  ),
  audit_retention: age("Entries of the audit log older than this are deleted.", "365d", 86_400_000),
  prompts: flag("Logs prompts and answers too. They contain what users write: leave it off.", false),
});

/** `usage` */
export const UsageSection = section("Records of usage.", {
  rollup_after: age("Rows of single requests older than this are deleted; their daily sums are kept.", "30d"),
  retention: age(
    "Daily sums older than this are deleted, and totals no longer count them; at least rollup_after. 0s: they are kept.",
    "0s",
    0,
  ),
  flush: duration("How often rows are written; a killed process loses at most what was not written yet.", "250ms"),
});

/** `health` */
export const HealthSection = section("How the health of models is determined.", {
  interval: duration("Interval between health checks of the providers.", "5m", 1000),
  probe: choice(
    "models: judges by recent traffic and the provider's model list, which is fetched for this also where discover is false; chat: also by one-token calls, which cost money; off: no checks. Decision models that use log-probabilities are asked for one token twice an hour unless off.",
    "models",
    ["models", "chat", "off"],
  ),
});

/** `responses` */
export const ResponsesSection = section("Stored answers of the Responses API.", {
  store: flag("Default of `store`: keeps answers for previous_response_id.", true),
  retention: age("How long an answer is kept.", "30d"),
});

/** `limits` */
export const LimitsSection = section("Limits of one account.", {
  storage_per_account: size(
    "Total size of stored responses, threads, files and jobs with their results. The oldest responses and threads are deleted to make room; requests that still do not fit are refused with 413.",
    "500MiB",
    { least: 1024, most: 1024 * GIB },
  ),
});

/** `compaction` */
export const CompactionSection = section("Summaries of long conversations.", {
  enabled: flag("Stores threads and offers compaction.", true),
  threshold: number("Compacts from this share of the model's context on.", 0.85, { minimum: 0.05, maximum: 1 }),
  keep_last: integer("Number of the latest messages that are never summarised.", 6, { minimum: 1, maximum: 1000 }),
  model: text("The model that summarises. Empty: the request's own."),
  retention: age("How long a thread is kept.", "30d"),
  secret: text(
    "Encrypts threads, and the summaries that clients carry. Empty: generated once and kept in data_dir. After a change, what was encrypted before cannot be read.",
    "",
    { secret: true },
  ),
});

/** `cache` */
export const CacheSection = section("Answers that are given again to equal requests.", {
  mode: choice(
    "off; ask: for requests with `Cache-Control: max-age=SECONDS`; on: also for those whose temperature is 0 or that have a seed, and for embeddings.",
    "off",
    ["off", "ask", "on"],
  ),
  ttl: age("How long an answer is kept.", "1h"),
  max_size: size("The size of all kept answers; beyond it the oldest are deleted.", "256MiB", {
    least: 1024 * 1024,
    most: 1024 ** 4,
  }),
  share: choice("Who gets an answer again: any key of the account, or only the key that asked for it.", "account", [
    "account",
    "key",
  ]),
});

export const ChatToolsSection = section("Tools that the gateway runs within a chat, where a client asks for them.", {
  web_search: choice(
    "auto: a provider's own search where it has one, otherwise the gateway's; own: always the gateway's; off: only a provider's.",
    "auto",
    ["auto", "own", "off"],
  ),
  web_fetch: choice("The same for pages whose address is in the conversation.", "auto", ["auto", "own", "off"]),
  max_uses: integer("How often an answer may use each tool, unless the client asks for less.", 5, {
    minimum: 1,
    maximum: 100,
  }),
  max_rounds: integer("How often the model may be asked for one answer.", 10, { minimum: 1, maximum: 100 }),
});

/** `alerts` */
export const AlertsSection = section("What people and a server of the operator's are told.", {
  mail: list(
    "Addresses that get the operator's alerts. Owners get those of their keys at their own address.",
    element("mail_address"),
  ),
  webhook: formatted("url", "Gets every alert as a signed POST request. It may be in a private network.", ""),
  webhook_secret: text("Signs requests to webhooks of the configuration: HMAC-SHA-256 of TIMESTAMP.BODY.", "", {
    secret: true,
  }),
  budget: list(
    "The percentages of a budget at which its owner gets an alert.",
    Type.Number({ minimum: 1, maximum: 1000 }),
    {
      default: [80, 100],
    },
  ),
  provider_down: duration("How long the calls to a provider must fail before there is an alert.", "5m"),
  key_expiry: age("How long before a key expires its owner gets an alert; 0s: no alert.", "7d", 0),
});

/** The plans, lowest first. */
export const TIER_IDS = ["free", "pro", "premium"] as const;

const TierBudget = entry(
  "The budget of an account for all its keys together, as { usd: 5, period: 30d }. Absent: no limit.",
  {
    usd: Type.Number({ description: "US dollars.", minimum: 0, maximum: 1_000_000_000 }),
    period: age("The budget renews after each period, counted from when it first applied; 0s: never.", "30d", 0),
  },
);

const TierRuns = section("The limits of one agent run. At 0 there is none. Keys and projects may have lower ones.", {
  usd: number("US dollars that a run may cost.", 0, { minimum: 0, maximum: 1_000_000_000 }),
  requests: integer("Requests of a run.", 0, { minimum: 0, maximum: 1_000_000_000 }),
  repeats: integer(
    "Equal tool calls in a row, or equal rounds of two or three calls, after which a run is taken for a loop.",
    0,
    { minimum: 0, maximum: 1000 },
  ),
  idle: age("A run ends after this time without a request.", "1h", 60_000),
  max_age: age("A run ends at this age.", "24h", 60_000),
});

function tier(description: string, rpm: number, trial = "0s") {
  return section(description, {
    rpm: integer("Requests a minute for each API key.", rpm, { minimum: 1, maximum: 1_000_000_000 }),
    tpm: integer("Tokens a minute for each API key, of prompts and answers together; 0: no limit.", 0, {
      minimum: 0,
      maximum: 1_000_000_000_000,
    }),
    parallel: integer("Requests at once for each API key; 0: no limit.", 0, { minimum: 0, maximum: 1_000_000 }),
    trial: age("How long a new account may use the tier; 0s: without limit.", trial, 0),
    budget: optional(TierBudget),
    runs: TierRuns,
  });
}

/** `tiers` */
export const TiersSection = section("The plans.", {
  free: tier("The lowest plan, which new accounts have.", 20, "14d"),
  pro: tier("The middle plan.", 120),
  premium: tier("The highest plan.", 600),
});
