// The rows of API keys: what a new key takes, what a listing shows, and what the request path reads.

import type { TierId } from "../../config/schema.ts";
import { accounts, apiKeys, type ManagementScope } from "../schema.ts";
import { projects } from "./schema.ts";

/** The fields of a new key. */
export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  /** The operator's own limit of requests per minute for this key. */
  readonly rpm?: number | null;
  readonly budgetMicros?: number | null;
  readonly budgetPeriodMs?: number | null;
  readonly expiresAtMs?: number | null;
  /** The content of its requests is not stored. */
  readonly noStore?: boolean;
  /** Patterns of the models that it may use; null: all models. */
  readonly models?: readonly string[] | null;
  /** Its requests may use any path of a provider. */
  readonly passthrough?: boolean;
  /** The MCP servers that it may use; null: all of the plan. */
  readonly mcpServers?: readonly string[] | null;
  /** What it manages as a management key; null: an ordinary key. */
  readonly management?: ManagementScope | null;
  /** The project to which it belongs. */
  readonly projectId?: string | null;
  /** Tokens a minute; null: the plan's. */
  readonly tpm?: number | null;
  /** Requests at once; null: the plan's. */
  readonly parallel?: number | null;
  /** Refused until it is enabled again. */
  readonly disabled?: boolean;
  /** The addresses from which it may be used, as ranges in CIDR notation; null: from anywhere. */
  readonly addresses?: readonly string[] | null;
  /** What one agent run may cost; null: the plan's. */
  readonly runMicros?: number | null;
  /** The requests of one agent run; null: the plan's. */
  readonly runRequests?: number | null;
  /** The equal tool calls in a row of one agent run; null: the plan's. */
  readonly runRepeats?: number | null;
}

/** The settings of a key that can be changed. */
export interface KeyChange {
  readonly name: string;
  readonly rpm: number | null;
  readonly budgetMicros: number | null;
  readonly budgetPeriodMs: number | null;
  readonly expiresAtMs: number | null;
  readonly models: readonly string[] | null;
  readonly tpm: number | null;
  readonly parallel: number | null;
  readonly projectId: string | null;
  readonly disabled: boolean;
  readonly addresses: readonly string[] | null;
  readonly runMicros: number | null;
  readonly runRequests: number | null;
  readonly runRepeats: number | null;
}

/** A key in a listing. */
export type KeyInfo = Omit<typeof apiKeys.$inferSelect, "hash" | "previousHash">;

/** What the request path needs to know about the project of a key. Limits are of all its keys together; null: none. */
export interface KeyProject {
  readonly id: string;
  /** The account that it belongs to. */
  readonly accountId: string;
  readonly name: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly parallel: number | null;
  /** Patterns of the models that its keys may use; null: all models. */
  readonly models: readonly string[] | null;
  readonly budgetMicros: number | null;
  /** Limits of each run of an agent; null: those of the plan. */
  readonly runMicros: number | null;
  readonly runRequests: number | null;
  readonly runRepeats: number | null;
}

