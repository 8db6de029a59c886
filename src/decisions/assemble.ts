// Connects the decisions of a running gateway: models, upstreams, the watch and the endpoints.

import type { AtOnce } from "../base/at-once.ts";
import type { Clock } from "../base/clock.ts";
import type { CallerModels } from "../catalog/key-models.ts";
import type { Prices } from "../catalog/prices.ts";
import type { Config, TierId } from "../config/schema.ts";
import type { Budgets } from "../gateway/admission/budgets.ts";
import type { EndUsers } from "../gateway/admission/end-users.ts";
import type { AttemptDeps } from "../gateway/calls/attempts.ts";
import type { Guards } from "../gateway/stages/guardrails/deps.ts";
import { type BodyLimits, readJsonBody } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import { endpointRoutes } from "../http/served-endpoint.ts";
import type { DecisionStore } from "../store/decisions/decisions.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import { warmTokens } from "../tokens/count.ts";
import type { Provider } from "../upstream/provider.ts";
import { embeddedCard } from "../upstream/providers/index.ts";
import type { OwnQuestion } from "./api/own-question.ts";
import {
  answerSystemone,
  DECISION_ENDPOINTS,
  type DecisionCaller,
  type DecisionRoutesDeps,
  listed,
} from "./api/routes.ts";
import { Priors } from "./backends/prior.ts";
import { readCalibrationFile } from "./calibration/file.ts";
import { DecisionDiscovery } from "./models/discover.ts";
import { DecisionModels } from "./models/models.ts";
import { decisionCost, decisionWorstCaseMicros, type PriceDeps } from "./models/prices.ts";
import type { Promotion } from "./models/promote.ts";
import { createUpstreams } from "./models/upstreams.ts";
import type { DecisionVersion, ListedModel } from "./models/versions.ts";
import { DecisionWatch, type Drift } from "./models/watch.ts";

