// Types and plain values that the pages share with the API. Both sides import only this file and those beside it.

import type { HealthWord, MarkedModel } from "./contract-admin.ts";
import type { KeyLimitForm, KeyLimits, PlanLimits, RunLimitValues } from "./contract-limits.ts";

/** The dashboard's path. */
export const BASE = "/dashboard";

/** The path of the dashboard's own API, which accepts only the session cookie. */
export const API = `${BASE}/api`;

/** The page's first data. The HTML contains it, so that the page can be rendered without another request. */
export interface Boot {
  readonly profile: Profile | null;
  /** Who may create an account; `oauth`: who comes from a sign-in provider; `first`: only the person who has the link that the server printed. */
  readonly signup: "open" | "invite" | "closed" | "oauth" | "first";
  /** Whether keys are refused until the account's address is verified. */
  readonly must_verify: boolean;
  /** Sign-in providers that are configured. */
  readonly providers: readonly SignInOption[];
  /** Where mails are sent: to a server, to local files because no server is configured, or nowhere at the moment. */
  readonly mail: "smtp" | "files" | "failing";
  /** The base URL of the API as clients see it, without `/v1`. */
  readonly base_url: string;
  readonly version: string;
}

export interface SignInOption {
  readonly slug: string;
  readonly name: string;
}

/** The signed-in account. */
export interface Profile extends PlanLimits {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly tier: string;
  readonly trial_ends_at: string | null;
  readonly subscription_until: string | null;
  readonly oauth_providers: readonly string[];
  readonly has_password: boolean;
  readonly created_at: string;
  readonly admin: boolean;
  /** The plan's limit of requests a minute for each key. */
  /** The storage that its responses, threads, files and jobs use. */
  readonly storage: { readonly used_bytes: number; readonly limit_bytes: number };
  /** The budget for all keys of the account together; null: no limit. */
  readonly budget: BudgetView | null;
  /** Keys that are being debugged: the messages of their requests are kept for the operator. */
  readonly debugged_keys: readonly { readonly id: string; readonly name: string; readonly until: string }[];
}

/** The budget of an account. */
export interface BudgetView {
  readonly usd: number;
  readonly spent_usd: number;
  /** The budget renews after this many days; null: never. */
  readonly period_days: number | null;
  readonly resets_at: string | null;
  /** The budget was set for this account, not by its plan. */
  readonly own: boolean;
}

/** A person whom a provider has identified and who has no account yet. */
export interface PendingPerson {
  readonly provider: string;
  readonly email: string | null;
  readonly name: string | null;
}

/** An API key as listed. The key itself is shown once, when it is created. */
export interface KeyView extends KeyLimits {
  readonly id: string;
  readonly name: string;
  /** Its first and last characters. */
  readonly key: string;
  readonly budget_usd: number | null;
  readonly spent_usd: number | null;
  readonly budget_period_days: number | null;
  /** When the budget renews; null: never, or with the first request after it was set. */
  readonly budget_resets_at: string | null;
  /** Models that the key may use but its budget cannot count, since their prices are not known. */
  readonly unpriced: readonly string[];
  /** Counts of the last seven days (UTC), today last; empty when an operator lists the keys of another account. */
  readonly requests_by_day: readonly number[];
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** The content of its requests is never stored. */
  readonly no_store: boolean;
  /** It is refused until it is enabled again. */
  readonly disabled: boolean;
  /** It manages keys, and asks no model. */
  readonly management: boolean;
  /** Until this time the messages of its requests are kept; null: the key is not being debugged. */
  readonly debug_until: string | null;
  /** Patterns of the models that it may use; null: every model of the plan. */
  readonly models: readonly string[] | null;
  /** The addresses or ranges from which it may be used; null: any. */
  readonly addresses: readonly string[] | null;
  readonly runs: RunLimitValues;
  /** Its requests may use passthrough to any path of a provider. */
  readonly passthrough: boolean;
}

/** Body of `POST keys`, and of `POST keys/ID`, which clears the fields that are absent. */
export interface NewKeyForm extends KeyLimitForm {
  readonly name: string;
  /** ISO 8601. */
  readonly expires_at?: string | undefined;
  readonly budget_usd?: number | undefined;
  /** The budget renews after this many days; absent: never. */
  readonly budget_period_days?: number | undefined;
  /** The content of its requests is never stored. */
  readonly no_store?: boolean | undefined;
  /** Patterns of the models that it may use, such as `gpt-*`; absent or empty: every model of the plan. */
  readonly models?: readonly string[] | undefined;
  /** Its requests may use passthrough to any path of a provider; only an admin may set it. */
  readonly passthrough?: boolean | undefined;
}

