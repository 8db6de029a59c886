// The tables for signing in: sessions and their refresh tokens, provider identities, codes, one-time tickets, invitations and
// the audit log; and projects with their members. Every secret is stored as a hash; everything of an account is deleted with it.

import { index, integer, primaryKey, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { lateTable } from "../late-table.ts";
import { accounts } from "../schema.ts";
import { wholeMs } from "../values.ts";

const ownAccount = () =>
  text("account_id")
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });

/** One sign-in on one device: a family of refresh tokens, or a dashboard cookie. */
export const sessions = lateTable(
  "sessions",
  () => ({
    id: text("id").primaryKey(),
    accountId: ownAccount(),
    /** Set for dashboard sessions, which have a cookie instead of refresh tokens. */
    cookieHash: text("cookie_hash"),
    userAgent: text("user_agent").notNull(),
    address: text("address").notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    lastUsedAtMs: wholeMs("last_used_at").notNull(),
    /** When its newest token or its cookie expires. */
    expiresAtMs: wholeMs("expires_at").notNull(),
    revokedAtMs: wholeMs("revoked_at"),
  }),
  (t) => [
    uniqueIndex("sessions_cookie").on(t.cookieHash),
    index("sessions_account").on(t.accountId),
    index("sessions_expiry").on(t.expiresAtMs),
  ],
);

/** Used tokens are kept until they would have expired, so that the use of a stolen token is noticed. */
export const refreshTokens = lateTable(
  "refresh_tokens",
  () => ({
    hash: text("hash").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    createdAtMs: wholeMs("created_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
    usedAtMs: wholeMs("used_at"),
    /** The token that replaced it. */
    nextHash: text("next_hash"),
  }),
  (t) => [index("refresh_tokens_session").on(t.sessionId), index("refresh_tokens_expiry").on(t.expiresAtMs)],
);

/** Links a person at an identity provider to an account. */
export const identities = lateTable(
  "identities",
  () => ({
    provider: text("provider").notNull(),
    /** The provider's own id of the person. */
    subject: text("subject").notNull(),
    accountId: ownAccount(),
    email: text("email"),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.provider, t.subject] }),
    uniqueIndex("identities_account").on(t.accountId, t.provider),
  ],
);

/** The pending e-mail verification code of an account. */
export const verificationCodes = lateTable("verification_codes", () => ({
  accountId: text("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  codeHash: text("code_hash").notNull(),
  tries: integer("tries").notNull().default(0),
  sentAtMs: wholeMs("sent_at").notNull(),
  expiresAtMs: wholeMs("expires_at").notNull(),
}));

/** One-time secrets: OAuth states and exchange codes, pending identities, password resets. */
export const tickets = lateTable(
  "tickets",
  () => ({
    hash: text("hash").primaryKey(),
    kind: text("kind").notNull(),
    accountId: text("account_id").references(() => accounts.id, { onDelete: "cascade" }),
    payload: text("payload", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    expiresAtMs: wholeMs("expires_at").notNull(),
  }),
  (t) => [index("tickets_account").on(t.accountId, t.kind), index("tickets_expiry").on(t.expiresAtMs)],
);

/** Invitations for `auth.signup: invite`. */
export const invites = lateTable(
  "invites",
  () => ({
    id: text("id").primaryKey(),
    hash: text("hash").notNull(),
    createdBy: text("created_by").references(() => accounts.id, { onDelete: "set null" }),
    note: text("note").notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
    expiresAtMs: wholeMs("expires_at"),
    usedAtMs: wholeMs("used_at"),
    usedBy: text("used_by").references(() => accounts.id, { onDelete: "set null" }),
  }),
  (t) => [uniqueIndex("invites_hash").on(t.hash)],
);

/** Security events of an account, which its owner and the operator can read. */
export const auditLog = lateTable(
  "audit_log",
  () => ({
    id: integer("id").primaryKey({ autoIncrement: true }),
    accountId: ownAccount(),
    event: text("event").notNull(),
    address: text("address").notNull(),
    userAgent: text("user_agent").notNull(),
    detail: text("detail", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [index("audit_log_account").on(t.accountId), index("audit_log_created").on(t.createdAtMs)],
);
/** Projects. A key belongs to one or none (`api_keys.project_id`). */
export const projects = lateTable(
  "projects",
  () => ({
    id: text("id").primaryKey(),
    /** The account that it belongs to, which is always a member and an owner. */
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** Limits of all its keys together; null: none. */
    rpm: integer("rpm"),
    tpm: integer("tpm"),
    parallel: integer("parallel"),
    /** Patterns of the models that its keys may use; null: all models. */
    models: text("models", { mode: "json" }).$type<readonly string[]>(),
    budgetMicros: integer("budget_micros"),
    /** Length of a budget window; null: the budget never refills. */
    budgetPeriodMs: wholeMs("budget_period_ms"),
    budgetWindowStartMs: wholeMs("budget_window_start"),
    /** Spent within the window that started at `budgetWindowStartMs`. */
    spentMicros: integer("spent_micros").notNull().default(0),
    /** Limits of each run of an agent; null: those of the plan. */
    runMicros: integer("run_micros"),
    runRequests: integer("run_requests"),
    runRepeats: integer("run_repeats"),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [index("projects_account").on(t.accountId)],
);

/** The members of projects. Everything of a member goes with the account or the project. */
export const projectMembers = lateTable(
  "project_members",
  () => ({
    projectId: text("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "cascade" }),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    role: text("role", { enum: ["owner", "manager", "member"] }).notNull(),
    /** The identity provider whose groups made the account a member, which ends with the group; null: a person did. */
    provider: text("provider"),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [primaryKey({ columns: [t.projectId, t.accountId] }), index("project_members_account").on(t.accountId)],
);
