// What the dashboard's pages and its API say to each other: the only file that both sides import. Types, and the few
// plain values both must agree on.

/** Where the dashboard lives. */
export const BASE = "/dashboard";

/** The dashboard's own API. It takes the session cookie and nothing else. */
export const API = `${BASE}/api`;

/** The page's first data, put into its HTML so that nothing has to be loaded before something can be shown. */
export interface Boot {
  readonly profile: Profile | null;
  /** Who may make an account; `first`: only who has the link that the server printed. */
  readonly signup: "open" | "invite" | "closed" | "first";
  /** Are keys refused until the address is verified? */
  readonly must_verify: boolean;
  /** Sign-in providers that are configured. */
  readonly providers: readonly SignInOption[];
  /** Where mails go: to a server, to files of the gateway's because none is configured, or nowhere for the moment. */
  readonly mail: "smtp" | "files" | "failing";
  /** Base of the API as clients reach it, without `/v1`. */
  readonly base_url: string;
  readonly version: string;
}

export interface SignInOption {
  readonly slug: string;
  readonly name: string;
}

/** The signed-in account. */
export interface Profile {
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
  /** Requests a minute of the plan, for each key. */
  readonly tier_rpm: number;
  /** What its responses, threads, files and jobs take up here. */
  readonly storage: { readonly used_bytes: number; readonly limit_bytes: number };
  /** What it may spend, all its keys together; null: no limit. */
  readonly budget: BudgetView | null;
  /** Keys of which the operator keeps for now what passes for their requests. */
  readonly debugged_keys: readonly { readonly name: string; readonly until: string }[];
}

/** What an account may spend. */
export interface BudgetView {
  readonly usd: number;
  readonly spent_usd: number;
  /** It renews after this many days; null: never. */
  readonly period_days: number | null;
  readonly resets_at: string | null;
  /** Set for this account, not by its plan. */
  readonly own: boolean;
}

/** Someone a provider vouches for, who has no account yet. */
export interface PendingPerson {
  readonly provider: string;
  readonly email: string | null;
  readonly name: string | null;
}

/** An API key as listed; the key itself is shown once, when it is made. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  /** Its first and last characters. */
  readonly key: string;
  readonly rpm: number | null;
  readonly budget_usd: number | null;
  readonly spent_usd: number | null;
  readonly budget_period_days: number | null;
  /** Models it may use that its budget does not hold, as no price is known of them; none for a key without a budget. */
  readonly unpriced: readonly string[];
  /** Of the last seven days (UTC), today last; none in the listing of another's keys. */
  readonly requests_by_day: readonly number[];
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** Nothing that its requests say is kept. */
  readonly no_store: boolean;
  /** Until then what passes for its requests is kept; null: nothing is. */
  readonly debug_until: string | null;
  /** Patterns of the models that it may use; null: all of the plan. */
  readonly models: readonly string[] | null;
  /** Its requests may go to any path of a provider. */
  readonly passthrough: boolean;
}

/** Answer of `POST keys/ID/rotate`. */
export interface RotatedKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The old key works until then, or until its own expiry. */
  readonly old_until: string;
}

/** Body of `POST keys`; of `POST keys/ID` too, where what is absent is cleared. */
export interface NewKeyForm {
  readonly name: string;
  readonly rpm?: number | undefined;
  /** ISO 8601. */
  readonly expires_at?: string | undefined;
  readonly budget_usd?: number | undefined;
  /** The budget renews after this many days; absent: never. */
  readonly budget_period_days?: number | undefined;
  /** Nothing that its requests say is kept. */
  readonly no_store?: boolean | undefined;
  /** Patterns of the models that it may use, such as `gpt-*`; absent or empty: all of the plan. */
  readonly models?: readonly string[] | undefined;
  /** Its requests may go to any path of a provider; only an admin may ask for it. */
  readonly passthrough?: boolean | undefined;
}

/** Answer of `POST keys`. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  /** As in `KeyView`. */
  readonly unpriced: readonly string[];
}

/** A model as the dashboard offers it. */
export interface ModelChoice {
  readonly id: string;
  readonly name: string;
  readonly owned_by: string;
  readonly tier: string;
  readonly context_length: number;
  readonly supports_vision: boolean;
  readonly supports_tools: boolean;
  readonly supports_reasoning: boolean;
  readonly description: string;
  /** US dollars per million tokens, where they are known. */
  readonly prices: { readonly input: number; readonly output: number } | null;
  /** Is it within the account's plan? */
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

/** Something that happened to the account, of `GET events?before=`. */
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
  /** The configuration's entry that it comes from. */
  readonly origin: string;
  readonly name: string;
  readonly tier: string;
  readonly aliases: readonly string[];
  readonly backend: string;
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
  readonly calibration: "none" | "fitted";
  /** Null for what is offered because a provider lists it. */
  readonly created_at: string | null;
  /** Its upstream began to report another model name. */
  readonly drifted: boolean;
  /** It answers as the release before did. */
  readonly outdated: boolean;
  /** Why it is out of the list; null for one that is in. */
  readonly unfit: string | null;
  /** Why no alias is moved to it; null where nothing speaks against that. */
  readonly worse: string | null;
  /** On rows that the fit never saw. */
  readonly measured: DecisionMetrics | null;
}

