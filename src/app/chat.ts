// The chat side of a running gateway: the pipeline, stored answers and uploads, and their endpoints. Wiring only.

import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { lazily } from "../base/lazily.ts";
import { resolveModel } from "../catalog/resolve.ts";
import type { LiveConfig } from "../config/live.ts";
import type { createCallers } from "../gateway/admission/callers.ts";
import type { AttemptDeps } from "../gateway/calls/attempts.ts";
import type { GatewayDeps } from "../gateway/centre/deps.ts";
import { createGateway } from "../gateway/centre/pipeline.ts";
import type { CompactDeps } from "../gateway/endpoints/compact.ts";
import { createOwnedThreads } from "../gateway/endpoints/conversations/owned-threads.ts";
import type { createTokenCount } from "../gateway/endpoints/counting/count-tokens.ts";
import type { createInputTokens } from "../gateway/endpoints/counting/input-tokens.ts";
import type { PassthroughDeps } from "../gateway/endpoints/passthrough/passthrough.ts";
import type { ResponsesSocketDeps } from "../gateway/endpoints/socket/responses-socket.ts";
import { createProbe } from "../gateway/inner/probe.ts";
import type { Fleet } from "../gateway/providers.ts";
import { directRoutes, gatewayRoutes, respond } from "../gateway/routes.ts";
import { Affinity } from "../gateway/stages/affinity/affinity.ts";
import type { CacheDeps, KeptAnswers } from "../gateway/stages/cache/deps.ts";
import { createTextCache } from "../gateway/stages/cache/text-cache.ts";
import type { ChatMcpServers, ChatWebTools } from "../gateway/stages/chat-tools/deps.ts";
import { createCompaction } from "../gateway/stages/compaction/assemble.ts";
import type { Guards } from "../gateway/stages/guardrails/deps.ts";
import { resolveItems } from "../gateway/stages/history/history.ts";
import { createCountingStages, createStageLines, fillStages } from "../gateway/stages/index.ts";
import { ReasoningMemory } from "../gateway/stages/reasoning/reasoning-memory.ts";
import type { RunsDeps } from "../gateway/stages/runs/deps.ts";
import { UpstreamThreads } from "../gateway/stages/threads/upstream-threads.ts";
import { createSpools } from "../http/spool.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import type { SharedAnswers } from "../shared-state/redis-answers.ts";
import type { KeyStore } from "../store/access/keys.ts";
import type { Verbs } from "../store/verbs.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { chatCompletionsFormat } from "../wire/chat-completions/format.ts";
import { messagesFormat } from "../wire/messages/format.ts";
import { responsesFormat } from "../wire/responses/format.ts";
import type { SharedState } from "./shared-state.ts";

/** What everything that calls providers for a request shares. */
export type UpstreamCalls = Omit<AttemptDeps, "provider"> &
  Pick<GatewayDeps, "admit" | "budgets" | "bodyLimits" | "requestTimeoutMs" | "record" | "endUserOf"> & {
    readonly guards: Guards;
  };

export interface ChatDeps {
  readonly live: LiveConfig;
  readonly log: Logger;
  readonly clock: Clock;
  readonly verbs: Pick<Verbs, "responses" | "files" | "threads" | "storage" | "cachedAnswers" | "keys">;
  readonly calls: UpstreamCalls;
  readonly fleet: Pick<Fleet, "catalog" | "known" | "prices" | "provider">;
  readonly metrics: Pick<Metrics, "streamOpened" | "streamClosed" | "cacheLooked" | "cacheSized" | "cacheFailed">;
  /** The caller of an endpoint that is free. */
  readonly authenticate: ReturnType<typeof createCallers>["authenticate"];
  isDecisionModel(id: string): boolean;
  /** Seals threads and summaries. */
  readonly compactionSecret: string;
  readonly shared: Pick<SharedState, "flights" | "answers">;
  /** Empty lists, which the chat side fills. */
  readonly stages: Parameters<typeof fillStages>[0];
  readonly agentRuns: RunsDeps;
  /** What the gateway runs within a chat. */
  readonly tools: { readonly web: ChatWebTools; readonly mcp: ChatMcpServers };
  /** How long a stream's headers wait for its first event. */
  readonly peekMs: number | undefined;
}

