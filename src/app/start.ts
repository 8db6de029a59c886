// The only wiring: builds every service once, mounts the routes, and takes it all down in order. No logic of its own.

import { mkdirSync } from "node:fs";
import { Elysia } from "elysia";
import { createAccounts } from "../accounts/accounts.ts";
import type { PasswordHasher } from "../accounts/passwords/hash-queue.ts";
import { accountRoutes } from "../accounts/routes.ts";
import { setupLink, setupToken } from "../accounts/setup.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { uuid } from "../base/ids.ts";
import { tierGrants } from "../catalog/from-config.ts";
import { resolveModel } from "../catalog/resolve.ts";
import { catalogRoutes } from "../catalog/routes.ts";
import type { LiveConfig } from "../config/live.ts";
import { secretsOf } from "../config/load.ts";
import { createDecisions } from "../decisions/assemble.ts";
import { createCallers } from "../gateway/callers.ts";
import { createTokenCount } from "../gateway/count-tokens.ts";
import { createImageFetch } from "../gateway/media.ts";
import { createPrepare } from "../gateway/prepare.ts";
import { createProbe } from "../gateway/probe.ts";
import { createFleet } from "../gateway/providers.ts";
import { ReasoningMemory } from "../gateway/reasoning-memory.ts";
import { directRoutes, gatewayRoutes } from "../gateway/routes.ts";
import { createGateway } from "../gateway/run.ts";
import { createStoredResponses } from "../gateway/stored-responses.ts";
import { createUploads } from "../gateway/uploads.ts";
import { UpstreamThreads } from "../gateway/upstream-threads.ts";
import { createEdge, type RoutePattern } from "../http/edge.ts";
import { noEndpoint } from "../http/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import { type Listener, listen } from "../http/listen.ts";
import { TrustedProxies } from "../http/peer.ts";
import { memoryRateLimiter } from "../http/rpm.ts";
import { createFetch } from "../net/fetch.ts";
import { createGuard } from "../net/guard.ts";
import { createResolve } from "../net/resolve.ts";
import { linksOf } from "../status/routes.ts";
import { accountStore } from "../store/access/accounts.ts";
import { keyStore } from "../store/access/keys.ts";
import { decisionStore } from "../store/decisions/decisions.ts";
import { openStore } from "../store/engine/open.ts";
import { acquireServeLock } from "../store/engine/serve-lock.ts";
import { upgradeStore } from "../store/engine/upgrade.ts";
import { Upkeep } from "../store/engine/upkeep.ts";
import { secretStore } from "../store/secrets.ts";
import { LISTENING_SETTING, settingsStore } from "../store/settings.ts";
import { storeSweeps } from "../store/sweeps.ts";
import { rateStore } from "../store/usage/rates.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import { UsageWriter } from "../store/usage/writer.ts";
import { answerStore } from "../store/work/answers.ts";
import { fileStore } from "../store/work/files.ts";
import { frontierStore } from "../store/work/frontier.ts";
import { jobStore } from "../store/work/jobs.ts";
import { responseStore } from "../store/work/responses.ts";
import { storageStore } from "../store/work/storage.ts";
import type { Logger } from "../telemetry/log.ts";
import { makeRedactor } from "../telemetry/redact.ts";
import { createWeb } from "../web/assemble.ts";
import { chatCompletions } from "../wire/chat-completions/format.ts";
import { mountDashboard } from "./dashboard.ts";
import { createWatch, isListed } from "./health-watch.ts";
import { createObserver, openTracer } from "./observe.ts";
import { PATHS } from "./paths.ts";
import { mountStatus } from "./status.ts";

/** A running gateway. */
export interface App {
  /** The address it listens on. */
  url: string;
  /** The address of the dashboard. */
  dashboardUrl: string;
  /** The link of the first sign-up, while there is no account. */
  setupLink: string | undefined;
  /** Every route there is, as `GET /v1/models/*`. */
  routes(): readonly RoutePattern[];
  /** Takes the configuration that `live` now holds. */
  reconfigured(): void;
  /** Ends it: drains, saves, closes. */
  stop(drainMs: number): Promise<void>;
}

/** What tests set. */
interface StartOptions {
  clock?: Clock;
  hasher?: PasswordHasher;
  /** How long a stream's headers wait for its first event. */
  peekMs?: number | undefined;
}

/** Login limits count by address: behind such a proxy ten bad logins would lock everybody out. */
const UNTRUSTED_PROXY =
  "X-Forwarded-For came from a peer outside server.trusted_proxies: if it is your proxy, name it there, else all of its clients count as one address";

/** How often the rate windows are saved, so that a crash does not refill them. */
const SAVE_WINDOWS_MS = 5000;

