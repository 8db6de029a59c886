// What the stage of agent runs needs of the rest of the program, and their endpoints. Wiring only.

import { RUN_ENDPOINTS } from "../gateway/endpoints/runs/routes.ts";
import type { RunsDeps } from "../gateway/stages/runs/deps.ts";
import { createRunSpending } from "../gateway/stages/runs/spending.ts";
import { endpointRoutes } from "../http/served-endpoint.ts";
import type { Foundation } from "./foundation.ts";

const MICROS_PER_USD = 1_000_000;
/** Far longer than a run is open, so that it is told of once, and the alerts of ended runs are deleted. */
const ALERT_WINDOW_MS = 30 * 86_400_000;

/** Adds the endpoints of runs, and builds what the stage needs. */
export function addAgentRuns(base: Foundation): RunsDeps {
  const { add, verbs, clock, log, writer, links, alerts, callers, bodyLimits } = base;
  const { authenticateManager } = callers;
  const endpoints = { authenticateManager, runs: verbs.runs, audit: verbs.audit, bodyLimits };
  add("agent runs", { routes: endpointRoutes(RUN_ENDPOINTS, endpoints) });
  const pageOf = (id: string) => `${links().dashboard}/runs/${id}`;
  return {
    store: verbs.runs,
    clock,
    spending: createRunSpending({
      runs: verbs.runs,
      pendingMicros: (id) => writer.pendingCostMicros(id),
      whenWritten: (listener) => writer.whenWritten(listener),
      readBetweenWrites: (read) => writer.readBetweenWrites(read),
    }),
    async nameOfAnswer(accountId, answerId) {
      const runId = (await verbs.usage.findAnswer(accountId, answerId))?.runId ?? undefined;
      return runId === undefined ? undefined : (await verbs.runs.findRun(accountId, runId))?.name;
    },
    pageOf,
    stopped({ id, accountId, limit, most, spent }) {
      log.info("an agent run was stopped", { run: id, account: accountId, limit });
      const amount = (value: number) => (limit === "usd" ? value / MICROS_PER_USD : value);
      const details = { run: id, limit, spent: amount(spent), page: pageOf(id) };
      const untilMs = clock.now() + ALERT_WINDOW_MS;
      // One alert for each time that it is let go on.
      alerts.raise({ type: "run_limit", subject: id, accountId, details, event: `${limit}:${most}`, untilMs });
    },
    noteFailed: (error, requestId) => log.warn("an agent run could not be noted", { request_id: requestId, error }),
  };
}
