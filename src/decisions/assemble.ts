// The decisions of a running gateway, put together: models, ways to their upstreams, the watch and the endpoints.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import type { KeyModels } from "../catalog/key-models.ts";
import type { Prices } from "../catalog/prices.ts";
import type { Config, TierId } from "../config/schema.ts";
import type { AttemptDeps } from "../gateway/attempts.ts";
import type { Budgets } from "../gateway/budgets.ts";
import { type BodyLimits, readJsonBody } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import type { DecisionStore } from "../store/decisions/decisions.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import { warmTokens } from "../tokens/count.ts";
import type { Provider } from "../upstream/provider.ts";
import { answerSystemone, type DecisionCaller, type DecisionRoutesDeps, decisionRoutes, listed } from "./api/routes.ts";
import { readCalibrationFile } from "./calibration/file.ts";
import { DecisionDiscovery } from "./models/discover.ts";
import { DecisionModels } from "./models/models.ts";
import { decisionOverview, type ShownVersion } from "./models/overview.ts";
import { decisionCostMicros, decisionWorstCaseMicros, inputPriceOf, type PriceDeps } from "./models/prices.ts";
import { type Promotion, PromotionRefused, promoteVersion } from "./models/promote.ts";
import { createUpstreams } from "./models/upstreams.ts";
import { DecisionWatch } from "./models/watch.ts";

