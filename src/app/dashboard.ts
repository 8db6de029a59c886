// Hands the dashboard what it needs of the rest of the program. Wiring only, beside app/start.ts.

import type { Accounts } from "../accounts/accounts.ts";
import type { Clock } from "../base/clock.ts";
import { VERSION } from "../base/version.ts";
import { resolveModel } from "../catalog/resolve.ts";
import { isTierId, type TierGrant } from "../catalog/tiers.ts";
import { unpricedModels } from "../catalog/unpriced.ts";
import type { Config, TierId } from "../config/schema.ts";
import { LiveViews } from "../dashboard/server/log-live.ts";
import { type DashboardDeps, dashboardRoutes } from "../dashboard/server/routes.ts";
import type { createDecisions } from "../decisions/assemble.ts";
import type { createSpenders } from "../gateway/budgets.ts";
import type { Caller } from "../gateway/caller.ts";
import type { Fleet } from "../gateway/providers.ts";
import type { OwnedThreads } from "../gateway/threads/owned-threads.ts";
import { checkSubsystems } from "../status/health.ts";
import { untrustedProxy } from "../status/untrusted-proxy.ts";
import type { Store } from "../store/engine/store.ts";
import type { Verbs } from "../store/verbs.ts";
import type { createWeb } from "../web/assemble.ts";
import type { createWatch } from "./health-watch.ts";
import type { Observer } from "./observe.ts";

/** The parts of the program that the dashboard shows or works with. */
export interface DashboardServiceDeps {
  readonly store: Pick<Store, "size">;
  readonly verbs: Verbs;
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly fleet: Pick<Fleet, "catalog" | "breakers">;
  readonly decisions: Pick<ReturnType<typeof createDecisions>, "overview" | "promote" | "choices">;
  readonly watch: Pick<ReturnType<typeof createWatch>, "subsystems" | "modelHealth">;
  readonly observer: Pick<Observer, "lastFaults">;
  readonly web: Pick<ReturnType<typeof createWeb>, "figures" | "count" | "ownJobs">;
  uptimeSeconds(): number;
  config(): Config;
  grants(): Readonly<Record<TierId, TierGrant>>;
  listeningUrl(): string;
  /** Answers a chat completion for a caller who needs no key. */
  chat(request: Request, caller: Caller): Promise<Response>;
  /** The same for a typed decision. */
  decide(request: Request, caller: Caller): Promise<Response>;
  /** The budgets that a caller's requests count against. */
  readonly budgetsOf: ReturnType<typeof createSpenders>;
  /** Keys have changed: caches of them are stale. */
  keysChanged(): void;
  /** An account's own conversations. */
  readonly threads: OwnedThreads;
}

/** The dashboard as a service. */
export function createDashboard(deps: DashboardServiceDeps) {
  const liveViews = new LiveViews();
  return {
    routes: dashboardRoutes({ ...dashboardDeps(deps), liveViews }),
    /** To be stopped before the edge, which waits for open answers. */
    liveViews: { stop: () => liveViews.close() },
  };
}

function dashboardDeps({ store, verbs, clock, accounts, fleet, decisions, config, ...more }: DashboardServiceDeps) {
  const { audit, budgets } = verbs;
  return {
    accounts,
    keys: verbs.keys,
    usage: verbs.usage,
    people: verbs.accounts,
    invites: verbs.codes,
    decisions,
    gateway: {
      uptimeSeconds: more.uptimeSeconds,
      providers: () => config().providers.map(({ name, kind }) => ({ name, kind })),
      breakers: () => fleet.breakers.snapshot(),
      lastFaults: () => more.observer.lastFaults,
      catalog: () => fleet.catalog().models,
      modelHealth: () => more.watch.modelHealth.view(),
      subsystems: () => checkSubsystems(more.watch.subsystems),
      database: () => store.size(),
      untrustedProxy: () => untrustedProxy(verbs.settings, clock, config().server.trustedProxies),
      async web() {
        await more.web.count();
        return more.web.figures();
      },
    },
    clock,
    version: VERSION,
    grants: more.grants,
    storageOf: verbs.storage.storageOf,
    note: (event, { who, client }, detail) => audit.addAudit({ accountId: who.account.id, event, ...client, detail }),
    keysChanged: more.keysChanged,
    threads: more.threads,
    jobs: more.web.ownJobs,
    unpriced: (tier) => (isTierId(tier) ? unpricedModels(fleet.catalog().models, config(), tier) : []),
    budgetOf: ({ id, tier }) => budgets.findAccountBudget(id, isTierId(tier) ? more.grants()[tier].budget : undefined),
    budgetsOf: more.budgetsOf,
    chat: more.chat,
    decide: more.decide,
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