/** Answer of `POST keys`. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  /** As in `KeyView`. */
  readonly unpriced: readonly string[];
}

/** A listed model of any kind, in `GET catalog`. */
export interface MemberModelView
  extends Pick<AdminModelView, "id" | "name" | "owned_by" | "aliases" | "tier" | "status" | "context_length">,
    Pick<ModelChoice, "description" | "usable"> {
  readonly kind: string;
  /** Its capabilities apart from its kind: `tools`, `vision`, `reasoning`. */
  readonly abilities: readonly string[];
  /** US dollars per million tokens, where they are known; `varies`: long prompts cost more. */
  readonly prices: { readonly input: number; readonly output: number; readonly varies: boolean } | null;
}

/** A model as the dashboard offers it. */
export interface ModelChoice {
  readonly id: string;
  readonly name: string;
  readonly owned_by: string;
  readonly tier: string;
  /** Null where it is not known. */
  readonly context_length: number | null;
  readonly supports_vision: boolean;
  readonly supports_tools: boolean;
  readonly supports_reasoning: boolean;
  readonly description: string;
  /** US dollars per million tokens, where they are known. */
  readonly prices: { readonly input: number; readonly output: number } | null;
  /** Whether the account's plan includes it. */
  readonly usable: boolean;
}

/** A sign-in of the account, of `GET sessions`. */
export interface SessionView {
  readonly id: string;
  readonly device: string;
  readonly address: string;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly current: boolean;
}

