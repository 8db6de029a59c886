// The tables of work done for an account: stored responses, threads, uploaded files, and jobs with their pages and frontier.
// Everything is deleted with its account.

import { blob, foreignKey, index, integer, primaryKey, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { lateTable } from "../late-table.ts";
import { accounts, apiKeys } from "../schema.ts";
import { wholeMs } from "../values.ts";

const ownAccount = () =>
  text("account_id")
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });

/**
 * How much each account stores in responses, threads, files and jobs. Triggers update it with every change of a row, so
 * that it need not be computed.
 */
export const accountStorage = lateTable("account_storage", () => ({
  accountId: text("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  bytes: integer("bytes").notNull().default(0),
}));

/**
 * Values that are too large to be written at once (`large-values.ts`). Rows of other tables name them, and triggers delete them with
 * those rows.
 */
export const largeValues = lateTable(
  "large_values",
  () => ({
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    bytes: integer("bytes").notNull(),
    /** Null from the moment when a row names it. */
    expiresAtMs: wholeMs("expires_at"),
  }),
  (t) => [index("large_values_expiry").on(t.expiresAtMs), index("large_values_account").on(t.accountId)],
);

/** The parts of large values. */
export const largeValueParts = lateTable(
  "large_value_parts",
  () => ({
    valueId: text("value_id")
      .notNull()
      .references(() => largeValues.id, { onDelete: "cascade" }),
    seq: integer("seq").notNull(),
    content: blob("content", { mode: "buffer" }).notNull(),
  }),
  (t) => [primaryKey({ columns: [t.valueId, t.seq] })],
);

/** Responses of the Responses API that can be fetched and continued. */
export const responses = lateTable(
  "responses",
  () => ({
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    model: text("model").notNull(),
    /** The response that this one continues; it may have been deleted. */
    previousId: text("previous_id"),
    /** The upstream that stores it, and its id there. */
    provider: text("provider"),
    upstreamId: text("upstream_id"),
    /** JSON of this request's own input items, without those of earlier responses. */
    input: text("input").notNull(),
    /** JSON of the response object as the client received it. */
    body: text("body").notNull(),
    /** The large value that holds both as a list; the columns are empty then. */
    valueId: text("value_id"),
    createdAtMs: wholeMs("created_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
  }),
  (t) => [index("responses_newest").on(t.accountId, t.createdAtMs, t.id), index("responses_expiry").on(t.expiresAtMs)],
);

/**
 * Stored conversations: those that clients name, and those that the gateway keeps for a client. Their content is
 * sealed.
 */
export const threads = lateTable(
  "threads",
  () => ({
    accountId: ownAccount(),
    /**
     * `thread`: a conversation under the client's own name, with its last request. For the other kinds, the gateway's
     * copy is the history.
     */
    kind: text("kind", { enum: ["thread", "conversation", "messages"] }).notNull(),
    threadId: text("thread_id").notNull(),
    model: text("model").notNull(),
    /** The number of its messages, and of their tokens. */
    messages: integer("messages").notNull(),
    tokens: integer("tokens").notNull(),
    /** The messages; only the gateway can decrypt them. */
    state: blob("state", { mode: "buffer" }).notNull(),
    /** The large value that holds the state instead. */
    valueId: text("value_id"),
    createdAtMs: wholeMs("created_at").notNull(),
    updatedAtMs: wholeMs("updated_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.accountId, t.kind, t.threadId] }),
    index("threads_expiry").on(t.expiresAtMs),
    index("threads_oldest").on(t.accountId, t.updatedAtMs),
  ],
);

/** Summaries that replace the earlier part of a thread; sealed like its messages. */
export const threadSummaries = lateTable(
  "thread_summaries",
  () => ({
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ["thread", "conversation", "messages"] }).notNull(),
    threadId: text("thread_id").notNull(),
    id: text("id").notNull(),
    tokens: integer("tokens").notNull(),
    state: blob("state", { mode: "buffer" }).notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.accountId, t.kind, t.threadId, t.id] }),
    foreignKey({
      columns: [t.accountId, t.kind, t.threadId],
      foreignColumns: [threads.accountId, threads.kind, threads.threadId],
    }).onDelete("cascade"),
  ],
);