export interface DecisionsDeps extends Omit<AttemptDeps, "provider"> {
  config(): Config;
  clock: Clock;
  store: DecisionStore;
  changeCounter(): number;
  chatProvider(name: string): Provider | undefined;
  /** What is known of a chat model's prices. */
  chatPrices(provider: string, model: string): Prices | undefined;
  authenticate(request: Request): AtOnce<{ readonly account: { readonly tier: TierId }; readonly models: KeyModels }>;
  admit(request: Request, exchange: Exchange): AtOnce<DecisionCaller>;
  budgets: Pick<Budgets, "reserve">;
  bodyLimits(): BodyLimits;
  requestTimeoutMs(): number;
  isChatModel(id: string): boolean;
  record(usage: UsageRecord): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Builds the decision side; `load` must have resolved before the endpoints know a model. */
export function createDecisions(deps: DecisionsDeps) {
  const upstreams = createUpstreams(deps);
  const discovery = new DecisionDiscovery({
    providers: () => discovered(deps.config(), upstreams.own()),
    now: () => deps.clock.now(),
    changed: () =>
      void models.load().catch((error: unknown) => deps.warn("the decision models could not be read", { error })),
    failed: (provider, error) => deps.warn("a provider's decision models could not be had", { provider, error }),
  });
  const models = new DecisionModels({
    discovered: () => discovery.models(),
    configured: () => deps.config().decisions.models,
    readCalibrationFile,
    store: deps.store,
    changeCounter: deps.changeCounter,
    clock: deps.clock,
    problem: (message) => deps.warn(message),
  });
  const watch = new DecisionWatch({
    store: deps.store,
    versions: async () => [...(await models.current()).versions.values()],
    upstream: upstreams.open,
    clock: deps.clock,
    warn: deps.warn,
  });
  /** A probe is a call of one token, twice an hour. */
  const mayProbe = () => deps.config().health.probe !== "off";
  /** Some 30 ms, once, and only where there is something to count for: else the first request would wait for it. */
  const warm = async () => {
    if ((await models.current()).versions.size > 0) await warmTokens();
  };
  const prices: PriceDeps = {
    baseUrl: (name) => deps.config().providers.find((provider) => provider.name === name)?.baseUrl,
    chatPrices: deps.chatPrices,
  };
  const routesDeps = routesDepsOf(deps, { upstreams, models, watch, prices });
  return {
    routes: decisionRoutes(routesDeps),
    /** Answers a request in the shape of `/v1/systemone`; `admit` decides whom it is from. */
    answer: (request: Request) => answerSystemone(request, routesDeps),
    /** What can be asked, by id and alias; by a key that is limited to some models, where it is. */
    choices: async (models?: KeyModels) =>
      (await listed(routesDeps, models)).map(({ id, version }) => ({ id, tier: version.tier })),
    /** True for ids and aliases of decision models. */
    has: (id: string) => models.has(id),
    health: () => watch.health(),
    /** For an operator's page. */
    overview: () => overview(deps.store, { models, watch, prices }),
    /** Moves an alias for an operator; gives where it pointed before. Throws `ApiError`, 400 for what was measured worse. */
    promote: (promotion: Promotion) => promote({ models, store: deps.store }, promotion),
    /** Reads the configured models; to be called once before serving. */
    async load(): Promise<void> {
      await models.load();
      await watch.restore();
      await warm();
    },
    /** Asks providers for their lists and, unless the configuration says otherwise, engines whether they are fit. */
    async start(): Promise<void> {
      await Promise.all([discovery.start().then(warm), mayProbe() ? watch.start() : undefined]);
    },
    /** Takes the configuration as it is now. */
    async reconfigure(): Promise<void> {
      upstreams.reconfigure();
      await models.load();
      await discovery.refresh();
      if (mayProbe()) await (watch.probes ? watch.probe() : watch.start());
      else watch.pause();
    },
    stop(): void {
      discovery.stop();
      watch.stop();
    },
  };
}

function routesDepsOf(
  deps: DecisionsDeps,
  parts: {
    upstreams: ReturnType<typeof createUpstreams>;
    models: DecisionModels;
    watch: DecisionWatch;
    prices: PriceDeps;
  },
): DecisionRoutesDeps {
  const { upstreams, models, watch, prices } = parts;
  return {
    exchangeOf,
    authenticate: deps.authenticate,
    admit: (request) => deps.admit(request, exchangeOf(request)),
    budgets: deps.budgets,
    worstCaseMicros: (asked, version) => decisionWorstCaseMicros(asked, version, prices),
    readJson: (request) => readJsonBody(request, deps.bodyLimits()),
    models,
    isListed: (version) => watch.isFit(version),
    isChatModel: deps.isChatModel,
    upstream: (version, deadline) => upstreams.open(watch.asAsked(version), deadline),
    timeoutMs: deps.requestTimeoutMs,
    answered: (version, answer) => {
      watch.answered(version, answer);
      if (answer.upstreamModel !== undefined) models.sighted(version, answer.route, answer.upstreamModel);
    },
    answeredNonsense: (version) => watch.doubt(version),
    record: deps.record,
    costMicros: (spent, version) => decisionCostMicros(spent, version, prices),
    clock: deps.clock,
  };
}

async function promote(
  deps: { models: DecisionModels; store: DecisionStore },
  promotion: Promotion,
): Promise<{ before: string | null }> {
  try {
    const moved = await promoteVersion(deps, promotion);
    await deps.models.load();
    return moved;
  } catch (error) {
    if (!(error instanceof PromotionRefused)) throw error;
    const message = `${error.message.slice(0, 1).toUpperCase()}${error.message.slice(1)}.`;
    if (error.reason === "no_version") throw new ApiError("model_not_found", message, { param: "version" });
    throw new ApiError("invalid_request", message, { param: error.reason === "worse" ? "version" : "alias" });
  }
}

/** Providers of decision models that are asked for their lists: none where models are configured. */
function discovered({ decisions, providers }: Config, own: ReadonlyMap<string, Provider>) {
  if (decisions.models.length > 0) return [];
  return providers.flatMap(({ name, kind, discover, discoverTier }) => {
    const provider = kind === "systemone" && discover ? own.get(name) : undefined;
    return provider === undefined ? [] : [{ provider, tier: discoverTier }];
  });
}

async function overview(
  store: DecisionStore,
  { models, watch, prices }: { models: DecisionModels; watch: DecisionWatch; prices: PriceDeps },
): Promise<ShownVersion[]> {
  const [snapshot, sightings, health] = await Promise.all([models.current(), store.listSightings(), watch.health()]);
  return decisionOverview(snapshot, { sightings, health, priceOf: (version) => inputPriceOf(version, prices) });
}