/** Builds the chat side. */
export function createChat(deps: ChatDeps) {
  const { live, log, clock, calls, fleet, metrics, authenticate, isDecisionModel, stages } = deps;
  const config = live.get;
  const { responses, files, threads, storage } = deps.verbs;
  const reasoning = new ReasoningMemory();
  const affinity = new Affinity({ provider: fleet.provider, minterOf: (value) => reasoning.minterOf(value) });
  const upstreams = { ...calls, catalog: fleet.catalog, provider: fleet.provider, isDecisionModel };
  const compaction = createCompaction({
    clock,
    store: { ...threads, makeRoom: storage.makeRoom },
    secret: deps.compactionSecret,
    settings: () => config().compaction,
    model: (id) => resolveModel(fleet.catalog(), id),
    flights: deps.shared.flights,
    ask: { ...upstreams, stages },
    warn: (message, fields) => log.warn(message, fields),
  });
  const keepFailed = keepFailedOf(log);
  const features = {
    ...upstreams,
    ...compaction,
    reasoning,
    affinity,
    keepFailed,
    threads: new UpstreamThreads(),
    files,
    history: {
      store: { ...responses, ...storage },
      conversations: compaction.keptConversations,
      keepsConversations: () => config().compaction.enabled,
      settings: () => config().responses,
      nowMs: () => clock.now(),
      keepFailed,
    },
    cache: cacheOf(deps, compaction.sealer),
    imageFetch: imageFetch(live),
    agentRuns: deps.agentRuns,
    ...deps.tools,
    toolSettings: () => config().chatTools,
  };
  const pipeline = {
    ...upstreams,
    stages: fillStages(stages, createStageLines(features)),
    sealed: (value: string | undefined, minter: string) => reasoning.minted(value, minter),
    ...{ peekMs: deps.peekMs, keepFailed },
    ...streamsOf(metrics),
  };
  const gateway = createGateway(pipeline);
  const counting = { ...features, ...createCountingStages(features) };
  const modelEndpoint = lateModelEndpoint({ ...pipeline, ...uploadsOf(deps), cached: createTextCache(features.cache) });
  return {
    routes: gatewayRoutes({
      gateway,
      responses: { store: responses, authenticate, openSocket: socketsWith({ authenticate }) },
      threads: { ...compaction.stored, enabled: () => config().compaction.enabled, authenticate },
      conversations: {
        conversations: compaction.keptConversations,
        enabled: () => config().compaction.enabled,
        bodyLimits: calls.bodyLimits,
        claim: storage.claim,
        forget: compaction.forgetConversation,
        resolve: (accountId, items) => resolveItems({ store: { ...responses, ...storage } }, accountId, items),
        authenticate,
      },
      files: { store: files, claim: storage.claim, authenticate },
      compact: compactWith({ ...counting, settings: () => config().compaction }),
      passthrough: passthroughWith(passthroughDeps(deps, pipeline)),
      ...{ modelEndpoint, ...countersOf(counting) },
    }),
    /** The endpoints that bypass the framework's router. */
    direct: directRoutes({ gateway, modelEndpoint }),
    /** Answers a request of each format; `admit` identifies the caller. */
    answers: answersOf(gateway),
    /** An account's view of its own conversations. */
    ownThreads: createOwnedThreads(compaction.stored),
    stop: compaction.stop,
    /** A one-token call: true if the model answered. */
    probe: createProbe(pipeline),
  };
}

function keepFailedOf(log: ChatDeps["log"]) {
  return (error: unknown, requestId: string) =>
    log.error("an answer could not be stored", { request_id: requestId, error });
}

function cacheOf({ live, log, clock, verbs, metrics, shared }: ChatDeps, sealer: CacheDeps["sealer"]): CacheDeps {
  return {
    store: shared.answers === undefined ? verbs.cachedAnswers : ofLiveKeys(shared.answers, verbs.keys),
    sealer,
    clock,
    settings: () => live.get().cache,
    looked: metrics.cacheLooked,
    sized: metrics.cacheSized,
    failed(error) {
      metrics.cacheFailed();
      // The connection to Redis tells of its loss once.
      if (!(error instanceof Error && error.name === "AnswersDown")) log.warn("the cache of answers failed", { error });
    },
  };
}

/** Answers outside of the database, in which those of revoked keys cannot be found. */
function ofLiveKeys(answers: SharedAnswers, keys: Pick<KeyStore, "findLiveKeyById">): KeptAnswers {
  return {
    ...answers,
    async findCachedAnswer(key, keyId) {
      const found = await answers.findCachedAnswer(key);
      if (found === undefined || found.keyId === keyId) return found;
      return (await keys.findLiveKeyById(found.keyId)) === undefined ? undefined : found;
    },
  };
}

/** Creates fetchers of images, with the address guard of the current configuration. */
function imageFetch(live: LiveConfig) {
  return () => {
    const { web } = live.get();
    return createFetch(createAddressGuard(web, createResolve(web.dns)));
  };
}

