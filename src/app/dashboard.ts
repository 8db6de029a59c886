// Passes the dashboard what it needs from the rest of the program. Wiring only, beside app/start.ts.

import type { Accounts } from "../accounts/accounts.ts";
import { deviceOf } from "../accounts/sessions/session-list.ts";
import type { Clock } from "../base/clock.ts";
import { lazily } from "../base/lazily.ts";
import { VERSION } from "../base/version.ts";
import { resolveModel } from "../catalog/resolve.ts";
import { isTierId, type TierGrant } from "../catalog/tiers.ts";
import { unpricedModels } from "../catalog/unpriced.ts";
import type { LiveConfig } from "../config/live.ts";
import type { Config, TierId } from "../config/schema.ts";
import { BASE } from "../dashboard/contract.ts";
import type { RetentionRow } from "../dashboard/contract-admin.ts";
import type { DashboardDeps } from "../dashboard/server/routes.ts";
import type { createDecisions } from "../decisions/assemble.ts";
import type { createSpenders } from "../gateway/admission/budgets.ts";
import type { createCallers } from "../gateway/admission/callers.ts";
import type { OwnedThreads } from "../gateway/endpoints/conversations/owned-threads.ts";
import type { Fleet } from "../gateway/providers.ts";
import { LateRoutes } from "../http/join-routes.ts";
import { checkSubsystems } from "../status/health.ts";
import { untrustedProxy } from "../status/untrusted-proxy.ts";
import { filesBeside } from "../store/engine/files-beside.ts";
import type { Store } from "../store/engine/store.ts";
import type { Upkeep } from "../store/engine/upkeep.ts";
import { HOURLY_KEPT_MS, LATENCY_KEPT_MS } from "../store/sweeps.ts";
import type { UsageWriter } from "../store/usage/writer.ts";
import type { Verbs } from "../store/verbs.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { createWeb } from "../web/assemble.ts";
import type { createChat } from "./chat.ts";
import type { createWatch } from "./health-watch.ts";
import type { createMcpServers } from "./mcp-servers.ts";
import type { Observer } from "./observe.ts";
import { projectDepsOf } from "./project-deps.ts";

/** The parts of the program that the dashboard shows or uses. */
export interface DashboardServiceDeps {
  readonly store: Pick<Store, "size" | "dataDir">;
  readonly verbs: Verbs;
  readonly writer: UsageWriter;
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly live: Pick<LiveConfig, "describe">;
  readonly upkeep: Pick<Upkeep, "last">;
  readonly fleet: Pick<Fleet, "catalog" | "breakers" | "listing">;
  readonly decisions: Pick<ReturnType<typeof createDecisions>, "overview" | "promote" | "choices">;
  readonly watch: Pick<ReturnType<typeof createWatch>, "subsystems" | "modelHealth">;
  readonly observer: Pick<Observer, "lastFaults" | "recovered" | "metrics">;
  readonly web: Pick<ReturnType<typeof createWeb>, "figures" | "count" | "ownJobs" | "engines" | "probeEngine">;
  readonly servers: Pick<ReturnType<typeof createMcpServers>, "view">;
  uptimeSeconds(): number;
  config(): Config;
  grants(): Readonly<Record<TierId, TierGrant>>;
  listeningUrl(): string;
  /** The playground's calls, for a caller who needs no key. */
  readonly play: DashboardDeps["play"];
  /** The budgets against which a caller's requests count. */
  readonly budgetsOf: ReturnType<typeof createSpenders>;
  /** Called when keys have changed, so that cached copies are discarded. */
  keysChanged(): void;
  /** The secrets that sign accounts' webhooks. */
  readonly webhookSecrets: DashboardDeps["webhookSecrets"];
  /** An account's own conversations. */
  readonly threads: OwnedThreads;
}

/** The dashboard as a service. */
export function createDashboard(deps: DashboardServiceDeps) {
  const liveViews = lazily(() => {
    const { LiveViews }: typeof import("../dashboard/server/log-live.ts") = require("../dashboard/server/log-live.ts");
    return new LiveViews();
  });
  return {
    // The program often serves only the API.
    routes: new LateRoutes([BASE, `${BASE}/*`], () => {
      const {
        dashboardRoutes,
      }: typeof import("../dashboard/server/routes.ts") = require("../dashboard/server/routes.ts");
      return dashboardRoutes({ ...dashboardDeps(deps), liveViews: liveViews() });
    }),
    /** Stop it before the edge, which waits for open responses. Afterwards none can be opened. */
    liveViews: { stop: () => liveViews().close() },
  };
}

/** The playground's calls, each for a caller with a session. */
export function playOf(
  vouched: ReturnType<typeof createCallers>["vouched"],
  answers: {
    readonly chat: ReturnType<typeof createChat>["answers"];
    readonly web: ReturnType<typeof createWeb>["answers"];
    decide(request: Request): Promise<Response>;
  },
): DashboardDeps["play"] {
  const web = (tool: keyof typeof answers.web) => vouched((request) => answers.web[tool]({ request }));
  return {
    "/playground": vouched(answers.chat.chat),
    "/playground/responses": vouched(answers.chat.responses),
    "/playground/messages": vouched(answers.chat.messages),
    "/playground/decisions": vouched(answers.decide),
    "/playground/web/scrape": web("scrape"),
    "/playground/web/map": web("map"),
    "/playground/web/crawl": web("crawl"),
    "/playground/web/search": web("search"),
    "/playground/web/extract": web("extract"),
    "/playground/web/llmstxt": web("llmstxt"),
  };
}