/** Starts the gateway: resolves when it listens. Throws when the data directory or the address is taken. */
export async function startApp(live: LiveConfig, log: Logger, options: StartOptions = {}): Promise<App> {
  const { clock = systemClock } = options;
  const startedMs = clock.now();
  const uptimeSeconds = () => Math.floor((clock.now() - startedMs) / 1000);
  const config = () => live.get();
  const { dataDir } = config();
  // The lock comes first: a newer program that is refused must not have migrated the database under the running one.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = acquireServeLock(dataDir);
  const upgraded = await upgradeStore({ dataDir, clock, lockHeld: true });
  if (upgraded !== undefined) log.info("the database was upgraded", { ...upgraded });
  const store = openStore({ dataDir, clock });
  const keys = keyStore(store);
  const rates = rateStore(store);
  const responses = responseStore(store);
  const files = fileStore(store);
  const storage = storageStore(store, () => config().limits.storagePerAccountBytes);
  const observer = createObserver({
    clock,
    log,
    startedMs,
    mayName: (model) => config().server.metrics.token !== "" || isListed(fleet, model) || decisions.has(model),
    mayQuote: () => config().log.prompts,
    record: (row) => writer.record(row),
  });
  const { metrics } = observer;
  const tracer = await openTracer(log);
  const writer = new UsageWriter(observer.timed(store, "flush_usage"), {
    flushMs: config().usage.flushMs,
    onError: (error) => log.error("usage could not be written; it is kept and tried again", { error }),
  });
  const secrets = secretStore(store);
  const pseudonymSecret = await secrets.secret("pseudonym_salt");

  let redact = makeRedactor(secretsOf(config()));
  let grants = tierGrants(config());
  const trusted = () =>
    new TrustedProxies(config().server.trustedProxies, (peer) => log.warn(UNTRUSTED_PROXY, { peer }));
  let proxies = trusted();
  log.setSecrets(secretsOf(config()));

  const limiter = memoryRateLimiter(clock);
  limiter.restore(await rates.loadRateWindows(clock.now() - 60_000));
  const { guard, authenticate, admit, ...callers } = createCallers({
    store,
    keys,
    clock,
    limiter,
    grants: () => grants,
    requireVerifiedEmail: () => config().auth.requireVerifiedEmail,
    pendingMicros: (id) => writer.pendingCostMicros(id),
    time: observer.time,
    rejected: () => metrics.rateLimited(),
  });

  const accounts = await createAccounts({
    store,
    clock,
    log,
    config,
    accountsChanged: () => guard.invalidate(),
    ...(options.hasher === undefined ? {} : { hasher: options.hasher }),
    dashboardUrl: () => linksOf(config().server, listener.link).dashboard,
  });

  const fleet = createFleet({
    config,
    clock,
    discoveryFailed: observer.discoveryFailed,
    breakerChanged: (provider, state) => {
      log.warn("circuit breaker", { provider, state });
      watch.changed();
    },
    catalogChanged: () => watch.changed(),
  });
  // What everything that calls providers for a request has in common.
  const shared = {
    clock,
    breakers: fleet.breakers,
    admit,
    budgets: callers.budgets,
    bodyLimits: () => ({ maxBytes: config().server.maxBodyBytes, valuesMax: config().server.maxBodyValues }),
    requestTimeoutMs: () => config().server.requestTimeoutMs,
    record: (row: UsageRecord) => {
      writer.record(row);
      observer.spent(row);
    },
    random: Math.random,
    reasoning: new ReasoningMemory(),
    threads: new UpstreamThreads(),
    scrub: (text: string) => redact(text),
    failed: observer.failed,
    called: metrics.upstream,
    retried: metrics.retried,
  };
  const decisions = createDecisions({
    ...shared,
    config,
    store: decisionStore(store),
    changeCounter: () => store.changeCounter(),
    chatProvider: fleet.provider,
    chatPrices: (provider, model) => fleet.known(provider, model)?.prices,
    authenticate,
    isChatModel: (id) => resolveModel(fleet.catalog(), id)?.model.kind === "chat",
    warn: (message, fields) => log.warn(message, fields),
  });
  await decisions.load();
  const gateway = createGateway({
    ...shared,
    peekMs: options.peekMs,
    prepare: createPrepare({
      history: {
        store: { ...responses, ...storage },
        settings: () => config().responses,
        nowMs: () => clock.now(),
      },
      files,
    }),
    fitImages: createImageFetch(() => createFetch(createGuard(config().web, createResolve(config().web.dns)))),
    keepFailed: (error, requestId) => log.error("an answer could not be stored", { request_id: requestId, error }),
    catalog: fleet.catalog,
    provider: fleet.provider,
    isDecisionModel: decisions.has,
    streamOpened: metrics.streamOpened,
    streamClosed: metrics.streamClosed,
  });
  const probe = createProbe({ ...shared, catalog: fleet.catalog, provider: fleet.provider });

  const web = createWeb({
    config,
    clock,
    jobs: jobStore(store),
    frontier: frontierStore(store),
    answers: answerStore(store),
    makeRoom: storage.makeRoom,
    authenticate,
    admit,
    bodyLimits: shared.bodyLimits,
    warn: (message, fields) => log.warn(message, fields),
  });

  const parts = { clock, log, config, store, accounts, fleet, writer, observer, decisions, web };
  const watch = createWatch({ ...parts, probe });

  const routes = new Elysia({ name: "sallyport", handler: { standardHostname: false } })
    .onError(({ error, code, request }) => {
      exchangeOf(request).thrown = code === "NOT_FOUND" ? noEndpoint(request) : error;
      return new Response(null, { status: 500 });
    })
    .use(
      gatewayRoutes({
        gateway,
        responses: createStoredResponses({ store: responses, authenticate }),
        uploads: createUploads({ store: files, claim: storage.claim, authenticate }),
        countTokens: createTokenCount({
          ...shared,
          catalog: fleet.catalog,
          provider: fleet.provider,
          isDecisionModel: decisions.has,
          files,
        }),
      }),
    )
    .use(accountRoutes({ accounts, urls: () => config().server, listeningUrl: () => listener.link }))
    .use(
      mountDashboard({
        ...parts,
        watch,
        uptimeSeconds,
        grants: () => grants,
        listeningUrl: () => listener.link,
        budgetsOf: callers.budgetsOf,
        keysChanged: () => guard.invalidate(),
        chat(request, caller) {
          callers.vouch(request, caller);
          return gateway.handle(request, chatCompletions);
        },
        decide(request, caller) {
          callers.vouch(request, caller);
          return decisions.answer(request);
        },
      }),
    )
    .use(decisions.routes)
    .use(web.routes)
    .use(
      catalogRoutes({
        authenticate: (request) => authenticate(request).account,
        catalog: fleet.catalog,
        tiers: () => grants,
      }),
    )
    .use(
      mountStatus({
        ...parts,
        watch,
        uptimeSeconds,
        pseudonymSecret,
        links: () => linksOf(config().server, listener.link),
      }),
    );

  const edge = createEdge({
    paths: PATHS,
    handle: (request) => routes.fetch(request),
    direct: directRoutes(gateway),
    routes: () => routes.routes,
    makeRequestId: uuid,
    maintenance: () => {
      const { enabled, retryAfterMs, message } = config().server.maintenance;
      return enabled ? { retryAfterSeconds: retryAfterMs / 1000, message } : undefined;
    },
    peer: (request) => proxies.peer(request, listener.addressOf(request)),
    bodyBudgetBytes: () => config().server.bodyBudgetBytes,
    tracer,
    release: (request) => listener.release(request),
    finished: observer.finished,
    unexpected: (exchange, cause) => log.error("unexpected error", { request_id: exchange.requestId, error: cause }),
  });
  const { host, port } = config().server;
  const listener: Listener = listen({ host, port, fetch: edge });

  await settingsStore(store).writeSetting(LISTENING_SETTING, listener.link);
  const firstToken = await setupToken({ ...accountStore(store), ...secrets });

  const saveWindows = setInterval(() => {
    rates
      .saveRateWindows(limiter.snapshot())
      .catch((error) => log.warn("the rate windows could not be saved; they are saved again soon", { error }));
  }, SAVE_WINDOWS_MS);
  const upkeep = new Upkeep(store, {
    sweeps: storeSweeps(store, () => config().usage.rollupAfterMs),
    onError: (error) => log.error("upkeep failed", { error }),
  });
  upkeep.start();
  web.start();
  fleet
    .start()
    .then(() => watch.start())
    .catch((error: unknown) => log.error("the providers could not be looked at", { error }));
  decisions.start().catch((error: unknown) => log.warn("decision models could not be looked at", { error }));

  return {
    url: listener.url,
    dashboardUrl: linksOf(config().server, listener.link).dashboard,
    routes: () => routes.routes,
    setupLink:
      firstToken === undefined ? undefined : setupLink(linksOf(config().server, listener.link).dashboard, firstToken),
    reconfigured() {
      redact = makeRedactor(secretsOf(config()));
      log.setSecrets(secretsOf(config()));
      log.setLevel(config().log.level);
      grants = tierGrants(config());
      proxies = trusted();
      guard.invalidate();
      accounts.reconfigured().catch((error) => log.error("the signing keys could not be renewed", { error }));
      fleet.reconfigure();
      web.reconfigure();
      decisions
        .reconfigure()
        .catch((error: unknown) => log.error("the decision models could not be read anew", { error }));
      void fleet.refresh();
    },
    async stop(drainMs) {
      const whole = await listener.stop(drainMs);
      if (!whole) log.warn("requests were cut at the drain timeout");
      fleet.stop();
      decisions.stop();
      await web.stop();
      watch.stop();
      await accounts.stop();
      clearInterval(saveWindows);
      await upkeep.stop();
      await rates.saveRateWindows(limiter.snapshot());
      if (!writer.close()) log.error("usage could not be written");
      store.close();
      lock.release();
      await tracer?.stop();
      await log.flush();
    },
  };
}
