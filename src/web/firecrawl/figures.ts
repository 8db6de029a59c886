// Answers questions of Firecrawl's clients about their account. The gateway counts no credits, so credits never run out. The
// limits of requests are in GET /v1/key.

import { isoTime } from "../../base/iso-time.ts";
import type { FirecrawlJobsDeps } from "./jobs.ts";

/** The largest number that these clients can read. */
const WITHOUT_END = 999_999_999;
const LISTED_MAX = 500;

/** Answers `GET /v2/team/credit-usage`. */
export function creditUsage(): Record<string, unknown> {
  return {
    success: true,
    data: { remainingCredits: WITHOUT_END, planCredits: WITHOUT_END, billingPeriodStart: null, billingPeriodEnd: null },
  };
}

/** Answers `GET /v2/team/token-usage`. */
export function tokenUsage(): Record<string, unknown> {
  return {
    success: true,
    data: { remainingTokens: WITHOUT_END, planTokens: WITHOUT_END, billingPeriodStart: null, billingPeriodEnd: null },
  };
}

/** Answers `GET …/historical`. */
export function pastUsage(): Record<string, unknown> {
  return { success: true, periods: [] };
}

/** Answers `GET /v2/team/queue-status`. */
export async function queueStatus(
  accountId: string,
  { jobs, limits }: Pick<FirecrawlJobsDeps, "jobs" | "limits">,
): Promise<Record<string, unknown>> {
  const listed = await jobs.listJobs(accountId, { limit: LISTED_MAX });
  const active = listed.filter(({ state }) => state === "running").length;
  const waiting = listed.filter(({ state }) => state === "queued").length;
  const last = listed.find(({ state }) => state === "completed")?.finishedAtMs ?? null;
  return {
    success: true,
    jobsInQueue: active + waiting,
    activeJobsInQueue: active,
    waitingJobsInQueue: waiting,
    maxConcurrency: limits().concurrency,
    mostRecentSuccess: isoTime(last),
  };
}

/** Answers `GET /v2/concurrency-check`. */
export async function concurrencyCheck(
  accountId: string,
  { jobs, limits }: Pick<FirecrawlJobsDeps, "jobs" | "limits">,
): Promise<Record<string, unknown>> {
  const listed = await jobs.listJobs(accountId, { limit: LISTED_MAX });
  const concurrency = listed.filter(({ state }) => state === "running").length;
  const { concurrency: maxConcurrency } = limits();
  return { success: true, data: { concurrency, maxConcurrency }, concurrency, maxConcurrency };
}
