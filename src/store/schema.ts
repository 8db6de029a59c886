// The tables of accounts, keys, usage and settings. Times are whole milliseconds since the epoch, money whole
// micro-dollars, so that sums are exact. After a change here: `bun run migration`, then list the new file in migrate.ts.

import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import { index, integer, primaryKey, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { TierId } from "../config/schema.ts";
import { lateTable } from "./late-table.ts";
import { wholeMs } from "./values.ts";

/** Accounts and what their plan allows. The `*Key` columns are the normalised forms that make uniqueness ignore case. */
export const accounts = lateTable(
  "accounts",
  () => ({
    id: text("id").primaryKey(),
    username: text("username").notNull(),
    usernameKey: text("username_key").notNull(),
    email: text("email").notNull(),
    emailKey: text("email_key").notNull(),
    /** Null for accounts that only sign in through an identity provider. */
    passwordHash: text("password_hash"),
    emailVerified: integer("email_verified", { mode: "boolean" }).notNull().default(false),
    tier: text("tier").$type<TierId>().notNull(),
    /** The identity provider whose groups gave the plan, which ends with the group; null: a person or the start did. */
    tierProvider: text("tier_provider"),
    trialEndsAtMs: wholeMs("trial_ends_at"),
    subscriptionUntilMs: wholeMs("subscription_until"),
    admin: integer("admin", { mode: "boolean" }).notNull().default(false),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [uniqueIndex("accounts_username_key").on(t.usernameKey), uniqueIndex("accounts_email_key").on(t.emailKey)],
);

/** What a management key manages: the keys of its account, those of its project, or those of every account. */
export type ManagementScope = "account" | "project" | "all";

/** API keys: only the SHA-256 is stored; prefix and last four characters are for display. */
export const apiKeys = lateTable(
  "api_keys",
  () => ({
    id: text("id").primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    hash: text("hash").notNull(),
    prefix: text("prefix").notNull(),
    lastFour: text("last_four").notNull(),
    /** The operator's own limit for this key; null: the plan's. */
    rpm: integer("rpm"),
    budgetMicros: integer("budget_micros"),
    /** Length of a budget window; null: the budget never refills. */
    budgetPeriodMs: wholeMs("budget_period_ms"),
    budgetWindowStartMs: wholeMs("budget_window_start"),
    /** Spent within the window that started at `budgetWindowStartMs`. */
    spentMicros: integer("spent_micros").notNull().default(0),
    expiresAtMs: wholeMs("expires_at"),
    revokedAtMs: wholeMs("revoked_at"),
    createdAtMs: wholeMs("created_at").notNull(),
    lastUsedAtMs: wholeMs("last_used_at"),
    /** Until this time the messages of its requests are recorded; null: the key is not being debugged. */
    debugUntilMs: wholeMs("debug_until"),
    /** The content of its requests is not stored. */
    noStore: integer("no_store", { mode: "boolean" }).notNull().default(false),
    /** Patterns of the models that it may use; null: all models. */
    models: text("models", { mode: "json" }).$type<readonly string[]>(),
    /** Its requests may use any path of a provider. */
    passthrough: integer("passthrough", { mode: "boolean" }).notNull().default(false),
    /** The MCP servers that it may use; null: all of the plan. */
    mcpServers: text("mcp_servers", { mode: "json" }).$type<readonly string[]>(),
    /** What a management key manages; null: an ordinary key, which asks models and manages nothing. */
    management: text("management").$type<ManagementScope>(),
    /** The project to which it belongs. No foreign key: SQLite cannot add one to a table with rows. */
    projectId: text("project_id"),
    /** Tokens a minute; null: the plan's. */
    tpm: integer("tpm"),
    /** Requests at once; null: the plan's. */
    parallel: integer("parallel"),
    /** Refused until it is enabled again. */
    disabled: integer("disabled", { mode: "boolean" }).notNull().default(false),
    /** The addresses from which it may be used, as ranges in CIDR notation; null: from anywhere. */
    addresses: text("addresses", { mode: "json" }).$type<readonly string[]>(),
    /** What one agent run may cost; null: the plan's. */
    runMicros: integer("run_micros"),
    /** The requests of one agent run; null: the plan's. */
    runRequests: integer("run_requests"),
    /** The equal tool calls in a row of one agent run; null: the plan's. */
    runRepeats: integer("run_repeats"),
    /** The secret before the last rotation, which works until `previousUntilMs`. */
    previousHash: text("previous_hash"),
    previousUntilMs: wholeMs("previous_until"),
  }),
  (t) => [
    uniqueIndex("api_keys_hash").on(t.hash),
    index("api_keys_account").on(t.accountId, t.createdAtMs),
    index("api_keys_previous").on(t.previousHash),
    index("api_keys_project").on(t.projectId),
  ],
);

/**
 * Budgets of accounts, each for all keys of an account: a row for each account that has or had a budget. `own`: the
 * operator set it for this account; otherwise amount and period are the plan's, and the row holds only the spending.
 */
export const accountBudgets = lateTable("account_budgets", () => ({
  accountId: text("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  own: integer("own", { mode: "boolean" }).notNull(),
  /** The amount of an own budget; null: no limit, whatever the plan says. */
  limitMicros: integer("limit_micros"),
  /** Length of a window; null: the budget never refills. */
  periodMs: wholeMs("period_ms"),
  windowStartMs: wholeMs("window_start").notNull(),
  /** Spent within the window that started at `windowStartMs`. */
  spentMicros: integer("spent_micros").notNull().default(0),
}));

/** Whether a row has the whole id of its answer, and not its prefix alone: the rows that `usage_answer` holds. */
export const hasWholeAnswerId = (answerId: AnyColumn): SQL => sql`length(${answerId}) > 20`;

/** One row per counted request, kept for `usage.rollup_after`. No foreign key: an insert must not fail. */
export const usage = lateTable(
  "usage",
  () => ({
    id: integer("id").primaryKey({ autoIncrement: true }),
    requestId: text("request_id").notNull(),
    accountId: text("account_id").notNull(),
    keyId: text("key_id").notNull(),
    model: text("model").notNull(),
    provider: text("provider").notNull(),
    upstreamModel: text("upstream_model").notNull(),
    endpoint: text("endpoint").notNull(),
    status: integer("status").notNull(),
    errorCode: text("error_code"),
    inputTokens: integer("input_tokens").notNull(),
    outputTokens: integer("output_tokens").notNull(),
    cachedTokens: integer("cached_tokens").notNull(),
    cacheWriteTokens: integer("cache_write_tokens").notNull(),
    reasoningTokens: integer("reasoning_tokens").notNull(),
    /** True if the upstream reported no usage and the tokens were counted here. */
    estimated: integer("estimated", { mode: "boolean" }).notNull(),
    costMicros: integer("cost_micros").notNull(),
    latencyMs: wholeMs("latency_ms").notNull(),
    ttfbMs: wholeMs("ttfb_ms"),
    stream: integer("stream", { mode: "boolean" }).notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    /** Key and minute of a row that several requests share; null in those of one request. Older versions gave one to each row. */
    uid: text("uid"),
    /** JSON list of the failed routes and, if one answered, of that route; null if none failed. */
    attempts: text("attempts"),
    /**
     * The number of requests that this row stands for. Failures above a limit for each key and minute share one row; 0
     * for a failed upstream call within a request.
     */
    repeats: integer("repeats").notNull().default(1),
    /**
     * The id of the answer as the client knows it, or its prefix alone if the digits of the request's id follow; null for all that are
     * no chats, and in rows of older versions.
     */
    answerId: text("answer_id"),
    /** The project of the key, the tags (a JSON list) and the agent run of the request; null: none. */
    projectId: text("project_id"),
    tags: text("tags", { mode: "json" }).$type<readonly string[]>(),
    runId: text("run_id"),
    /** The part of the written tokens that is kept for an hour; null: none. */
    cacheWriteHourTokens: integer("cache_write_hour_tokens"),
    /** The service tier or speed that the answer named, and the web searches that the provider ran; null: none. */
    service: text("service"),
    searches: integer("searches"),
    /** True if no price was known for what was used, so that the cost is not the 0 that it counts as. */
    unpriced: integer("unpriced", { mode: "boolean" }),
  }),
  (t) => [
    // Each index costs every request. What is shown or deleted by time is read in the order of the row ids.
    uniqueIndex("usage_uid").on(t.uid),
    // Every index contains the row id, so this one also serves an account's requests, newest first.
    index("usage_account").on(t.accountId),
    index("usage_request").on(t.requestId),
    // Only the answers whose rows have their whole ids.
    index("usage_answer").on(t.answerId).where(hasWholeAnswerId(t.answerId)),
    index("usage_run").on(t.runId).where(sql`${t.runId} IS NOT NULL`),
  ],
);

/** The summed columns of every roll-up. */
const sums = () => ({
  requests: integer("requests").notNull().default(0),
  errors: integer("errors").notNull().default(0),
  inputTokens: integer("input_tokens").notNull().default(0),
  outputTokens: integer("output_tokens").notNull().default(0),
  cachedTokens: integer("cached_tokens").notNull().default(0),
  cacheWriteTokens: integer("cache_write_tokens").notNull().default(0),
  reasoningTokens: integer("reasoning_tokens").notNull().default(0),
  costMicros: integer("cost_micros").notNull().default(0),
  /** Upstream calls without a known price, which are not part of the cost. */
  unpriced: integer("unpriced").notNull().default(0),
});

/** Sums per UTC day, written together with the rows. Account and key are "" after the account is deleted. */
export const usageDaily = lateTable(
  "usage_daily",
  () => ({
    /** Whole days since the epoch, UTC. */
    day: integer("day").notNull(),
    accountId: text("account_id").notNull(),
    keyId: text("key_id").notNull(),
    model: text("model").notNull(),
    ...sums(),
  }),
  (t) => [
    primaryKey({ columns: [t.day, t.accountId, t.keyId, t.model] }),
    index("usage_daily_account").on(t.accountId, t.day),
  ],
);

/** The same sums per UTC hour, kept for some days for charts of short spans. */
export const usageHourly = lateTable(
  "usage_hourly",
  () => ({
    /** Whole hours since the epoch, UTC. */
    hour: integer("hour").notNull(),
    accountId: text("account_id").notNull(),
    keyId: text("key_id").notNull(),
    model: text("model").notNull(),
    ...sums(),
  }),
  (t) => [
    primaryKey({ columns: [t.hour, t.accountId, t.keyId, t.model] }),
    index("usage_hourly_account").on(t.accountId, t.hour),
  ],
);

/**
 * The sums of requests with a project or a tag, by UTC hour (kept for some days) and by day. A request with several tags is in the
 * sums of each.
 */
export const usageLabels = lateTable(
  "usage_labels",
  () => ({
    unit: text("unit", { enum: ["hour", "day"] }).notNull(),
    /** Whole hours or days since the epoch, UTC. */
    start: integer("start").notNull(),
    kind: text("kind", { enum: ["project", "tag"] }).notNull(),
    /** The id of the project, or the tag. */
    name: text("name").notNull(),
    accountId: text("account_id").notNull(),
    keyId: text("key_id").notNull(),
    model: text("model").notNull(),
    ...sums(),
  }),
  (t) => [
    primaryKey({ columns: [t.unit, t.start, t.kind, t.name, t.accountId, t.keyId, t.model] }),
    index("usage_labels_account").on(t.accountId, t.unit, t.start),
  ],
);

/** What providers bill, by UTC day and by class, as their invoices have it; without accounts. */
export const usageClasses = lateTable(
  "usage_classes",
  () => ({
    /** Whole days since the epoch, UTC. */
    day: integer("day").notNull(),
    provider: text("provider").notNull(),
    /** The provider's own name of the model. */
    model: text("model").notNull(),
    /** The service tier or speed; "": the ordinary one. */
    service: text("service").notNull(),
    /** What is billed, such as `input` or `searches`. */
    class: text("class").notNull(),
    /** Tokens, searches, requests, images, characters, or milliseconds of audio. */
    amount: integer("amount").notNull().default(0),
    /** The part of the amount whose price was not known. */
    unpriced: integer("unpriced").notNull().default(0),
    costMicros: integer("cost_micros").notNull().default(0),
  }),
  (t) => [primaryKey({ columns: [t.day, t.provider, t.model, t.service, t.class] })],
);

/** Latency histograms, with a row for each non-empty bucket. Percentiles of any span are computed from their sums. */
export const usageLatency = lateTable(
  "usage_latency",
  () => ({
    unit: text("unit", { enum: ["hour", "day"] }).notNull(),
    /** Whole hours or days since the epoch, UTC. */
    start: integer("start").notNull(),
    accountId: text("account_id").notNull(),
    keyId: text("key_id").notNull(),
    model: text("model").notNull(),
    /** The first digit of the status, such as 2 for 2xx; 0 for requests that the client aborted. */
    statusClass: integer("status_class").notNull(),
    /** Index from `latencyBucket`. */
    bucket: integer("bucket").notNull(),
    /** The number of requests with this total duration. */
    requests: integer("requests").notNull().default(0),
    /** The number of requests with this time to the first byte. */
    firstBytes: integer("first_bytes").notNull().default(0),
  }),
  (t) => [
    primaryKey({ columns: [t.unit, t.start, t.accountId, t.keyId, t.model, t.statusClass, t.bucket] }),
    index("usage_latency_account").on(t.accountId, t.unit, t.start),
  ],
);

/** All-time sums per model, so that public token statistics read a few rows instead of those of every day. */
export const usageModels = lateTable("usage_models", () => ({
  model: text("model").primaryKey(),
  firstAtMs: wholeMs("first_at").notNull(),
  lastAtMs: wholeMs("last_at").notNull(),
  ...sums(),
}));

/** All-time sums per account, for the leaderboard; deleted with the account. */
export const usageAccounts = lateTable(
  "usage_accounts",
  () => ({
    accountId: text("account_id")
      .primaryKey()
      .references(() => accounts.id, { onDelete: "cascade" }),
    ...sums(),
  }),
  (t) => [index("usage_accounts_tokens").on(sql`(${t.inputTokens} + ${t.outputTokens})`)],
);

/** The recorded messages of requests whose key was being debugged; deleted when debugging ends. */
export const debugRecords = lateTable(
  "debug_records",
  () => ({
    id: integer("id").primaryKey({ autoIncrement: true }),
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id, { onDelete: "cascade" }),
    requestId: text("request_id").notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    /** The length of the record in UTF-8. */
    bytes: integer("bytes").notNull(),
    /** JSON, without secrets. */
    record: text("record").notNull(),
  }),
  (t) => [index("debug_records_key").on(t.keyId)],
);

/** Request times of the last minute per key, so that a restart does not reset anyone's rate limit. */
export const rateWindows = lateTable("rate_windows", () => ({
  keyId: text("key_id")
    .primaryKey()
    .references(() => apiKeys.id, { onDelete: "cascade" }),
  /** JSON array of milliseconds since the epoch, oldest first. */
  timesMs: text("times_ms", { mode: "json" }).$type<number[]>().notNull(),
  savedAtMs: wholeMs("saved_at").notNull(),
}));

/** Small facts that survive a restart: which decision version an alias points to, when something last ran. */
export const settings = lateTable("settings", () => ({
  name: text("name").primaryKey(),
  value: text("value", { mode: "json" }).$type<unknown>().notNull(),
  updatedAtMs: wholeMs("updated_at").notNull(),
}));
