// The whole configuration: its file form as a TypeBox schema, and the form the program uses, derived from it. Keys are
// declared in the schema-*.ts files; a new key is one line there.

import type { CREDENTIAL_KINDS, ProviderKind } from "../vendors/protocols.ts";
import { list, map, type ResolvedStatic, section, text } from "./fields.ts";
import { AuthSection, EmailSection } from "./schema-accounts.ts";
import { GuardrailEntry } from "./schema-guardrails.ts";
import { McpSection } from "./schema-mcp.ts";
import { CatalogSection, DecisionsSection, Model, ProviderSection } from "./schema-providers.ts";
import {
  AlertsSection,
  CacheSection,
  ChatToolsSection,
  CompactionSection,
  DatabaseSection,
  HealthSection,
  LimitsSection,
  LogSection,
  NetSection,
  NodeSection,
  RedisSection,
  ResponsesSection,
  ServerSection,
  type TIER_IDS,
  TiersSection,
  UsageSection,
} from "./schema-server.ts";
import { CompatSection, SearchSection, WebSection } from "./schema-web.ts";

/** The file form. */
export const ConfigFile = section("Configuration of the Sallyport AI gateway.", {
  server: ServerSection,
  database: DatabaseSection,
  redis: RedisSection,
  node: NodeSection,
  data_dir: text("Database (SQLite), uploads and secrets, where database.url is empty; mails and backups.", "./data", {
    blank: false,
  }),
  net: NetSection,
  log: LogSection,
  usage: UsageSection,
  health: HealthSection,
  auth: AuthSection,
  email: EmailSection,
  limits: LimitsSection,
  tiers: TiersSection,
  providers: map("Upstream providers. Absent: those whose well-known environment variables are set.", ProviderSection),
  models: list("Explicit models.", Model),
  catalog: CatalogSection,
  responses: ResponsesSection,
  compaction: CompactionSection,
  cache: CacheSection,
  chat_tools: ChatToolsSection,
  mcp: McpSection,
  guardrails: list(
    "What requests and answers are looked through for, in this order. None: nothing of it runs.",
    GuardrailEntry,
  ),
  alerts: AlertsSection,
  decisions: DecisionsSection,
  web: WebSection,
  search: SearchSection,
  compat: CompatSection,
});

/** What read.ts makes of the file form. */
export type ReadConfig = ResolvedStatic<typeof ConfigFile>;

/** A provider entry merged with its preset. */
export interface ProviderConfig
  extends Omit<ReadProvider, "enabled" | "apiKey" | "timeout" | "kind" | "preset" | "credentials"> {
  /** The entry's key. */
  readonly name: string;
  /** The applied preset; names the provider card. */
  readonly preset: string | undefined;
  readonly kind: ProviderKind;
  /** Without a trailing slash; "" for an embedded provider. */
  readonly baseUrl: string;
  /** In the order of use; empty where no key is needed. */
  readonly apiKeys: readonly string[];
  readonly timeoutMs: { readonly connect: number; readonly firstByte: number; readonly idle: number };
  readonly credentials?: CredentialConfig;
}

/** What authenticates a provider's calls. */
export interface CredentialConfig extends Omit<ReadProvider["credentials"], "kind"> {
  /** key: a header with a key, or none. */
  readonly kind: "key" | (typeof CREDENTIAL_KINDS)[number];
  readonly region: string;
  /** The variables of the clouds' own tools. */
  readonly environment: Readonly<Partial<Record<string, string>>>;
}

/** A plan's name. */
export type TierId = (typeof TIER_IDS)[number];

/** A plan. */
export interface TierConfig {
  readonly id: TierId;
  readonly rpm: number;
  /** Tokens a minute of one key; absent: no limit. */
  readonly tpm?: number;
  /** Requests at once of one key; absent: no limit. */
  readonly parallel?: number;
  /** Absent: without end. */
  readonly trialMs?: number;
  /** The budget of an account; absent: no limit. A period of 0: it is never refilled. */
  readonly budget?: { readonly usd: number; readonly periodMs: number };
  /** The limits of one agent run; 0: none. */
  readonly runs: {
    readonly usd: number;
    readonly requests: number;
    readonly repeats: number;
    readonly idleMs: number;
    readonly maxAgeMs: number;
  };
}

type ReadProvider = ReadConfig["providers"] extends ReadonlyMap<string, infer P> ? P : never;

/** A model of the catalog as configured. Missing metadata is absent. */
export type ModelConfig = ReadConfig["models"][number];

/** The configuration as the program uses it: validated, durations in ms, sizes in bytes, paths absolute. */
export interface Config extends Omit<ReadConfig, "providers" | "tiers"> {
  /** The enabled providers in the order of the file; the embedded one last unless the file lists it. */
  readonly providers: readonly ProviderConfig[];
  /** Lowest first. */
  readonly tiers: readonly TierConfig[];
}