/** An entry of the account's audit log, in `GET events?before=`. */
export interface EventView {
  readonly id: number;
  readonly event: string;
  readonly address: string;
  readonly device: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** A version of a decision model in `GET admin/decisions`. */
export interface DecisionVersionRow {
  readonly id: string;
  /** The entry of the configuration that defines it. */
  readonly origin: string;
  readonly name: string;
  readonly tier: string;
  readonly aliases: readonly string[];
  readonly backend: string;
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
  readonly calibration: "none" | "prior" | "fitted";
  /** Null for a model that is offered because a provider lists it. */
  readonly created_at: string | null;
  /** Its upstream has begun to report another model name. */
  readonly drifted: boolean;
  /** It gives the same answers as the release before it. */
  readonly outdated: boolean;
  /** Why it is not listed; null for one that is. */
  readonly unfit: string | null;
  /** Why no alias may be moved to it; null where nothing prevents it. */
  readonly worse: string | null;
  /** Measured on rows that were not used for the fit. */
  readonly measured: DecisionMetrics | null;
}

/** The quality of the probabilities on labelled rows. */
export interface DecisionMetrics {
  readonly rows: number;
  readonly accuracy: number;
  /** The score of always giving the most frequent answer. */
  readonly majority: number;
  readonly log_loss: number;
  readonly brier: number;
  readonly ece: number;
  /**
   * The score of a perfectly calibrated model on such rows: [mean, upper limit in 19 of 20 cases]; null for older
   * programs.
   */
  readonly ece_by_chance: readonly [number, number] | null;
}

/** A bin of a reliability diagram. */
export interface ReliabilityBin {
  readonly confidence: number;
  readonly accuracy: number;
  readonly rows: number;
}

/** Measures before and after a fit, on rows that were not used for the fit. */
export interface DecisionReport {
  /** `all`, or a type of question. */
  readonly type: string;
  readonly before: DecisionMetrics;
  readonly after: DecisionMetrics;
  /** Empty where an older program measured. */
  readonly bins_before: readonly ReliabilityBin[];
  readonly bins: readonly ReliabilityBin[];
}

/** The fitted values for one type of question and number of options. */
export interface DecisionParameters {
  readonly type: string;
  /** `2`, `3-5`, `6-20` or `>20`. */
  readonly options: string;
  readonly temperature: number;
  readonly bias: number | null;
  /** By the exact number of options: the advantage that each position has. */
  readonly positions: Readonly<Record<string, readonly number[]>>;
  readonly rows: number;
}

/** Answer of `GET admin/decisions/version?id=`. */
export interface DecisionVersionView extends DecisionVersionRow {
  /** US dollars per million input tokens; null where the price is not known. */
  readonly input_price: number | null;
  /** Other things that an operator should know, one sentence each. */
  readonly notes: readonly string[];
  readonly description: string;
  /** SHA-256 of everything that affects its answers. */
  readonly hash: string;
  readonly parameters: readonly DecisionParameters[];
  readonly measurement: {
    /** The version from which it was fitted. */
    readonly from: string;
    readonly fit_rows: number;
    readonly dataset: { readonly sha256: string; readonly rows: number } | null;
    readonly reports: readonly DecisionReport[];
  } | null;
  /** The model names that its upstreams have reported, oldest first. */
  readonly sightings: readonly {
    readonly provider: string;
    readonly model: string;
    readonly fingerprint: string;
    readonly first_at: string;
    readonly last_at: string;
  }[];
  /** Every alias and its current target; `own`: the target is a version of the same model. */
  readonly all_aliases: readonly { readonly alias: string; readonly version: string; readonly own: boolean }[];
}

/** Body of `POST admin/decisions/promote`. */
export interface PromotionForm {
  readonly version: string;
  readonly alias: string;
}

/** An account in `GET admin/accounts?q=&before=`. */
export interface AccountRow {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly admin: boolean;
  readonly tier: string;
  readonly trial_ends_at: string | null;
  readonly subscription_until: string | null;
  readonly created_at: string;
  readonly live_keys: number;
  readonly total_tokens: number;
}

/** Answer of `GET admin/accounts/ID`. */
export interface AccountView extends AccountRow {
  readonly keys: readonly KeyView[];
  readonly budget: BudgetView | null;
  /** Its current sessions. */
  readonly sessions: readonly SessionView[];
  /** All plans. */
  readonly tiers: readonly string[];
}

/** Answer of `POST admin/accounts/ID/reset-link`; the link works once. */
export interface ResetLink {
  readonly url: string;
  readonly minutes: number;
}

/** Body of `POST admin/accounts/ID`. The plan then becomes the account's own, and a trial ends. */
export interface PlanForm {
  readonly tier: string;
  /** ISO 8601; null: no end. */
  readonly subscription_until: string | null;
}

/** An invitation in `GET admin/invites`. */
export interface InviteView {
  readonly id: string;
  readonly note: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly used_at: string | null;
  /** Id of the account that was created with it. */
  readonly used_by: string | null;
}

/** Body of `POST admin/invites`. */
export interface NewInviteForm {
  readonly note: string;
  readonly expires_at?: string | undefined;
}

/** Answer of `POST admin/invites`; the code is shown once. */
export interface NewInvite {
  readonly id: string;
  readonly code: string;
}

/** A model in `GET admin/models`, which includes hidden ones. */
export interface AdminModelView extends MarkedModel {
  readonly id: string;
  readonly name: string;
  readonly owned_by: string;
  readonly aliases: readonly string[];
  readonly tier: string;
  readonly listed: boolean;
  /** Null for models without a health check: hidden ones and new ones. */
  readonly status: HealthWord | null;
  /** Null where unknown. */
  readonly context_length: number | null;
  readonly max_output_tokens: number | null;
  readonly capabilities: readonly string[];
  /** US dollars per million tokens; `varies`: long prompts cost more. */
  readonly prices: {
    readonly input: number;
    readonly output: number;
    readonly cache_read: number | null;
    readonly varies: boolean;
  } | null;
  /** In the order in which they are tried. */
  readonly routes: readonly {
    readonly provider: string;
    readonly model: string;
    readonly priority: number;
    readonly weight: number;
    readonly breaker: "closed" | "open" | "half_open" | null;
  }[];
}

/** A decision model that can be tried out, in `GET decision-models`. */
export type DecisionChoice = Pick<ModelChoice, "id" | "tier" | "usable">;

/** The form of every list that the API answers with. */
export interface Listing<T> {
  readonly data: readonly T[];
}

/** The body of every error. */
export interface ErrorAnswer {
  readonly error: {
    readonly message: string;
    readonly code: string;
    /** The field that is wrong, if a field is. */
    readonly param: string | null;
  };
}
