// The upstream side: providers with their catalog, decision models, and what every call to them shares. Wiring only.

import { createSignal } from "../base/signal.ts";
import { resolveModel } from "../catalog/resolve.ts";
import { addressesOf } from "../config/addresses.ts";
import { secretsOf } from "../config/load.ts";
import { createDecisions } from "../decisions/assemble.ts";
import { createEndUsers } from "../gateway/admission/end-users.ts";
import { createRouteScores } from "../gateway/calls/route-scores.ts";
import { createFleet } from "../gateway/providers.ts";
import { guardrailsOf } from "../gateway/stages/guardrails/guards.ts";
import type { GuardTools } from "../gateway/stages/guardrails/tools.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import { makeRedactor } from "../telemetry/redact.ts";
import type { UpstreamCalls } from "./chat.ts";
import type { Foundation } from "./foundation.ts";
import { isListed } from "./health-watch.ts";

/** Adds providers and decision models. */
export function addUpstreams(base: Foundation, endUserSecret: string) {
  const { add, config, log, clock, store, verbs, observer, callers } = base;
  /** A breaker, or the catalog's content, changed. */
  const modelsChanged = createSignal();
  /** Every provider's models were listed once. */
  const modelsListed = createSignal();
  const fleet = createFleet({
    config,
    clock,
    discoveryFailed: observer.discoveryFailed,
    breakerChanged: (provider, state, model) => {
      log.warn("circuit breaker", { provider, ...(model === undefined ? {} : { model }), state });
      modelsChanged.fire();
    },
    catalogChanged: modelsChanged.fire,
    renewalFailed: (error) => log.warn("the renewed prices of models could not be read", { error }),
    joinBreaker: base.shared.breakers?.join,
    flights: base.shared.flights,
    watches: true,
  });
  base.shared.breakers?.onUnknown((name) => fleet.breakers.know(name));
  add("providers", {
    start() {
      fleet
        .start()
        .then(modelsListed.fire)
        .catch((error: unknown) => log.error("the providers could not be looked at", { error }));
    },
    reconfigure() {
      fleet.reconfigure();
      void fleet.refresh();
    },
    stop: fleet.stop,
  });

  const guards = guardsOf(base);
  const calls = { ...upstreamCalls(base, fleet), guards, endUserOf: createEndUsers(endUserSecret) };
  const decisions = createDecisions({
    ...calls,
    config,
    store: verbs.decisions,
    changeCounter: store.changeCounter,
    chatProvider: fleet.provider,
    chatPrices: fleet.prices,
    authenticate: callers.authenticate,
    isChatModel: (id) => resolveModel(fleet.catalog(), id)?.model.kind === "chat",
    warn: base.warn,
    drifted: base.alerts.decisionDrifted,
  });
  guards.decidedBy(decisions.judge);
  add("decisions", {
    ...decisions,
    async start() {
      await decisions.load();
      decisions.start().catch((error: unknown) => log.warn("decision models could not be looked at", { error }));
    },
  });
  base.nameModels((model) => isListed(fleet, model) || decisions.has(model));
  return { fleet, decisions, calls, modelsChanged, modelsListed };
}

/** What everything that calls providers for a request shares. */
function upstreamCalls(
  base: Foundation,
  fleet: ReturnType<typeof createFleet>,
): Omit<UpstreamCalls, "endUserOf" | "guards"> {
  const { live, config, clock, writer, observer, callers } = base;
  const redact = live.derive((now) => makeRedactor(secretsOf(now), addressesOf(now)));
  return {
    clock,
    breakers: fleet.breakers,
    admit: callers.admit,
    budgets: callers.budgets,
    bodyLimits: base.bodyLimits,
    requestTimeoutMs: () => config().server.requestTimeoutMs,
    record: (row: UsageRecord) => {
      writer.record(row);
      observer.spent(row);
      callers.used(row);
    },
    random: Math.random,
    scores: createRouteScores({ now: () => performance.now(), random: Math.random }),
    scrub: (text) => redact()(text),
    failed: observer.failed,
    called: observer.called,
    retried: observer.metrics.retried,
  };
}

/** The guardrails of the current configuration. A word list that cannot be read is told at the start. */
function guardsOf({ live, log, observer, clock }: Pick<Foundation, "live" | "log" | "observer" | "clock">) {
  let decide: GuardTools["decide"] = () => Promise.reject(new Error("there are no decisions yet"));
  const currentGuardrails = live.derive(({ guardrails, web, alerts }) => {
    const made = guardrailsOf(guardrails, () => ({
      fetch: createFetch(createAddressGuard(web, createResolve(web.dns))),
      webhookSecret: alerts.webhookSecret,
      nowSeconds: () => Math.floor(clock.now() / 1000),
      decide: (asked) => decide(asked),
    }));
    for (const { name, checks, judge, on } of made ?? []) {
      const holds = judge !== undefined && on.includes("output");
      if (!holds && checks.every(({ longest }) => longest !== Number.POSITIVE_INFINITY)) continue;
      log.warn("a guardrail reads whole texts, so that it holds them back in streams", {
        guardrail: name,
      });
    }
    return made;
  });
  currentGuardrails();
  return {
    all: currentGuardrails,
    /** Sets what answers the questions of guardrails. */
    decidedBy(answer: GuardTools["decide"]) {
      decide = answer;
    },
    count: observer.metrics.guardrail,
    warn: (message: string, fields: Readonly<Record<string, unknown>>) => log.warn(message, fields),
  };
}
