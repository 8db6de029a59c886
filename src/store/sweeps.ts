// All deletions of expired rows. A table with expiring rows must be listed here, otherwise it grows without limit.

import { auditStore } from "./access/audit.ts";
import { codeStore } from "./access/codes.ts";
import { keyDebugStore } from "./access/key-debug.ts";
import { sessionStore } from "./access/sessions.ts";
import type { Store } from "./engine/store.ts";
import type { Sweep } from "./engine/upkeep.ts";
import { dayOf, hourOf } from "./usage/record.ts";
import { usageStore } from "./usage/usage.ts";
import { alertStore } from "./work/alerts.ts";
import { cachedAnswerStore } from "./work/cached-answers.ts";
import { jobStore } from "./work/jobs.ts";
import { expiredValuesSweep } from "./work/large-values.ts";
import { responseStore } from "./work/responses.ts";
import { runStore } from "./work/runs.ts";
import { threadStore } from "./work/threads.ts";

/** Spans of up to a week are drawn by the hour, with the preceding week for comparison. */
export const HOURLY_KEPT_MS = 15 * 86_400_000;
/** Percentiles of a year, and of the one before it for some days. */
export const LATENCY_KEPT_MS = 400 * 86_400_000;

/** How long rows are kept for which the configuration says it. */
export interface Retention {
  /** A request's own row: `usage.rollup_after`. */
  readonly rowsMs: number;
  /** Daily sums: `usage.retention`; 0: without end. */
  readonly sumsMs: number;
  /** `log.audit_retention` */
  readonly auditMs: number;
}

/** The sweeps of every table. */
export function storeSweeps(store: Store, kept: () => Retention): Sweep[] {
  const usage = usageStore(store);
  const jobs = jobStore(store);
  const responses = responseStore(store);
  const runs = runStore(store);
  const threads = threadStore(store);
  const sessions = sessionStore(store);
  const codes = codeStore(store);
  const audit = auditStore(store);
  const keyDebug = keyDebugStore(store);
  const cached = cachedAnswerStore(store);
  const alerts = alertStore(store);
  return [
    () => usage.deleteRowsBefore(store.clock.now() - kept().rowsMs),
    () => usage.deleteHourlyBefore(hourOf(store.clock.now() - HOURLY_KEPT_MS)),
    () => usage.deleteLatencyBefore(dayOf(store.clock.now() - LATENCY_KEPT_MS)),
    async () => {
      const { sumsMs } = kept();
      return sumsMs === 0 ? 0 : usage.deleteDailyBefore(dayOf(store.clock.now() - sumsMs));
    },
    () => runs.deleteRunsBefore(store.clock.now() - kept().rowsMs),
    () => jobs.deleteExpiredJobs(),
    () => responses.deleteExpiredResponses(),
    () => threads.deleteExpiredThreads(),
    () => sessions.deleteExpiredSessions(),
    () => codes.deleteExpiredCodes(),
    () => audit.deleteOldAudit(kept().auditMs),
    () => keyDebug.deleteEndedDebug(),
    () => cached.deleteExpiredCached(),
    () => alerts.deleteExpiredAlerts(),
    expiredValuesSweep(store),
  ];
}
