// The upstream side: providers with their catalog, decision models, and what every call to them shares. Wiring only.

import { createSignal } from "../base/signal.ts";
import { resolveModel } from "../catalog/resolve.ts";
import { addressesOf } from "../config/addresses.ts";
import { secretsOf } from "../config/load.ts";
import { createDecisions } from "../decisions/assemble.ts";
import { createEndUsers } from "../gateway/admission/end-users.ts";
import { createFleet } from "../gateway/providers.ts";
import { guardrailsOf } from "../gateway/stages/guardrails/guards.ts";
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

  const calls = { ...upstreamCalls(base, fleet), endUserOf: createEndUsers(endUserSecret) };
  const decisions = createDecisions({
    ...calls,
    config,
    store: verbs.decisions,
    changeCounter: () => store.changeCounter(),
    chatProvider: fleet.provider,
    chatPrices: fleet.prices,
    authenticate: callers.authenticate,
    isChatModel: (id) => resolveModel(fleet.catalog(), id)?.model.kind === "chat",
    warn: base.warn,
  });
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
function upstreamCalls(base: Foundation, fleet: ReturnType<typeof createFleet>): Omit<UpstreamCalls, "endUserOf"> {
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
    },
    guards: guardsOf(base),
    random: Math.random,
    scrub: (text) => redact()(text),
    failed: observer.failed,
    called: observer.called,
    retried: observer.metrics.retried,
  };
}

/** The guardrails of the current configuration. A word list that cannot be read is told at the start. */
function guardsOf({ live, log, observer }: Pick<Foundation, "live" | "log" | "observer">) {
  const all = live.derive(({ guardrails }) => {
    const made = guardrailsOf(guardrails);
    for (const { name, checks } of made ?? []) {
      if (checks.every(({ longest }) => longest !== Number.POSITIVE_INFINITY)) continue;
      log.warn("a guardrail has matches of any length, so that it holds whole texts back in streams", {
        guardrail: name,
      });
    }
    return made;
  });
  all();
  return {
    all,
    count: observer.metrics.guardrail,
    warn: (message: string, fields: Readonly<Record<string, unknown>>) => log.warn(message, fields),
  };
}
