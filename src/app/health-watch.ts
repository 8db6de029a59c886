// Watches the models while the program runs: their health, judged at every interval and when a breaker or a list changes, and
// the values of gauges. Wiring only.

import type { Clock } from "../base/clock.ts";
import type { Signal } from "../base/signal.ts";
import { resolveModel } from "../catalog/resolve.ts";
import type { Config } from "../config/schema.ts";
import type { Fleet } from "../gateway/providers.ts";
import type { HealthDeps, SubsystemState } from "../status/health.ts";
import { createHealthDays, type HealthDaysStore } from "../status/health-days.ts";
import { createModelHealth } from "../status/model-health.ts";
import type { Store } from "../store/engine/store.ts";
import type { UsageWriter } from "../store/usage/writer.ts";
import type { Logger } from "../telemetry/log.ts";
import { breakerReading } from "../telemetry/metrics.ts";
import type { createWeb, WebFigures } from "../web/assemble.ts";
import type { Node } from "./foundation.ts";
import type { Observer } from "./observe.ts";

export interface HealthWatchDeps {
  clock: Clock;
  log: Logger;
  config(): Config;
  fleet: Pick<Fleet, "catalog" | "breakers" | "listed">;
  writer: Pick<UsageWriter, "state">;
  observer: Observer;
  web: Pick<ReturnType<typeof createWeb>, "figures" | "jobsHealth" | "engines"> & {
    readonly tools: { browserHealth(): SubsystemState | Promise<SubsystemState> };
  };
  store: Pick<Store, "ping">;
  verbs: { readonly settings: HealthDaysStore };
  node: Pick<Node, "state">;
  accounts: { readonly mailer: { state(): SubsystemState } };
  servers: { health(): Promise<SubsystemState> };
  decisions: { health(): Promise<object & { status: SubsystemState["status"] }> };
  /** The state that nodes share. */
  readonly shared: { readonly state: (() => SubsystemState) | undefined };
  /** Something changed that affects the health of models. */
  modelsChanged: Pick<Signal, "listen">;
  /** Every provider's models were listed once: before that, there is no basis for a judgement. */
  modelsListed: Pick<Signal, "listen">;
  /** A one-token call: true if the model answered. */
  probe(model: string, signal: AbortSignal): Promise<boolean>;
}

/** Several changes of breakers and lists within this time are judged once. */
const JUDGE_AFTER_MS = 100;

/** Builds the watch; nothing is judged before the providers' models were listed. */
export function createWatch(deps: HealthWatchDeps) {
  const { clock, log, config, fleet, writer, observer, probe, store, node, accounts, decisions, web } = deps;
  const listed = () => fleet.catalog().models.filter(({ visibility }) => visibility === "list");
  const complain = (error: unknown) => log.warn("model health could not be judged", { error });
  const healthDays = createHealthDays({
    clock,
    store: deps.verbs.settings,
    problem: (error) => log.warn("the health of models by day could not be kept", { error }),
  });
  const modelHealth = createModelHealth({
    clock,
    intervalMs: () => config().health.intervalMs,
    models: listed,
    recent: async (model, options) => observer.outcomes.recent(model, options),
    breakerOpen: (provider, model) => fleet.breakers.stateOf(provider, model) === "open",
    listed: fleet.listed,
    failed: complain,
    judged: (models) => healthDays.count(models),
    get probe() {
      return config().health.probe === "chat" ? probe : undefined;
    },
  });
  let soon: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  deps.modelsChanged.listen(() => {
    // If every judgement costs money, only the interval triggers one.
    if (stopped || config().health.probe === "chat") return;
    soon ??= setTimeout(() => {
      soon = undefined;
      modelHealth.refresh().catch(complain);
    }, JUDGE_AFTER_MS);
  });
  deps.modelsListed.listen(() => {
    if (!stopped) modelHealth.start().catch(complain);
  });
  addGauges(deps);
  return {
    modelHealth,
    /** The recorded days of a listed model. */
    daysOf: healthDays.daysOf,
    /** Publicly listed models. */
    listedCount: () => listed().length,
    /** The checks of `/health`. */
    subsystems: {
      async database() {
        await store.ping();
        const { queued, rowsWithout, failures } = writer.state;
        return { status: "ok", usage_queued: queued, usage_rows_lost: rowsWithout, usage_write_failures: failures };
      },
      mail: () => accounts.mailer.state(),
      decisions: async () => ({ ...(await decisions.health()) }),
      browser: () => web.tools.browserHealth(),
      jobs: () => web.jobsHealth(),
      mcp: () => deps.servers.health(),
      ...(deps.shared.state === undefined ? {} : { redis: deps.shared.state }),
      ...(node.state && { nodes: node.state }),
    } satisfies HealthDeps["subsystems"],
    start: () => healthDays.start(),
    reconfigure: modelHealth.reschedule,
    async stop() {
      stopped = true;
      clearTimeout(soon);
      modelHealth.stop();
      await healthDays.stop();
    },
  };
}

/** Whether the public may know a model. */
export function isListed(fleet: Pick<Fleet, "catalog">, id: string): boolean {
  return resolveModel(fleet.catalog(), id)?.model.visibility === "list";
}

/** The figures that are read for every page. */
function addGauges({ observer, fleet, writer, web }: HealthWatchDeps): void {
  const { metrics } = observer;
  metrics.gauge(
    "sallyport_breaker_state",
    "1 for the state each provider's breaker is in.",
    ["provider", "state"],
    () => breakerReading(fleet.breakers.snapshot()),
  );
  metrics.gauge(
    "sallyport_model_breaker_state",
    "1 for the state each model's breaker is in, at providers whose models differ.",
    ["provider", "model", "state"],
    () =>
      [...fleet.breakers.snapshot()].flatMap(([provider, { models }]) =>
        [...breakerReading(models)].map(([labels, value]) => [[provider, ...labels], value] as const),
      ),
  );
  const plain = (name: string, help: string, value: () => number) =>
    metrics.gauge(name, help, [], () => [[[], value()]]);
  plain("sallyport_usage_queue", "Usage records waiting to be written.", () => writer.state.queued);
  plain(
    "sallyport_usage_rows_lost",
    "Requests counted in totals only because the buffer was full.",
    () => writer.state.rowsWithout,
  );
  plain("sallyport_usage_write_failures", "Usage batches that were retried.", () => writer.state.failures);
  const flow = (name: string, help: string, of: keyof WebFigures) =>
    metrics.gauge(name, help, ["state"], () => Object.entries(web.figures()[of]).map(([state, n]) => [[state], n]));
  flow("sallyport_jobs", "Running jobs and queued jobs.", "jobs");
  flow("sallyport_job_pages", "Pages of jobs being fetched, and page requests waiting for their turn.", "pages");
  flow(
    "sallyport_single_pages",
    "Single pages and maps in progress, and those waiting for a slot or their host.",
    "single pages",
  );
  metrics.gauge(
    "sallyport_search_engine_suspended",
    "1 while an enabled search engine is suspended after failures.",
    ["engine"],
    () =>
      web
        .engines()
        .filter(({ whyOff }) => whyOff === undefined)
        .map(({ name, suspended }) => [[name], suspended === undefined ? 0 : 1]),
  );
  flow("sallyport_conversions", "Pages being converted and pages waiting for a thread.", "conversions");
  plain("sallyport_models", "Models in the catalog.", () => fleet.catalog().models.length);
}