/** What the request path needs to know about a key and its account. */
export interface LiveKey {
  readonly keyId: string;
  readonly accountId: string;
  /** Absent for keys of the gateway's own. */
  readonly name?: string | null;
  /** The key's own limit; null: the plan's. */
  readonly rpm: number | null;
  readonly expiresAtMs: number | null;
  readonly budgetMicros: number | null;
  /** The content of its requests is not stored. */
  readonly noStore: boolean;
  /** Until this time the messages of its requests are recorded; null: the key is not being debugged. */
  readonly debugUntilMs: number | null;
  /** Patterns of the models that it may use; null: all models. */
  readonly models: readonly string[] | null;
  /** Its requests may use any path of a provider. */
  readonly passthrough: boolean;
  /** The MCP servers that it may use; null: all of the plan. */
  readonly mcpServers: readonly string[] | null;
  /** What it manages as a management key; null: an ordinary key. */
  readonly management: ManagementScope | null;
  /** The project to which it belongs. */
  readonly projectId: string | null;
  /** Tokens a minute; null: the plan's. */
  readonly tpm: number | null;
  /** Requests at once; null: the plan's. */
  readonly parallel: number | null;
  /** Refused until it is enabled again. */
  readonly disabled: boolean;
  /** The addresses from which it may be used, as ranges in CIDR notation; null: from anywhere. */
  readonly addresses: readonly string[] | null;
  /** What one agent run may cost; null: the plan's. */
  readonly runMicros: number | null;
  /** The requests of one agent run; null: the plan's. */
  readonly runRequests: number | null;
  /** The equal tool calls in a row of one agent run; null: the plan's. */
  readonly runRepeats: number | null;
  /** The limits of its project, which hold beside its own. */
  readonly project: KeyProject | null;
  readonly account: {
    readonly tier: TierId;
    readonly trialEndsAtMs: number | null;
    readonly subscriptionUntilMs: number | null;
    readonly emailVerified: boolean;
    readonly admin: boolean;
  };
}

/** The settings of a caller without a key, or of a key without limits of its own. */
export const UNLIMITED = {
  rpm: null,
  expiresAtMs: null,
  noStore: false,
  debugUntilMs: null,
  models: null,
  passthrough: false,
  mcpServers: null,
  management: null,
  projectId: null,
  project: null,
  tpm: null,
  parallel: null,
  disabled: false,
  addresses: null,
  runMicros: null,
  runRequests: null,
  runRepeats: null,
} satisfies Partial<LiveKey>;

/** The settings that the request path and listings read alike. */
const SETTINGS = {
  accountId: apiKeys.accountId,
  name: apiKeys.name,
  rpm: apiKeys.rpm,
  expiresAtMs: apiKeys.expiresAtMs,
  budgetMicros: apiKeys.budgetMicros,
  noStore: apiKeys.noStore,
  debugUntilMs: apiKeys.debugUntilMs,
  models: apiKeys.models,
  passthrough: apiKeys.passthrough,
  mcpServers: apiKeys.mcpServers,
  management: apiKeys.management,
  projectId: apiKeys.projectId,
  tpm: apiKeys.tpm,
  parallel: apiKeys.parallel,
  disabled: apiKeys.disabled,
  addresses: apiKeys.addresses,
  runMicros: apiKeys.runMicros,
  runRequests: apiKeys.runRequests,
  runRepeats: apiKeys.runRepeats,
};

/** The columns of a `KeyInfo`. */
export const INFO_COLUMNS = {
  ...SETTINGS,
  id: apiKeys.id,
  prefix: apiKeys.prefix,
  lastFour: apiKeys.lastFour,
  budgetPeriodMs: apiKeys.budgetPeriodMs,
  budgetWindowStartMs: apiKeys.budgetWindowStartMs,
  spentMicros: apiKeys.spentMicros,
  revokedAtMs: apiKeys.revokedAtMs,
  createdAtMs: apiKeys.createdAtMs,
  lastUsedAtMs: apiKeys.lastUsedAtMs,
  previousUntilMs: apiKeys.previousUntilMs,
};

/** The columns of a `LiveKey`. */
export const LIVE_COLUMNS = {
  ...SETTINGS,
  keyId: apiKeys.id,
  project: {
    id: projects.id,
    accountId: projects.accountId,
    name: projects.name,
    rpm: projects.rpm,
    tpm: projects.tpm,
    parallel: projects.parallel,
    models: projects.models,
    budgetMicros: projects.budgetMicros,
    runMicros: projects.runMicros,
    runRequests: projects.runRequests,
    runRepeats: projects.runRepeats,
  },
  account: {
    tier: accounts.tier,
    trialEndsAtMs: accounts.trialEndsAtMs,
    subscriptionUntilMs: accounts.subscriptionUntilMs,
    emailVerified: accounts.emailVerified,
    admin: accounts.admin,
  },
};
