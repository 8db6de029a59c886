// Types that the API shares with the operators' pages: gateway, providers, search engines, storage, audit and
// configuration.

/** The health of a model; unknown if nothing was seen of it. */
export type HealthWord = "healthy" | "degraded" | "unavailable" | "unknown";

/** The result of a test. `warning`: the service answered, but the answer does not show that it works. */
export type TestStatus = "ok" | "warning" | "failed";

/** A provider in `GET admin/providers`. */
export interface ProviderView {
  readonly name: string;
  readonly kind: string;
  readonly preset: string | null;
  /** Empty for a provider that is built into the program. */
  readonly base_url: string;
  /** The number of its keys. */
  readonly credentials: number;
  /** The environment variable that holds its key, as its preset defines it. */
  readonly variable: string | null;
  /**
   * The result of asking for its models. `off`: not asked; `waiting`: not answered yet; `built_in`: inside the program.
   */
  readonly list: { readonly state: "ok" | "failed" | "waiting" | "off" | "built_in"; readonly models: number };
  /** The number of models in the catalog that have a route to it. */
  readonly models: number;
  /** The number of listed models in each state. */
  readonly health: Readonly<Record<HealthWord, number>>;
  /** Null for providers that are not watched. */
  readonly breaker: {
    readonly state: "closed" | "open" | "half_open";
    readonly failures: number;
    readonly failures_max: number;
    readonly opened_at: string | null;
    /** The models whose breakers are not closed, where the models differ. */
    readonly models: readonly { readonly model: string; readonly state: "open" | "half_open" }[];
  } | null;
  /** Counted since the program started. `over`: a call has succeeded since. */
  readonly last_error: {
    readonly kind: string;
    readonly status: number;
    readonly at: string;
    readonly over: boolean;
  } | null;
}

/** Answer of `POST admin/providers/NAME/test`: the result of asking for the list of models with each key. */
export interface ProviderTest {
  readonly status: TestStatus;
  readonly ms: number;
  /** What happened, and what the operator can do about it. */
  readonly message: string;
  readonly at: string;
}

/** A search engine in `GET admin/engines`. */
export interface EngineView {
  readonly name: string;
  readonly categories: readonly string[];
  /** Why the engine is not used; null for one that is. */
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
  /** Other contents of the data directory; `files`: the number of files in a folder. */
  readonly others: readonly { readonly name: string; readonly bytes: number; readonly files: number }[];
  /** The accounts that use the most storage. */
  readonly accounts: readonly { readonly id: string; readonly username: string; readonly bytes: number }[];
  readonly limit_bytes: number;
  /** How long each kind of data is kept. */
  readonly retention: readonly RetentionRow[];
  /** When expired data was last deleted; null before the first round. */
  readonly sweep: { readonly at: string; readonly deleted: number; readonly failed: number } | null;
}

/** A kind of data that is kept for a limited time. */
export interface RetentionRow {
  readonly what: string;
  /** Milliseconds. */
  readonly kept_ms: number;
  /** The configuration key that sets it; null where it is fixed. */
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
  /** Null where there is no configuration file. */
  readonly file: string | null;
  readonly values: readonly ConfigRow[];
}

/** A value of the configuration. */
export interface ConfigRow {
  readonly key: string;
  /** Null: a secret that is set. Empty: not set. */
  readonly value: string | null;
  readonly source: {
    readonly kind: "file" | "variable" | "option" | "preset" | "default";
    readonly name: string | null;
    readonly line: number | null;
    readonly through: readonly string[];
  };
  readonly description: string | null;
}

/** Answer of `GET admin/gateway`: the current state of every part. */
export interface GatewayView {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly providers: readonly {
    readonly name: string;
    readonly kind: string;
    /** The number of models that have a route to it. */
    readonly models: number;
    /** Null for providers that are not watched. */
    readonly breaker: {
      readonly state: "closed" | "open" | "half_open";
      readonly failures: number;
      readonly opened_at: string | null;
    } | null;
    readonly last_error: ProviderView["last_error"];
  }[];
  readonly models: readonly {
    readonly id: string;
    readonly status: HealthWord;
    readonly p50_ms: number | null;
    readonly p99_ms: number | null;
    readonly checked_at: string;
  }[];
  readonly subsystems: readonly {
    readonly name: string;
    readonly status: "ok" | "degraded" | "unavailable" | "disabled";
    /** What an administrator should know of it although it works. */
    readonly note?: string;
  }[];
  readonly database: { readonly bytes: number; readonly free_bytes: number; readonly log_bytes: number };
  /** The configured MCP servers; figures since the start. */
  readonly mcp_servers: readonly {
    readonly name: string;
    readonly kind: "http" | "program";
    /** Whether every chat gets its tools. */
    readonly auto: boolean;
    readonly status: "up" | "down" | "unused";
    readonly error: string | null;
    /** Null until it was asked. */
    readonly tools: number | null;
    readonly calls: number;
    readonly failed_calls: number;
  }[];
  /** A peer outside `server.trusted_proxies` that recently sent a proxy's headers. */
  readonly untrusted_proxy: string | null;
  /** The current work of the web tools: jobs, pages, single pages and conversions. */
  readonly web: readonly { readonly what: string; readonly running: number; readonly waiting: number }[];
  /** What the cache of answers did on this node since its start; null while it is off. */
  readonly cache: {
    readonly hits: number;
    readonly misses: number;
    readonly failures: number;
    readonly saved_usd: number;
    /** The size of all kept answers; null until this node has kept one. */
    readonly bytes: number | null;
  } | null;
  /** The guardrails as configured, with how often each did what on this node since its start. */
  readonly guardrails: readonly {
    readonly name: string;
    readonly kind: string;
    readonly action: string;
    readonly denied: number;
    readonly masked: number;
    readonly noted: number;
    readonly failed: number;
  }[];
}

/** What marks a model in the list of all models. */
export interface MarkedModel {
  /** Some limits or abilities are those of another model of its family. */
  readonly inferred: boolean;
  /** Used in the last thirty days although its price is unknown. */
  readonly used_unpriced: boolean;
}