export interface DecisionsDeps extends Omit<AttemptDeps, "provider"> {
  config(): Config;
  clock: Clock;
  store: DecisionStore;
  changeCounter(): number;
  chatProvider(name: string): Provider | undefined;
  /** The prices of a provider's chat model, configured or public. */
  chatPrices(provider: string, model: string): Prices | undefined;
  authenticate(
    request: Request,
  ): AtOnce<{ readonly account: { readonly tier: TierId }; readonly models: CallerModels }>;
  admit(request: Request, exchange: Exchange): AtOnce<DecisionCaller>;
  budgets: Pick<Budgets, "reserve">;
  bodyLimits(): BodyLimits;
  requestTimeoutMs(): number;
  isChatModel(id: string): boolean;
  record(usage: UsageRecord): void;
  /** The name of a caller for a provider that is told who its requests are from; absent: there are no users. */
  endUserOf?: EndUsers;
  guards?: Guards | undefined;
  /** Called when a version has drifted, perhaps more than once. */
  drifted?(drift: Drift): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Creates decisions. No models are known until `load` has resolved. */
export function createDecisions(deps: DecisionsDeps) {
  const upstreams = createUpstreams(deps);
  const discovery = new DecisionDiscovery({
    providers: () => discovered(deps.config(), upstreams.own()),
    now: () => deps.clock.now(),
    changed: () =>
      void models.load().catch((error: unknown) => deps.warn("the decision models could not be read", { error })),
    failed: (provider, error) =>
      deps.warn("the list of a provider's decision models could not be read", { provider, error }),
  });
  const models = new DecisionModels({
    discovered: () => discovery.models(),
    embedded: () => embeddedModels(deps.config()),
    configured: () => deps.config().decisions.models,
    readCalibrationFile,
    store: deps.store,
    changeCounter: deps.changeCounter,
    clock: deps.clock,
    problem: (message) => deps.warn(message),
  });
  const versions = () => realVersions(models);
  const watch = new DecisionWatch({
    ...{ store: deps.store, clock: deps.clock, warn: deps.warn },
    versions,
    upstream: upstreams.open,
    ...(deps.drifted === undefined ? {} : { drifted: deps.drifted }),
  });
  /** A probe is a call with one output token, twice an hour. */
  const mayProbe = () => deps.config().health.probe !== "off";
  /** Takes about 30 ms once, and only if tokens are counted; otherwise the first request would wait for it. */
  const warm = async () => {
    if ((await versions()).length > 0) await warmTokens();
  };
  const baseUrl = (name: string) => deps.config().providers.find((provider) => provider.name === name)?.baseUrl;
  const prices: PriceDeps = { baseUrl, chatPrices: deps.chatPrices };
  const priors = new Priors({ clock: deps.clock, store: deps.store, baseUrl, warn: deps.warn });
  const routesDeps = routesDepsOf(deps, { upstreams, models, watch, prices, priors });
  return {
    routes: endpointRoutes(DECISION_ENDPOINTS, routesDeps),
    /** Answers a request in the format of `/v1/systemone`; `admit` identifies the caller. */
    answer: (request: Request) => answerSystemone(request, routesDeps),
    /** The probability of yes for a question of the operator's own, which is asked for a caller's request. */
    judge: (asked: OwnQuestion) => judged(asked, routesDeps),
    /** The versions and aliases that can be used, with a limited key only those of its models. */
    choices: async (models?: CallerModels) =>
      (await listed(routesDeps, models)).map(({ id, version: { tier, embedded = false } }) => ({ id, tier, embedded })),
    /** Whether a name is the id or alias of a decision model. */
    has: (id: string) => models.has(id),
    health: () => watch.health(),
    /** The data for the operator's page. */
    overview: async () => (await operating()).overview(deps.store, { models, watch, prices }),
    /**
     * Moves an alias for an operator and returns its previous target. Throws `ApiError` 400 if the version was measured as worse.
     */
    promote: async (promotion: Promotion) => (await operating()).promote({ models, store: deps.store }, promotion),
    /** Reads the configured models. Call it once before serving. */
    async load(): Promise<void> {
      await models.load();
      await watch.restore();
      await warm();
    },
    /** Starts to fetch providers' lists and, unless disabled, to probe engines. */
    async start(): Promise<void> {
      await Promise.all([discovery.start().then(warm), mayProbe() ? watch.start() : undefined]);
    },
    /** Applies the current configuration. */
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

/** What operators see and do is loaded with the first that does. */
const operating = () => import("./models/operating.ts");

/** Few installations ask such questions, so the code is loaded with the first. */
async function judged(asked: OwnQuestion, deps: DecisionRoutesDeps): Promise<number> {
  const { answerOwnQuestion } = await import("./api/own-question.ts");
  return answerOwnQuestion(asked, deps);
}

function routesDepsOf(
  deps: DecisionsDeps,
  parts: {
    upstreams: ReturnType<typeof createUpstreams>;
    models: DecisionModels;
    watch: DecisionWatch;
    prices: PriceDeps;
    priors: Priors;
  },
): DecisionRoutesDeps {
  const { upstreams, models, watch, prices, priors } = parts;
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
    upstream: (version, deadline) =>
      upstreams.open(watch.asAsked(version), {
        ...deadline,
        isOther: (route, upstreamModel) => watch.isOther(version, route, upstreamModel),
      }),
    priors,
    timeoutMs: deps.requestTimeoutMs,
    answered: (version, answer) => {
      watch.answered(version, answer);
      if (answer.upstreamModel !== undefined) models.seen(version, answer.route, answer.upstreamModel);
    },
    answeredNonsense: (version) => watch.doubt(version),
    record: deps.record,
    cost: (spent, version) => decisionCost(spent, version, prices),
    clock: deps.clock,
    endUserOf: deps.endUserOf ?? (() => undefined),
    guards: deps.guards,
  };
}

/** The providers whose lists of decision models are fetched; none if models are configured. */
function discovered({ decisions, providers }: Config, own: ReadonlyMap<string, Provider>) {
  if (decisions.models.length > 0) return [];
  return providers.flatMap(({ name, kind, discover, discoverTier }) => {
    const provider = kind === "systemone" && discover ? own.get(name) : undefined;
    return provider === undefined ? [] : [{ provider, tier: discoverTier }];
  });
}

/** The versions that are not the built-in model's. */
async function realVersions(models: DecisionModels): Promise<DecisionVersion[]> {
  return [...(await models.current()).versions.values()].filter(({ embedded }) => embedded !== true);
}

/** The decision models inside the program. */
function embeddedModels({ providers }: Config): ListedModel[] {
  return providers.flatMap(({ name: provider, kind, discoverTier: tier }) =>
    (embeddedCard(kind)?.card.embeddedDecisionModels ?? []).map(({ id, ...embedded }) => {
      return { provider, model: id, tier, embedded };
    }),
  );
}
