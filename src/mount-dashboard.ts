// Hands the dashboard what it needs of the rest of the program. Wiring only, beside app.ts.
import type { Accounts } from "./accounts/accounts.ts";
import type { Clock } from "./base/clock.ts";
import { VERSION } from "./base/version.ts";
import type { TierGrant, TierId } from "./catalog/tiers.ts";
import type { Config } from "./config/schema.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import type { createDecisions } from "./decisions/running.ts";
import type { Fleet } from "./gateway/providers.ts";
import type { Caller } from "./http/guards.ts";
import { auditStore } from "./store/audit.ts";
import { keyStore } from "./store/keys.ts";
import type { Store } from "./store/open.ts";
import { usageStore } from "./store/usage.ts";

/** What app.ts has built. */
export interface MountDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly fleet: Pick<Fleet, "catalog">;
  readonly decisions: Pick<ReturnType<typeof createDecisions>, "overview" | "promote">;
  config(): Config;
  grants(): Readonly<Record<TierId, TierGrant>>;
  listeningUrl(): string;
  /** Answers a chat completion for a caller who needs no key. */
  chat(request: Request, caller: Caller<TierId>): Promise<Response>;
  /** Keys have changed: caches of them are stale. */
  keysChanged(): void;
}

/** The routes of the dashboard. */
export function mountDashboard({ store, clock, accounts, fleet, decisions, config, ...more }: MountDeps) {
  const audit = auditStore(store);
  return dashboardRoutes({
    accounts,
    keys: keyStore(store),
    usage: usageStore(store),
    decisions,
    clock,
    version: VERSION,
    grants: more.grants,
    note: (event, { who, client }, detail) => audit.addAudit({ accountId: who.account.id, event, ...client, detail }),
    keysChanged: more.keysChanged,
    chat: more.chat,
    urls: () => config().server,
    listeningUrl: more.listeningUrl,
    signup: () => config().auth.signup,
    oauthProviders: () => [...config().auth.oauth.keys()],
    models: () => fleet.catalog().models.filter(({ visibility }) => visibility === "list"),
  });
}