/** Few clients ask for these counts, so the code that reads them is loaded with the first. */
const countedGemini = lazily(() => {
  const { geminiCountFormat }: typeof import("../wire/gemini/count.ts") = require("../wire/gemini/count.ts");
  return { format: geminiCountFormat, told: (tokens: number) => ({ totalTokens: tokens }) };
});

type CounterDeps = Parameters<typeof createTokenCount>[0] & Parameters<typeof createInputTokens>[0];

/** The endpoints that count tokens, which share an allowance. */
function countersOf(deps: Omit<CounterDeps, "allowance">) {
  const counters = lazily(async () => {
    const [{ COUNTED_MESSAGES, createTokenCount }, { createInputTokens }, { createCountingAllowance }] =
      await Promise.all([
        import("../gateway/endpoints/counting/count-tokens.ts"),
        import("../gateway/endpoints/counting/input-tokens.ts"),
        import("../gateway/endpoints/counting/counting-allowance.ts"),
      ]);
    const shared = { ...deps, allowance: createCountingAllowance(deps.clock) };
    return {
      countTokens: createTokenCount(shared, () => COUNTED_MESSAGES),
      countGeminiTokens: createTokenCount(shared, countedGemini),
      inputTokens: createInputTokens(shared),
    };
  });
  return {
    countTokens: async (request: Request) => (await counters()).countTokens(request),
    countGeminiTokens: async (request: Request) => (await counters()).countGeminiTokens(request),
    inputTokens: async (request: Request) => (await counters()).inputTokens(request),
  };
}

type ModelEndpoints = typeof import("../gateway/endpoints/models/model-endpoint.ts").createModelEndpoint;

/** The endpoints of models that do not chat, whose code is loaded with the first request. */
function lateModelEndpoint(deps: Parameters<ModelEndpoints>[0]): ReturnType<ModelEndpoints> {
  const made = lazily(() => {
    const { createModelEndpoint }: typeof import("../gateway/endpoints/models/model-endpoint.ts") =
      require("../gateway/endpoints/models/model-endpoint.ts");
    return createModelEndpoint(deps);
  });
  return {
    handle: async (request, endpoint) => made().handle(request, endpoint),
    answer: (request, endpoint, listener) => made().answer(request, endpoint, listener),
  };
}

/** Few keys may pass calls through, so the code for them is loaded by the first one. */
function passthroughWith(deps: PassthroughDeps): (request: Request) => Promise<Response> {
  const handler = lazily(async () => {
    const { createPassthrough } = await import("../gateway/endpoints/passthrough/passthrough.ts");
    return createPassthrough(deps);
  });
  return async (request) => (await handler())(request);
}

/** Few clients have records made, so the code for it is loaded by the first one. */
function compactWith(deps: CompactDeps): (request: Request) => Promise<Response> {
  const handler = lazily(async () => {
    const { createCompact } = await import("../gateway/endpoints/compact.ts");
    return createCompact(deps);
  });
  return async (request) => (await handler())(request);
}

/** The code for WebSockets is loaded by the first one. */
function socketsWith(deps: ResponsesSocketDeps): (request: Request) => Promise<Response> {
  const open = lazily(async () => {
    const { createResponsesSockets } = await import("../gateway/endpoints/socket/responses-socket.ts");
    return createResponsesSockets(deps);
  });
  return async (request) => (await open())(request);
}

function passthroughDeps({ live, fleet }: ChatDeps, pipeline: Omit<PassthroughDeps, "uploadBytesMax" | "prices">) {
  return {
    ...pipeline,
    uploadBytesMax: () => live.get().server.maxUploadBytes,
    prices: fleet.prices,
  };
}

function answersOf(gateway: ReturnType<typeof createGateway>) {
  return {
    chat: (request: Request) => respond(gateway, request, chatCompletionsFormat),
    responses: (request: Request) => respond(gateway, request, responsesFormat),
    messages: (request: Request) => respond(gateway, request, messagesFormat),
  };
}

/** Counts the open streams. */
function streamsOf({ streamOpened, streamClosed }: ChatDeps["metrics"]) {
  return { streamOpened, streamClosed };
}

/** What endpoints need for forms with files, and for answers that stream. */
function uploadsOf({ live, metrics }: Pick<ChatDeps, "live" | "metrics">) {
  return {
    ...streamsOf(metrics),
    spools: createSpools(join(live.get().dataDir, "uploads")),
    uploadBytesMax: () => live.get().server.maxUploadBytes,
  };
}