/** The items of a conversation that the gateway keeps, in order; sealed like a thread's messages. */
export const threadItems = lateTable(
  "thread_items",
  () => ({
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ["thread", "conversation", "messages"] }).notNull(),
    threadId: text("thread_id").notNull(),
    /** Its position; positions of deleted items stay unused. */
    seq: integer("seq").notNull(),
    id: text("id").notNull(),
    /** Its uncompressed length; the sealed form is compressed. */
    bytes: integer("bytes").notNull(),
    state: blob("state", { mode: "buffer" }).notNull(),
    /** The large value that holds the state instead. */
    valueId: text("value_id"),
  }),
  (t) => [
    primaryKey({ columns: [t.accountId, t.kind, t.threadId, t.seq] }),
    uniqueIndex("thread_items_id").on(t.accountId, t.kind, t.threadId, t.id),
    foreignKey({
      columns: [t.accountId, t.kind, t.threadId],
      foreignColumns: [threads.accountId, threads.kind, threads.threadId],
    }).onDelete("cascade"),
  ],
);

/** Uploaded files. With SQLite their bytes are in the data directory, under uploads/ACCOUNT/ID. */
export const files = lateTable(
  "files",
  () => ({
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    filename: text("filename").notNull(),
    purpose: text("purpose").notNull(),
    mediaType: text("media_type").notNull(),
    bytes: integer("bytes").notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [index("files_account").on(t.accountId)],
);

/** Long-running work: crawls, extractions, llms.txt. Programs claim it by lease, so that it outlives its process. */
export const jobs = lateTable(
  "jobs",
  () => ({
    id: text("id").primaryKey(),
    kind: text("kind").notNull(),
    accountId: ownAccount(),
    state: text("state", { enum: ["queued", "running", "completed", "failed", "cancelled"] }).notNull(),
    input: text("input", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    progress: text("progress", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    result: text("result", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
    error: text("error", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
    owner: text("owner"),
    /** The token of the latest claim; whatever the worker writes names it. */
    lease: text("lease"),
    leaseUntilMs: wholeMs("lease_until"),
    createdAtMs: wholeMs("created_at").notNull(),
    /** Its hard deadline. */
    deadlineAtMs: wholeMs("deadline_at").notNull(),
    finishedAtMs: wholeMs("finished_at"),
    /** The number of addresses in its frontier. Counting them each time would take quadratic time in a large crawl. */
    frontierSize: integer("frontier_size").notNull().default(0),
    /** Size of its pages and its frontier. They are deleted only with the job. */
    heldBytes: integer("held_bytes").notNull().default(0),
    /** After this time it no longer exists. Set when it ends. */
    expiresAtMs: wholeMs("expires_at"),
  }),
  (t) => [
    index("jobs_account").on(t.accountId),
    index("jobs_state").on(t.state, t.leaseUntilMs),
    index("jobs_expiry").on(t.expiresAtMs),
  ],
);

/** The results of a job so far, in order. */
export const jobPages = lateTable(
  "job_pages",
  () => ({
    jobId: text("job_id")
      .notNull()
      .references(() => jobs.id, { onDelete: "cascade" }),
    seq: integer("seq").notNull(),
    url: text("url").notNull(),
    /** The page, or the reason why there is none. */
    failed: integer("failed", { mode: "boolean" }).notNull(),
    body: text("body", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.jobId, t.seq] })],
);

/** The pages that a crawl has found, each once under its normalised address. */
export const jobFrontier = lateTable(
  "job_frontier",
  () => ({
    jobId: text("job_id")
      .notNull()
      .references(() => jobs.id, { onDelete: "cascade" }),
    /** The normalised address, equal for all spellings of a page. */
    urlKey: text("url_key").notNull(),
    url: text("url").notNull(),
    depth: integer("depth").notNull(),
    /** The order of discovery, in which entries of equal depth are taken. */
    seq: integer("seq").notNull(),
    state: text("state", { enum: ["waiting", "taken", "done"] }).notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.jobId, t.urlKey] }),
    index("job_frontier_next").on(t.jobId, t.state, t.depth, t.seq),
  ],
);

/**
 * Responses of sites whose pages are not stored yet, so that no site is asked twice because a program died. Short-lived.
 */
export const jobAnswers = lateTable(
  "job_answers",
  () => ({
    jobId: text("job_id")
      .notNull()
      .references(() => jobs.id, { onDelete: "cascade" }),
    /** The page of the frontier for which it was fetched. */
    urlKey: text("url_key").notNull(),
    /** The requested address. A page that redirects in its markup has several. */
    asked: text("asked").notNull(),
    /** The address after redirects. */
    url: text("url").notNull(),
    status: integer("status").notNull(),
    headers: text("headers", { mode: "json" }).$type<readonly (readonly [string, string])[]>().notNull(),
    /** Compressed with zstd. */
    body: blob("body", { mode: "buffer" }).notNull(),
  }),
  (t) => [primaryKey({ columns: [t.jobId, t.urlKey, t.asked] })],
);

/** Answers of models that are given again to equal requests. Their content is sealed; it goes with the account and the key. */
export const cachedAnswers = lateTable(
  "cached_answers",
  () => ({
    /** The hash of everything that determines the answer. */
    key: text("key").primaryKey(),
    accountId: ownAccount(),
    /** The key of the request that was answered. */
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id, { onDelete: "cascade" }),
    model: text("model").notNull(),
    content: blob("content", { mode: "buffer" }).notNull(),
    bytes: integer("bytes").notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
  }),
  (t) => [
    index("cached_answers_expiry").on(t.expiresAtMs),
    index("cached_answers_oldest").on(t.createdAtMs, t.bytes),
    index("cached_answers_account").on(t.accountId),
    index("cached_answers_key").on(t.keyId),
    index("cached_answers_model").on(t.model),
  ],
);

/** Runs of agents: requests that belong together by what their client says. */
export const agentRuns = lateTable(
  "agent_runs",
  () => ({
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    /** The key of its first request. */
    keyId: text("key_id").notNull(),
    /** What its requests are recognised by: where the client wrote it, and what. */
    name: text("name").notNull(),
    /** The same while it goes on. Null once it has ended: the next request of this name begins another run. */
    openName: text("open_name"),
    startedAtMs: wholeMs("started_at").notNull(),
    lastAtMs: wholeMs("last_at").notNull(),
    /** Requests that were let in while there was a limit. */
    admitted: integer("admitted").notNull().default(0),
    /** Sums of the usage rows of its requests. */
    requests: integer("requests").notNull().default(0),
    inputTokens: integer("input_tokens").notNull().default(0),
    outputTokens: integer("output_tokens").notNull().default(0),
    cachedTokens: integer("cached_tokens").notNull().default(0),
    costMicros: integer("cost_micros").notNull().default(0),
    /** What its owner allowed beyond the limits. */
    allowedMicros: integer("allowed_micros").notNull().default(0),
    allowedRequests: integer("allowed_requests").notNull().default(0),
    allowedRepeats: integer("allowed_repeats").notNull().default(0),
    /** The limit for which its last request was refused; null if that was not. */
    stopped: text("stopped").$type<RunLimit>(),
    /** That limit, and what was reached of it: micro-dollars, or a number. */
    stoppedLimit: integer("stopped_limit"),
    stoppedSpent: integer("stopped_spent"),
    /** Items of reasoning that were not sent to a provider, and the names of what else was dropped. */
    droppedReasoning: integer("dropped_reasoning").notNull().default(0),
    dropped: text("dropped", { mode: "json" }).$type<readonly string[]>(),
  }),
  (t) => [
    uniqueIndex("agent_runs_open").on(t.accountId, t.openName),
    index("agent_runs_account").on(t.accountId, t.id),
    index("agent_runs_started").on(t.startedAtMs),
  ],
);

/** What a run may have a limit of. */
export type RunLimit = "usd" | "requests" | "repeats";

/** Alerts to be sent, one row for each target. A row is kept until the window of its event ends, so that it is raised once. */
export const alerts = lateTable(
  "alerts",
  () => ({
    /** What happened; the same text on every node. */
    event: text("event").notNull(),
    /** `webhook`, `owner` or `mail:ADDRESS`. */
    target: text("target").notNull(),
    /** Whom it concerns; null: the operator. */
    accountId: text("account_id").references(() => accounts.id, { onDelete: "cascade" }),
    /** JSON, as the webhook gets it. */
    body: text("body").notNull(),
    /** How often sending was tried. */
    tries: integer("tries").notNull().default(0),
    createdAtMs: wholeMs("created_at").notNull(),
    /** When sending is tried next; null: it was taken or given up. */
    dueAtMs: wholeMs("due_at"),
    /** When the event may be raised again. */
    expiresAtMs: wholeMs("expires_at").notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.event, t.target] }),
    index("alerts_due").on(t.dueAtMs),
    index("alerts_expiry").on(t.expiresAtMs),
    index("alerts_account").on(t.accountId, t.createdAtMs),
  ],
);