function dashboardDeps({ store, verbs, clock, accounts, fleet, decisions, config, ...more }: DashboardServiceDeps) {
  const { audit, budgets } = verbs;
  return {
    accounts,
    keys: verbs.keys,
    keyDebug: verbs.keyDebug,
    usage: verbs.usage,
    people: verbs.accounts,
    invites: verbs.codes,
    sessions: verbs.sessions,
    decisions,
    gateway: {
      uptimeSeconds: more.uptimeSeconds,
      providers: () => config().providers.map(({ name, kind }) => ({ name, kind })),
      breakers: () => fleet.breakers.snapshot(),
      lastFaults: () => more.observer.lastFaults,
      catalog: () => fleet.catalog().models,
      modelHealth: () => more.watch.modelHealth.view(),
      subsystems: () => checkSubsystems(more.watch.subsystems),
      mcpServers: more.servers.view,
      database: () => store.size(),
      untrustedProxy: () => untrustedProxy(verbs.settings, clock, config().server.trustedProxies),
      policy: () => ({
        keepsAnswers: config().cache.mode !== "off",
        guardrails: config().guardrails.map(({ name, check, action }) => ({ name, kind: check.kind, action })),
        done: more.observer.metrics.policy(),
      }),
      async web() {
        await more.web.count();
        return more.web.figures();
      },
    },
    ...operatorsDeps({ store, verbs, fleet, config, ...more }),
    clock,
    version: VERSION,
    grants: more.grants,
    storageOf: verbs.storage.storageOf,
    note: (event, { who, client }, detail) => audit.addAudit({ accountId: who.account.id, event, ...client, detail }),
    keysChanged: more.keysChanged,
    writer: more.writer,
    projectDeps: projectDepsOf({ verbs, clock, writer: more.writer }, more.keysChanged),
    threads: more.threads,
    runs: verbs.runs,
    webhookSecrets: more.webhookSecrets,
    jobs: more.web.ownJobs,
    unpriced: (tier) => (isTierId(tier) ? unpricedModels(fleet.catalog().models, config().providers, tier) : []),
    budgetOf: ({ id, tier }) => budgets.findAccountBudget(id, isTierId(tier) ? more.grants()[tier].budget : undefined),
    budgetsOf: more.budgetsOf,
    play: more.play,
    decisionChoices: decisions.choices,
    urls: () => config().server,
    listeningUrl: more.listeningUrl,
    signup: () => config().auth.signup,
    mustVerify: () => config().auth.requireVerifiedEmail,
    mail: () => {
      const { status, transport } = accounts.mailer.state();
      if (transport === "outbox") return "files";
      return status === "ok" ? "smtp" : "failing";
    },
    oauthProviders: () => [...config().auth.oauth.keys()],
    models: () => fleet.catalog().models.filter(({ visibility, kind }) => visibility === "list" && kind === "chat"),
    isPriced: (id) => resolveModel(fleet.catalog(), id)?.model.prices !== undefined,
  } satisfies Omit<DashboardDeps, "liveViews">;
}

/** What only operators can see and do. */
function operatorsDeps({ store, verbs, fleet, config, ...more }: OperatorsParts) {
  return {
    operations: {
      providers: () => config().providers,
      listing: fleet.listing,
      resetBreaker(name) {
        return fleet.breakers.reset(name);
      },
      recovered: more.observer.recovered,
      engines: more.web.engines,
      isBuiltIn: isEmbedded,
      probeEngine: more.web.probeEngine,
    },
    housekeeping: {
      dataDir: store.dataDir,
      others: () => filesBeside(store),
      topStorage: verbs.storage.topStorage,
      storageLimitBytes: () => config().limits.storagePerAccountBytes,
      retention: () => retentionOf(config()),
      lastSweep: () => more.upkeep.last,
      searchAudit: verbs.audit.searchAudit,
      device: deviceOf,
      config: () => more.live.describe(),
    },
  } satisfies Pick<DashboardDeps, "operations" | "housekeeping">;
}

type OperatorsParts = Pick<
  DashboardServiceDeps,
  "store" | "verbs" | "fleet" | "config" | "observer" | "web" | "upkeep" | "live"
>;

/** The retention periods. */
function retentionOf({ usage, log, responses, compaction, web, auth }: Config): RetentionRow[] {
  return [
    { what: "Requests, one row each (totals by day stay)", kept_ms: usage.rollupAfterMs, key: "usage.rollup_after" },
    ...(usage.retentionMs === 0 ? [] : [{ what: "Totals by day", kept_ms: usage.retentionMs, key: "usage.retention" }]),
    { what: "Usage by the hour", kept_ms: HOURLY_KEPT_MS, key: null },
    { what: "Latency percentiles", kept_ms: LATENCY_KEPT_MS, key: null },
    { what: "Stored responses", kept_ms: responses.retentionMs, key: "responses.retention" },
    { what: "Threads", kept_ms: compaction.retentionMs, key: "compaction.retention" },
    { what: "Finished jobs and their pages", kept_ms: web.jobTtlMs, key: "web.job_ttl" },
    { what: "Sessions after their last use", kept_ms: auth.refreshTokenTtlMs, key: "auth.refresh_token_ttl" },
    { what: "Audit log", kept_ms: log.auditRetentionMs, key: "log.audit_retention" },
  ];
}
