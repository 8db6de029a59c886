// What the operators' pages of the gateway, providers, search engines, storage, audit and configuration and their API say to each other.

/** How a test went: `warning`: it answered, and that says little. */
export type TestStatus = "ok" | "warning" | "failed";

/** A provider in `GET admin/providers`. */
export interface ProviderView {
  readonly name: string;
  readonly kind: string;
  readonly preset: string | null;
  /** Empty for one inside the program. */
  readonly base_url: string;
  /** How many keys it has. */
  readonly credentials: number;
  /** The variable that holds its key, by its preset. */
  readonly variable: string | null;
  /** How asking for its models went: `off`: not asked; `waiting`: not answered yet; `built_in`: inside the program. */
  readonly list: { readonly state: "ok" | "failed" | "waiting" | "off" | "built_in"; readonly models: number };
  /** Models of the catalog that have a way to it. */
  readonly models: number;
  /** How many of those that are listed are in which state. */
  readonly health: { readonly healthy: number; readonly degraded: number; readonly unavailable: number };
  /** Null for what is not watched. */
  readonly breaker: {
    readonly state: "closed" | "open" | "half_open";
    readonly failures: number;
    readonly failures_max: number;
    readonly opened_at: string | null;
  } | null;
  /** Since the program was started; `over`: a call has gone well since. */
  readonly last_error: {
    readonly kind: string;
    readonly status: number;
    readonly at: string;
    readonly over: boolean;
  } | null;
}

/** Answer of `POST admin/providers/NAME/test`: each key was asked for the list of models. */
export interface ProviderTest {
  readonly status: TestStatus;
  readonly ms: number;
  /** What happened, and what to do about it. */
  readonly message: string;
  readonly at: string;
}

/** A search engine in `GET admin/engines`. */
export interface EngineView {
  readonly name: string;
  readonly categories: readonly string[];
  /** Why it is not asked; null for one that runs. */
  readonly off: string | null;
  readonly suspended: { readonly kind: string; readonly until: string } | null;
  readonly last_ok_at: string | null;
  readonly failing_since: string | null;
  readonly last_error: { readonly kind: string; readonly message: string; readonly at: string } | null;
}

/** Answer of `POST admin/engines/NAME/test`. */
export interface EngineTest extends ProviderTest {
  readonly hits: number;
}

/** Answer of `GET admin/storage`. */
export interface StorageView {
  readonly data_dir: string;
  readonly database: { readonly bytes: number; readonly free_bytes: number; readonly log_bytes: number };
  /** What else lies in the data directory; `files`: how many, of a folder. */
  readonly others: readonly { readonly name: string; readonly bytes: number; readonly files: number }[];
  /** The accounts that keep the most. */
  readonly accounts: readonly { readonly id: string; readonly username: string; readonly bytes: number }[];
  readonly limit_bytes: number;
  /** What is kept for how long. */
  readonly retention: readonly RetentionRow[];
  /** When what has expired was last deleted; null before the first round. */
  readonly sweep: { readonly at: string; readonly deleted: number; readonly failed: number } | null;
}

/** Something that is kept for a time. */
export interface RetentionRow {
  readonly what: string;
  /** Milliseconds. */
  readonly kept_ms: number;
  /** The key that sets it; null where it is fixed. */
  readonly key: string | null;
}

/** An entry in `GET admin/audit?account=&event=&before=`. */
export interface AuditView {
  readonly id: number;
  readonly account: { readonly id: string; readonly username: string };
  readonly event: string;
  readonly address: string;
  readonly device: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** Answer of `GET admin/config`. */
export interface ConfigView {
  /** Null where there is no file. */
  readonly file: string | null;
  readonly values: readonly ConfigRow[];
}

/** A value of the configuration. */
export interface ConfigRow {
  readonly key: string;
  /** Null: a secret that is set; empty: not set. */
  readonly value: string | null;
  readonly source: {
    readonly kind: "file" | "variable" | "option" | "preset" | "default";
    readonly name: string | null;
    readonly line: number | null;
    readonly through: readonly string[];
  };
  readonly description: string | null;
}

/** Answer of `GET admin/gateway`: how everything is now. */
export interface GatewayView {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly providers: readonly {
    readonly name: string;
    readonly kind: string;
    /** Models it has a way to. */
    readonly models: number;
    /** Null for what is not watched. */
    readonly breaker: {
      readonly state: "closed" | "open" | "half_open";
      readonly failures: number;
      readonly opened_at: string | null;
    } | null;
    readonly last_error: ProviderView["last_error"];
  }[];
  readonly models: readonly {
    readonly id: string;
    readonly status: "healthy" | "degraded" | "unavailable";
    readonly p50_ms: number | null;
    readonly p99_ms: number | null;
    readonly checked_at: string;
  }[];
  readonly subsystems: readonly {
    readonly name: string;
    readonly status: "ok" | "degraded" | "unavailable" | "disabled";
  }[];
  readonly database: { readonly bytes: number; readonly free_bytes: number; readonly log_bytes: number };
  /** A peer outside `server.trusted_proxies` that spoke as a proxy lately. */
  readonly untrusted_proxy: string | null;
  /** What the web tools work on: jobs, pages, single pages, conversions. */
  readonly web: readonly { readonly what: string; readonly running: number; readonly waiting: number }[];
}
