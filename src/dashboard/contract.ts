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
  /** Sign-in providers that are configured. */
  readonly providers: readonly Provider[];
  /** Base of the API as clients reach it, without `/v1`. */
  readonly base_url: string;
  readonly version: string;
}

export interface Provider {
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
}

/** Somebody a provider vouches for, who has no account yet. */
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
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** Body of `POST keys`. */
export interface NewKeyForm {
  readonly name: string;
  readonly rpm?: number | undefined;
  /** ISO 8601. */
  readonly expires_at?: string | undefined;
  readonly budget_usd?: number | undefined;
  /** The budget starts anew after so many days; absent: never. */
  readonly budget_period_days?: number | undefined;
}

/** Answer of `POST keys`. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
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

/** Sums of requests. */
export interface UsageSumsView {
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

/** Answer of `GET usage?days=`. Days are UTC days, as `2030-12-31`. */
export interface UsageReport {
  /** Every day of the span, oldest first. */
  readonly days: readonly string[];
  readonly total: UsageSumsView;
  /** The span of the same length before it. */
  readonly before: UsageSumsView;
  readonly cells: readonly (UsageSumsView & { readonly day: string; readonly model: string })[];
  readonly models: readonly (UsageSumsView & { readonly model: string })[];
  /** By the key's name; empty for a key that is gone. */
  readonly keys: readonly (UsageSumsView & { readonly key: string })[];
}

/** One request, of `GET requests?before=`. */
export interface RequestView {
  readonly id: number;
  readonly request_id: string;
  readonly created_at: string;
  readonly model: string;
  readonly endpoint: string;
  readonly key: string;
  readonly status: number;
  readonly error: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The provider reported no usage; the tokens were counted here. */
  readonly estimated: boolean;
  readonly cost_usd: number;
  readonly latency_ms: number;
  readonly stream: boolean;
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

/** A list as every listing of the API answers. */
export interface Listing<T> {
  readonly data: readonly T[];
}

/** The body of every refusal. */
export interface Refusal {
  readonly error: {
    readonly message: string;
    readonly code: string;
    /** The field that is wrong, where one is. */
    readonly param: string | null;
  };
}
