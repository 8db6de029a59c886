// The only wiring: builds every service once, each from those above it, and adds it to the list that starts, reconfigures and
// stops them. To add a service, build it from those before it and `add` it. Contains no logic.

import { createAccounts } from "../accounts/accounts.ts";
import type { PasswordHasher } from "../accounts/passwords/hash-queue.ts";
import { ACCOUNT_ENDPOINTS } from "../accounts/routes.ts";
import { setupLink, setupToken } from "../accounts/setup.ts";
import type { Clock } from "../base/clock.ts";
import { CATALOG_ENDPOINTS } from "../catalog/routes.ts";
import type { LiveConfig } from "../config/live.ts";
import { DOCS_ENDPOINTS } from "../docs/routes.ts";
import { createWebModels, type WebModelChoice } from "../gateway/inner/web-model.ts";
import { emptyStages } from "../gateway/stages/index.ts";
import type { RoutePattern } from "../http/edge.ts";
import { endpointRoutes } from "../http/served-endpoint.ts";
import type { Logger } from "../telemetry/log.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import { createWeb } from "../web/assemble.ts";
import { createWebhookSecrets } from "../web/firecrawl/webhook-secret.ts";
import { addAgentRuns } from "./agent-runs.ts";
import { addAlertWatch } from "./alert-watch.ts";
import { createChat } from "./chat.ts";
import { chatTools } from "./chat-tools.ts";
import { createDashboard, playOf } from "./dashboard.ts";
import { createDrain } from "./drain.ts";
import { createEdgeService } from "./edge.ts";
import { addFoundation, type Foundation } from "./foundation.ts";
import { createWatch } from "./health-watch.ts";
import { addKeyEndpoints } from "./key-endpoints.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { createMcpService } from "./mcp.ts";
import { createMcpServers } from "./mcp-servers.ts";
import { createStatus } from "./status.ts";
import { addUpstreams } from "./upstreams.ts";

/** A running gateway. */
export interface App {
  /** The address it listens on. */
  url: string;
  /** The address of the dashboard. */
  dashboardUrl: string;
  /** The link of the first sign-up, if there is no account. */
  setupLink: string | undefined;
  /** All routes, such as `GET /v1/models/*`. */
  routes(): readonly RoutePattern[];
  /** Applies the current configuration of `live`. */
  reconfigured(): void;
  /** Stops it: drains, saves, closes. */
  stop(drainMs: number): Promise<void>;
}

/** Options for tests. */
interface StartOptions {
  clock?: Clock;
  hasher?: PasswordHasher;
  /** How long a stream's headers wait for its first event. */
  peekMs?: number | undefined;
}

/** Starts the gateway: resolves when it listens. Throws when the data directory or the address is taken. */
export async function startApp(live: LiveConfig, log: Logger, options: StartOptions = {}): Promise<App> {
  const lifecycle = createLifecycle((service, step, error) =>
    log.error(`a service could not ${step}`, { service, error }),
  );
  try {
    const base = await addFoundation({ lifecycle, live, log, clock: options.clock });
    const features = await addFeatures(base, options);
    const edge = await addViews(lifecycle, features);
    await lifecycle.start();
    const { dashboard } = base.links();
    const firstToken = await setupToken({ ...base.verbs.accounts, ...base.verbs.secrets });
    return {
      url: base.listener.url,
      dashboardUrl: dashboard,
      setupLink: firstToken === undefined ? undefined : setupLink(dashboard, firstToken),
      routes: edge.patterns,
      reconfigured: lifecycle.reconfigure,
      stop: lifecycle.stop,
    };
  } catch (error) {
    await lifecycle.stop(0);
    throw error;
  }
}