/** How good probabilities were on labelled rows. */
export interface DecisionMetrics {
  readonly rows: number;
  readonly accuracy: number;
  /** What always saying the most frequent answer would reach. */
  readonly majority: number;
  readonly log_loss: number;
  readonly brier: number;
  readonly ece: number;
  /** A perfectly calibrated model's on such rows: [mean, 19 of 20 below]; null of older programs. */
  readonly ece_by_chance: readonly [number, number] | null;
}

/** A bin of a reliability diagram. */
export interface ReliabilityBin {
  readonly confidence: number;
  readonly accuracy: number;
  readonly rows: number;
}

/** Before and after a fit, on rows that it never saw. */
export interface DecisionReport {
  /** `all`, or a type of question. */
  readonly type: string;
  readonly before: DecisionMetrics;
  readonly after: DecisionMetrics;
  /** [] where an older program measured. */
  readonly bins_before: readonly ReliabilityBin[];
  readonly bins: readonly ReliabilityBin[];
}

/** What was fitted for one type of question and number of options. */
export interface DecisionParameters {
  readonly type: string;
  /** `2`, `3-5`, `6-20` or `>20`. */
  readonly options: string;
  readonly temperature: number;
  readonly bias: number | null;
  /** By the exact number of options: what each position gains by being where it is. */
  readonly positions: Readonly<Record<string, readonly number[]>>;
  readonly rows: number;
}

/** Answer of `GET admin/decisions/version?id=`. */
export interface DecisionVersionView extends DecisionVersionRow {
  /** US dollars per million input tokens; null: no price is known. */
  readonly input_price: number | null;
  /** What else an operator should know, a sentence each. */
  readonly notes: readonly string[];
  readonly description: string;
  /** SHA-256 of everything that determines its answers. */
  readonly hash: string;
  readonly parameters: readonly DecisionParameters[];
  readonly measurement: {
    /** The version it was fitted from. */
    readonly from: string;
    readonly fit_rows: number;
    readonly dataset: { readonly sha256: string; readonly rows: number } | null;
    readonly reports: readonly DecisionReport[];
  } | null;
  /** What answered for it, as its upstreams name themselves, oldest first. */
  readonly sightings: readonly {
    readonly provider: string;
    readonly model: string;
    readonly fingerprint: string;
    readonly first_at: string;
    readonly last_at: string;
  }[];
  /** Every alias there is, with where it points now; `own`: to a version of the same model. */
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
  /** Where it is signed in. */
  readonly sessions: readonly SessionView[];
  /** The plans there are. */
  readonly tiers: readonly string[];
}

/** Answer of `POST admin/accounts/ID/reset-link`: works once. */
export interface ResetLink {
  readonly url: string;
  readonly minutes: number;
}

/** Body of `POST admin/accounts/ID`: the plan is the account's own from then on, a trial ends. */
export interface PlanForm {
  readonly tier: string;
  /** ISO 8601; null: without an end. */
  readonly subscription_until: string | null;
}

/** An invitation in `GET admin/invites`. */
export interface InviteView {
  readonly id: string;
  readonly note: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly used_at: string | null;
  /** Id of the account that it made. */
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

/** A model in `GET admin/models`; hidden ones are there too. */
export interface AdminModelView {
  readonly id: string;
  readonly name: string;
  readonly owned_by: string;
  readonly aliases: readonly string[];
  readonly tier: string;
  readonly listed: boolean;
  /** Null for models without a health check: hidden ones and new ones. */
  readonly status: "healthy" | "degraded" | "unavailable" | null;
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
  /** In the order they are tried. */
  readonly routes: readonly {
    readonly provider: string;
    readonly model: string;
    readonly priority: number;
    readonly weight: number;
    readonly breaker: "closed" | "open" | "half_open" | null;
  }[];
}

/** A decision model that can be tried, in `GET decision-models`. */
export type DecisionChoice = Pick<ModelChoice, "id" | "tier" | "usable">;

/** A list as every listing of the API answers. */
export interface Listing<T> {
  readonly data: readonly T[];
}

/** The body of every refusal. */
export interface ErrorAnswer {
  readonly error: {
    readonly message: string;
    readonly code: string;
    /** The field that is wrong, where one is. */
    readonly param: string | null;
  };
}
