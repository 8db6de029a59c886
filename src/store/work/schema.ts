// The tables of work done for an account: stored responses, threads, uploaded files, and jobs with their pages and
// frontier. Everything goes with its account.

import { blob, foreignKey, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { accounts } from "../schema.ts";
import { wholeMs } from "../values.ts";

const ownAccount = () =>
  text("account_id")
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });

/**
 * How much each account keeps here: its responses, threads, files and jobs. Triggers keep it beside every change of a
 * row, whoever makes it, so that no one has to count.
 */
export const accountStorage = sqliteTable("account_storage", {
  accountId: text("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  bytes: integer("bytes").notNull().default(0),
});

/** Answers of the Responses API that can be fetched and continued. */
export const responses = sqliteTable(
  "responses",
  {
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    model: text("model").notNull(),
    /** The answer this one continues; it may be gone. */
    previousId: text("previous_id"),
    /** Where an upstream keeps it, and under which id. */
    provider: text("provider"),
    upstreamId: text("upstream_id"),
    /** This request's own input items, without those of the answers before it. */
    input: text("input", { mode: "json" }).$type<readonly unknown[]>().notNull(),
    /** The response object as the client got it. */
    body: text("body", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
  },
  (t) => [index("responses_newest").on(t.accountId, t.createdAtMs, t.id), index("responses_expiry").on(t.expiresAtMs)],
);

/** Conversations that are kept: of clients that name them, and those that are held for a client. Their text is sealed. */
export const threads = sqliteTable(
  "threads",
  {
    accountId: ownAccount(),
    /** `thread`: the client's own name and its last request; the others are held here, and the stored copy is the history. */
    kind: text("kind", { enum: ["thread", "conversation", "messages"] }).notNull(),
    threadId: text("thread_id").notNull(),
    model: text("model").notNull(),
    /** How many messages it has, and tokens. */
    messages: integer("messages").notNull(),
    tokens: integer("tokens").notNull(),
    /** The messages; only the gateway can read them. */
    state: blob("state", { mode: "buffer" }).notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    updatedAtMs: wholeMs("updated_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.kind, t.threadId] }),
    index("threads_expiry").on(t.expiresAtMs),
    index("threads_oldest").on(t.accountId, t.updatedAtMs),
  ],
);

/** What stands for the earlier part of a thread; sealed like its messages. */
export const threadSummaries = sqliteTable(
  "thread_summaries",
  {
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ["thread", "conversation", "messages"] }).notNull(),
    threadId: text("thread_id").notNull(),
    id: text("id").notNull(),
    tokens: integer("tokens").notNull(),
    state: blob("state", { mode: "buffer" }).notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.kind, t.threadId, t.id] }),
    foreignKey({
      columns: [t.accountId, t.kind, t.threadId],
      foreignColumns: [threads.accountId, threads.kind, threads.threadId],
    }).onDelete("cascade"),
  ],
);

/** What a conversation that is held here says, item by item in its order; sealed like a thread's messages. */
export const threadItems = sqliteTable(
  "thread_items",
  {
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ["thread", "conversation", "messages"] }).notNull(),
    threadId: text("thread_id").notNull(),
    /** Its place; places of deleted items stay empty. */
    seq: integer("seq").notNull(),
    id: text("id").notNull(),
    /** How long it is when it is read; sealed it is compressed. */
    bytes: integer("bytes").notNull(),
    state: blob("state", { mode: "buffer" }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.kind, t.threadId, t.seq] }),
    uniqueIndex("thread_items_id").on(t.accountId, t.kind, t.threadId, t.id),
    foreignKey({
      columns: [t.accountId, t.kind, t.threadId],
      foreignColumns: [threads.accountId, threads.kind, threads.threadId],
    }).onDelete("cascade"),
  ],
);

/** Uploaded files; the bytes are in the data directory under uploads/ACCOUNT/ID. */
export const files = sqliteTable(
  "files",
  {
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    filename: text("filename").notNull(),
    purpose: text("purpose").notNull(),
    mediaType: text("media_type").notNull(),
    bytes: integer("bytes").notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
  },
  (t) => [index("files_account").on(t.accountId)],
);

/** Long work: crawls, extractions, llms.txt. Claimed by lease, so that it survives the process that ran it. */
export const jobs = sqliteTable(
  "jobs",
  {
    id: text("id").primaryKey(),
    kind: text("kind").notNull(),
    accountId: ownAccount(),
    state: text("state", { enum: ["queued", "running", "completed", "failed", "cancelled"] }).notNull(),
    input: text("input", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    progress: text("progress", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    result: text("result", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
    error: text("error", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
    owner: text("owner"),
    leaseUntilMs: wholeMs("lease_until"),
    createdAtMs: wholeMs("created_at").notNull(),
    /** Its hard limit. */
    deadlineAtMs: wholeMs("deadline_at").notNull(),
    finishedAtMs: wholeMs("finished_at"),
    /** How many addresses its frontier knows; counting them each time would make a large crawl quadratic. */
    frontierSize: integer("frontier_size").notNull().default(0),
    /** What its pages and its frontier take. They go with it, and only with it. */
    heldBytes: integer("held_bytes").notNull().default(0),
    /** From then on it does not exist; set when it finishes. */
    expiresAtMs: wholeMs("expires_at"),
  },
  (t) => [
    index("jobs_account").on(t.accountId),
    index("jobs_state").on(t.state, t.leaseUntilMs),
    index("jobs_expiry").on(t.expiresAtMs),
  ],
);

/** What a job has found so far, in the order it was found. */
export const jobPages = sqliteTable(
  "job_pages",
  {
    jobId: text("job_id")
      .notNull()
      .references(() => jobs.id, { onDelete: "cascade" }),
    seq: integer("seq").notNull(),
    url: text("url").notNull(),
    /** A page, or why there is none. */
    failed: integer("failed", { mode: "boolean" }).notNull(),
    body: text("body", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.seq] })],
);

/** The pages a crawl knows of, each once under its normalised address. */
export const jobFrontier = sqliteTable(
  "job_frontier",
  {
    jobId: text("job_id")
      .notNull()
      .references(() => jobs.id, { onDelete: "cascade" }),
    /** The normalised address that makes two spellings one page. */
    urlKey: text("url_key").notNull(),
    url: text("url").notNull(),
    depth: integer("depth").notNull(),
    /** Order of discovery, so that equals are taken first come, first served. */
    seq: integer("seq").notNull(),
    state: text("state", { enum: ["waiting", "taken", "done"] }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.jobId, t.urlKey] }),
    index("job_frontier_next").on(t.jobId, t.state, t.depth, t.seq),
  ],
);

/**
 * Answers of sites whose pages are not stored yet, so that no one is asked twice because a program died. Short-lived.
 */
export const jobAnswers = sqliteTable(
  "job_answers",
  {
    jobId: text("job_id")
      .notNull()
      .references(() => jobs.id, { onDelete: "cascade" }),
    /** The page of the frontier it was asked for. */
    urlKey: text("url_key").notNull(),
    /** What was asked: a page may send its reader on, and then has several. */
    asked: text("asked").notNull(),
    /** Where redirects led. */
    url: text("url").notNull(),
    status: integer("status").notNull(),
    headers: text("headers", { mode: "json" }).$type<readonly (readonly [string, string])[]>().notNull(),
    /** Compressed with zstd. */
    body: blob("body", { mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.urlKey, t.asked] })],
);