/** Adds the features. */
async function addFeatures(base: Foundation, { hasher, peekMs }: StartOptions) {
  const { add, live, config, log, clock, verbs, callers, grants, observer } = base;
  const { authenticate, admit } = callers;
  const listeningUrl = () => base.listener.link;
  const accounts = add(
    "accounts",
    await createAccounts({
      ...{ verbs, clock, log, config },
      dataDir: config().dataDir,
      accountsChanged: callers.changed,
      shareAttempts: base.shared.attempts,
      ...(hasher === undefined ? {} : { hasher }),
      dashboardUrl: () => base.links().dashboard,
    }),
  );
  base.alerts.mailedBy(accounts.mailer);
  const accountDeps = { accounts, urls: () => config().server, listeningUrl };
  add("account endpoints", { routes: endpointRoutes(ACCOUNT_ENDPOINTS, accountDeps) });

  const { fleet, decisions, calls, ...models } = addUpstreams(base, await verbs.secrets.secret("end_users"));
  // The web asks models, and chats ask the web.
  const stages = emptyStages();
  const webModels: WebModelChoice = {
    catalog: fleet.catalog,
    isDemo: (name) => config().providers.some((provider) => provider.name === name && isEmbedded(provider)),
    setting: () => config().web.model,
  };
  const webhookSecrets = createWebhookSecrets(() => verbs.secrets.secret("webhooks"), verbs.settings);
  const web = add(
    "web",
    createWeb({
      ...{ config, clock, authenticate, admit, warn: base.warn, bodyLimits: base.bodyLimits },
      jobs: verbs.jobs,
      owner: base.node.name,
      whenJobEnds: base.store.whenJobEnds,
      frontier: verbs.frontier,
      answers: verbs.answers,
      makeRoom: verbs.storage.makeRoom,
      metrics: observer.metrics,
      settings: verbs.settings,
      acrossNodes: base.shared,
      anonymousRpm: () => grants().free.rpm,
      webhookSecret: webhookSecrets.secretOf,
      findModel: createWebModels({
        ask: { ...calls, provider: fleet.provider, stages },
        ...webModels,
        callerOf: callers.callerOf,
      }),
    }),
  );

  add("firecrawl", { routes: web.firecrawl });
  const isDecisionModel = decisions.has;
  const servers = add("mcp servers", createMcpServers(base));
  const chat = add(
    "chat",
    createChat({
      ...{ live, log, clock, verbs, calls, fleet, authenticate, isDecisionModel, stages, metrics: observer.metrics },
      compactionSecret: config().compaction.secret || (await verbs.secrets.secret("compaction")),
      ...{ agentRuns: addAgentRuns(base), shared: base.shared, peekMs },
      tools: chatTools(base, { web, servers, guards: calls.guards }),
    }),
  );
  add("models", {
    routes: endpointRoutes(CATALOG_ENDPOINTS, {
      authenticate: async (request) => {
        const { account, models } = await authenticate(request);
        return { tier: account.tier, models };
      },
      catalog: fleet.catalog,
      bodyLimits: base.bodyLimits,
      tiers: grants,
    }),
  });

  addKeyEndpoints(base, fleet);
  add("mcp", createMcpService({ ...base, servers, web, decisions, webModels, guards: calls.guards }));

  return { ...base, ...models, listeningUrl, accounts, fleet, decisions, chat, web, webhookSecrets, servers };
}

/** Adds what shows the features to people, and finally the edge, which serves everything. */
async function addViews(lifecycle: Lifecycle, features: Awaited<ReturnType<typeof addFeatures>>) {
  const { add, verbs, callers, chat, decisions, web } = features;
  const watch = add("model health", createWatch({ ...features, probe: chat.probe }));
  addAlertWatch(features);
  const dashboard = add(
    "dashboard",
    createDashboard({
      ...features,
      watch,
      budgetsOf: callers.budgetsOf,
      keysChanged: callers.changed,
      threads: chat.ownThreads,
      play: playOf(callers.vouched, { chat: chat.answers, web: web.answers, decide: decisions.answer }),
    }),
  );
  const pseudonymSecret = await verbs.secrets.secret("pseudonym_salt");
  const drain = createDrain(features);
  const { directGets } = add(
    "status",
    createStatus({ ...features, watch, pseudonymSecret, isLeaving: drain.isLeaving }),
  );
  add("documentation", {
    routes: endpointRoutes(DOCS_ENDPOINTS, {
      // Loaded on request: not needed at the start.
      document: async (server) => (await import("./endpoints.ts")).openApi(server),
      publicUrl: (request) => features.config().server.publicUrl || new URL(request.url).origin,
    }),
  });
  const edge = add(
    "edge",
    createEdgeService({ ...features, routes: lifecycle.routes(), direct: chat.direct, directGets }),
  );
  add("live views", dashboard.liveViews);
  add("drain", drain.service);
  return edge;
}
